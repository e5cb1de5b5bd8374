"""Whole small programs, as people write them: models of states, iterations, simulations, training."""

from typing import Any

import numpy as np
from _case import Case, Draw, gradient_of
from _peers import Peer

TINY = 1e-30  # beside a square that a small system ends with as zero


def viterbi(peer: Peer, scores: Any, transitions: Any) -> Any:
    """The best path through a hidden Markov model (Viterbi 1967)."""

    def forward(best: Any, score: Any) -> Any:
        candidates = best[:, None] + transitions
        return candidates.max(0) + score, candidates.argmax(0)

    last, back = peer.lax.scan(forward, scores[0], scores[1:])

    def backward(state: Any, pointers: Any) -> Any:
        before = pointers[state]
        return before, before

    return peer.lax.scan(backward, last.argmax(), back, reverse=True)[1]


def likelihood(peer: Peer, scores: Any, transitions: Any) -> Any:
    """The forward pass of a hidden Markov model, in logarithms."""
    nn = peer.nn
    transitions = nn.log_softmax(transitions)

    def step(known: Any, score: Any) -> Any:
        return nn.logsumexp(known[:, None] + transitions, axis=0) + score, None

    return nn.logsumexp(peer.lax.scan(step, scores[0], scores[1:])[0])


def conjugate_gradients(peer: Peer, a: Any, b: Any) -> Any:
    """Thirty steps of Hestenes and Stiefel (1952)."""

    def step(_: Any, state: Any) -> Any:
        x, rest, direction, square = state
        image = a @ direction
        length = square / (direction @ image + TINY)
        x, rest = x + length * direction, rest - length * image
        following = rest @ rest
        return x, rest, rest + following / (square + TINY) * direction, following

    return peer.lax.fori_loop(0, 30, step, (peer.xp.zeros_like(b), b, b, b @ b))[0]


def power_iteration(peer: Peer, a: Any, x: Any) -> Any:
    xp = peer.xp

    def step(_: Any, x: Any) -> Any:
        y = a @ x
        return y / xp.sqrt((y * y).sum())

    return peer.lax.fori_loop(0, 50, step, x)


def k_means(peer: Peer, points: Any, centres: Any) -> Any:
    def step(_: Any, centres: Any) -> Any:
        distances = ((points[:, None] - centres) ** 2).sum(-1)
        member = peer.nn.one_hot(distances.argmin(1), len(centres))
        return member.T @ points / (member.sum(0)[:, None] + 1e-6)

    return peer.lax.fori_loop(0, 10, step, centres)


def page_rank(peer: Peer, source: Any, target: Any, rank: Any) -> Any:
    xp = peer.xp
    degree = xp.zeros_like(rank).at[source].add(1.0)

    def step(_: Any, rank: Any) -> Any:
        given = xp.zeros_like(rank).at[target].add(rank[source] / degree[source])
        return 0.15 / len(rank) + 0.85 * given

    return peer.lax.fori_loop(0, 20, step, rank)


def steps_away(peer: Peer, links: Any) -> Any:
    """How many links lead from the first node to each, breadth first; -1 where none do."""
    xp = peer.xp
    away = xp.where(xp.arange(len(links)) == 0, 0, -1)

    def step(state: Any) -> Any:
        away, depth, _ = state
        new = (links & (away == depth)[:, None]).any(0) & (away < 0)
        return xp.where(new, depth + 1, away), depth + 1, new.any()

    first = (away, xp.asarray(0, away.dtype), xp.asarray(True))
    return peer.lax.while_loop(lambda state: state[2], step, first)[0]


def life(peer: Peer, cells: Any) -> Any:
    """Conway's game on a torus."""
    xp = peer.xp
    ways = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]

    def step(_: Any, cells: Any) -> Any:
        count = sum(xp.roll(cells, way, (0, 1)) for way in ways)
        return ((count == 3) | ((cells == 1) & (count == 2))).astype("int32")

    return peer.lax.fori_loop(0, 20, step, cells)


def tridiagonal(peer: Peer, right: Any) -> Any:
    """A system with 2.5 on its diagonal and -1 beside it (Thomas 1949)."""
    zero = right[0] * 0

    def forward(state: Any, x: Any) -> Any:
        pivot = 2.5 + state[0]
        following = -1.0 / pivot, (x + state[1]) / pivot
        return following, following

    def backward(x: Any, row: Any) -> Any:
        x = row[1] - row[0] * x
        return x, x

    rows = peer.lax.scan(forward, (zero, zero), right)[1]
    return peer.lax.scan(backward, zero, rows, reverse=True)[1]


def predators(peer: Peer, rates: Any) -> Any:
    """Lotka and Volterra's equations by 500 steps of Runge and Kutta."""
    xp, h = peer.xp, 0.01

    def slope(y: Any) -> Any:
        return xp.stack([rates[0] * y[0] - rates[1] * y[0] * y[1], rates[2] * y[0] * y[1] - rates[3] * y[1]])

    def step(y: Any, _: Any) -> Any:
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        d = slope(y + h * c)
        return y + h / 6 * (a + 2 * b + 2 * c + d), y

    return peer.lax.scan(step, xp.ones_like(rates[:2]), None, length=500)[1].sum()


def edits(peer: Peer, first: Any, second: Any) -> Any:
    """How many edits turn one text into the other (Wagner and Fischer 1974)."""
    xp, lax = peer.xp, peer.lax

    def row(above: Any, letter: Any) -> Any:
        number, a = letter

        def cell(left: Any, at: Any) -> Any:
            up, before, differs = at
            cost = xp.minimum(xp.minimum(left, up) + 1, before + differs)
            return cost, cost

        cells = (above[1:], above[:-1], (second != a).astype("int32"))
        following = lax.scan(cell, number, cells)[1]
        return xp.concatenate([xp.reshape(number, (1,)), following]), None

    numbers = xp.arange(1, len(first) + 1, dtype="int32")
    return lax.scan(row, xp.arange(len(second) + 1, dtype="int32"), (numbers, first))[0][-1]


def adam(peer: Peer, x: Any, y: Any, first: Any, second: Any) -> Any:
    """Fifty steps of a perceptron's training in one scan (Kingma and Ba 2015)."""
    xp = peer.xp

    def loss(weights: Any) -> Any:
        return ((xp.tanh(x @ weights[0]) @ weights[1] - y) ** 2).mean()

    def step(state: Any, _: Any) -> Any:
        weights, means, squares = state
        slopes = peer.library.grad(loss)(weights)
        means = [0.9 * m + 0.1 * g for m, g in zip(means, slopes, strict=True)]
        squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, slopes, strict=True)]
        pairs = zip(weights, means, squares, strict=True)
        return ([w - 0.01 * m / (xp.sqrt(s) + 1e-8) for w, m, s in pairs], means, squares), None

    weights = [first, second]
    zeros = [xp.zeros_like(w) for w in weights]
    return peer.lax.scan(step, (weights, zeros, list(zeros)), None, length=50)[0][0]


def cached_attention(peer: Peer, query: Any, keys: Any, values: Any, place: Any) -> Any:
    """One token of a transformer: its key is put into the cache."""
    xp = peer.xp
    keys = peer.lax.dynamic_update_slice(keys, query[:, None], (0, place, 0))
    scores = xp.einsum("hd,htd->ht", query, keys) / 8
    scores = xp.where(xp.arange(keys.shape[1])[None] <= place, scores, -1e9)
    return xp.einsum("ht,htd->hd", peer.nn.softmax(scores), values), keys


def turned(peer: Peer, quaternions: Any, vectors: Any) -> Any:
    xp = peer.xp

    def turn(q: Any, v: Any) -> Any:
        q = q / xp.sqrt((q * q).sum())
        across = 2 * xp.cross(q[1:], v)
        return v + q[0] * across + xp.cross(q[1:], across)

    return peer.library.vmap(turn)(quaternions, vectors)


def interpolated(peer: Peer, image: Any, rows: Any, columns: Any) -> Any:
    """An image between its pixels."""
    xp = peer.xp
    rows, columns = rows % 1 * (image.shape[0] - 1), columns % 1 * (image.shape[1] - 1)
    i = xp.clip(xp.floor(rows).astype("int32"), 0, image.shape[0] - 2)
    j = xp.clip(xp.floor(columns).astype("int32"), 0, image.shape[1] - 2)
    u, v = rows - i, columns - j
    above = image[i, j] * (1 - v) + image[i, j + 1] * v
    below = image[i + 1, j] * (1 - v) + image[i + 1, j + 1] * v
    return above * (1 - u) + below * u


def mixture(peer: Peer, x: Any, centres: Any) -> Any:
    """Ten steps of expectation and maximization for a mixture of Gaussians."""
    xp = peer.xp

    def step(_: Any, state: Any) -> Any:
        means, spreads, shares = state
        scores = shares - 0.5 * ((x[:, None] - means) ** 2 / xp.exp(spreads) + spreads).sum(-1)
        parts = peer.nn.softmax(scores, axis=1)
        counts = parts.sum(0) + 1e-6
        means = parts.T @ x / counts[:, None]
        squares = parts.T @ (x * x) / counts[:, None] - means * means
        return means, xp.log(squares + 1e-2), xp.log(counts / len(x))

    start = (centres, xp.zeros_like(centres), xp.zeros_like(centres[:, 0]))
    return peer.lax.fori_loop(0, 10, step, start)[0]


def letters(draw: Draw) -> tuple[Any, ...]:
    return draw.integers(4, 200), draw.integers(4, 200)


CASES = (
    Case("Viterbi 200 x 16", viterbi, lambda d: (d.normal(200, 16), d.normal(16, 16)), numpy=None),
    Case("likelihood 200 x 16", likelihood, lambda d: (d.normal(200, 16), d.normal(16, 16)), numpy=None),
    Case(
        "conjugate gradients 200",
        conjugate_gradients,
        lambda d: (d.symmetric_definite(200), d.normal(200)),
        numpy=None,
        tolerance=20.0,
    ),
    Case(
        "power iteration 200",
        power_iteration,
        lambda d: (d.symmetric_definite(200), d.positive(200)),
        numpy=None,
        tolerance=20.0,
    ),
    Case(
        "k-means 2,000 x 8", k_means, lambda d: (d.normal(2000, 8), d.normal(10, 8)), numpy=None, quick=True
    ),
    Case(
        "page rank 1,000, 8,000 links",
        page_rank,
        lambda d: (d.integers(1000, 8000), d.integers(1000, 8000), d.positive(1000)),
        numpy=None,
    ),
    Case("breadth first 300 nodes", steps_away, lambda d: (d.positive(300, 300) < 0.515,), numpy=None),
    Case("game of life 256 x 256", life, lambda d: (d.integers(2, 256, 256),), numpy=None),
    Case("tridiagonal 1,000", tridiagonal, lambda d: (d.normal(1000),), numpy=None),
    Case(
        "predators, gradient",
        gradient_of(predators, 0),
        lambda d: (d.positive(4) / 2,),
        numpy=None,
        tolerance=20.0,
    ),
    Case("edits 200 x 200", edits, letters, numpy=None),
    Case(
        "Adam in a scan",
        adam,
        lambda d: (d.normal(64, 16), d.normal(64, 4), d.weights(16, 32), d.weights(32, 4)),
        numpy=None,
        tolerance=20.0,
    ),
    Case(
        "cached attention 8 x 128 x 64",
        cached_attention,
        lambda d: (d.normal(8, 64), d.normal(8, 128, 64), d.normal(8, 128, 64), np.int32(5)),
        numpy=None,
    ),
    Case("turned vectors 10,000", turned, lambda d: (d.normal(10_000, 4), d.normal(10_000, 3)), numpy=None),
    Case(
        "interpolated 256 x 256",
        interpolated,
        lambda d: (d.normal(256, 256), d.positive(256, 256), d.positive(256, 256)),
        numpy=None,
    ),
    Case(
        "mixture 2,000 x 4",
        mixture,
        lambda d: (d.normal(2000, 4), d.normal(5, 4)),
        numpy=None,
        tolerance=50.0,
    ),
)

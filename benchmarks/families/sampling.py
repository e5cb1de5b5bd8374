"""Random numbers: bits, distributions, permutations, dropout, and loops that draw in every step."""

from typing import Any

import numpy as np
from _case import Agreement, Case
from _peers import Peer

COUNT = 1_000_000


def drawn(name: str, count: int = COUNT, **options: Any) -> Any:
    """A distribution of the library's random module."""

    def sample(peer: Peer, seed: Any) -> Any:
        return getattr(peer.random, name)(peer.random.PRNGKey(seed), shape=(count,), **options)

    return sample


def permutation(peer: Peer, seed: Any, x: Any) -> Any:
    return peer.random.permutation(peer.random.PRNGKey(seed), x)


def categorical(peer: Peer, seed: Any, scores: Any) -> Any:
    return peer.random.categorical(peer.random.PRNGKey(seed), scores, axis=-1)


def dropout(peer: Peer, seed: Any, x: Any) -> Any:
    keep = peer.random.bernoulli(peer.random.PRNGKey(seed), 0.9, x.shape)
    return peer.xp.where(keep, x / 0.9, 0.0)


def random_walk(peer: Peer, seed: Any, start: Any) -> Any:
    """A scan that splits its key and draws a normal vector in each step."""

    def step(state: Any, _: Any) -> Any:
        key, x = state
        key, now = peer.random.split(key)
        x = 0.9 * x + peer.random.normal(now, x.shape, x.dtype)
        return (key, x), x

    return peer.lax.scan(step, (peer.random.PRNGKey(seed), start), None, length=100)[1]


def metropolis(peer: Peer, seed: Any, start: Any) -> Any:
    """A chain of a thousand steps: a proposal, its density, a choice."""
    xp = peer.xp

    def log_density(x: Any) -> Any:
        return -0.5 * xp.sum(x * x) - xp.sum(xp.abs(x))

    def step(state: Any, _: Any) -> Any:
        key, x, density = state
        key, of_step, of_choice = peer.random.split(key, 3)
        proposal = x + 0.5 * peer.random.normal(of_step, x.shape, x.dtype)
        proposed = log_density(proposal)
        accepted = xp.log(peer.random.uniform(of_choice)) < proposed - density
        x = xp.where(accepted, proposal, x)
        return (key, x, xp.where(accepted, proposed, density)), x

    first = (peer.random.PRNGKey(seed), start, log_density(start))
    return peer.lax.scan(step, first, None, length=1000)[1]


def descent(peer: Peer, seed: Any, x: Any, y: Any) -> Any:
    """Least squares by gradients of drawn rows."""

    def step(w: Any, key: Any) -> Any:
        rows = peer.random.randint(key, (32,), 0, x.shape[0])
        error = x[rows] @ w - y[rows]
        return w - 0.1 * (x[rows].T @ error) / 32, None

    keys = peer.random.split(peer.random.PRNGKey(seed), 500)
    return peer.lax.scan(step, peer.xp.zeros_like(x[0]), keys)[0]


def seed_only(draw: Any) -> tuple[Any, ...]:
    return (np.int32(7),)


def normal_form(generator: str) -> Any:
    return lambda seed: getattr(np.random.default_rng(int(seed)), generator)(size=COUNT)


MOMENTS = Agreement.MOMENTS

CASES = (
    Case("bits 1,000,000", drawn("bits"), seed_only, numpy=None, agreement=MOMENTS),
    Case(
        "uniform 1,000,000",
        drawn("uniform"),
        seed_only,
        numpy=normal_form("uniform"),
        agreement=MOMENTS,
        quick=True,
    ),
    Case(
        "normal 1,000,000",
        drawn("normal"),
        seed_only,
        numpy=normal_form("standard_normal"),
        agreement=MOMENTS,
    ),
    Case(
        "integers 1,000,000",
        drawn("randint", minval=0, maxval=1000),
        seed_only,
        numpy=None,
        agreement=MOMENTS,
    ),
    Case(
        "exponential 1,000,000",
        drawn("exponential"),
        seed_only,
        numpy=normal_form("exponential"),
        agreement=MOMENTS,
    ),
    Case("gamma 20,000", drawn("gamma", 20_000, a=2.5), seed_only, numpy=None, agreement=MOMENTS),
    Case(
        "permutation 100,000",
        permutation,
        lambda draw: (np.int32(7), draw.normal(100_000)),
        numpy=lambda seed, x: np.random.default_rng(int(seed)).permutation(x),
        agreement=MOMENTS,
    ),
    Case(
        "categorical 1000 x 1000",
        categorical,
        lambda draw: (np.int32(7), draw.normal(1000, 1000)),
        numpy=None,
        agreement=MOMENTS,
    ),
    Case(
        "dropout 1024 x 1024",
        dropout,
        lambda draw: (np.int32(7), draw.normal(1024, 1024)),
        numpy=None,
        agreement=MOMENTS,
    ),
    Case(
        "random walk 100 x 1000",
        random_walk,
        lambda draw: (np.int32(7), draw.normal(1000)),
        numpy=None,
        agreement=MOMENTS,
    ),
    Case(
        "Metropolis 1,000 x 2",
        metropolis,
        lambda draw: (np.int32(7), draw.normal(2)),
        numpy=None,
        agreement=MOMENTS,
    ),
    Case(
        "descent by drawn rows 500 x 32",
        descent,
        lambda draw: (np.int32(7), draw.normal(500, 8), draw.normal(500)),
        numpy=None,
        agreement=MOMENTS,
    ),
)

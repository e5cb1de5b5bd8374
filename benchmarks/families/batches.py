"""Batches of small states under `vmap`, arrays taken apart and put together, windows, complex numbers."""

from typing import Any

import numpy as np
from _case import Case, Draw, gradient_of
from _peers import Peer

WINDOW = (1, 2, 2, 1)


def pendulums(peer: Peer, states: Any, forces: Any) -> Any:
    """Each of a batch with forces of its own."""
    xp = peer.xp

    def step(state: Any, force: Any) -> Any:
        speed = state[1] + 0.05 * (force - 9.8 * xp.sin(state[0]))
        return xp.stack([state[0] + 0.05 * speed, speed]), xp.cos(state[0])

    one = lambda state, forces: peer.lax.scan(step, state, forces)  # noqa: E731
    return peer.library.vmap(one)(states, forces)


def orbits(peer: Peer, states: Any) -> Any:
    """Predators and prey by Runge and Kutta's fourth order."""
    xp = peer.xp

    def slope(s: Any) -> Any:
        return xp.stack([1.1 * s[0] - 0.4 * s[0] * s[1], 0.1 * s[0] * s[1] - 0.4 * s[1]])

    def step(_: Any, s: Any) -> Any:
        a = slope(s)
        b = slope(s + 0.05 * a)
        c = slope(s + 0.05 * b)
        return s + 0.1 / 6 * (a + 2 * b + 2 * c + slope(s + 0.1 * c))

    return peer.library.vmap(lambda s: peer.lax.fori_loop(0, 200, step, s))(states)


def roots(peer: Peer, points: Any) -> Any:
    """Newton's method for two equations, for each of a batch of starts."""
    xp = peer.xp

    def equations(x: Any) -> Any:
        return xp.stack([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1])

    def step(_: Any, x: Any) -> Any:
        (a, b), (c, d) = peer.library.jacfwd(equations)(x)
        r = equations(x)
        return x - xp.stack([d * r[0] - b * r[1], a * r[1] - c * r[0]]) / (a * d - b * c)

    return peer.library.vmap(lambda x: peer.lax.fori_loop(0, 10, step, x))(points)


def chains(peer: Peer, x: Any, steps: Any, levels: Any) -> Any:
    """Metropolis steps of a batch of chains, and the mean of all after each."""
    xp = peer.xp

    def logarithm(x: Any) -> Any:
        return -0.5 * (x**2).sum(-1)

    def step(x: Any, drawn: Any) -> Any:
        move, level = drawn
        y = x + move
        x = xp.where((xp.log(level) < logarithm(y) - logarithm(x))[:, None], y, x)
        return x, x.mean(0)

    return peer.lax.scan(step, x, (steps, levels))


def tangent_kernel(peer: Peer, x: Any, first: Any, second: Any) -> Any:
    """Products of the gradients of a net for each two of a batch of inputs."""
    net = lambda w, x: peer.xp.tanh(x @ w) @ second  # noqa: E731
    slopes = peer.library.vmap(peer.library.grad(net), (None, 0))(first, x).reshape(x.shape[0], -1)
    return slopes @ slopes.T


def pooled(peer: Peer, x: Any) -> Any:
    return peer.lax.reduce_window(x, -np.float32(np.inf), peer.lax.max, WINDOW, WINDOW, "VALID")


def pooled_squares(peer: Peer, x: Any) -> Any:
    return (pooled(peer, x) ** 2).sum()


def joined(peer: Peer, x: Any, y: Any) -> Any:
    """Channels of two images, as nets with skipped layers join them."""
    return peer.nn.relu(peer.xp.concatenate([x, y * 2], axis=-1))


def gated(peer: Peer, x: Any, y: Any) -> Any:
    return peer.nn.glu(peer.xp.concatenate([x, y], axis=-1))


def shuffled(peer: Peer, x: Any) -> Any:
    """Channels become pixels."""
    n, height, width, channels = x.shape
    parts = x.reshape(n, height, width, 2, 2, channels // 4).transpose(0, 1, 3, 2, 4, 5)
    return parts.reshape(n, 2 * height, 2 * width, channels // 4)


def differences(peer: Peer, x: Any) -> Any:
    return ((x[:, ::2] - x[:, 1::2]) ** 2).sum()


def magnitude(peer: Peer, z: Any) -> Any:
    return abs(z)


def power(peer: Peer, z: Any) -> Any:
    return (abs(z) ** 2).sum(0)


def spectrogram(peer: Peer, x: Any, window: Any) -> Any:
    frames = np.arange(0, len(x) - len(window), 128)[:, None] + np.arange(len(window))
    return abs(peer.xp.fft.rfft(x[frames] * window))


def complex_rows(draw: Draw) -> tuple[Any, ...]:
    return ((draw.normal(370, 257) + 1j * draw.normal(370, 257)).astype(np.complex64),)


def images(draw: Draw) -> tuple[Any, ...]:
    return (draw.normal(8, 64, 64, 32),)


CASES = (
    Case(
        "pendulums 256 x 100",
        pendulums,
        lambda d: (d.normal(256, 2), d.normal(256, 100)),
        numpy=None,
        tolerance=50.0,
    ),
    Case("orbits 500 x 200", orbits, lambda d: (d.positive(500, 2),), numpy=None, quick=True, tolerance=50.0),
    Case(
        "roots of two equations 1,000",
        roots,
        lambda d: (d.positive(1000, 2) + np.float32([2, 0]),),
        numpy=None,
        tolerance=20.0,
    ),
    Case(
        "Metropolis chains 500 x 4 x 100",
        chains,
        lambda d: (d.normal(500, 4), d.normal(100, 500, 4), d.positive(100, 500) / 2),
        numpy=None,
        tolerance=20.0,
    ),
    Case(
        "tangent kernel 50 x 20 x 64",
        tangent_kernel,
        lambda d: (d.normal(50, 20), d.weights(20, 64), d.weights(64)),
        numpy=None,
        tolerance=20.0,
    ),
    Case("greatest of windows 8 x 64 x 64 x 32", pooled, images, numpy=None),
    Case("greatest of windows, gradient", gradient_of(pooled_squares, 0), images, numpy=None),
    Case(
        "joined images 8 x 64 x 64 x 32",
        joined,
        lambda d: (d.normal(8, 64, 64, 32), d.normal(8, 64, 64, 32)),
        numpy=None,
    ),
    Case("gated 2,000 x 128", gated, lambda d: (d.normal(2000, 64), d.normal(2000, 64)), numpy=None),
    Case("shuffled pixels 4 x 32 x 32 x 64", shuffled, lambda d: (d.normal(4, 32, 32, 64),)),
    Case(
        "differences of pairs, gradient 1000 x 1000",
        gradient_of(differences, 0),
        lambda d: (d.normal(1000, 1000),),
        numpy=None,
    ),
    Case("magnitude, complex 370 x 257", magnitude, complex_rows),
    Case("power, complex 370 x 257", power, complex_rows),
    Case(
        "spectrogram 48,000",
        spectrogram,
        lambda d: (d.normal(48_000), np.hanning(512).astype(np.float32)),
        tolerance=20.0,
    ),
)

"""Loops: stencils, updates in place, nested loops, while loops over arrays and numbers, a Kalman filter."""

from typing import Any

import numpy as np
from _case import Case, Draw
from _peers import Peer


def stencil(peer: Peer, a: Any) -> Any:
    """Fifty steps of a five-point mean inside an array."""

    def step(_: Any, a: Any) -> Any:
        inner = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        return a.at[1:-1, 1:-1].set(inner)

    return peer.lax.fori_loop(0, 50, step, a)


def numpy_stencil(a: Any) -> Any:
    a = a.copy()
    for _ in range(50):
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return a


def rows(peer: Peer, a: Any) -> Any:
    """Each row is replaced by a function of itself and of the row above."""

    def step(i: Any, a: Any) -> Any:
        return a.at[i, :].set(0.5 * a[i, :] + 0.25 * a[i - 1, :])

    return peer.lax.fori_loop(1, a.shape[0], step, a)


def numpy_rows(a: Any) -> Any:
    a = a.copy()
    for i in range(1, a.shape[0]):
        a[i] = 0.5 * a[i] + 0.25 * a[i - 1]
    return a


def columns(peer: Peer, a: Any) -> Any:
    """The same for columns, inside the borders."""

    def step(j: Any, a: Any) -> Any:
        return a.at[1:-1, j].set(0.5 * a[1:-1, j] + 0.25 * a[:-2, j - 1])

    return peer.lax.fori_loop(1, a.shape[1], step, a)


def elements(peer: Peer, a: Any) -> Any:
    """Elements one by one, each from its neighbours above and to the left."""

    def row(i: Any, a: Any) -> Any:
        def element(j: Any, a: Any) -> Any:
            return a.at[i, j].set(0.4 * (a[i, j] + a[i - 1, j] + a[i, j - 1]))

        return peer.lax.fori_loop(1, a.shape[1], element, a)

    return peer.lax.fori_loop(1, a.shape[0], row, a)


def triangle(peer: Peer, a: Any) -> Any:
    """A nested loop whose inner bound is the outer counter: forward substitution, element by element."""

    def row(i: Any, x: Any) -> Any:
        total = peer.lax.fori_loop(0, i, lambda j, s: s + a[i, j] * x[j], peer.xp.zeros((), a.dtype))
        return x.at[i].set((1.0 - total) / a[i, i])

    return peer.lax.fori_loop(0, a.shape[0], row, peer.xp.zeros(a.shape[0], a.dtype))


def numpy_triangle(a: Any) -> Any:
    x = np.zeros(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        x[i] = (1.0 - a[i, :i] @ x[:i]) / a[i, i]
    return x


def escape_counts(peer: Peer, c: Any) -> Any:
    """A pointwise while: the steps after which each point of the Mandelbrot set's plane leaves."""
    xp = peer.xp

    def going_on(state: Any) -> Any:
        z, _, k = state
        return (k < 40) & xp.any(z.real * z.real + z.imag * z.imag < 4.0)

    def step(state: Any) -> Any:
        z, counts, k = state
        inside = z.real * z.real + z.imag * z.imag < 4.0
        return xp.where(inside, z * z + c, z), counts + inside.astype(np.int32), k + 1

    start = (xp.zeros_like(c), xp.zeros(c.shape, np.int32), np.int32(0))
    return peer.lax.while_loop(going_on, step, start)[1]


def scalar_escape(peer: Peer, c: Any) -> Any:
    """A while over one number inside a loop over all points."""
    xp = peer.xp

    def count(c: Any) -> Any:
        def going_on(state: Any) -> Any:
            x, y, k = state
            return (x * x + y * y < 4.0) & (k < 40)

        def step(state: Any) -> Any:
            x, y, k = state
            return x * x - y * y + c[0], 2.0 * x * y + c[1], k + 1

        zero = xp.zeros((), c.dtype)
        return peer.lax.while_loop(going_on, step, (zero, zero, xp.int32(0)))[2]

    def point(i: Any, counts: Any) -> Any:
        return counts.at[i].set(count(c[i]))

    return peer.lax.fori_loop(0, c.shape[0], point, xp.zeros(c.shape[0], np.int32))


def collatz(peer: Peer, start: Any) -> Any:
    """The length of a Collatz sequence: a while over two integers."""

    def step(state: Any) -> Any:
        n, k = state
        return peer.xp.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1

    return peer.lax.while_loop(lambda state: state[0] != 1, step, (start, peer.xp.int32(0)))[1]


def newton(peer: Peer, numbers: Any) -> Any:
    """Cube roots by Newton's method, until no step is larger than 1e-6."""
    xp = peer.xp

    def going_on(state: Any) -> Any:
        return (xp.max(xp.abs(state[1])) > 1e-6) & (state[2] < 100)

    def step(state: Any) -> Any:
        x, _, count = state
        move = (x * x * x - numbers) / (3 * x * x)
        return x - move, move, count + 1

    start = (xp.ones_like(numbers), xp.ones_like(numbers), np.int32(0))
    return peer.lax.while_loop(going_on, step, start)[0]


def kalman(peer: Peer, transition: Any, observation: Any, noise: Any, measured: Any) -> Any:
    """The states of a Kalman filter: small products, a solve of order two and a carry of two arrays."""
    xp = peer.xp
    order, seen = transition.shape[0], observation.shape[0]
    small = 0.1 * xp.eye(seen, dtype=measured.dtype)

    def step(state: Any, y: Any) -> Any:
        x, p = state
        x, p = transition @ x, transition @ p @ transition.T + noise
        s = observation @ p @ observation.T + small
        det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
        inverse = xp.stack([xp.stack([s[1, 1], -s[0, 1]]), xp.stack([-s[1, 0], s[0, 0]])]) / det
        gain = p @ observation.T @ inverse
        x = x + gain @ (y - observation @ x)
        return (x, p - gain @ observation @ p), x

    start = (xp.zeros(order, measured.dtype), xp.eye(order, dtype=measured.dtype))
    return peer.lax.scan(step, start, measured)[1]


def linear_recurrence(peer: Peer, decay: Any, x: Any) -> Any:
    """A scan whose step is one product and one sum of vectors."""

    def step(h: Any, ax: Any) -> Any:
        h = ax[0] * h + ax[1]
        return h, h

    return peer.lax.scan(step, peer.xp.zeros(x.shape[1], x.dtype), (decay, x))[1]


def recurrence_gradient(peer: Peer, decay: Any, x: Any) -> Any:
    loss = lambda d, x: peer.xp.sum(linear_recurrence(peer, d, x) ** 2)  # noqa: E731
    return peer.library.grad(loss, argnums=(0, 1))(decay, x)


def branching(peer: Peer, x: Any) -> Any:
    """A scan with a branch in its step."""

    def step(total: Any, x: Any) -> Any:
        total = peer.lax.cond(x > 0, lambda t: t + x, lambda t: 0.5 * t - x, total)
        return total, total

    return peer.lax.scan(step, peer.xp.zeros((), x.dtype), x)[1]


def simplex_points(draw: Draw) -> tuple[Any, ...]:
    """Points of the plane around the Mandelbrot set."""
    count = draw.size(32_000)
    return ((draw.rng.uniform(-2, 0.5, count) + 1j * draw.rng.uniform(-1, 1, count)).astype(np.complex64),)


def plane(draw: Draw) -> tuple[Any, ...]:
    count = draw.size(1000)
    points = np.stack([draw.rng.uniform(-2, 0.5, count), draw.rng.uniform(-1, 1, count)], 1)
    return (points.astype(np.float32),)


def lower(draw: Draw) -> tuple[Any, ...]:
    n = draw.size(120)
    return (np.tril(draw.normal(120, 120) / n) + np.eye(n, dtype=np.float32),)


def filter_data(draw: Draw) -> tuple[Any, ...]:
    transition = np.eye(4, dtype=np.float32) + 0.1 * np.eye(4, k=2, dtype=np.float32)
    observation = np.eye(2, 4, dtype=np.float32)
    return transition, observation, 0.01 * np.eye(4, dtype=np.float32), draw.normal(500, 2)


CASES = (
    Case(
        "stencil 256 x 256, 50 steps",
        stencil,
        lambda draw: (draw.normal(256, 256),),
        numpy=numpy_stencil,
        quick=True,
    ),
    Case(
        "stencil 256 x 256, 50 steps, f64",
        stencil,
        lambda draw: (draw.normal(256, 256, dtype=np.float64),),
        numpy=numpy_stencil,
    ),
    Case("rows 600 x 600", rows, lambda draw: (draw.normal(600, 600),), numpy=numpy_rows, quick=True),
    Case(
        "columns 200 x 300 f64", columns, lambda draw: (draw.normal(200, 300, dtype=np.float64),), numpy=None
    ),
    Case("elements 60 x 60", elements, lambda draw: (draw.normal(60, 60),), numpy=None, quick=True),
    Case("triangle 120", triangle, lower, numpy=numpy_triangle, quick=True),
    Case("while, pointwise, 32,000 complex", escape_counts, simplex_points, numpy=None, tolerance=10.0),
    Case("while, one number, 1000 times", scalar_escape, plane, numpy=None),
    Case(
        "while, two integers",
        collatz,
        lambda draw: (np.int32(77_671 if not draw.tiny else 7),),
        numpy=None,
        quick=True,
    ),
    Case("while, Newton of 1024", newton, lambda draw: (draw.positive(1024) * 100,), numpy=None),
    Case("scan, Kalman 500 x 4", kalman, filter_data, numpy=None, quick=True),
    Case(
        "scan, linear 1000 x 64",
        linear_recurrence,
        lambda draw: (draw.positive(1000, 64) / 2, draw.normal(1000, 64)),
        numpy=None,
    ),
    Case(
        "scan, linear, gradient",
        recurrence_gradient,
        lambda draw: (draw.positive(1000, 64) / 2, draw.normal(1000, 64)),
        numpy=None,
    ),
    Case("scan, branch 1000", branching, lambda draw: (draw.normal(1000),), numpy=None),
)

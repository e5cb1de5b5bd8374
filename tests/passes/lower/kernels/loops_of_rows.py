"""Loops over rows of a few elements, each row computed from itself, and such that look as if they were."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

import adze
from adze import lax
from adze import numpy as xp

from .loops import Loop, floats
from .loops_of_elements import complexes, special

# -- each row for itself -----------------------------------------------------------------------------


def pendulums(states: Any, forces: Any) -> Any:
    def one(state: Any, forces: Any) -> Any:
        def step(s: Any, u: Any) -> Any:
            angle, speed = s[0], s[1]
            speed = speed + 0.05 * (u - 9.8 * xp.sin(angle))
            return xp.stack([angle + 0.05 * speed, speed]), (xp.cos(angle), s)

        return lax.scan(step, state, forces)

    return adze.vmap(one)(states, forces)


def multiplied(x: Any, a: Any) -> Any:
    """By one matrix, and by one of each row."""

    def step(i: Any, s: Any) -> Any:
        v, m = s
        return (a @ v) / 2 + m @ v, (m @ a + m.T) / 4

    m = x[:, :, None] * x[:, None] / 8
    return adze.vmap(lambda v, m: lax.fori_loop(0, 4, step, (v, m)))(x, m)


def until_small(x: Any) -> Any:
    def one(x: Any) -> Any:
        going_on = lambda s: (s[0] ** 2).sum() > 0.25  # noqa: E731
        return lax.while_loop(going_on, lambda s: (s[0] * 0.7 - 0.1 * xp.roll(s[0], 1), s[1] + 1), (x, 0))

    return adze.vmap(one)(x)


def scaled(x: Any, c: Any) -> Any:
    """By an array of one element, which is the same for all rows."""

    def step(i: Any, s: Any) -> Any:
        return xp.tanh(s[0] * c + s[1]), s[1] - s[0] * 0.5

    return lax.fori_loop(0, 3, step, (x, x * 2))


def moved(x: Any) -> Any:
    """All that moves elements of a row."""

    def step(i: Any, x: Any) -> Any:
        square = x.reshape(x.shape[0], 2, 2)
        turned = square.transpose(0, 2, 1).reshape(x.shape)
        padded = xp.pad(x[:, 1:3], ((0, 0), (1, 2)), constant_values=3)[:, ::-1][:, :4]
        return xp.concatenate([turned[:, 2:], (x[:, :1] + padded[:, ::2])], axis=1) / 2

    return lax.fori_loop(0, 5, step, x)


def reduced(x: Any) -> Any:
    def step(i: Any, x: Any) -> Any:
        least, most = x.min(1, keepdims=True), x.max(axis=1)
        return (x - least) / (1 + most[:, None]) + x.prod(-1)[:, None] * 0.01 + x.sum(1, keepdims=True) * 0.1

    return lax.fori_loop(0, 4, step, x)


def chosen(x: Any, n: Any) -> Any:
    def step(i: Any, s: Any) -> Any:
        x, m = s
        is_any, are_all = m.any(1), (x < 2).all(axis=1)
        x = xp.where(is_any[:, None] & m, x * 0.5, x + 1)
        return lax.cond(i % 2 == 0, lambda x: x - 0.25, lambda x: x * 1.5, x), m ^ are_all[:, None]

    return lax.fori_loop(0, 6, step, (x, n > 0))


def with_shared_numbers(x: Any, w: Any) -> Any:
    """A small array that all rows share is carried too."""

    def step(c: Any, u: Any) -> Any:
        x, w = c
        return (xp.tanh(x * w + u), w[::-1] * 0.9), x @ w

    return lax.scan(step, (x, w), xp.stack([w, w + 1, w * 2]))


def nested(x: Any) -> Any:
    def inner(i: Any, x: Any) -> Any:
        return x * 0.5 + x[:, ::-1] * 0.25

    return lax.fori_loop(0, 3, lambda i, x: lax.fori_loop(0, 2, inner, x) + 1, x)


def slopes(x: Any, p: Any) -> Any:
    def one(x: Any, p: Any) -> Any:
        step = lambda i, x: x + 0.1 * xp.stack([p[0] * x[0] - x[1], x[0] * p[1]])  # noqa: E731
        return (lax.fori_loop(0, 5, step, x) ** 2).sum()

    return adze.vmap(adze.grad(one, (0, 1)))(x, p)


def turned(z: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, z: xp.stack([z[:, 1] * 1j, xp.conj(z[:, 0]) * 0.5], axis=1), z)


def counted(n: Any) -> Any:
    return lax.fori_loop(0, 7, lambda i, n: xp.stack([n[:, 0] + n[:, 1], n[:, 0] % 7], axis=-1), n)


ROWS: Final[dict[str, list[Loop]]] = {
    "states": [
        (pendulums, [floats(20, 2), floats(20, 5)]),
        (pendulums, [floats(33, 2, dtype=np.float64), floats(33, 3, dtype=np.float64)]),
        (with_shared_numbers, [floats(18, 3), floats(3)]),
        (nested, [floats(17, 2)]),
        (slopes, [floats(40, 2), floats(40, 2)]),
        (until_small, [floats(50, 3)]),
    ],
    "elements": [
        (moved, [floats(21, 4)]),
        (moved, [floats(4, 4).repeat(4, 0)]),
        (reduced, [abs(floats(19, 3))]),
        (reduced, [special(16, 2)]),
        (chosen, [floats(25, 3), floats(25, 3)]),
        (multiplied, [floats(30, 2), floats(2, 2)]),
        (turned, [complexes(24, 2)]),
        (turned, [complexes(24, 2, dtype=np.complex128)]),
        (counted, [(floats(100, 2) * 9).astype(np.int64)]),
        (scaled, [floats(64), floats(1)]),
        (scaled, [floats(64, 2), floats(1)]),
        (scaled, [floats(64, 2), floats(1, 1)]),
    ],
}
"""Loops whose rows run by themselves."""

# -- one for another ---------------------------------------------------------------------------------


def neighbours(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, x: (x + xp.roll(x, 1, axis=0)) / 2, x)


def centered(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, x: x - x.mean(0), x)


def greatest(x: Any) -> Any:
    one = lambda x: lax.fori_loop(0, 3, lambda i, x: x.at[xp.argmax(x)].multiply(0.5), x)  # noqa: E731
    return adze.vmap(one)(x)


def of_products(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, x: (x @ x.T / 16) @ x, x)


def wide(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, x: x[:, ::-1] * 0.5, x)


def in_halves(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, x: x - x.sum(1, keepdims=True) / 8, x)


def turned_into_rows(x: Any, w: Any) -> Any:
    """A small array that all rows share has as many columns as there are rows."""
    return lax.fori_loop(0, 3, lambda i, x: x * 0.5 + lax.broadcast_in_dim(w, x.shape, (1, 0)), x)


TOGETHER: Final[list[Loop]] = [
    (neighbours, [floats(20, 2)]),
    (centered, [floats(20, 3)]),
    (greatest, [floats(20, 3)]),
    (of_products, [floats(18, 3)]),
    (wide, [floats(20, 40)]),
    (in_halves, [floats(20, 2, dtype=np.float16)]),
    (nested, [floats(9, 2)]),
    (turned_into_rows, [floats(16, 2), floats(2, 16)]),
]
"""Loops whose rows do not, or are too few or too long."""

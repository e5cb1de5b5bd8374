"""Loops that compute each element for itself, and such that look as if they did."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

import adze
from adze import lax
from adze import numpy as xp

from .loops import Loop, exchanged, floats, functions, integers


def special(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    x = floats(*shape, dtype=dtype)
    flat = x.reshape(-1)
    flat[:7] = np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 1.0
    return x


def complexes(*shape: int, dtype: Any = np.complex64) -> np.ndarray:
    return (floats(*shape) + 1j * floats(*shape)).astype(dtype)


# -- each for itself ---------------------------------------------------------------------------------


def escapes(c: Any) -> Any:
    def going_on(s: Any) -> Any:
        return (s[2] < 6) & xp.any(xp.real(s[0] * xp.conj(s[0])) < 4)

    def step(s: Any) -> Any:
        inside = xp.real(s[0] * xp.conj(s[0])) < 4
        return xp.where(inside, s[0] * s[0] + c, s[0]), s[1] + inside.astype(np.int8), s[2] + 1

    return lax.while_loop(going_on, step, (c * 0, xp.zeros(c.shape, np.int8), 0))[:2]


def active(x: Any) -> Any:
    """Bools say which elements go on."""

    def step(s: Any) -> Any:
        x, goes_on, done, count = s
        return (
            xp.where(goes_on, x * 0.75, x),
            goes_on & (abs(x) > 0.5) & (abs(x) < 1e30),
            done | (goes_on & (x < 0)),
            count - goes_on.astype(np.uint16),
        )

    start = (x, abs(x) > 0.25, x > 9, xp.zeros(x.shape, np.uint16))
    return lax.while_loop(lambda s: s[1].any(), step, start)


def until_done(x: Any) -> Any:
    def step(s: Any) -> Any:
        x, done = s
        return xp.where(done, x, x + 1), done | (x > 3)

    return lax.while_loop(lambda s: (~s[1]).any(), step, (x, x > 2))


def each_collatz(n: Any) -> Any:
    def one(n: Any) -> Any:
        def step(s: Any) -> Any:
            return xp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1

        return lax.while_loop(lambda s: (s[0] > 1) & (s[1] < 200), step, (n, xp.int32(0)))

    return adze.vmap(one)(n)


def each_newton(x: Any) -> Any:
    def one(x: Any) -> Any:
        return lax.while_loop(lambda s: abs(s * s - x) > 1e-3, lambda s: (s + x / s) / 2, x)

    return adze.vmap(one)(x)


def each_halved(n: Any) -> Any:
    """The condition is one comparison, of which the body's is a repetition."""
    return adze.vmap(lambda n: lax.while_loop(lambda n: n > 7, lambda n: n // 2 - 1, n))(n)


def as_long_as_asked(n: Any, x: Any) -> Any:
    return lax.fori_loop(
        0, n, lambda i, s: (s[0] * 0.5 + i.astype(x.dtype), s[1] * 2 + 1), (x, xp.ones((), x.dtype))
    )


def counted_too(x: Any) -> Any:
    def step(s: Any) -> Any:
        return xp.maximum(s[0], -s[0]) + s[1], s[1] * 1.25, s[2] | (s[1] > 2)

    return lax.while_loop(lambda s: s[1] < 7, step, (x, xp.ones((), x.dtype), False))


def rows(x: Any, scale: Any) -> Any:
    def step(c: Any, given: Any) -> Any:
        row, factor = given
        c = c * factor + row
        return c, (c, abs(row) > abs(c))

    return lax.scan(step, xp.zeros(x.shape[1:], x.dtype), (x, scale))


def rows_from_the_end(x: Any) -> Any:
    return lax.scan(lambda c, r: (r - c, c), x[0] * 2, x, reverse=True)


def slopes(x: Any) -> Any:
    def loss(x: Any) -> Any:
        return (lax.scan(lambda c, r: (xp.sin(c) * r + c, c * r), x[0], x)[1] ** 2).sum()

    return adze.grad(loss)(x), adze.jvp(loss, (x,), (x * 0.5,))


def chosen_and_nested(x: Any) -> Any:
    def inner(i: Any, x: Any) -> Any:
        return lax.fori_loop(0, i, lambda j, x: x * 0.5 + j, x)

    def step(i: Any, x: Any) -> Any:
        x = lax.cond(i % 2 == 0, lambda x: -x, lambda x: inner(i, x), x)
        small = abs(x) < 3
        grown = lax.while_loop(lambda x: (abs(x) < 3).any(), lambda x: xp.where(abs(x) < 3, x * 2 + 1, x), x)
        return xp.where(small, grown, x)

    return lax.fori_loop(0, 6, step, x)


def not_numbers(x: Any) -> Any:
    def step(i: Any, s: Any) -> Any:
        low, high, kept = s
        i = i.astype(x.dtype)
        return xp.minimum(low, x - i), xp.maximum(high, -x), xp.where(kept < high, kept, -kept)

    return lax.fori_loop(0, 4, step, (x, x, x))


def bools(m: Any) -> Any:
    return lax.fori_loop(0, 5, lambda i, s: (s[1] ^ s[0], s[0] | (i > 3)), (m, ~m))


def complex_numbers(z: Any) -> Any:
    def step(i: Any, s: Any) -> Any:
        z, w = s
        return xp.where(xp.real(z) > 0, z * w, xp.conj(z) + 1j), xp.exp(z * 0.1) / (w + 3)

    return lax.fori_loop(0, 4, step, (z, z * 0.5))


def constants_after(x: Any) -> Any:
    """Values that follow from no element once the code is simplified."""
    return lax.fori_loop(
        0, 3, lambda i, s: (s[0] * 0, s[1] & (s[0] > 9) & False, s[2]), (x.astype(int), x > 0, x)
    )


def given_back(x: Any, y: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, s: (s[0], s[1] + s[0]), (x, y))


# -- not each for itself -----------------------------------------------------------------------------


def all_go_on(x: Any) -> Any:
    """Elements that are done go on as long as others do."""
    return lax.while_loop(lambda x: (x < 10).any(), lambda x: x + 1, x)


def counted_steps(x: Any) -> Any:
    """How many steps there are depends on all elements."""
    return lax.while_loop(
        lambda s: (s[0] < 10).any(), lambda s: (xp.where(s[0] < 10, s[0] + 1, s[0]), s[1] + 1), (x, 0)
    )


def moving_limit(x: Any) -> Any:
    """An element that is done may go on when the limit has moved."""

    def step(s: Any) -> Any:
        return xp.where(s[0] < s[1], s[0] + 3, s[0]), s[1] + 1

    return lax.while_loop(lambda s: (s[1] < 9) & (s[0] < s[1]).any(), step, (x, xp.float32(0)))[0]


def zeros_lose_their_sign(x: Any) -> Any:
    def step(s: Any) -> Any:
        return s[0] + (s[1] < 3).astype(s[0].dtype), xp.where(s[1] < 3, s[1] + 1, s[1])

    return lax.while_loop(lambda s: (s[1] < 3).any(), step, (x * 0, abs(x)))


def neighbours(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, x: x[::-1] + x * 0.5, x)


def largest(x: Any) -> Any:
    return lax.while_loop(lambda x: x.max() < 50, lambda x: x * 2 + 1, abs(x))


_WIDE: Final = [np.float64, np.float16, ml_dtypes.bfloat16]

ELEMENTS: Final[dict[str, list[Loop]]] = {
    "complex": [
        (escapes, [complexes(67)]),
        (escapes, [complexes(5, 9, dtype=np.complex128)]),
        (complex_numbers, [complexes(33)]),
        (complex_numbers, [complexes(2, 3, 4, dtype=np.complex128)]),
    ],
    "masks": [
        (active, [special(70)]),
        (until_done, [floats(16)]),
        (each_collatz, [np.arange(300, dtype=np.int32)]),
        (each_collatz, [np.arange(1, 60, dtype=np.uint64)]),
        (each_halved, [np.arange(0, 90, dtype=np.int32)]),
        (each_newton, [abs(special(40)) + 0.5]),
        (bools, [floats(99) > 0]),
    ],
    "lengths": [
        *((as_long_as_asked, [np.int32(n), floats(17)]) for n in (0, 5, -3)),
        (counted_too, [floats(4, 5)]),
        (chosen_and_nested, [floats(18)]),
        (given_back, [floats(16), floats(16)]),
        (constants_after, [floats(16)]),
        (exchanged, [floats(21), floats(21)]),
    ],
    "rows": [
        (rows, [floats(5, 19), floats(5)]),
        (rows, [floats(6, 3, 7, dtype=np.float64), floats(6, dtype=np.float64)]),
        (rows, [complexes(4, 18), complexes(4)]),
        (rows_from_the_end, [special(4, 50)]),
        (slopes, [floats(5, 23)]),
    ],
    "numbers": [
        (not_numbers, [special(35)]),
        *((not_numbers, [special(20, dtype=dtype)]) for dtype in _WIDE),
        *((functions, [floats(19, dtype=dtype)]) for dtype in (np.float32, *_WIDE)),
        *(
            (
                integers,
                [np.arange(1, 20).astype(f"{kind}{bits}"), np.arange(3, 60, 3).astype(f"{kind}{bits}")],
            )
            for kind in ("int", "uint")
            for bits in (8, 16, 32, 64)
        ),
    ],
}
"""By group, loops of which each element runs by itself."""

TOGETHER: Final[list[Loop]] = [
    (all_go_on, [floats(30)]),
    (counted_steps, [floats(30)]),
    (moving_limit, [floats(30)]),
    (zeros_lose_their_sign, [special(30)[7:]]),
    (neighbours, [floats(30)]),
    (largest, [floats(30)]),
]
"""Loops whose elements depend on each other."""

"""The incomplete gamma functions of large `a` with `x` near `a`, by Temme's uniform expansion.

Input: floats `a >= LARGE` and `x` with `|x - a| < NEAR a`. Output: the lower and the upper function. Idea:
with `eta^2 / 2 = x / a - 1 - log(x / a)` both are half an `erfc(+-eta sqrt(a / 2))`, and a correction of
`exp(-a eta^2 / 2) / sqrt(2 pi a)` times a double series in `eta` and `1 / a` (DLMF 8.12.3 to 8.12.12). A
power series or a continued fraction needs some `sqrt(a)` terms there, and never ends once `a + 1` is `a`.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32
from ...tracing.interpreter import ops
from .. import numpy as xp

LARGE: Final = 400.0
NEAR: Final = 0.3
_STIRLING: Final = (1, Fraction(1, 12), Fraction(1, 288), Fraction(-139, 51840), Fraction(-571, 2488320))
"""The coefficients of the series of `gamma(a)` in powers of `1 / a` (DLMF 5.11.3, 5.11.5)."""
_TERMS: Final = {True: (3, 8), False: (5, 17)}
"""How many powers of `1 / a` and of `eta` are needed in float32, and in float64."""


def of_large(a: Any, x: Any) -> tuple[Any, Any]:
    """The lower and the upper function."""
    off = (x - a) / a
    square = half_square(off)
    eta = xp.sign(off) * xp.sqrt(2 * square)
    exponent = a * square
    series = xp.zeros_like(a)
    for row in reversed(_coefficients(*_TERMS[a.dtype == FLOAT32])):
        total = xp.zeros_like(a)
        for coefficient in reversed(row):
            total = total * eta + coefficient
        series = series / a + total
    rest = xp.exp(-exponent) / xp.sqrt(2 * math.pi * a) * series
    root = xp.sign(off) * xp.sqrt(exponent)
    return 0.5 * ops.erfc(-root) - rest, 0.5 * ops.erfc(root) + rest


def half_square(off: Any) -> Any:
    """`off - log(1 + off)` without cancellation: with `r = off / (2 + off)`, it is `off r` less the rest of
    the series of `log((1 + r) / (1 - r))`."""
    r = off / (2 + off)
    square = r * r
    total = xp.zeros_like(r)
    for k in range(11, 0, -1):
        total = total * square + 1 / (2 * k + 1)
    return off * r - 2 * r * square * total


@functools.cache
def _coefficients(powers: int, terms: int) -> tuple[tuple[float, ...], ...]:
    """Row `k` has the coefficients of `eta^n` beside `a^-k`, DLMF 8.12.12, by exact recurrences."""
    count = terms + 2 * powers + 3
    inverse = [Fraction(0), Fraction(1)]  # x / a - 1 as a series in eta: its derivative is eta x / (x - a)
    for n in range(2, count):
        products = sum(i * inverse[i] * inverse[n + 1 - i] for i in range(2, n))
        inverse.append((inverse[n - 1] - products) / (n + 1))
    first = [Fraction(-1, 3), *((n + 2) * inverse[n + 2] for n in range(1, count - 2))]
    rows = [first]
    for k in range(1, powers):
        above = rows[-1]
        sign = (-1) ** k * _STIRLING[k]
        rows.append([sign * first[n] + (n + 2) * above[n + 2] for n in range(len(above) - 2)])
    return tuple(tuple(np.float64(float(c)).item() for c in row[:terms]) for row in rows)

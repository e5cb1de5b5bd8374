"""The incomplete beta function of large parameters, by the first term of Temme's uniform expansion.

Input: floats `a` and `b` of the same size or not, `0 < x < 1`. Output: both tails, and the density. Idea:
with `h = a d((x - m) / m) + b d((m - x) / (1 - m))`, where `m = a / (a + b)` is the mean and `d(t)` is
`t - log(1 + t)`, the powers of the density are `exp(-h)` times what depends on the parameters alone, and no
large logarithms cancel; both tails are half an `erfc(+-sqrt(h))` and a correction (DLMF 8.18.9).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOAT32
from ...tracing.interpreter import ops
from .. import numpy as xp
from .beta_functions import STIRLING, stirling_remainder
from .large_gamma import half_square

_LARGE: Final = {True: 1e4, False: 1e8}
"""From which parameters on one term is enough, in float32 and in float64: the next is some `1 / a^(3/2)`."""


def is_large(a: Any, b: Any) -> Any:
    """Whether `of_large` has all digits."""
    least = _LARGE[a.dtype == FLOAT32]
    return (a >= least) & (b >= least)


def of_large(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The lower and the upper function where `is_large`."""
    off, h = _exponent(a, b, x)
    total = a + b
    mean, rest = 1 / (1 + b / a), 1 / (1 + a / b)
    deviation = xp.sqrt(mean) * xp.sqrt(rest)
    eta = xp.sign(off) * xp.sqrt(2 * h / total)
    is_middle = xp.abs(eta) < math.sqrt(float(np.finfo(a.dtype).eps))  # where the difference cancels
    difference = 1 / xp.where(is_middle, 1.0, eta) - deviation / xp.where(is_middle, 1.0, off)
    first = xp.where(is_middle, (rest - mean) / (3 * deviation), difference)
    correction = xp.exp(-h) / xp.sqrt(2 * math.pi * total) * first
    root = xp.sign(off) * xp.sqrt(h)
    return 0.5 * ops.erfc(-root) + correction, 0.5 * ops.erfc(root) - correction


def density_is_near(a: Any, b: Any, x: Any) -> Any:
    """Whether `density` holds: for parameters of Stirling's series, not too far from the mean."""
    off = x - 1 / (1 + b / a)
    is_near = (xp.abs(off * (1 + b / a)) < 0.5) & (xp.abs(off * (1 + a / b)) < 0.5)
    return is_near & (a >= STIRLING) & (b >= STIRLING) & xp.isfinite(a) & xp.isfinite(b)


def density(a: Any, b: Any, x: Any) -> Any:
    """`x^(a - 1) (1 - x)^(b - 1) / beta(a, b)` where `density_is_near`."""
    _, h = _exponent(a, b, x)
    remainder = stirling_remainder(a) + stirling_remainder(b) - stirling_remainder(a + b)
    return xp.sqrt(a / (1 + a / b) / (2 * math.pi)) * xp.exp(-h - remainder) / (x * (1 - x))


def _exponent(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    off = x - 1 / (1 + b / a)
    return off, a * _distance(off * (1 + b / a)) + b * _distance(-off * (1 + a / b))


def _distance(off: Any) -> Any:
    """`off - log(1 + off)`."""
    is_near = xp.abs(off) < 0.5
    near = half_square(xp.where(is_near, off, 0.0))
    far = xp.where(is_near, 0.0, off)
    return xp.where(is_near, near, far - xp.log1p(far))

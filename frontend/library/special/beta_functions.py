"""The beta function, its logarithm, and binomial coefficients of real numbers, under SciPy's names.

Input: arrays of any sign. Output: arrays of their dtype. Logarithms of gamma functions are never subtracted
where they cancel: large arguments go by Stirling's terms, negative ones by reflection.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.elementwise_decorator import in_float32
from ..numpy.promotion import stays_weak
from .scipy_names import floats, gammasgn

_HALF_LOG_TWO_PI: Final = 0.5 * math.log(2 * math.pi)
_LOG_PI: Final = math.log(math.pi)
STIRLING: Final = 8.0
"""From here on Stirling's series has all digits of float64 with eight terms."""


@stays_weak
def betaln(a: Any, b: Any) -> Any:
    """The logarithm of the absolute value of the beta function.

    It is infinite at zeros, minus infinite at infinity; NaN where gamma functions of the numerator and of the
    denominator both have a pole.
    """
    return in_float32(_betaln, *floats(a, b))


def _betaln(a: Any, b: Any) -> Any:
    """By `gamma(z) gamma(1 - z) = pi / sin(pi z)`, DLMF 5.5.3, from the one of positive arguments."""
    small, large = xp.where(a <= b, a, b), xp.where(a <= b, b, a)
    total = small + large
    is_edge = (a == 0) | (b == 0) | ~xp.isfinite(total)
    left, right = (small < 0) & ~is_edge, (large < 0) & ~is_edge
    whole = left & (total <= 0)
    p = xp.where(whole & ~right, large, xp.where(left, 1 - small, small))
    q = xp.where(right, 1 - large, xp.where(whole, 1 - total, xp.where(left, total, large)))
    inner = _of_positive(xp.where(is_edge, 1.0, p), xp.where(is_edge, 1.0, q))
    sines = _log_sine(total, whole) - _log_sine(small, left) - _log_sine(large, right)
    factor = xp.log(xp.where(right, 1 - total, xp.where(left & ~whole, large, 1.0)))
    is_inverse = right | (left & ~whole)
    value = xp.where(is_inverse, _LOG_PI - factor - inner, inner) + sines
    edge = xp.where(xp.isnan(total) | (small == -xp.inf), xp.nan, xp.where(small > 0, -xp.inf, xp.inf))
    is_zero = ((a == 0) | (b == 0)) & xp.isfinite(total)
    edge = xp.where(is_zero, _log_at_zero(xp.where(is_zero, a, 1.0), xp.where(is_zero, b, 1.0)), edge)
    return xp.where(is_edge, edge, value)


@custom_jvp
def _log_at_zero(a: Any, b: Any) -> Any:
    """`betaln` where an argument is 0: infinite, with an infinite slope in it."""
    return xp.full_like(a + b, xp.inf)


@_log_at_zero.defjvp
def _log_at_zero_rule(primals: Any, tangents: Any) -> Any:
    a, b = primals
    whole = ops.digamma(a + b)
    slopes = (ops.digamma(a) - whole) * tangents[0] + (ops.digamma(b) - whole) * tangents[1]
    return _log_at_zero(a, b), slopes


def _log_sine(z: Any, is_meant: Any) -> Any:
    """`log |sin(pi z)|` where `is_meant`, else 0."""
    rest = xp.where(is_meant, z - xp.round(z), 0.5)
    return xp.log(xp.abs(xp.sin(math.pi * rest)))


def _of_positive(small: Any, large: Any) -> Any:
    """`betaln` of two positive numbers.

    Where an argument is large, Stirling's terms of the three logarithms cancel on paper, not in floats:
    DiDonato and Morris, Algorithm 708, ACM Transactions on Mathematical Software 18 (1992).
    """
    small, large = xp.where(small <= large, small, large), xp.where(small <= large, large, small)
    whole = ops.lgamma(small) + ops.lgamma(large) - ops.lgamma(small + large)
    is_far = large >= STIRLING
    are_both = small >= STIRLING
    p = xp.where(is_far, small, 1.0)
    q = xp.where(is_far, large, STIRLING)
    difference = stirling_remainder(q) - stirling_remainder(p + q)
    one = ops.lgamma(p) + p - p * xp.log(q) - (p + q - 0.5) * xp.log1p(p / q) + difference
    p = xp.where(are_both, p, STIRLING)
    of_both = stirling_remainder(p) + difference - 0.5 * xp.log(q) + _HALF_LOG_TWO_PI
    two = of_both + (p - 0.5) * xp.log(p / (p + q)) - q * xp.log1p(p / q)
    return xp.where(are_both, two, xp.where(is_far, one, whole))


def stirling_remainder(z: Any) -> Any:
    """`lgamma(z) - ((z - 1/2) log(z) - z + log(2 pi) / 2)` for `z >= STIRLING`."""
    terms = (-3617 / 122400, 1 / 156, -691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)
    inverse = 1 / z
    square = inverse * inverse
    total = xp.zeros_like(z)
    for term in terms:
        total = total * square + term
    return total * inverse


@stays_weak
def beta(a: Any, b: Any) -> Any:
    """The beta function, with its sign; NaN for arguments that are negative and whole."""
    return in_float32(_beta, *floats(a, b))


def _beta(a: Any, b: Any) -> Any:
    is_zero = _is_pole(a + b) & ~_is_pole(a) & ~_is_pole(b)
    left, right = xp.where(is_zero, 1, a), xp.where(is_zero, 1, b)
    sign = gammasgn(left + 0.0) * gammasgn(right + 0.0) * gammasgn(left + right + 0.0)  # a pole has none
    zero = _beta_at_zero(xp.where(is_zero, a, -0.5), xp.where(is_zero, b, -0.5))
    return xp.where(is_zero, zero, sign * xp.exp(_betaln(left, right)))


def _beta_at_zero(a: Any, b: Any) -> Any:
    """`beta` where `a + b` is a pole of the gamma function: 0, with all derivatives, by its reflection."""
    total = a + b
    whole = xp.round(total)
    exponent = ops.lgamma(a) + ops.lgamma(b) + ops.lgamma(1 - total)
    size = xp.exp(xp.minimum(exponent, math.log(float(np.finfo(a.dtype).max)) - 1)) / math.pi
    sign = gammasgn(a) * gammasgn(b) * xp.where(xp.remainder(whole, 2) == 0, 1.0, -1.0).astype(a.dtype)
    return sign * size * xp.sin(math.pi * (total - whole))


@stays_weak
def binom(x: Any, y: Any) -> Any:
    """The binomial coefficient `gamma(x + 1) / (gamma(y + 1) gamma(x - y + 1))` of real numbers.

    It is 0 where only the denominator has a pole, NaN for negative whole `x`.
    """
    return in_float32(_binom, *floats(x, y))


def _binom(x: Any, y: Any) -> Any:
    """Beyond `x`, a large `y` leaves nothing of `x` in `x - y + 1`: its gamma function goes by reflection."""
    left, right = y + 1, x - y + 1
    is_over = (right < 0) & (y > -1)
    is_zero = ~is_over & (_is_pole(left) | _is_pole(right))
    is_outside = _is_pole(x + 1) | xp.isnan(x) | xp.isnan(y)
    is_inside = ~is_over & ~is_zero & ~is_outside
    is_negative = is_over & (x < -1)
    p = xp.where(is_over & ~is_negative, x + 1, xp.where(is_zero, 1, left))
    q = xp.where(is_negative, -x, xp.where(is_over, y - x, xp.where(is_zero, 1, right)))
    logarithm = _betaln(p, q)
    # The coefficient may be in range where the beta function is not: half of its logarithm, twice.
    root = xp.exp(0.5 * xp.where(is_over & ~is_negative, logarithm, -logarithm))
    sign = gammasgn(x + 1) * gammasgn(xp.where(is_inside, left, 1)) * gammasgn(xp.where(is_inside, right, 1))
    inside = sign / xp.abs(xp.where(is_inside, x + 1, 1))
    beyond = _sine_of_difference(y, x, is_over)
    width = xp.where(is_negative, (x - y) * _sine_of_difference(x, xp.zeros_like(x), is_negative), math.pi)
    value = root * xp.where(is_over, beyond / width, inside) * root
    at_infinity = xp.where(y == 0, 1, xp.where(y > 0, xp.inf, 0))
    value = xp.where((x == xp.inf) & xp.isfinite(y), at_infinity, xp.where(is_zero, 0, value))
    return xp.where(is_outside, xp.nan, value)


def _sine_of_difference(y: Any, x: Any, is_meant: Any) -> Any:
    """`sin(pi (y - x))` where `is_meant`, else 1; exact however far the two are from each other."""
    rest = (y - xp.round(y)) - (x - xp.round(x))
    turns = xp.remainder(xp.round(y), 2) - xp.remainder(xp.round(x), 2) + xp.round(rest)
    sign = xp.where(xp.remainder(turns, 2) == 0, 1.0, -1.0).astype(rest.dtype)
    return xp.where(is_meant, sign * xp.sin(math.pi * (rest - xp.round(rest))), 1.0)


def _is_pole(x: Any) -> Any:
    """Whether the gamma function has a pole there."""
    return (x <= 0) & (x == xp.floor(x)) & (x > -xp.inf)

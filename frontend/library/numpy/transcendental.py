"""Elementwise functions of analysis: roots, exponentials, logarithms, circular and hyperbolic functions.

Most are one primitive; the compositions here guard against overflow and cancellation where NumPy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects.types import COMPLEX
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .arguments import float_value, full_like
from .arithmetic import root_of_squares
from .elementwise_decorator import binary, elementwise, in_float32, unary
from .promotion import stays_weak

cbrt = unary(np.cbrt, "cbrt", "The real cube root.")
exp = unary(np.exp, "exp", "`e ** x`.")
expm1 = unary(np.expm1, "expm1", "`e ** x - 1`, accurate near 0.")
log = unary(np.log, "log", "The natural logarithm.")
log1p = unary(np.log1p, "log1p", "`log(1 + x)`, accurate near 0.")
sin = unary(np.sin, "sin", "The sine.")
cos = unary(np.cos, "cos", "The cosine.")
tan = unary(np.tan, "tan", "The tangent.")
asin = unary(np.arcsin, "asin", "The inverse sine.", "asin")
acos = unary(np.arccos, "acos", "The inverse cosine.", "acos")
atan = unary(np.arctan, "atan", "The inverse tangent.", "atan")
sinh = unary(np.sinh, "sinh", "The hyperbolic sine.")
cosh = unary(np.cosh, "cosh", "The hyperbolic cosine.")
tanh = unary(np.tanh, "tanh", "The hyperbolic tangent.")
asinh = unary(np.arcsinh, "asinh", "The inverse hyperbolic sine.", "asinh")
acosh = unary(np.arccosh, "acosh", "The inverse hyperbolic cosine.", "acosh")
atanh = unary(np.arctanh, "atanh", "The inverse hyperbolic tangent.", "atanh")
atan2 = binary(np.arctan2, "atan2", "The angle of the point `(y, x)`.", "atan2")
arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2
arcsinh, arccosh, arctanh = asinh, acosh, atanh


@elementwise(np.exp2)
def exp2(x: Any) -> Any:
    """`2 ** x`."""
    return ops.exp(_scaled(x, math.log(2))) if x.dtype in COMPLEX else ops.exp2(x)


def _scaled(x: Any, factor: float) -> Any:
    """A complex number times a real one, by parts: an infinite part leaves the other as it is."""
    real, imag = ops.real(x), ops.imag(x)
    return ops.complex(ops.mul(real, full_like(real, factor)), ops.mul(imag, full_like(imag, factor)))


@elementwise(np.log2)
def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    return _scaled(ops.log(x), 1 / math.log(2)) if x.dtype in COMPLEX else ops.log2(x)


@elementwise(np.log10)
def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    if x.dtype in COMPLEX:
        return _scaled(ops.log(x), 1 / math.log(10))
    return in_float32(lambda v: ops.mul(ops.log(v), full_like(v, 1 / math.log(10))), x)


@elementwise(np.hypot)
def hypot(x: Any, y: Any) -> Any:
    """`sqrt(x^2 + y^2)` without overflow: the larger side is taken out of the root."""
    return in_float32(_hypot, x, y)


def _hypot(x: Any, y: Any) -> Any:
    # The scale is a constant to derivatives: with its own they would be lost where a side is 0 or both are
    # equal. At the origin the slope is 0, as that of abs.
    sides = (ops.abs(x), ops.abs(y))
    zero = full_like(x, 0)
    is_infinite = [ops.compare(v, full_like(v, np.inf), direction="EQ") for v in sides]
    is_any = ops.or_(*is_infinite)
    scale, inverse = _power_of_two(ops.stop_gradient(ops.max(*sides)))
    ratios = [ops.mul(ops.select(is_any, zero, v), inverse) for v in (x, y)]
    length = ops.mul(scale, root_of_squares(ops.add(*(ops.mul(r, r) for r in ratios))))
    return ops.select(is_infinite[0], sides[0], ops.select(is_infinite[1], sides[1], length))


def _power_of_two(x: Any) -> tuple[Any, Any]:
    """A power of two near `x >= 0`, and its inverse, both normal numbers: the exponent's bits, clamped."""
    integer = np.dtype(f"int{8 * x.dtype.itemsize}")
    least = 1 << np.finfo(x.dtype).nmant  # the bits of the least normal number
    unit = int(np.ones((), x.dtype).view(integer))
    exponent = ops.and_(ops.bitcast_convert(x, dtype=integer), full_like(x, 2 * unit + least, integer))
    bounds = (full_like(x, n, integer) for n in (least, 2 * unit - least))
    bounded = ops.clamp(next(bounds), exponent, next(bounds))
    inverse = ops.sub(full_like(x, 2 * unit, integer), bounded)
    return ops.bitcast_convert(bounded, dtype=x.dtype), ops.bitcast_convert(inverse, dtype=x.dtype)


@elementwise(np.logaddexp)
def logaddexp(x: Any, y: Any) -> Any:
    """`log(e ** x + e ** y)` without overflow."""
    return in_float32(_natural_log_sum, x, y)


@elementwise(np.logaddexp2)
def logaddexp2(x: Any, y: Any) -> Any:
    """`log2(2 ** x + 2 ** y)` without overflow."""
    return in_float32(_binary_log_sum, x, y)


@custom_jvp
def _natural_log_sum(x: Any, y: Any) -> Any:
    return ops.add(*_log_sum_parts(x, y, ops.exp))


@_natural_log_sum.defjvp
def _natural_log_sum_rule(primals: Any, tangents: Any) -> Any:
    return _natural_log_sum(*primals), _mixed(primals, tangents, 1.0)


@custom_jvp
def _binary_log_sum(x: Any, y: Any) -> Any:
    top, tail = _log_sum_parts(x, y, ops.exp2)
    return ops.add(top, ops.mul(tail, full_like(x, 1 / math.log(2))))


@_binary_log_sum.defjvp
def _binary_log_sum_rule(primals: Any, tangents: Any) -> Any:
    return _binary_log_sum(*primals), _mixed(primals, tangents, math.log(2))


def _log_sum_parts(x: Any, y: Any, power: Callable[[Any], Any]) -> tuple[Any, Any]:
    """The greater of two numbers, and what the other adds to the logarithm of the sum of both powers."""
    return ops.max(x, y), ops.log1p(power(ops.neg(ops.abs(_difference(x, y)))))


def _difference(x: Any, y: Any) -> Any:
    """`x - y`, 0 of equal infinities."""
    infinite = ops.compare(ops.abs(x), full_like(x, np.inf), direction="EQ")
    is_none = ops.and_(infinite, ops.compare(x, y, direction="EQ"))
    return ops.select(is_none, full_like(x, 0), ops.sub(x, y))


def _mixed(primals: Any, tangents: Any, unit: float) -> Any:
    """The derivative of a logarithm of a sum of powers, whose base has the logarithm `unit`.

    It is right at ties, in any order: a maximum and a magnitude have no derivatives there.
    """
    difference = ops.mul(_difference(*primals), full_like(primals[0], unit))
    shares = ops.logistic(difference), ops.logistic(ops.neg(difference))
    return ops.add(*map(ops.mul, shares, tangents))


@elementwise(np.deg2rad)
def deg2rad(x: Any) -> Any:
    """Degrees to radians."""
    return in_float32(lambda v: ops.mul(v, full_like(v, math.pi / 180)), x)


@elementwise(np.rad2deg)
def rad2deg(x: Any) -> Any:
    """Radians to degrees."""
    return in_float32(lambda v: ops.mul(v, full_like(v, 180 / math.pi)), x)


radians, degrees = deg2rad, rad2deg


@stays_weak
def sinc(x: Any) -> Any:
    """`sin(pi x) / (pi x)`, 1 at 0."""
    return in_float32(_sinc, float_value(x))


# The coefficients of sin(t) / t in t^2; up to |t| = 1 also their fourth derivative is exact to rounding.
_SINC_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(12))


def _sinc(x: Any) -> Any:
    # By its series near 0, where the quotient has no derivatives at 0 and loses their digits beside it.
    angle, one = ops.mul(full_like(x, math.pi), x), full_like(x, 1)
    is_small = ops.compare(ops.abs(angle), ops.abs(one), direction="LT")
    near = ops.select(is_small, angle, full_like(x, 0))
    far = ops.select(is_small, one, angle)
    square, series = ops.mul(near, near), full_like(x, 0)
    for coefficient in reversed(_SINC_SERIES):
        series = ops.add(ops.mul(series, square), full_like(x, coefficient))
    # Neighbours of a whole number: pi x is rounded, which is an error of its sine that grows with x.
    sine = ops.sin(far) if x.dtype in COMPLEX else _sine_of_half_turns(x)
    return ops.select(is_small, series, ops.div(sine, far))


def _sine_of_half_turns(x: Any) -> Any:
    """`sin(pi x)`, by the distance of `x` from the nearest whole number, which has no rounding."""
    whole = ops.round(x)
    half = ops.mul(whole, full_like(x, 0.5))
    is_odd = ops.compare(half, ops.floor(half), direction="NE")
    sine = ops.sin(ops.mul(full_like(x, math.pi), ops.sub(x, whole)))
    return ops.select(is_odd, ops.neg(sine), sine)

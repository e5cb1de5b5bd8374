"""Elementwise functions of analysis: roots, exponentials, logarithms, circular and hyperbolic functions.

Most are one primitive; the compositions here guard against overflow and cancellation where NumPy does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dialects.types import COMPLEX
from ..tracing.interpreter import ops
from .axes import float_value, full_like
from .loops import binary, elementwise, in_float32, unary
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
    x, y = ops.abs(x), ops.abs(y)
    large, small = ops.max(x, y), ops.min(x, y)
    zero, one, infinity = full_like(x, 0), full_like(x, 1), full_like(x, np.inf)
    no_length = ops.compare(large, zero, direction="EQ")
    ratio = ops.div(small, ops.select(no_length, one, large))
    length = ops.mul(large, ops.sqrt(ops.add(one, ops.mul(ratio, ratio))))
    either = ops.or_(ops.compare(x, infinity, direction="EQ"), ops.compare(y, infinity, direction="EQ"))
    return ops.select(either, infinity, length)


@elementwise(np.logaddexp)
def logaddexp(x: Any, y: Any) -> Any:
    """`log(e ** x + e ** y)` without overflow."""
    return in_float32(lambda u, v: _log_sum(u, v, ops.exp, math.log(2), 1.0), x, y)


@elementwise(np.logaddexp2)
def logaddexp2(x: Any, y: Any) -> Any:
    """`log2(2 ** x + 2 ** y)` without overflow."""
    return in_float32(lambda u, v: _log_sum(u, v, ops.exp2, 1.0, 1 / math.log(2)), x, y)


def _log_sum(x: Any, y: Any, exponential: Any, doubled: float, unit: float) -> Any:
    distance = ops.neg(ops.abs(ops.sub(x, y)))
    tail = ops.mul(ops.log1p(exponential(distance)), full_like(x, unit))
    general = ops.add(ops.max(x, y), tail)
    # Equal operands, infinities among them: the difference would be NaN.
    return ops.select(ops.compare(x, y, direction="EQ"), ops.add(x, full_like(x, doubled)), general)


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


def _sinc(x: Any) -> Any:
    zero, one = ops.compare(x, full_like(x, 0), direction="EQ"), full_like(x, 1)
    angle = ops.mul(full_like(x, math.pi), ops.select(zero, one, x))
    return ops.select(zero, one, ops.div(ops.sin(angle), angle))

"""Elementwise primitives of one operand, and those that select or convert.

Python scalars stay weak. `accuracy` is a hint of JAX's: there is one form of each function, the most exact
one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import FLOATS, as_dtype
from ...tracing.interpreter import as_value, ops
from ..numpy.arithmetic import absolute_value
from ..numpy.bit_casts import bitcast
from ..numpy.promotion import stays_weak
from .accuracy import check_accuracy
from .precision import RoundingMethod
from .scalar_operands import choice, operands


@stays_weak
def neg(x: Any) -> Any:
    """The primitive `neg`, elementwise."""
    return ops.neg(as_value(x))


@stays_weak
def abs(x: Any) -> Any:
    """The primitive `abs`, elementwise."""
    return absolute_value(as_value(x))


@stays_weak
def sign(x: Any) -> Any:
    """The primitive `sign`, elementwise."""
    return ops.sign(as_value(x))


@stays_weak
def floor(x: Any) -> Any:
    """The primitive `floor`, elementwise."""
    return ops.floor(as_value(x))


@stays_weak
def ceil(x: Any) -> Any:
    """The primitive `ceil`, elementwise."""
    return ops.ceil(as_value(x))


@stays_weak
def sqrt(x: Any, accuracy: Any = None) -> Any:
    """The primitive `sqrt`, elementwise."""
    check_accuracy(accuracy)
    return ops.sqrt(as_value(x))


@stays_weak
def rsqrt(x: Any, accuracy: Any = None) -> Any:
    """The primitive `rsqrt`, elementwise."""
    check_accuracy(accuracy)
    return ops.rsqrt(as_value(x))


@stays_weak
def cbrt(x: Any, accuracy: Any = None) -> Any:
    """The primitive `cbrt`, elementwise."""
    check_accuracy(accuracy)
    return ops.cbrt(as_value(x))


@stays_weak
def exp(x: Any, accuracy: Any = None) -> Any:
    """The primitive `exp`, elementwise."""
    check_accuracy(accuracy)
    return ops.exp(as_value(x))


@stays_weak
def exp2(x: Any, accuracy: Any = None) -> Any:
    """The primitive `exp2`, elementwise; of complex numbers `exp(x log 2)`."""
    check_accuracy(accuracy)
    value = as_value(x)
    if value.dtype.kind == "c":
        return ops.exp(ops.mul(value, ops.full_like(value, np.log(2))))
    return ops.exp2(value)


@stays_weak
def expm1(x: Any, accuracy: Any = None) -> Any:
    """The primitive `expm1`, elementwise."""
    check_accuracy(accuracy)
    return ops.expm1(as_value(x))


@stays_weak
def log(x: Any, accuracy: Any = None) -> Any:
    """The primitive `log`, elementwise."""
    check_accuracy(accuracy)
    return ops.log(as_value(x))


@stays_weak
def log1p(x: Any, accuracy: Any = None) -> Any:
    """The primitive `log1p`, elementwise."""
    check_accuracy(accuracy)
    return ops.log1p(as_value(x))


@stays_weak
def sin(x: Any, accuracy: Any = None) -> Any:
    """The primitive `sin`, elementwise."""
    check_accuracy(accuracy)
    return ops.sin(as_value(x))


@stays_weak
def cos(x: Any, accuracy: Any = None) -> Any:
    """The primitive `cos`, elementwise."""
    check_accuracy(accuracy)
    return ops.cos(as_value(x))


@stays_weak
def tan(x: Any, accuracy: Any = None) -> Any:
    """The primitive `tan`, elementwise."""
    check_accuracy(accuracy)
    return ops.tan(as_value(x))


@stays_weak
def asin(x: Any) -> Any:
    """The primitive `asin`, elementwise."""
    return ops.asin(as_value(x))


@stays_weak
def acos(x: Any) -> Any:
    """The primitive `acos`, elementwise."""
    return ops.acos(as_value(x))


@stays_weak
def atan(x: Any) -> Any:
    """The primitive `atan`, elementwise."""
    return ops.atan(as_value(x))


@stays_weak
def sinh(x: Any) -> Any:
    """The primitive `sinh`, elementwise."""
    return ops.sinh(as_value(x))


@stays_weak
def cosh(x: Any) -> Any:
    """The primitive `cosh`, elementwise."""
    return ops.cosh(as_value(x))


@stays_weak
def tanh(x: Any, accuracy: Any = None) -> Any:
    """The primitive `tanh`, elementwise."""
    check_accuracy(accuracy)
    return ops.tanh(as_value(x))


@stays_weak
def asinh(x: Any) -> Any:
    """The primitive `asinh`, elementwise."""
    return ops.asinh(as_value(x))


@stays_weak
def acosh(x: Any) -> Any:
    """The primitive `acosh`, elementwise."""
    return ops.acosh(as_value(x))


@stays_weak
def atanh(x: Any) -> Any:
    """The primitive `atanh`, elementwise."""
    return ops.atanh(as_value(x))


@stays_weak
def logistic(x: Any, accuracy: Any = None) -> Any:
    """The primitive `logistic`, elementwise."""
    check_accuracy(accuracy)
    return ops.logistic(as_value(x))


@stays_weak
def erf(x: Any) -> Any:
    """The primitive `erf`, elementwise."""
    return ops.erf(as_value(x))


@stays_weak
def erfc(x: Any) -> Any:
    """The primitive `erfc`, elementwise."""
    return ops.erfc(as_value(x))


@stays_weak
def erf_inv(x: Any) -> Any:
    """The primitive `erf_inv`, elementwise."""
    return ops.erf_inv(as_value(x))


@stays_weak
def lgamma(x: Any) -> Any:
    """The primitive `lgamma`, elementwise."""
    return ops.lgamma(as_value(x))


@stays_weak
def digamma(x: Any) -> Any:
    """The primitive `digamma`, elementwise."""
    return ops.digamma(as_value(x))


@stays_weak
def is_finite(x: Any) -> Any:
    """The primitive `is_finite`, elementwise."""
    return ops.is_finite(as_value(x))


@stays_weak
def population_count(x: Any) -> Any:
    """The primitive `popcount`, elementwise."""
    return ops.popcount(as_value(x))


@stays_weak
def clz(x: Any) -> Any:
    """The primitive `clz`, elementwise."""
    return ops.clz(as_value(x))


@stays_weak
def real(x: Any) -> Any:
    """The primitive `real`, elementwise."""
    return ops.real(as_value(x))


@stays_weak
def imag(x: Any) -> Any:
    """The primitive `imag`, elementwise."""
    return ops.imag(as_value(x))


@stays_weak
def conj(x: Any) -> Any:
    """The complex conjugate, elementwise: complex also for real `x`."""
    value = as_value(x)
    if value.dtype in FLOATS and value.dtype.itemsize >= 4:
        return ops.complex(value, ops.zeros_like(value))
    return ops.conj(value)


@stays_weak
def bitwise_not(x: Any) -> Any:
    """The primitive `not`, elementwise."""
    return ops.not_(as_value(x))


@stays_weak
def round(x: Any, rounding_method: str | RoundingMethod = "away_from_zero") -> Any:
    """`x` rounded to an integer: halves `away_from_zero`, or `to_nearest_even`; a `RoundingMethod` too."""
    value = as_value(x)
    name = rounding_method.name.lower() if isinstance(rounding_method, RoundingMethod) else rounding_method
    if choice("rounding_method", name, ("to_nearest_even", "away_from_zero")) == "to_nearest_even":
        return ops.round(value)
    magnitude = ops.abs(value)
    down = ops.floor(magnitude)
    up = ops.compare(ops.sub(magnitude, down), ops.full_like(value, 0.5), direction="GE")
    rounded = ops.add(down, ops.convert(up, dtype=value.dtype))
    return ops.mul(ops.sign(value), rounded)


@stays_weak
def square(x: Any) -> Any:
    """`x * x`."""
    value = as_value(x)
    return ops.mul(value, value)


@stays_weak
def reciprocal(x: Any) -> Any:
    """`1 / x`."""
    value = as_value(x)
    return ops.div(ops.full_like(value, 1), value)


@stays_weak
def integer_pow(x: Any, y: int) -> Any:
    """`x ** y` for a Python integer `y`, by repeated squaring."""
    value = as_value(x)
    if y < 0:
        return reciprocal(integer_pow(value, -y))
    result, factor = None, value
    while y:
        if y & 1:
            result = factor if result is None else ops.mul(result, factor)
        y >>= 1
        factor = ops.mul(factor, factor) if y else factor
    return ops.full_like(value, 1) if result is None else result


def select(pred: Any, on_true: Any, on_false: Any) -> Any:
    """`on_true` where `pred`, else `on_false`; `pred` of the same shape, or 0-d. An integer holds above 0."""
    condition = as_value(pred)
    if np.issubdtype(condition.dtype, np.integer):
        return select_n(condition, on_false, on_true)
    on_true, on_false = operands(on_true, on_false)
    if condition.ndim == 0 and on_true.ndim:
        condition = ops.broadcast_in_dim(condition, shape=on_true.shape, dimensions=())
    return ops.select(condition, on_true, on_false)


def select_n(which: Any, *cases: Any) -> Any:
    """`cases[which[i]][i]` for each element; `which` is bool (two cases) or int32."""
    index = as_value(which)
    values = operands(*cases)
    if index.ndim == 0 and values[0].ndim:
        index = ops.broadcast_in_dim(index, shape=values[0].shape, dimensions=())
    if index.dtype == np.bool_:
        return ops.select(index, values[1], values[0])
    result = values[-1]
    for position in range(len(values) - 2, -1, -1):
        is_case = ops.compare(index, ops.full_like(index, position), direction="LE")
        result = ops.select(is_case, values[position], result)
    return result


@stays_weak
def clamp(min: Any, x: Any, max: Any) -> Any:
    """`x` limited to `[min, max]`, bounds of the shape of `x` or 0-d."""
    value = as_value(x)
    low, high = as_value(min, value.dtype), as_value(max, value.dtype)
    if low.ndim == 0 and value.ndim:
        low = ops.broadcast_in_dim(low, shape=value.shape, dimensions=())
    if high.ndim == 0 and value.ndim:
        high = ops.broadcast_in_dim(high, shape=value.shape, dimensions=())
    return ops.clamp(low, value, high)


def convert_element_type(operand: Any, new_dtype: Any) -> Any:
    """`operand` in another dtype; floats to integers truncate and saturate."""
    return as_value(operand, as_dtype(new_dtype))


def bitcast_convert_type(operand: Any, new_dtype: Any) -> Any:
    """The bits of `operand` as another dtype: narrower elements along a new last axis, the lowest bits first,
    wider ones of the elements along the last axis."""
    return bitcast(as_value(operand), as_dtype(new_dtype))


@stays_weak
def stage(x: Any) -> Any:
    """`x` as an array, or as a value of the trace."""
    return as_value(x)

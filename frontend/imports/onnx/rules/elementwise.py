"""Elementwise ops: arithmetic, comparisons, logic, bits, conversions."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ....library import numpy as xp
from ....tracing.interpreter import ops
from ...errors import ModelError
from ..calls import Call, Rule


def unary(function: Callable[[Any], Any]) -> Rule:
    """The rule of an op of one operand without attributes."""

    def rule(call: Call, x: Any) -> Any:
        return function(x)

    return rule


def binary(function: Callable[[Any, Any], Any]) -> Rule:
    """The rule of an op of two operands that are broadcast."""

    def rule(call: Call, x: Any, y: Any) -> Any:
        return function(x, aligned(call, x, y))

    return rule


def variadic(function: Callable[[Any, Any], Any]) -> Rule:
    """The rule of an op that combines any number of operands."""

    def rule(call: Call, *values: Any) -> Any:
        return reduce(function, values)

    return rule


def aligned(call: Call, x: Any, y: Any) -> Any:
    """The second operand, along the axes that `axis` names in op sets before 7."""
    if call.opset >= 7 or not call.flag("broadcast") or not call.has("axis"):
        return y
    axis = call.integer("axis") % x.ndim
    return xp.reshape(y, (*y.shape, *(1,) * (x.ndim - axis - y.ndim)))


def divide(x: Any, y: Any) -> Any:
    """A quotient; of integers towards zero, as in C."""
    return ops.div(*xp.broadcast_arrays(x, y)) if x.dtype.kind in "iu" else x / y


def power(x: Any, y: Any) -> Any:
    """A power with the dtype of its base."""
    if x.dtype.kind in "iu" and y.dtype.kind == "f":
        return xp.power(x.astype(np.float64), y.astype(np.float64)).astype(x.dtype)
    return xp.power(x, y.astype(x.dtype))


def mod(call: Call, x: Any, y: Any) -> Any:
    return ops.rem(*xp.broadcast_arrays(x, y)) if call.flag("fmod") else xp.remainder(x, y)


def mean(call: Call, *values: Any) -> Any:
    return reduce(xp.add, values) / float(len(values))


def bit_shift(call: Call, x: Any, y: Any) -> Any:
    left, right = xp.broadcast_arrays(x, y)
    is_left = call.choice("direction", "", ("LEFT", "RIGHT")) == "LEFT"
    if x.dtype.kind == "u":
        return ops.shift_left(left, right) if is_left else ops.shift_right_logical(left, right)
    # Negative numbers of steps are undefined: they shift everything out, as too large ones do.
    steps = xp.where(right < 0, xp.full_like(right, x.dtype.itemsize * 8), right)
    return ops.shift_left(left, steps) if is_left else ops.shift_right_arithmetic(left, steps)


def clip(call: Call, x: Any, low: Any = None, high: Any = None) -> Any:
    if call.opset < 11:
        low = call.real("min") if call.has("min") else None
        high = call.real("max") if call.has("max") else None
    result = x if low is None else xp.maximum(x, low)
    return result if high is None else xp.minimum(result, high)


def is_inf(call: Call, x: Any) -> Any:
    both = xp.isinf(x)
    if not call.flag("detect_negative", True):
        both = both & (x > 0)
    return both if call.flag("detect_positive", True) else both & (x < 0)


def cast(call: Call, x: Any) -> Any:
    return x.astype(call.dtype("to"))


def cast_like(call: Call, x: Any, like: Any) -> Any:
    return x.astype(like.dtype)


def bit_cast(call: Call, x: Any) -> Any:
    dtype = call.dtype("to")
    if dtype.itemsize != x.dtype.itemsize:
        raise ModelError(f"the elements of {x.dtype.name} and {dtype.name} have different sizes")
    if np.dtype(bool) in (dtype, x.dtype):
        return x.astype(dtype) if dtype == x.dtype else _bytes_of_bool(x, dtype)
    return ops.bitcast_convert(x, dtype=dtype)


def _bytes_of_bool(x: Any, dtype: np.dtype) -> Any:
    return x != 0 if dtype == np.dtype(bool) else x.astype(dtype)


def where(call: Call, condition: Any, x: Any, y: Any) -> Any:
    return xp.where(condition, x, y)


def identity(call: Call, x: Any) -> Any:
    return [x]  # which may be a sequence


def reciprocal(x: Any) -> Any:
    return 1 / x


def erf(x: Any) -> Any:
    if x.dtype.kind in "iu":
        return xp.rint(ops.erf(x.astype(np.float32))).astype(x.dtype)
    return ops.erf(x)

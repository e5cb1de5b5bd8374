"""Elementwise comparison, truth and bits.

Comparisons are exact across integer dtypes and against Python integers of any size, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, COMPLEX, FLOATS, INTEGERS, SIGNED, UNSIGNED
from ...errors import OutOfRangeError
from ...tracing.interpreter import ops
from .arguments import dtype_error, full_like, refuse_out
from .arithmetic import absolute, add, multiply, subtract
from .elementwise_decorator import elementwise
from .plain_operands import quick
from .promotion import (
    PYTHON_SCALARS,
    WIDE,
    asarray_of,
    broadcast_together,
    coerce,
    convert,
    dtype_of_numbers,
    fits,
    key_of,
    promote_keys,
)
from .ufuncs import Ufunc, as_ufunc

_MIRRORED: Final = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "EQ": "EQ", "NE": "NE"}
_UINT64: Final = np.dtype(np.uint64)


def _comparison(direction: str, name: str, sign: str) -> Ufunc:
    at_once = quick(getattr(np, name), "compare", direction=direction)

    def function(x: Any, y: Any) -> Any:
        compared = at_once(x, y)
        if compared is not None:
            return compared
        x, y = coerce(x), coerce(y)
        if type(y) is int and _is_beyond(x, y):
            return _against_giant(x, y, direction)
        if type(x) is int and _is_beyond(y, x):
            return _against_giant(y, x, _MIRRORED[direction])
        keys = (key_of(x), key_of(y))
        dtype, weak = promote_keys(keys)
        if weak:
            dtype = dtype_of_numbers(dtype)
        elif any(_is_beyond_floats(v, dtype) for v in (x, y)):
            dtype = WIDE.get(dtype, dtype)
        if dtype in COMPLEX and direction not in ("EQ", "NE"):
            raise dtype_error(f"{name}: complex numbers have no order", "compare .real, .imag or abs()")
        if dtype in FLOATS and all(isinstance(k, np.dtype) and k in INTEGERS for k in keys):
            return _compare_mixed_signs(x, y, direction)
        return ops.compare(*broadcast_together((convert(x, dtype), convert(y, dtype))), direction=direction)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`x {sign} y`, elementwise."
    return Ufunc(function, getattr(np, name))


def _is_beyond(array: Any, number: int) -> bool:
    """Whether an integer array's dtype cannot hold a Python integer."""
    key = key_of(array)
    return isinstance(key, np.dtype) and key in INTEGERS and not fits(number, key)


def _is_beyond_floats(value: Any, dtype: np.dtype) -> bool:
    """Whether a Python number would become infinite in `dtype`: the comparison is exact in float64."""
    if type(value) not in PYTHON_SCALARS:
        return False
    try:
        convert(value, dtype)
    except OutOfRangeError:
        return True
    return False


def _against_giant(array: Any, number: int, direction: str) -> Any:
    """The comparison with a number beyond the dtype's range: the same answer everywhere."""
    is_less = number > 0
    answer = {"LT": is_less, "LE": is_less, "GT": not is_less, "GE": not is_less}
    return full_like(array, answer.get(direction, direction == "NE"), BOOL)


def _compare_mixed_signs(x: Any, y: Any, direction: str) -> Any:
    """int64 with uint64: no dtype holds both, so a negative number decides alone."""
    x, y = broadcast_together((x, y))
    if x.dtype in UNSIGNED:
        x, y, direction = y, x, _MIRRORED[direction]
    negative = ops.compare(x, full_like(x, 0), direction="LT")
    result = ops.compare(ops.convert(x, dtype=_UINT64), ops.convert(y, dtype=_UINT64), direction=direction)
    if direction in ("LT", "LE", "NE"):
        return ops.or_(negative, result)
    return ops.and_(ops.not_(negative), result)


equal = _comparison("EQ", "equal", "==")
not_equal = _comparison("NE", "not_equal", "!=")
less = _comparison("LT", "less", "<")
less_equal = _comparison("LE", "less_equal", "<=")
greater = _comparison("GT", "greater", ">")
greater_equal = _comparison("GE", "greater_equal", ">=")


# -- truth -------------------------------------------------------------------------------------


def truth(x: Any) -> Any:
    """Whether each element is not zero."""
    value = asarray_of(x)
    return value if value.dtype == BOOL else ops.compare(value, full_like(value, 0), direction="NE")


@as_ufunc(np.logical_not)
def logical_not(x: Any) -> Any:
    """Whether `x` is zero."""
    return ops.not_(truth(x))


@as_ufunc(np.logical_and)
def logical_and(x: Any, y: Any) -> Any:
    """Whether both are nonzero."""
    return ops.and_(*broadcast_together((truth(x), truth(y))))


@as_ufunc(np.logical_or)
def logical_or(x: Any, y: Any) -> Any:
    """Whether one of them is nonzero."""
    return ops.or_(*broadcast_together((truth(x), truth(y))))


@as_ufunc(np.logical_xor)
def logical_xor(x: Any, y: Any) -> Any:
    """Whether exactly one of them is nonzero."""
    return ops.xor(*broadcast_together((truth(x), truth(y))))


# -- bits --------------------------------------------------------------------------------------


@elementwise(np.bitwise_and)
def bitwise_and(x: Any, y: Any) -> Any:
    """`x & y` of integers or booleans."""
    return ops.and_(x, y)


@elementwise(np.bitwise_or)
def bitwise_or(x: Any, y: Any) -> Any:
    """`x | y` of integers or booleans."""
    return ops.or_(x, y)


@elementwise(np.bitwise_xor)
def bitwise_xor(x: Any, y: Any) -> Any:
    """`x ^ y` of integers or booleans."""
    return ops.xor(x, y)


@elementwise(np.invert)
def bitwise_invert(x: Any) -> Any:
    """`~x` of integers or booleans."""
    return ops.not_(x)


@elementwise(np.left_shift)
def bitwise_left_shift(x: Any, y: Any) -> Any:
    """`x << y`; bits above the width are lost."""
    return ops.shift_left(x, y)


@elementwise(np.right_shift)
def bitwise_right_shift(x: Any, y: Any) -> Any:
    """`x >> y`; the sign is kept."""
    return ops.shift_right_arithmetic(x, y) if x.dtype in SIGNED else ops.shift_right_logical(x, y)


@elementwise(np.bitwise_count)
def bitwise_count(x: Any) -> Any:
    """How many bits of `|x|` are set, as uint8."""
    if x.dtype == BOOL:
        return ops.convert(x, dtype=np.dtype(np.uint8))
    bits = ops.popcount(ops.abs(x) if x.dtype in SIGNED else x)
    return ops.convert(bits, dtype=np.dtype(np.uint8)) if bits.dtype != np.uint8 else bits


invert = bitwise_not = bitwise_invert
left_shift, right_shift = bitwise_left_shift, bitwise_right_shift


# -- kinds of floats ---------------------------------------------------------------------------


def _of_float(function: Callable[[Any], Any], otherwise: bool) -> Callable[[Any], Any]:
    """A predicate of floats: of a complex number true where it is of either part."""

    def predicate(x: Any) -> Any:
        value = asarray_of(x)
        if value.dtype in COMPLEX:
            join = ops.and_ if otherwise else ops.or_
            return join(function(ops.real(value)), function(ops.imag(value)))
        return function(value) if value.dtype in FLOATS else full_like(value, otherwise, BOOL)

    predicate.__name__ = predicate.__qualname__ = function.__name__.removeprefix("_")
    predicate.__doc__ = function.__doc__
    return predicate


def _isnan(x: Any) -> Any:
    """Whether `x` is NaN."""
    return ops.compare(x, x, direction="NE")


def _isinf(x: Any) -> Any:
    """Whether `x` is infinite."""
    return ops.compare(ops.abs(x), full_like(x, np.inf), direction="EQ")


def _isfinite(x: Any) -> Any:
    """Whether `x` is neither infinite nor NaN."""
    return ops.is_finite(x)


def _isposinf(x: Any) -> Any:
    """Whether `x` is plus infinity."""
    return ops.compare(x, full_like(x, np.inf), direction="EQ")


def _isneginf(x: Any) -> Any:
    """Whether `x` is minus infinity."""
    return ops.compare(x, full_like(x, -np.inf), direction="EQ")


isnan = Ufunc(_of_float(_isnan, False), np.isnan)
isinf = Ufunc(_of_float(_isinf, False), np.isinf)
isfinite = Ufunc(_of_float(_isfinite, True), np.isfinite)


def isposinf(x: Any, /, out: Any = None) -> Any:
    """Whether `x` is plus infinity."""
    refuse_out("isposinf", out)
    return _of_float(_isposinf, False)(x)


def isneginf(x: Any, /, out: Any = None) -> Any:
    """Whether `x` is minus infinity."""
    refuse_out("isneginf", out)
    return _of_float(_isneginf, False)(x)


def isreal(x: Any) -> Any:
    """Whether the imaginary part is zero."""
    value = asarray_of(x)
    if value.dtype not in COMPLEX:
        return full_like(value, True, BOOL)
    return equal(ops.imag(value), 0)


def iscomplex(x: Any) -> Any:
    """Whether the imaginary part is not zero."""
    return logical_not(isreal(x))


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """Whether `|a - b| <= atol + rtol * |b|`, infinities being close to themselves only."""
    a, b = coerce(a), coerce(b)
    if promote_keys((key_of(b),))[0] not in FLOATS | COMPLEX:
        b = ops.convert(asarray_of(b), dtype=np.dtype(np.float64))
    near = less_equal(absolute(subtract(a, b)), add(atol, multiply(rtol, absolute(b))))
    result = logical_or(logical_and(near, isfinite(b)), equal(a, b))
    return logical_or(result, logical_and(isnan(a), isnan(b))) if equal_nan else result

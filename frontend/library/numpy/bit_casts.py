"""The bits of arrays as elements of another dtype, of the same width or of another one.

Input: integers or floats. Idea: elements of different widths meet as unsigned integers, of which the wider
ones are put together from the narrower ones by shifts, the first of these being the lowest bits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, COMPLEX, INEXACT, INTEGERS
from ...tracing.interpreter import ops
from .arguments import argument_error, dtype_error, dtype_of, full_like, shape_error, type_error
from .promotion import asarray_of, broadcast, same_size, type_text

_BYTE: Final = np.dtype(np.uint8)


def view(x: Any, dtype: Any = None, type: None = None) -> Any:
    """The bits of `x` read as another dtype: the last axis is as much longer or shorter as elements get
    narrower or wider. Booleans are bytes of 0 or 1, and bytes other than 0 are true.

    There are no other classes of arrays (`type`). Raises `ShapeError` where the last axis does not hold whole
    elements, and for another width of an array without axes.
    """
    if type is not None:
        raise type_error(f"view: type is {type!r}, and arrays have one class")
    value = asarray_of(x)
    if dtype is None:
        return value
    if isinstance(dtype, (int, tuple, list)) and not isinstance(dtype, bool):
        hint = "for another shape write x.reshape(shape)"
        raise argument_error(f"view: expected a dtype, got {dtype!r}", hint)
    wanted = dtype_of("view", dtype)
    if value.dtype == BOOL and wanted != BOOL:  # a byte of 0 or 1
        value = ops.convert(value, dtype=_BYTE)
    elif wanted == BOOL and value.dtype != BOOL:
        bits = view(value, _BYTE)
        return ops.compare(bits, full_like(bits, 0), direction="NE")
    if value.dtype.itemsize == wanted.itemsize:
        return value if value.dtype == wanted else ops.bitcast_convert(value, dtype=wanted)
    if value.ndim == 0:
        raise shape_error(f"view: {type_text(value)} has no axis that {wanted} of another width could change")
    *outer, size = value.shape
    ratio = wanted.itemsize // value.dtype.itemsize
    if not ratio:
        parts = bitcast(value, wanted)
        return ops.reshape(parts, shape=(*outer, size * parts.shape[-1]))
    if not isinstance(size, int) or size % ratio:
        raise shape_error(f"view: the last axis of {type_text(value)} holds no whole number of {wanted}")
    return bitcast(ops.reshape(value, shape=(*outer, size // ratio, ratio)), wanted)


def bitcast(value: Any, dtype: np.dtype) -> Any:
    """The bits of `value` as another dtype, by the rule of `lax.bitcast_convert_type`: narrower elements lie
    along a new last axis, wider ones are made of the elements along the last axis, which has so many."""
    width, wanted = value.dtype.itemsize, dtype.itemsize
    if width == wanted:
        return ops.bitcast_convert(value, dtype=dtype)
    for kind in (value.dtype, dtype):
        if kind in COMPLEX or kind not in INEXACT | INTEGERS:
            hint = "elements of other widths are integers or floats"
            raise dtype_error(f"bitcast: {type_text(value)} cannot be read as {dtype}", hint)
    narrow, wide = np.dtype(f"u{min(width, wanted)}"), np.dtype(f"u{max(width, wanted)}")
    count = wide.itemsize // narrow.itemsize
    if width > wanted:
        bits = ops.reshape(_as_bits(value, wide), shape=(*value.shape, 1))
        bits = broadcast(bits, (*value.shape, count))
        parts = ops.shift_right_logical(bits, _places(bits, narrow))
        return _as_bits(ops.convert(parts, dtype=narrow), dtype)
    if value.ndim == 0 or not same_size(value.shape[-1], count):
        raise shape_error(f"bitcast: {type_text(value)} as {dtype} needs a last axis of {count} elements")
    bits = ops.convert(_as_bits(value, narrow), dtype=wide)
    joined = ops.reduce_sum(ops.shift_left(bits, _places(bits, narrow)), axes=(bits.ndim - 1,))
    return _as_bits(joined, dtype)


def _as_bits(value: Any, dtype: np.dtype) -> Any:
    return value if value.dtype == dtype else ops.bitcast_convert(value, dtype=dtype)


def _places(bits: Any, narrow: np.dtype) -> Any:
    """The lowest bit of each narrow element along the last axis."""
    number = ops.iota(shape=bits.shape, axis=bits.ndim - 1, dtype=bits.dtype)
    return ops.mul(number, full_like(number, 8 * narrow.itemsize))

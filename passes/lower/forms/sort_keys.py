"""The keys of sorting: signed integers that are ordered as elements are, NaN last and -0 equal to +0.

Input: a scalar and its dtype. Output: a scalar of i32, or of i64 for dtypes of 64 bits.
"""

from __future__ import annotations

import numpy as np

from ....dialects import mlir
from ....dialects.types import FLOAT32, FLOAT64, FLOATS, INT32, INT64
from ..builder import Value
from ..scalars import Scalars


def key_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the keys of elements of `dtype`."""
    return INT64 if dtype.itemsize == 8 else INT32


def sort_key(scalars: Scalars, value: Value, dtype: np.dtype) -> Value:
    """The key of one element."""
    arith = mlir.arith
    wide = key_dtype(dtype)
    type_ = scalars.element_type(wide)
    if dtype not in FLOATS:
        if dtype.kind == "i":
            return value if dtype == wide else arith.extsi(type_, value)
        if dtype.itemsize < wide.itemsize:
            return arith.extui(type_, value)
        return arith.xori(value, scalars.constant(wide, 1 << (8 * wide.itemsize - 1)))
    real = FLOAT64 if dtype == FLOAT64 else FLOAT32
    value = scalars.convert(dtype, real, value)
    bits = arith.bitcast(type_, value)
    zero, most = scalars.constant(wide, 0), scalars.constant(wide, np.iinfo(wide).max)
    negative = arith.cmpi(arith.CmpIPredicate.slt, bits, zero)
    key = arith.select(negative, arith.xori(bits, most), bits)
    # The bit patterns of zeros and NaNs, not the comparisons of floats, which may be told to be fast.
    minus_zero = arith.cmpi(arith.CmpIPredicate.eq, bits, scalars.constant(wide, np.iinfo(wide).min))
    magnitude = arith.andi(bits, most)
    infinity = 0x7F800000 if wide == INT32 else 0x7FF0000000000000
    nan = arith.cmpi(arith.CmpIPredicate.sgt, magnitude, scalars.constant(wide, infinity))
    return arith.select(nan, most, arith.select(minus_zero, zero, key))

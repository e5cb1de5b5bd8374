"""The keys of sorting: signed integers that are ordered as elements are, NaN last and -0 equal to +0.

Input: a scalar and its dtype. Output: a scalar of i32, or of i64 for dtypes of 64 bits.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, FLOATS, INT32, INT64
from ..builder import Value
from ..kernels.builder import Number, choose
from ..scalars import Scalars

INFINITIES: Final = {
    FLOAT16: 0x7C00,
    BFLOAT16: 0x7F80,
    FLOAT32: 0x7F800000,
    FLOAT64: 0x7FF0000000000000,
}  # the bits of infinity


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
    return float_key(Number(arith.bitcast(type_, value)), real).value


def float_key(bits: Number, dtype: np.dtype) -> Number:
    """The keys of floats of `dtype` with these bits, their sign extended: a scalar or a vector.

    The bit patterns of zeros and NaNs, not the comparisons of floats, which may be told to be fast.
    """
    most = (1 << (8 * dtype.itemsize - 1)) - 1
    key = choose(bits < 0, bits ^ most, bits)
    is_minus_zero = bits.equals(-most - 1)
    is_nan = (bits & most) > INFINITIES[dtype]
    greatest = (1 << (mlir.ir.IntegerType(bits.element).width - 1)) - 1
    return choose(is_nan, bits.lift(greatest), choose(is_minus_zero, bits.lift(0), key))

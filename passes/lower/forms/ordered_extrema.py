"""Greatest and least floats as greatest and least unsigned integers, where a target loses NaN.

Input: a tensor of floats to be reduced. Output: a tensor of unsigned integers in the order of the elements,
-0 before +0 and NaN beyond all, and from what is left of it the floats again.

Vulkan's extrema of the threads of a subgroup leave NaN out: the greatest of f32[8] whose last element is NaN
is 1 on a device with subgroups of 8. The form can go when
`tests/gpu/test_reductions.py::test_iree_still_loses_nan` fails.
"""

from __future__ import annotations

import numpy as np

from ....dialects import mlir
from ....dialects.types import FLOATS
from ....runtime.targets import Target, TargetKind
from ..builder import LinalgBuilder, Value
from ..scalars import Scalars

_EXTREMA = ("reduce_max", "reduce_min")


def loses_nan(target: Target, name: str, dtype: np.dtype) -> bool:
    """Whether the reduction `name` of `dtype` is to be one of integers."""
    through_spirv = target.kind in (TargetKind.VULKAN, TargetKind.METAL)
    return through_spirv and name in _EXTREMA and dtype in FLOATS


def key_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype of the keys of floats of `dtype`."""
    return np.dtype(f"uint{8 * dtype.itemsize}")


def first_key(name: str, dtype: np.dtype) -> int:
    """The key of the initial value of a reduction: of -inf for the greatest, of +inf for the least."""
    sign, infinity = 1 << (8 * dtype.itemsize - 1), _infinity(dtype)
    return sign - 1 - infinity if name == "reduce_max" else sign | infinity


def keys_of(b: LinalgBuilder, name: str, dtype: np.dtype, x: Value) -> Value:
    """The keys of the elements: of NaN the greatest of all, or the least where that is sought."""
    keys = key_dtype(dtype)
    bits = 8 * dtype.itemsize
    sign, most = 1 << (bits - 1), (1 << bits) - 1

    def rule(scalars: Scalars, dtypes: tuple[np.dtype, ...], element: Value) -> Value:
        arith = mlir.arith
        number = arith.bitcast(scalars.element_type(keys), element)
        magnitude = arith.andi(number, scalars.constant(keys, sign - 1))
        is_nan = arith.cmpi(arith.CmpIPredicate.ugt, magnitude, scalars.constant(keys, _infinity(dtype)))
        is_negative = arith.cmpi(arith.CmpIPredicate.slt, number, scalars.constant(keys, 0))
        flips = arith.select(is_negative, scalars.constant(keys, most), scalars.constant(keys, sign))
        nan = scalars.constant(keys, most if name == "reduce_max" else 0)
        return arith.select(is_nan, nan, arith.xori(number, flips))

    return b.elementwise(rule, (dtype,), keys, [x], {})


def floats_of(b: LinalgBuilder, dtype: np.dtype, keys: Value) -> Value:
    """The floats of keys. The keys of NaN, which are all ones or all zeros, are bits of NaN then."""
    bits = 8 * dtype.itemsize
    sign, most = 1 << (bits - 1), (1 << bits) - 1
    integers = key_dtype(dtype)

    def rule(scalars: Scalars, dtypes: tuple[np.dtype, ...], key: Value) -> Value:
        arith = mlir.arith
        is_negative = arith.cmpi(arith.CmpIPredicate.sge, key, scalars.constant(integers, 0))
        flips = arith.select(is_negative, scalars.constant(integers, most), scalars.constant(integers, sign))
        return arith.bitcast(scalars.element_type(dtype), arith.xori(key, flips))

    return b.elementwise(rule, (integers,), dtype, [keys], {})


def _infinity(dtype: np.dtype) -> int:
    return int(np.asarray(np.inf, dtype).view(key_dtype(dtype)))

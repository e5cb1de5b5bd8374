"""Lowering of `argmax` and `argmin`: the extremum, then the least position of an element equal to it.

Input: a tensor and an axis. Output: the positions, integers of the dtype that is asked for. Rows of known
sizes have a kernel of our own on CUDA (`sorted_rows.py`).
"""

from __future__ import annotations

import numpy as np

from ....dialects import mlir
from ....dialects.ops.reduction import Argmax, greatest, least
from ....dialects.types import FLOATS, INT32, INT64
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, ScalarRule, Size, Value
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import configuration
from .reductions import reduce_axes
from .sorted_rows import first_by_kernel
from .tensor_ops import convert_elements


def lower_argument_extremum(ctx: LoweringContext, x: Value, *, axis: int, index_dtype: np.dtype) -> Value:
    """Two vectorisable passes: the extremum, then the least position of an element equal to it; one kernel
    of our own, or two, for known sizes on CUDA.

    A NaN makes the extremum NaN, which equals nothing; then the elements wanted are the NaNs.
    """
    b = ctx.builder
    dtype = ctx.operand_dtype
    if dtype == np.dtype(bool):
        x, dtype = convert_elements(b, dtype, np.dtype(np.int8), x), np.dtype(np.int8)
    if configuration.searches_by_kernel(ctx.target, b.shape(x)):
        return first_by_kernel(ctx, x, dtype, axis, index_dtype)
    reduction, identity = ("reduce_max", least) if ctx.op is Argmax else ("reduce_min", greatest)
    # Kept apart: fused into one kernel the two passes are vectorised badly.
    extremum = b.materialise(reduce_axes(ctx, reduction, x, (axis,), identity(dtype), dtype, dtype))
    shape = b.shape(x)
    rank, size = len(shape), shape[axis]
    counted = INT32 if isinstance(size, int) and size < 2**31 else INT64
    none = int(np.iinfo(counted).max)
    kept = [a for a in range(rank) if a != axis]
    # The positions are an array: IREE has no code on Vulkan for a reduction that asks for its loop index.
    positions = b.materialise(_index_vector(b, size, counted))

    def body(element: Value, best: Value, here: Value, _: Value) -> Value:
        is_wanted = _is_extremum(dtype, element, best)
        return mlir.arith.select(is_wanted, here, b.scalars.constant(counted, none))

    candidates = b.generic(
        [x, extremum, positions],
        [b.empty(shape, counted)],
        [
            b.identity_map(rank),
            b.axes_map(rank, kept),
            b.axes_map(rank, (axis,)),
            b.identity_map(rank),
        ],
        ["parallel"] * rank,
        body,
    )
    if b.kind is TargetKind.CUDA and not all(isinstance(n, int) for n in shape):
        # In one kernel with the least of them IREE refuses the candidates, or all results are -1, silently.
        candidates = b.materialise(candidates)
    position = reduce_axes(ctx, "reduce_min", candidates, (axis,), none, counted, counted)
    if not isinstance(size, int):
        position = b.map_elements(counted, _replace_absent(b, counted, none), position)
    return convert_elements(b, counted, index_dtype, position)


def _index_vector(b: LinalgBuilder, size: Size, dtype: np.dtype) -> Value:
    """The vector 0, 1, 2, ..."""
    element = b.scalars.element_type(dtype)
    return b.generic(
        [],
        [b.empty([size], dtype)],
        [b.identity_map(1)],
        ["parallel"],
        lambda _: mlir.arith.index_cast(element, mlir.linalg.IndexOp(0).result),
    )


def _replace_absent(b: LinalgBuilder, counted: np.dtype, none: int) -> ScalarRule:
    """The rule that makes position 0 of the number that stands for none."""

    def rule(_: Scalars, dtypes: tuple[np.dtype, ...], position: Value) -> Value:
        absent = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, position, b.scalars.constant(counted, none))
        return mlir.arith.select(absent, b.scalars.constant(counted, 0), position)

    return rule


def _is_extremum(dtype: np.dtype, element: Value, best: Value) -> Value:
    if dtype not in FLOATS:
        return mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, element, best)
    equal = mlir.arith.cmpf(mlir.arith.CmpFPredicate.OEQ, element, best)
    nan = mlir.arith.cmpf(mlir.arith.CmpFPredicate.UNO, element, element)
    return mlir.arith.ori(equal, nan)

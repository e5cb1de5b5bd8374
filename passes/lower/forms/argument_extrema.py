"""Positions of extrema along an axis: `argmax` and `argmin`.

Input: an op and its lowered operand. Output: two passes, of which the first one finds the extremum and the
second one the least position of an element equal to it; or kernels of our own, for known sizes on CUDA. The
one idea: positions are an array, which long axes have one of for each row and one within rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.ops.reduction import Argmax, greatest, least
from ....dialects.types import FLOATS, INT32, INT64
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, ScalarRule, Size, Value
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import ordering_forms
from .reductions import reduce_axes
from .sorted_rows import first_by_kernel
from .tensor_ops import convert_elements, expand_axes, extract_slice

LONG: Final = 1 << 20
"""Elements of a row whose positions, in one array, would take more memory and time than the row itself."""
VERY_LONG: Final = 1 << 24
"""The same for a row that shorter ones do not divide: what is left over of it takes time of its own."""
ROW: Final = 4096


def lower_argument_extremum(ctx: LoweringContext, x: Value, *, axis: int, index_dtype: np.dtype) -> Value:
    """Two vectorisable passes: the extremum, then the least position of an element equal to it; one kernel
    of our own, or two, for known sizes on CUDA.

    A NaN makes the extremum NaN, which equals nothing; then the elements wanted are the NaNs.
    """
    b = ctx.builder
    dtype = ctx.operand_dtype
    if dtype == np.dtype(bool):
        x, dtype = convert_elements(b, dtype, np.dtype(np.int8), x), np.dtype(np.int8)
    if ordering_forms.searches_by_kernel(ctx.target, b.shape(x)):
        return first_by_kernel(ctx, x, dtype, axis, index_dtype)
    reduction, identity = ("reduce_max", least) if ctx.op is Argmax else ("reduce_min", greatest)
    # Kept apart: fused into one kernel the two passes are vectorised badly.
    extremum = b.materialise(reduce_axes(ctx, reduction, x, (axis,), identity(dtype), dtype, dtype))
    size = b.shape(x)[axis]
    counted = INT32 if isinstance(size, int) and size < 2**31 else INT64
    is_long = b.kind is TargetKind.CPU and _is_long(b.shape(x), axis)
    position = (_in_rows if is_long else _at_once)(ctx, x, extremum, axis, dtype, counted)
    return convert_elements(b, counted, index_dtype, position)


def _is_long(shape: Sequence[Size], axis: int) -> bool:
    size = shape[axis]
    if not isinstance(size, int) or axis != len(shape) - 1:
        return False
    return size >= (LONG if size % ROW == 0 else VERY_LONG)


def _at_once(
    ctx: LoweringContext,
    x: Value,
    extremum: Value,
    axis: int,
    dtype: np.dtype,
    counted: np.dtype,
    start: int = 0,
) -> Value:
    """The least position of an extremum; the first one is `start`."""
    b, shape = ctx.builder, ctx.builder.shape(x)
    kept = [a for a in range(len(shape)) if a != axis]
    position = _least_candidate(ctx, x, extremum, axis, kept, dtype, counted, start)
    if not isinstance(shape[axis], int):
        position = b.map_elements(counted, _replace_absent(b, counted), position)
    return position


def _least_candidate(
    ctx: LoweringContext,
    x: Value,
    extremum: Value,
    axis: int,
    kept: Sequence[int],
    dtype: np.dtype,
    counted: np.dtype,
    start: int = 0,
) -> Value:
    """The least position along `axis` of an element that is the extremum, which has the axes `kept`; the
    greatest number where there is none."""
    b, shape = ctx.builder, ctx.builder.shape(x)
    rank = len(shape)
    none = int(np.iinfo(counted).max)
    # The positions are an array: IREE has no code on Vulkan for a reduction that asks for its loop index.
    positions = b.materialise(_index_vector(b, shape[axis], counted, start))

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
    return reduce_axes(ctx, "reduce_min", candidates, (axis,), none, counted, counted)


def _in_rows(
    ctx: LoweringContext, x: Value, extremum: Value, axis: int, dtype: np.dtype, counted: np.dtype
) -> Value:
    """The least position in each row of a long axis, then the least of the whole axis."""
    b, shape = ctx.builder, ctx.builder.shape(x)
    rank, size = len(shape), shape[axis]
    assert isinstance(size, int)
    rows, left_over = divmod(size, ROW)
    whole = size - left_over
    none = int(np.iinfo(counted).max)
    groups = [[a + (a > axis)] if a != axis else [a, a + 1] for a in range(rank)]
    body = _part(b, x, axis, 0, whole)
    body = expand_axes(b, body, groups, [*shape[:axis], rows, ROW, *shape[axis + 1 :]])
    kept = [a for a in range(rank + 1) if a not in (axis, axis + 1)]
    within = _least_candidate(ctx, body, extremum, axis + 1, kept, dtype, counted)

    def of_axis(first: Value, here: Value, _: Value) -> Value:
        missing = b.scalars.constant(counted, none)
        is_absent = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, first, missing)
        return mlir.arith.select(is_absent, missing, mlir.arith.addi(first, here))

    starts = b.materialise(_index_vector(b, rows, counted, 0, ROW))
    maps = [b.identity_map(rank), b.axes_map(rank, (axis,)), b.identity_map(rank)]
    init = b.empty(b.shape(within), counted)
    places = b.generic([within, starts], [init], maps, ["parallel"] * rank, of_axis)
    position = reduce_axes(ctx, "reduce_min", places, (axis,), none, counted, counted)
    if left_over == 0:
        return position
    rest = _at_once(ctx, _part(b, x, axis, whole, left_over), extremum, axis, dtype, counted, whole)
    return b.map_elements(counted, lambda _, __, one, two: mlir.arith.minsi(one, two), position, rest)


def _part(b: LinalgBuilder, x: Value, axis: int, start: int, size: int) -> Value:
    """A part of `x` along an axis; all of it where it is so large."""
    shape = b.shape(x)
    if shape[axis] == size:
        return x
    offsets = [start if a == axis else 0 for a in range(len(shape))]
    return extract_slice(
        b, x, offsets, [size if a == axis else n for a, n in enumerate(shape)], [1] * len(shape)
    )


def _index_vector(b: LinalgBuilder, size: Size, dtype: np.dtype, start: int = 0, step: int = 1) -> Value:
    """The vector start, start + step, ..."""

    def element(_: Value) -> Value:
        index = mlir.arith.index_cast(b.scalars.element_type(dtype), mlir.linalg.IndexOp(0).result)
        if step != 1:
            index = mlir.arith.muli(index, b.scalars.constant(dtype, step))
        return index if start == 0 else mlir.arith.addi(index, b.scalars.constant(dtype, start))

    return b.generic([], [b.empty([size], dtype)], [b.identity_map(1)], ["parallel"], element)


def _replace_absent(b: LinalgBuilder, counted: np.dtype) -> ScalarRule:
    """The rule that makes position 0 of the number that stands for none."""
    none = int(np.iinfo(counted).max)

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

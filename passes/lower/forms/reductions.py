"""Lowering of reductions: `linalg.generic` over the axes in their order, long full reductions in two stages.

Input: a tensor, the axes, the name of the reduction and its value on no elements. Output: the reduced tensor
in the operand's dtype. The scalar code that combines carries f16 and bf16 in f32 and rounds once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final, TypeAlias

import numpy as np

from ....dialects import mlir
from ....dialects.ops.reduction import (
    Argmax,
    Reduction,
    accumulation_dtype,
    greatest,
    least,
)
from ....dialects.types import FLOATS, INT32, INT64
from ..builder import Attribute, LinalgBuilder, ScalarRule, Size, Value
from ..kernels.columns import COMBINATIONS, reduce_columns
from ..kernels.executable import DISPATCH
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import configuration
from ..tuning.column_tiles import column_tiles
from .tensor_ops import collapse_axes, convert_elements, expand_axes, extract_slice, parse_attribute, splat

Init: TypeAlias = "Callable[[Sequence[Size]], Value]"  # the initial value of a reduction, by its shape

_COMBINE: Final = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and_",
    "reduce_or": "or_",
    "cumsum": "add",
    "cumprod": "mul",
    "cummax": "max",
    "cummin": "min",
}


def combine(b: LinalgBuilder, name: str, dtype: np.dtype, left: Value, right: Value) -> Value:
    """The scalar that one step of the reduction or running value `name` makes."""
    return getattr(b.scalars, _COMBINE[name])(dtype, left, right)


def lower_reduction(ctx: LoweringContext, x: Value, *, axes: Sequence[int]) -> Value:
    """Reduce `x` along `axes`, in a wider dtype where the sum needs one."""
    assert issubclass(ctx.op, Reduction)
    b, name, dtype = ctx.builder, ctx.op.name, ctx.operand_dtype
    identity = ctx.op.identity(dtype)
    if not axes:
        return x
    carried = accumulation_dtype(dtype) if _COMBINE[name] in ("add", "mul") else dtype
    by_kernel = _reduced_columns(ctx, name, x, axes, dtype) if dtype == carried else None
    if by_kernel is not None:
        return by_kernel
    return convert_elements(b, carried, dtype, reduce_axes(ctx, name, x, axes, identity, dtype, carried))


def reduce_axes(
    ctx: LoweringContext,
    name: str,
    x: Value,
    axes: Sequence[int],
    identity: complex,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value:
    """Reduce `x` of `dtype` along `axes` in one or two stages; the result is of dtype `carried`."""
    b = ctx.builder
    if any(b.shape(x)[a] == 0 for a in axes):
        kept = [n for a, n in enumerate(b.shape(x)) if a not in axes]
        return splat(b, np.asarray(identity).astype(carried), kept)
    if ctx.uses.get(x, 0) > 1 and not all(isinstance(n, int) for n in b.shape(x)):
        # Observed: IREE fuses what computes `x` for another user too, whole and on the stack.
        x = b.materialise(x)
    stages = configuration.reduction_stages(ctx.target, b.shape(x), axes)
    if stages is None:
        return _reduce_once(ctx, name, x, axes, _identity_init(b, identity, carried), dtype, carried)
    if stages.split is not None:
        x = collapse_axes(b, x, [axes]) if len(axes) > 1 else x
        return _reduce_vector(ctx, name, x, stages.split, identity, dtype, carried)
    partial = _reduce_once(ctx, name, x, stages.first, _identity_init(b, identity, carried), dtype, carried)
    rest = tuple(range(len(axes) - len(stages.first)))
    return reduce_axes(ctx, name, partial, rest, identity, carried, carried)


def _reduced_columns(
    ctx: LoweringContext, name: str, x: Value, axes: Sequence[int], dtype: np.dtype
) -> Value | None:
    """The reduction by the kernel of columns, None where IREE's code is as good.

    IREE computes what is computed element by element where it is loaded, and reductions of one array at once.
    """
    b, ordered = ctx.builder, sorted(axes)
    shape = [n for n in b.shape(x) if isinstance(n, int)]
    first, last = ordered[0], ordered[-1]
    if name not in COMBINATIONS or len(shape) < len(b.shape(x)) or last == len(shape) - 1:
        return None
    if ordered != list(range(first, last + 1)) or len(list(ctx.operation.operands[0].uses)) > 1:
        return None
    sizes = prod(shape[:first]), prod(shape[first : last + 1]), prod(shape[last + 1 :])
    tiles = column_tiles(ctx.target, sizes, dtype)
    if tiles is None or not _is_stored(x):
        return None
    flat = collapse_axes(b, x, [list(range(len(shape)))])
    columns = reduce_columns(ctx.kernels, expand_axes(b, flat, [[0, 1, 2]], sizes), name, tiles)
    kept = [n for axis, n in enumerate(shape) if axis not in axes]
    return expand_axes(b, collapse_axes(b, columns, [[0, 1]]), [list(range(len(kept)))], kept)


def _is_stored(x: Value) -> bool:
    """Whether `x`, or what it is a reshape of, is an argument or the result of a kernel of our own."""
    owner = x.owner
    while not isinstance(owner, mlir.ir.Block):
        if owner.operation.name not in ("tensor.collapse_shape", "tensor.expand_shape"):
            return bool(owner.operation.name == DISPATCH)
        owner = owner.operation.operands[0].owner
    return True


def _reduce_vector(
    ctx: LoweringContext,
    name: str,
    x: Value,
    length: int,
    identity: complex,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value:
    """A vector as rows of `length` elements, each reduced, then their results, then what is left over."""
    b = ctx.builder
    (size,) = b.shape(x)
    rows = b.calculate("size_div", size, length)
    whole = b.calculate("size_mul", rows, length)
    left_over = b.calculate("size_sub", size, whole)
    body = x if left_over == 0 else extract_slice(b, x, [0], [whole], [1])
    body = expand_axes(b, body, [[0, 1]], [rows, length])
    partial = _reduce_once(ctx, name, body, (1,), _identity_init(b, identity, carried), dtype, carried)
    total = _reduce_once(ctx, name, partial, (0,), _identity_init(b, identity, carried), carried, carried)
    if left_over == 0:
        return total
    rest = extract_slice(b, x, [whole], [left_over], [1])
    return _reduce_once(ctx, name, rest, (0,), lambda _: total, dtype, carried)


def _identity_init(b: LinalgBuilder, identity: complex, carried: np.dtype) -> Init:
    """What makes the initial value of a reduction: a tensor full of the identity."""
    return lambda shape: b.fill(b.scalars.constant(carried, identity), shape, carried)


def _reduce_once(
    ctx: LoweringContext,
    name: str,
    x: Value,
    axes: Sequence[int],
    start: Init,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value:
    b = ctx.builder
    shape = b.shape(x)
    rank = len(shape)
    kept = [a for a in range(rank) if a not in axes]
    init = start([shape[a] for a in kept])

    def body(element: Value, total: Value) -> Value:
        return combine(b, name, carried, total, b.scalars.convert(dtype, carried, element))

    tiles = configuration.reduction(ctx.target, shape, axes, dtype)
    return b.generic([x], [init], *_reduction_loops(b, rank, axes, kept, 1), body, parse_attribute(b, tiles))


def _reduction_loops(
    b: LinalgBuilder, rank: int, axes: Sequence[int], kept: Sequence[int], partial: int
) -> tuple[list[Attribute], list[str]]:
    """Maps and iterators of a reduction with one whole operand and `partial` ones of the result's shape.

    The loops of the kept axes come first: IREE would put them so, and tiles are given in that order.
    """
    order = [*kept, *(a for a in range(rank) if a in axes)]
    whole = b.axes_map(rank, [order.index(a) for a in range(rank)])
    part = b.axes_map(rank, list(range(len(kept))))
    iterators = ["parallel"] * len(kept) + ["reduction"] * (rank - len(kept))
    return [whole, *[part] * partial], iterators


def lower_argument_extremum(ctx: LoweringContext, x: Value, *, axis: int, index_dtype: np.dtype) -> Value:
    """Two vectorisable passes: the extremum, then the least position of an element equal to it.

    A NaN makes the extremum NaN, which equals nothing; then the elements wanted are the NaNs.
    """
    b = ctx.builder
    dtype = ctx.operand_dtype
    if dtype == np.dtype(bool):
        x, dtype = convert_elements(b, dtype, np.dtype(np.int8), x), np.dtype(np.int8)
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

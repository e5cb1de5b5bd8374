"""Ops that move elements, in kernels: views where a view will do, else one `linalg.generic` that fuses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ......dialects import mlir
from ......dialects.dataclass import dataclass
from ......dialects.types import INT64
from ....builder import Size, Value
from ....forms.movement import count_positions, require_inside
from ....lowering import LoweringContext
from ..builder import KernelBuilder, Progression
from ..errors import KernelError
from .common import builder_of


def lower_broadcast_in_dim(
    ctx: LoweringContext, x: Value, *, shape: Sequence[Size], dimensions: Sequence[int]
) -> Value:
    """A `linalg.generic` that takes axis `k` of `x` along axis `dimensions[k]`; a fill of one element."""
    return _broadcast(builder_of(ctx), x, shape, dimensions)


def _broadcast(b: KernelBuilder, x: Value, shape: Sequence[Size], dimensions: Sequence[int]) -> Value:
    ir, rank = mlir.ir, len(shape)
    if b.is_single(x):
        return b.repeat(b.element(x), shape)
    indices = []
    for dimension, n in zip(dimensions, b.shape(x), strict=True):
        if n != 1:
            b.require_equal(n, shape[dimension], "adze: broadcast to an unequal size")
        indices.append(ir.AffineExpr.get_constant(0) if n == 1 else ir.AffineExpr.get_dim(dimension))
    source = ir.AffineMapAttr.get(ir.AffineMap.get(rank, 0, indices))
    maps = [source, b.identity_map(rank)]
    return b.generic([x], [b.empty_like(x, shape)], maps, ["parallel"] * rank, lambda value, _: value)


def lower_iota(ctx: LoweringContext, *, shape: Sequence[Size], axis: int, dtype: np.dtype) -> Value:
    """A generic without inputs that yields `linalg.index`; a vector of integers is remembered."""
    b, rank = builder_of(ctx), len(shape)
    if all(n == 1 for n in shape):
        return b.single(b.scalars.constant(dtype, 0), shape)
    i64 = b.scalars.element_type(INT64)

    def body(_: Value) -> Value:
        count = mlir.arith.index_cast(i64, mlir.linalg.IndexOp(axis).result)
        return b.scalars.convert(INT64, dtype, count)

    counts = b.generic([], [b.empty(shape, dtype)], [b.identity_map(rank)], ["parallel"] * rank, body)
    if rank == 1 and dtype.kind in "iu":
        b.progressions[counts] = Progression(0, 1)
    return counts


def lower_reshape(ctx: LoweringContext, x: Value, *, shape: Sequence[Size]) -> Value:
    """A view."""
    return builder_of(ctx).reshape(x, list(shape))


def lower_transpose(ctx: LoweringContext, x: Value, *, permutation: Sequence[int]) -> Value:
    """One `linalg.generic`; a reshape where only axes of size 1 move."""
    return transposed(builder_of(ctx), x, permutation)


def transposed(b: KernelBuilder, x: Value, permutation: Sequence[int]) -> Value:
    """`x` with its axes in another order."""
    shape = b.shape(x)
    result = [shape[a] for a in permutation]
    moving = [a for a in permutation if shape[a] != 1]
    if moving == sorted(moving):
        return b.reshape(x, result)
    rank = len(shape)
    inverse = [list(permutation).index(a) for a in range(rank)]
    maps = [b.axes_map(rank, inverse), b.identity_map(rank)]
    return b.generic([x], [b.empty_like(x, result)], maps, ["parallel"] * rank, lambda value, _: value)


def lower_slice(
    ctx: LoweringContext, x: Value, *, start: Sequence[Size], limit: Sequence[Size], strides: Sequence[int]
) -> Value:
    """A window, which is checked to be inside."""
    b = builder_of(ctx)
    for axis, (n, first, last) in enumerate(zip(b.shape(x), start, limit, strict=True)):
        require_inside(b, axis, n, first, last)
    triples = zip(start, limit, strides, strict=True)
    sizes = [count_positions(b, first, last, stride) for first, last, stride in triples]
    return b.window(x, list(start), sizes, list(strides))


def lower_pad(
    ctx: LoweringContext,
    x: Value,
    value: Value,
    *,
    low: Sequence[Size],
    high: Sequence[Size],
    interior: Sequence[int],
) -> Value:
    """`x`, without what negative padding cuts off, put into a filled array."""
    b = builder_of(ctx)
    ends = zip(b.shape(x), low, high, interior, strict=True)
    axes = [_padded(b, axis, *each) for axis, each in enumerate(ends)]
    whole = _broadcast(b, value, [axis.total for axis in axes], ())
    if any(isinstance(axis.size, int) and axis.size <= 0 for axis in axes):
        return whole
    part = b.window(x, [axis.first for axis in axes], [axis.size for axis in axes])
    return b.insert(part, whole, [axis.offset for axis in axes], [k + 1 for k in interior])


@dataclass(frozen=True, slots=True)
class _PaddedAxis:
    """An axis of a padded array: its size; of the part that is kept the place, the size and the new place."""

    total: Size
    first: Size
    size: Size
    offset: Size


def _padded(b: KernelBuilder, axis: int, n: Size, low: Size, high: Size, interior: int) -> _PaddedAxis:
    if low == high == interior == 0:
        return _PaddedAxis(n, 0, n, 0)
    if not isinstance(n, int) or not isinstance(low, int) or not isinstance(high, int):
        return _padded_at_call(b, axis, n, low, high, interior)
    step = interior + 1
    total = low + (n - 1) * step + 1 + high
    first = -(min(low, 0) // step)
    stop = min(n, (total - low - 1) // step + 1)
    return _PaddedAxis(total, first, stop - first, low + first * step)


def _padded_at_call(
    b: KernelBuilder, axis: int, n: Size, low: Size, high: Size, interior: int
) -> _PaddedAxis:
    if interior:
        raise KernelError("it puts elements between those of an axis of a size that shows at the call")
    before, behind = (b.calculate("size_min", end, 0) for end in (low, high))  # what is cut off
    total = b.calculate("size_add", b.calculate("size_add", low, n), high)
    b.require_at_most(0, total, f"adze: pad leaves a negative size of axis {axis}")
    kept = b.calculate("size_max", b.calculate("size_add", b.calculate("size_add", before, n), behind), 0)
    return _PaddedAxis(total, b.calculate("size_sub", 0, before), kept, b.calculate("size_max", low, 0))


def lower_concatenate(ctx: LoweringContext, *xs: Value, axis: int) -> Value:
    """Each operand inserted into one new array; a short vector from its elements."""
    b = builder_of(ctx)
    shapes = [b.shape(x) for x in xs]
    total = list(shapes[0])
    for other in shapes[1:]:
        for a, n in enumerate(other):
            if a != axis:
                b.require_equal(total[a], n, f"adze: sizes of axis {a} differ in concatenate")
        total[axis] = b.calculate("size_add", total[axis], other[axis])
    if len(total) == 1 and all(b.is_single(x) for x in xs):
        elements = [b.element(x) for x in xs]
        return mlir.tensor.from_elements(mlir.ir.RankedTensorType.get(total, elements[0].type), elements)
    whole, offset = b.empty_like(xs[0], total), 0
    for x, shape in zip(xs, shapes, strict=True):
        place: list[Size] = [0] * len(total)
        place[axis] = offset
        whole = b.insert(x, whole, place)
        offset = b.calculate("size_add", offset, shape[axis])
    return whole


def lower_reverse(ctx: LoweringContext, x: Value, *, axes: Sequence[int]) -> Value:
    """A `linalg.generic` that takes elements from the far end."""
    b = builder_of(ctx)
    shape = b.shape(x)
    far = {a: b.size_value(b.calculate("size_sub", shape[a], 1)) for a in axes if shape[a] != 1}
    if not far:
        return x

    def body(_: Value) -> Value:
        position = [mlir.linalg.IndexOp(a).result for a in range(len(shape))]
        for a, end in far.items():
            position[a] = mlir.arith.subi(end, position[a])
        return mlir.tensor.extract(x, position)

    rank = len(shape)
    return b.generic([], [b.empty_like(x, shape)], [b.identity_map(rank)], ["parallel"] * rank, body)

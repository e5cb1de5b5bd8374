"""Lowering of ops that move elements: broadcast, iota, reshape, transpose, slice, pad, reverse.

Input: tensors with static and dynamic sizes. Output: views where a view will do (`collapse_shape`,
`expand_shape`, `extract_slice`), else one `linalg.generic` that fuses.
Idea: what inference could not decide (element counts, bounds) becomes a `cf.assert`: IREE reads out of bounds
without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ....dialects import mlir
from ....dialects.types import INT64
from ....runtime.targets import Target
from ..builder import DYNAMIC, LinalgBuilder, Size, Value
from ..iree.extracted_sources import extractable
from ..iree.overwritten_arguments import owned
from ..lowering import LoweringContext
from ..tuning import configuration
from ..tuning.row_tiles import takes_rows
from .reassociation import matching_groups
from .tensor_ops import (
    collapse_axes,
    expand_axes,
    extract_slice,
    insert_slice,
    pad_tensor,
    permute,
    size_product,
    tensor_type_like,
)


def lower_broadcast_in_dim(
    ctx: LoweringContext, x: Value, *, shape: Sequence[Size], dimensions: Sequence[int]
) -> Value:
    """`broadcast`."""
    return broadcast(ctx.builder, x, shape, dimensions)


def broadcast(b: LinalgBuilder, x: Value, shape: Sequence[Size], dimensions: Sequence[int]) -> Value:
    """`linalg.generic` that reads axis `k` of `x` at axis `dimensions[k]`, at 0 where its size is 1."""
    ir = mlir.ir
    shape = [b.size(n) for n in shape]
    rank = len(shape)
    indices = []
    for axis, (dimension, n) in enumerate(zip(dimensions, b.shape(x), strict=True)):
        if n == 1 and shape[dimension] != 1:
            indices.append(ir.AffineExpr.get_constant(0, b.context))
            continue
        b.require_equal(n, shape[dimension], f"adze: broadcast of axis {axis} to an unequal size")
        indices.append(ir.AffineExpr.get_dim(dimension, b.context))
    source = ir.AffineMapAttr.get(ir.AffineMap.get(rank, 0, indices, b.context))
    init = empty_like(b, x, shape)
    maps = [source, b.identity_map(rank)]
    result = b.generic([x], [init], maps, ["parallel"] * rank, lambda value, _: value)
    if x in b.complex_numbers:
        b.complex_numbers[result] = b.complex_numbers[x]
    return result


def lower_iota(ctx: LoweringContext, *, shape: Sequence[Size], axis: int, dtype: np.dtype) -> Value:
    """A generic without inputs that yields `linalg.index`.

    Of several sizes that show at the call it takes a vector: IREE joins loops that nothing but an index
    tells apart, and a kernel is passed the product of their sizes, of which it cannot be divided again.
    """
    b = ctx.builder
    rank = len(shape)
    counted_sizes = {b.size(n) for n in shape if not isinstance(b.size(n), int)}
    if len(counted_sizes) > 1 and configuration.has_kernels(ctx.target):
        vector = b.materialise(lower_iota(ctx, shape=[shape[axis]], axis=0, dtype=dtype))
        maps = [b.axes_map(rank, (axis,)), b.identity_map(rank)]
        return b.generic([vector], [b.empty(shape, dtype)], maps, ["parallel"] * rank, lambda v, _: v)
    i64 = mlir.ir.IntegerType.get_signless(64, b.context)

    def body(_: Value) -> Value:
        count = mlir.arith.index_cast(i64, mlir.linalg.IndexOp(axis).result)
        return b.scalars.convert(np.dtype(np.int64), dtype, count)

    counted = b.generic([], [b.empty(shape, dtype)], [b.identity_map(rank)], ["parallel"] * rank, body)
    if rank == 1:
        b.counts[counted] = dtype
    return counted


def lower_reshape(ctx: LoweringContext, x: Value, *, shape: Sequence[Size]) -> Value:
    """`reshape`."""
    return reshape(ctx.builder, x, shape)


def reshape(b: LinalgBuilder, x: Value, shape: Sequence[Size]) -> Value:
    """`collapse_shape` to the axes that both shapes share, then `expand_shape`; never a copy."""
    shape = [b.size(n) for n in shape]
    source = b.shape(x)
    if 0 in shape or 0 in source:
        _require_count(b, source, shape)
        return empty_like(b, x, shape)
    groups, is_exact = matching_groups(source, shape)
    if not is_exact:
        _require_count(b, source, shape)
    if not groups:  # no axes on one side: the other has units only
        return _reshape_units(b, x, shape)
    collapsed = collapse_axes(b, b.retype(x, source), [before for before, _ in groups])
    middle = [_static_product([shape[a] for a in after]) for _, after in groups]
    sizes = [m if m is not None else n for m, n in zip(middle, b.shape(collapsed), strict=True)]
    needed = [_expandable(b, n, after, shape) for n, (_, after) in zip(sizes, groups, strict=True)]
    expanded = expand_axes(b, b.retype(collapsed, needed), [after for _, after in groups], shape)
    return b.retype(expanded, shape)


def _reshape_units(b: LinalgBuilder, x: Value, shape: Sequence[Size]) -> Value:
    if len(shape) == len(b.shape(x)):
        return b.retype(x, shape)
    x = b.retype(x, [1] * len(b.shape(x)))
    if not shape:
        return b.bind_shape(mlir.tensor.collapse_shape(tensor_type_like(x, []), x, []), [])
    expanded = mlir.tensor.expand_shape(tensor_type_like(x, [1] * len(shape)), x, [], [], [1] * len(shape))
    return b.retype(b.bind_shape(expanded, [1] * len(shape)), shape)


def _expandable(b: LinalgBuilder, n: Size, after: Sequence[int], shape: Sequence[Size]) -> Size:
    """`n` as MLIR wants it for `expand_shape`: dynamic exactly when one of the new axes is."""
    if len(after) == 1:
        return shape[after[0]]
    if isinstance(n, int) and any(not isinstance(shape[a], int) for a in after):
        constant = mlir.arith.constant(mlir.ir.IndexType.get(b.context), n)
        return constant  # not remembered as known, so that `retype` casts to `?`
    return n


def _static_product(sizes: Sequence[Size]) -> int | None:
    total = 1
    for n in sizes:
        if not isinstance(n, int):
            return None
        total *= n
    return total


def _require_count(b: LinalgBuilder, source: Sequence[Size], target: Sequence[Size]) -> None:
    message = "adze: reshape to a shape with another number of elements"
    b.require_equal(size_product(b, source), size_product(b, target), message)


def empty_like(b: LinalgBuilder, x: Value, shape: Sequence[Size]) -> Value:
    return b.empty_of_element(mlir.ir.RankedTensorType(x.type).element_type, shape)


def lower_transpose(ctx: LoweringContext, x: Value, *, permutation: Sequence[int]) -> Value:
    """One `linalg.generic`; a reshape where only axes of size 1 move."""
    b = ctx.builder
    shape = b.shape(x)
    moving = [a for a in permutation if shape[a] != 1]
    if moving == sorted(moving):
        return reshape(b, x, [shape[a] for a in permutation])
    last = len(shape) - 1
    keeps_rows = permutation[last] == last and configuration.moves_rows(
        ctx.target, shape[last], ctx.result_type.dtype
    )
    if keeps_rows and ctx.is_returned:  # other users read through the map of a generic
        return _move_rows(b, x, permutation[:last], lambda at: at)
    return permute(b, x, permutation)


def _move_rows(
    b: LinalgBuilder, x: Value, order: Sequence[int], source: Callable[[list[Value]], list[Value]]
) -> Value:
    """Whole rows put elsewhere: axis `i` of the result is axis `order[i]`, read where `source` says.

    As a gather of rows each is copied at once; element by element IREE does not vectorise the moves.
    """
    x = extractable(b, x)
    shape = b.shape(x)
    rank = len(order)
    leading = [shape[a] for a in order]
    i64 = b.scalars.element_type(INT64)
    sizes = [b.size_value(n) for n in shape[:rank]]

    def body(_: Value) -> Value:
        at = [mlir.linalg.IndexOp(order.index(a)).result for a in range(rank)]
        linear = None
        for position, n in zip(source(at), sizes, strict=True):
            linear = position if linear is None else mlir.arith.addi(mlir.arith.muli(linear, n), position)
        return mlir.arith.index_cast(i64, linear)

    where = b.generic([], [b.empty(leading, INT64)], [b.identity_map(rank)], ["parallel"] * rank, body)
    rows = collapse_axes(b, x, [list(range(rank)), [rank]])
    where = collapse_axes(b, where, [list(range(rank))])
    init = empty_like(b, x, [size_product(b, leading), shape[rank]])
    gathered = mlir.ir.Operation.create(
        "iree_linalg_ext.gather",
        results=[init.type],
        operands=[rows, where, init],
        attributes={"dimension_map": mlir.ir.DenseI64ArrayAttr.get([0], b.context)},
    ).result
    gathered = b.materialise(b.bind_shape(gathered, b.shape(init)))
    return expand_axes(b, gathered, [list(range(rank)), [rank]], [*leading, shape[rank]])


def lower_slice(
    ctx: LoweringContext, x: Value, *, start: Sequence[Size], limit: Sequence[Size], strides: Sequence[int]
) -> Value:
    """`tensor.extract_slice`, with a run-time check of bounds that inference could not see."""
    b = ctx.builder
    start, limit = [b.size(n) for n in start], [b.size(n) for n in limit]
    sizes = []
    for axis, (n, first, last) in enumerate(zip(b.shape(x), start, limit, strict=True)):
        require_inside(b, axis, n, first, last)
        sizes.append(count_positions(b, first, last, strides[axis]))
    if 0 in sizes:
        return empty_like(b, x, sizes)
    if _is_column(ctx.target, b.shape(x), start, sizes):
        return _column(b, x, start, sizes, strides)
    return extract_slice(b, x, start, sizes, strides)


def _is_column(target: Target, shape: Sequence[Size], start: Sequence[Size], sizes: Sequence[Size]) -> bool:
    """Whether a slice takes one element of each row, such as a coordinate of points, at known places.

    Rows may have several axes, such as those of an element of matrices.
    """
    last = _last_axis_of_several(sizes)
    if last < 0 or last == len(shape) - 1 or shape[-1] == 1:
        return False
    rows, widths = sizes[last], [n for n in shape[last + 1 :] if isinstance(n, int)]
    if len(widths) < len(shape) - last - 1 or not all(isinstance(n, int) for n in start[last:]):
        return False
    return configuration.takes_columns(target, rows if isinstance(rows, int) else None, prod(widths))


def _last_axis_of_several(sizes: Sequence[Size]) -> int:
    """The last axis of which more than one element may be taken, -1 where there is none."""
    return max((axis for axis, n in enumerate(sizes) if not isinstance(n, int) or n != 1), default=-1)


def _column(
    b: LinalgBuilder, x: Value, start: Sequence[Size], sizes: Sequence[Size], strides: Sequence[int]
) -> Value:
    """A column as every n-th element of rows of n; kernels load these as vectors and shuffle them."""
    shape = b.shape(x)
    last = _last_axis_of_several(sizes)
    places = [n for n in start[last:] if isinstance(n, int)]
    widths = [n for n in shape[last + 1 :] if isinstance(n, int)]
    first = int(np.ravel_multi_index(places, (places[0] + 1, *widths)))
    width = prod(widths)
    rows = reshape(b, x, [*shape[:last], b.calculate("size_mul", shape[last], width)])
    steps = [*strides[:last], strides[last] * width]
    taken = extract_slice(b, rows, [*start[:last], first], sizes[: last + 1], steps)
    return reshape(b, taken, sizes)


def require_inside(b: LinalgBuilder, axis: int, n: Size, first: Size, last: Size) -> None:
    """A slice lies inside of an axis of `n` elements."""
    b.require_at_most(first, last, f"adze: slice of axis {axis} starts after its limit")
    b.require_at_most(last, n, f"adze: slice of axis {axis} ends beyond the array")
    if not isinstance(first, int):
        b.require_at_most(0, first, f"adze: slice of axis {axis} starts before the array")


def count_positions(b: LinalgBuilder, first: Size, last: Size, stride: int) -> Size:
    """How many positions `first, first + stride, ...` lie before `last`."""
    distance = b.calculate("size_sub", last, first)
    if stride == 1:
        return distance
    return b.calculate("size_div", b.calculate("size_add", distance, stride - 1), stride)


def lower_pad(
    ctx: LoweringContext,
    x: Value,
    value: Value,
    *,
    low: Sequence[Size],
    high: Sequence[Size],
    interior: Sequence[int],
) -> Value:
    """Interior padding first, then cutting, then `tensor.pad`, or a filled array around the operand."""
    b = ctx.builder
    low, high = [b.size(n) for n in low], [b.size(n) for n in high]
    shape = b.shape(x)
    dilated = [_dilated_size(b, n, k) for n, k in zip(shape, interior, strict=True)]
    total = [
        b.calculate("size_add", b.calculate("size_add", n, before), after)
        for n, before, after in zip(dilated, low, high, strict=True)
    ]
    for axis, n in enumerate(total):
        b.require_at_most(0, n, f"adze: pad leaves a negative size of axis {axis}")
    if 0 in total:
        return empty_like(b, x, total)
    if 0 in shape:
        return broadcast(b, value, total, ())
    is_whole = all(isinstance(t, int) and t % (k + 1) == 0 for t, k in zip(total, interior, strict=True) if k)
    around = zip(shape, low, high, interior, strict=True)
    sizes = [n for each in around if any(size != 0 for size in each[1:]) for n in each]
    if configuration.chooses_places(ctx.target, sizes, interior, is_whole or not ctx.is_returned):
        return _chosen_places(b, x, value, low, interior, total)
    x = _insert_interior(ctx, x, interior, dilated, value)
    first = [_clamp_size(b, _negate_size(b, n), m) for n, m in zip(low, dilated, strict=True)]
    last = [
        b.calculate("size_max", b.calculate("size_min", m, b.calculate("size_add", m, n)), f)
        for n, m, f in zip(high, dilated, first, strict=True)
    ]
    kept = [b.calculate("size_sub", e, f) for e, f in zip(last, first, strict=True)]
    if 0 in kept:
        return broadcast(b, value, total, ())
    if any(not (isinstance(k, int) and k == m) for k, m in zip(kept, dilated, strict=True)):
        x = extract_slice(b, x, first, kept, [1] * len(kept))
    before = [_clamp_size(b, n, t) for n, t in zip(low, total, strict=True)]
    after = [
        b.calculate("size_sub", b.calculate("size_sub", n, m), k)
        for n, m, k in zip(total, kept, before, strict=True)
    ]
    scalar = mlir.tensor.extract(value, [])
    return b.retype(pad_tensor(b, x, before, after, scalar), total)


def _chosen_places(
    b: LinalgBuilder,
    x: Value,
    value: Value,
    low: Sequence[Size],
    interior: Sequence[int],
    total: Sequence[Size],
) -> Value:
    """Elements with others between them, in one generic that chooses them by their places: a sum of such
    arrays, which is the gradient of windows, becomes one kernel. All sizes of padded axes are known, nothing
    is cut. An axis on which every `apart`-th place has an element is seen as groups of `apart` places.
    """
    aparts = [k + 1 for k in interior]
    groups = [t if apart == 1 else -(-int(t) // apart) for t, apart in zip(total, aparts, strict=True)]
    places = [divmod(int(n), apart) for n, apart in zip(low, aparts, strict=True)]
    scalar = mlir.tensor.extract(value, [])
    before = [group for group, _ in places]
    after = [
        m - n - k if isinstance(m, int) and isinstance(k, int) else 0
        for m, n, k in zip(groups, before, b.shape(x), strict=True)
    ]
    x = pad_tensor(b, x, before, after, scalar)
    loops: list[Size] = []
    taken, chosen, merged = [], {}, []
    for group, apart, (_, place) in zip(groups, aparts, places, strict=True):
        taken.append(len(loops))
        merged.append([len(loops)])
        loops.append(group)
        if apart > 1:
            chosen[len(loops)] = place
            merged[-1].append(len(loops))
            loops.append(apart)

    def body(element: Value, _: Value) -> Value:
        arith, inside = mlir.arith, None
        for axis, place in chosen.items():
            here = arith.cmpi(arith.CmpIPredicate.eq, mlir.linalg.IndexOp(axis).result, b.size_value(place))
            inside = here if inside is None else arith.andi(inside, here)
        assert inside is not None
        return arith.select(inside, element, scalar)

    rank = len(loops)
    maps = [b.axes_map(rank, taken), b.identity_map(rank)]
    spread = b.generic([x], [empty_like(b, x, loops)], maps, ["parallel"] * rank, body)
    spread = collapse_axes(b, spread, merged)
    whole = [n if apart == 1 else int(n) * apart for n, apart in zip(groups, aparts, strict=True)]
    if whole == list(total):
        return spread
    return extract_slice(b, spread, [0] * len(total), total, [1] * len(total))


def _dilated_size(b: LinalgBuilder, n: Size, interior: int) -> Size:
    """``n + interior * max(n - 1, 0)``"""
    if interior == 0:
        return n
    gaps = b.calculate("size_max", b.calculate("size_sub", n, 1), 0)
    return b.calculate("size_add", n, b.calculate("size_mul", gaps, interior))


def _insert_interior(
    ctx: LoweringContext, x: Value, interior: Sequence[int], shape: Sequence[Size], value: Value
) -> Value:
    """`x` with `interior` paddings between neighbours: a strided `insert_slice` into a filled tensor.

    Observed: half the time of padding new inner axes and merging them, or of `tensor.extract`.
    """
    b = ctx.builder
    if not any(interior):
        return x
    whole = owned(ctx, broadcast(b, value, shape, ()), ctx.result_type.dtype)
    return insert_slice(b, x, whole, [0] * len(shape), [k + 1 for k in interior])


def _negate_size(b: LinalgBuilder, n: Size) -> Size:
    return -n if isinstance(n, int) else b.calculate("size_sub", 0, n)


def _clamp_size(b: LinalgBuilder, n: Size, most: Size) -> Size:
    """`n` moved into ``0 .. most``."""
    if isinstance(n, int) and n <= 0:
        return 0
    return b.calculate("size_min", b.calculate("size_max", n, 0), most)


def _sliced(x: Value) -> tuple[Value, list[int], list[int]]:
    """The array that `x` is a slice of, and its offset and stride along each axis; `x` itself where these are
    not known."""
    rank = mlir.ir.RankedTensorType(x.type).rank
    if not isinstance(x.owner, mlir.ir.Block) and x.owner.operation.name == "tensor.extract_slice":
        operation = x.owner.operation
        offsets, strides = (
            list(mlir.ir.DenseI64ArrayAttr(operation.attributes[f"static_{what}"]))
            for what in ("offsets", "strides")
        )
        if len(offsets) == rank and DYNAMIC not in (*offsets, *strides):
            return operation.operands[0], offsets, strides
    return x, [0] * rank, [1] * rank


def lower_reverse(ctx: LoweringContext, x: Value, *, axes: Sequence[int]) -> Value:
    """`linalg.generic` that reads from the far end (an affine map with a negative stride is refused)."""
    b = ctx.builder
    shape = b.shape(x)
    reversed_axes = {a for a in axes if shape[a] != 1}
    if not reversed_axes or 0 in shape:
        return x
    ends = {a: b.size_value(b.calculate("size_sub", shape[a], 1)) for a in reversed_axes}
    last = len(shape) - 1
    dtype = ctx.result_type.dtype
    are_moved = configuration.moves_rows(ctx.target, shape[last], dtype) and last not in reversed_axes
    if are_moved and not takes_rows(ctx.target, shape, dtype):
        order = list(range(last))
        return _move_rows(
            b,
            x,
            order,
            lambda at: [mlir.arith.subi(ends[a], i) if a in reversed_axes else i for a, i in enumerate(at)],
        )

    init = empty_like(b, x, shape)
    x, offsets, strides = _sliced(x)
    x = extractable(b, x)

    def body(_: Value) -> Value:
        position = [mlir.linalg.IndexOp(a).result for a in range(len(shape))]
        for a in reversed_axes:
            position[a] = mlir.arith.subi(ends[a], position[a])
        for a, (offset, stride) in enumerate(zip(offsets, strides, strict=True)):
            if stride != 1:
                position[a] = mlir.arith.muli(position[a], b.size_value(stride))
            if offset:
                position[a] = mlir.arith.addi(position[a], b.size_value(offset))
        return mlir.tensor.extract(x, position)

    return b.generic([], [init], [b.identity_map(len(shape))], ["parallel"] * len(shape), body)

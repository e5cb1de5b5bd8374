"""Lowering of scatter.

Input: an array, indices and updates. Output: the updated array.
Idea: every scatter is one over linear positions, of rows where windows are rows and else of single elements;
updates outside are dropped. They are applied in order, so that duplicates are deterministic: by a kernel of
our own (`scattered_rows.py`), on CUDA by each element of a small array for itself, or by
`iree_linalg_ext.scatter`, which is one thread's work there.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import mlir
from ....dialects.ops.indexing.scatter import Updates
from ....dialects.ops.indexing.windows import WindowMap, scatter_window
from ....dialects.types import INT32, INT64
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, Size, Value
from ..iree.overwritten_arguments import copied, owned
from ..lowering import LoweringContext
from ..tuning import configuration
from .indexing import (
    index_dtype,
    is_rows,
    linear_positions,
    of_rows,
    require_batching,
    require_windows_fit,
)
from .movement import reshape
from .scattered_rows import scatter_by_kernel, scatters_by_kernel
from .tensor_ops import broadcast_number, convert_elements, size_product


def lower_scatter(
    ctx: LoweringContext,
    x: Value,
    indices: Value,
    updates: Value,
    **attributes: object,
) -> Value:
    """`iree_linalg_ext.scatter` of rows or of elements to linear positions, in the updates' order."""
    b = ctx.builder
    own = Updates.of(attributes)
    numbers = own.map(len(b.shape(x)), len(b.shape(indices)))
    shape, update_shape = b.shape(x), b.shape(updates)
    window = scatter_window(numbers, update_shape)
    require_windows_fit(b, shape, window, numbers, update_shape)
    require_batching(b, x, indices, numbers)
    for axis, n in zip(numbers.batch_axes, b.shape(indices)[:-1], strict=True):
        b.require_equal(update_shape[axis], n, "adze: sizes of the indices and the updates differ")
    if 0 in shape or 0 in update_shape:
        return x
    indexed = len(shape)
    if is_rows(shape, numbers, window):
        indexed = len(numbers.start_index_map)
        numbers = of_rows(numbers)
    row = shape[indexed:]
    positions = update_shape[: len(update_shape) - len(row)]
    if scatters_by_kernel(ctx):
        return _scatter_by_kernel(ctx, own, x, indices, updates, numbers, window[:indexed], len(positions))
    where, inside = linear_positions(ctx, indices, numbers, shape[:indexed], window[:indexed], positions)
    count = size_product(b, positions)
    rows, columns = size_product(b, shape[:indexed]), size_product(b, row)
    if configuration.folds_scatter(ctx.target, rows, columns, count, ctx.result_type.dtype):
        where = _outside_marked(b, where, inside) if own.mode == "drop" else where
        folded = _folded(
            ctx,
            own.kind,
            reshape(b, _begun(ctx, x), [rows, columns]),
            reshape(b, where, [count]),
            reshape(b, updates, [count, columns]),
        )
        return reshape(b, folded, shape)
    row = _axes_of_rows(row, columns)
    operands = [reshape(b, updates, [count, *row]), reshape(b, where, [count, 1])]
    if own.mode == "drop":
        operands.append(reshape(b, inside, [count]))
    # Observed: IREE fuses what computes indices or updates into the scatter, keeps its whole result on
    # the stack there, and then refuses it for dynamic sizes ("unbounded stack allocations"). And where it
    # learns a size of one of them it refuses the scatter ("mismatch in shape of indices and update").
    operands = [b.retype(v, b.shape(v)) for v in operands]
    is_static = all(isinstance(n, int) for v in operands for n in b.shape(v))
    operands = [b.materialise(v) if is_static else b.materialise_opaque(v) for v in operands]
    x = owned(ctx, x, ctx.result_type.dtype)
    target = reshape(b, x, [rows, *row])
    return reshape(b, _emit_scatter(ctx, own.kind, operands, target, own.unique_indices), shape)


def _axes_of_rows(row: tuple[Size, ...], columns: Size) -> tuple[Size, ...]:
    """The axes of the rows that are scattered; rows of one element are elements.

    Observed: on Vulkan IREE's compiler dies of rows of one element, or refuses them, where the update is a
    slice of what was reversed, sorted or summed up (`m.at[i].set(flip(x)[0])` of f32[3,1], i32[] and f32[3]).
    """
    return () if columns == 1 else row


def _scatter_by_kernel(
    ctx: LoweringContext,
    own: Updates,
    x: Value,
    indices: Value,
    updates: Value,
    numbers: WindowMap,
    window: Sequence[Size],
    position_rank: int,
) -> Value:
    """The scatter as one of rows at linear positions: along a single axis these are the indices."""
    b = ctx.builder
    shape, update_shape = b.shape(x), b.shape(updates)
    indexed = len(window)
    dtype = index_dtype(ctx)
    clips = own.mode != "drop"
    if list(window) == [1] and list(numbers.batch_axes) == list(range(position_rank)):
        where, is_signed = indices, dtype.kind == "i"
    else:
        batch = update_shape[:position_rank]
        where, inside = linear_positions(ctx, indices, numbers, shape[:indexed], window, batch)
        where = where if clips else _outside_marked(b, where, inside)
        is_signed, clips = True, False  # linear positions are where the windows were moved to
    count = size_product(b, update_shape[:position_rank])
    size = size_product(b, shape[indexed:])
    updated = scatter_by_kernel(
        ctx,
        own.kind,
        reshape(b, x, [size_product(b, shape[:indexed]), size]),
        reshape(b, where, [count]),
        reshape(b, updates, [count, size]),
        clips=clips,
        is_signed=is_signed,
    )
    return reshape(b, updated, shape)


def _outside_marked(b: LinalgBuilder, where: Value, inside: Value) -> Value:
    """Positions, -1 where they are outside."""
    rank = len(b.shape(where))

    def body(position: Value, here: Value, _: Value) -> Value:
        return mlir.arith.select(here, position, b.scalars.constant(INT64, -1))

    maps = [b.identity_map(rank)] * 3
    return b.generic([where, inside], [b.empty(b.shape(where), INT64)], maps, ["parallel"] * rank, body)


def _folded(ctx: LoweringContext, kind: str, rows: Value, where: Value, updates: Value) -> Value:
    """`rows` [r, c] after `updates` [n, c]: each element goes through all updates and takes those of its row.

    The elements are computed side by side, where a scatter is one thread's work.
    """
    b = ctx.builder
    dtype = ctx.result_type.dtype
    arith = mlir.arith
    places = b.materialise(convert_elements(b, INT64, INT32, where))

    def body(place: Value, update: Value, present: Value) -> Value:
        row = arith.index_cast(b.scalars.element_type(INT32), mlir.linalg.IndexOp(0).result)
        met = update if kind == "set" else getattr(b.scalars, kind)(dtype, present, update)
        return arith.select(arith.cmpi(arith.CmpIPredicate.eq, place, row), met, present)

    maps = [b.axes_map(3, (2,)), b.axes_map(3, (2, 1)), b.axes_map(3, (0, 1))]
    return b.generic(
        [places, b.materialise(updates)], [rows], maps, ["parallel", "parallel", "reduction"], body
    )


def _begun(ctx: LoweringContext, x: Value) -> Value:
    """What a scatter as a reduction begins with: a number that fills `x`, else `x`, which it may write into.

    Observed: for CUDA IREE refuses a reduction that begins with an array that is in memory, where its kernel
    goes on with the result ("failed to bufferize op"). A copy of the array is made in that kernel.
    """
    b = ctx.builder
    dtype = ctx.result_type.dtype
    number = broadcast_number(x)
    if number is not None and getattr(number.owner, "name", "") == "arith.constant":
        return b.fill(mlir.tensor.extract(number, []), b.shape(x), dtype)
    return copied(ctx, x, dtype) if ctx.target.kind is TargetKind.CUDA else owned(ctx, x, dtype)


def _emit_scatter(
    ctx: LoweringContext, kind: str, operands: Sequence[Value], target: Value, unique: bool
) -> Value:
    b = ctx.builder
    ir = mlir.ir
    dtype = ctx.result_type.dtype
    op = ir.Operation.create(
        "iree_linalg_ext.scatter",
        results=[target.type],
        operands=[*operands, target],
        attributes={
            "dimension_map": ir.DenseI64ArrayAttr.get([0], b.context),
            "unique_indices": ir.BoolAttr.get(unique, b.context),
        },
        regions=1,
    )
    element = ir.RankedTensorType(target.type).element_type
    location = ir.Location.current
    block = op.regions[0].blocks.append(element, element, arg_locs=[location, location])
    with ir.InsertionPoint(block):
        update, present = block.arguments
        combined = update if kind == "set" else getattr(b.scalars, kind)(dtype, present, update)
        ir.Operation.create("iree_linalg_ext.yield", operands=[combined])
    return b.bind_shape(op.result, b.shape(target))

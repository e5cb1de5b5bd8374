"""Lowering of dynamic slices and gather, and the positions that indices stand for.

Input: an array, indices, and updates for what writes. Output: the windows, or the updated array.
Idea: indices are clamped (or masked) before they are used, since IREE reads and writes wherever they point.
Whole rows go through `iree_linalg_ext.gather`, everything else through one `linalg.generic` with
`tensor.extract`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.dialect import BY_NAME
from ....dialects.op import DIALECT
from ....dialects.ops.indexing.gather import Windows
from ....dialects.ops.indexing.windows import WindowMap
from ....dialects.types import BOOL, COMPLEX, INT32, INT64, TensorType, from_storage
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, Size, Type, Value
from ..iree.extracted_sources import extractable
from ..iree.overwritten_arguments import owned
from ..lowering import LoweringContext
from ..tuning import configuration
from ..tuning.row_tiles import element_loops
from .movement import empty_like, reshape
from .tensor_ops import extract_slice, insert_slice, size_product

_BY_SYMBOL: Final = {f"{DIALECT}.{name}": op for name, op in BY_NAME.items()}


def lower_dynamic_slice(ctx: LoweringContext, x: Value, *starts: Value, slice_sizes: Sequence[Size]) -> Value:
    """`tensor.extract_slice` at clamped offsets."""
    b = ctx.builder
    sizes = [b.size(n) for n in slice_sizes]
    if 0 in sizes:
        return empty_like(b, x, sizes)
    offsets = _clamped_offsets(b, b.shape(x), starts, sizes, ctx.operand_types[1:])
    return extract_slice(b, x, offsets, sizes, [1] * len(sizes))


def lower_dynamic_update_slice(ctx: LoweringContext, x: Value, update: Value, *starts: Value) -> Value:
    """`tensor.insert_slice` at clamped offsets."""
    b = ctx.builder
    sizes = b.shape(update)
    if 0 in sizes:
        return x
    if sizes == b.shape(x):
        return update
    x = owned(ctx, x, ctx.result_type.dtype)
    offsets = _clamped_offsets(b, b.shape(x), starts, sizes, ctx.operand_types[2:])
    return insert_slice(b, update, x, offsets, [1] * len(sizes))


def _clamped_offsets(
    b: LinalgBuilder,
    shape: Sequence[Size],
    starts: Sequence[Value],
    window: Sequence[Size],
    types: Sequence[Type],
) -> list[Size]:
    offsets: list[Size] = []
    for axis, (n, start, size, type_) in enumerate(zip(shape, starts, window, types, strict=False)):
        b.require_at_most(size, n, f"adze: the window exceeds axis {axis} of the array")
        if size == n:
            offsets.append(0)
            continue
        last = b.calculate("size_sub", n, size)
        offsets.append(_clamp_index(b, type_.dtype, mlir.tensor.extract(start, []), last)[0])
    return offsets


def _clamp_index(b: LinalgBuilder, dtype: np.dtype, index: Value, last: Size) -> tuple[Value, Value]:
    """An index scalar moved into ``0 .. last``, as an `index` value, and whether it was there."""
    arith = mlir.arith
    type_, most = clamped_in(b, dtype, last)
    wide = index
    if index.type != type_:
        wide = arith.extui(type_, index) if dtype.kind == "u" else arith.extsi(type_, index)
    if dtype.kind == "u":
        clamped = arith.minui(wide, most)
    else:
        clamped = arith.maxsi(arith.minsi(wide, most), arith.constant(type_, 0))
    inside = arith.cmpi(arith.CmpIPredicate.eq, clamped, wide)
    return arith.index_cast(mlir.ir.IndexType.get(b.context), clamped), inside


def clamped_in(b: LinalgBuilder, dtype: np.dtype, last: Size) -> tuple[Type, Value]:
    """The type in which indices are clamped to `last`, and `last` in it, or the greatest number of the type.

    Of 32 bits where the indices have no more and `last` may be cut to them: vectors have twice as many then.
    """
    arith, greatest = mlir.arith, 2**31 - 1
    fits = dtype.itemsize < 4 or (dtype.itemsize == 4 and dtype.kind == "i")
    if isinstance(last, int) and (last <= greatest or not fits):
        type_ = b.scalars.element_type(INT32 if dtype.itemsize <= 4 and last <= greatest else INT64)
        return type_, arith.constant(type_, last)
    if not fits:
        return b.scalars.element_type(INT64), b.size_scalar(last)
    i32, i64 = b.scalars.element_type(INT32), b.scalars.element_type(INT64)
    return i32, arith.trunci(i32, arith.minsi(b.size_scalar(last), arith.constant(i64, greatest)))


def lower_gather(
    ctx: LoweringContext,
    x: Value,
    indices: Value,
    **attributes: object,
) -> Value:
    """Rows by `iree_linalg_ext.gather` (a copy of each), windows of any other kind element by element.

    So are rows of which elements are computed: a kernel of our own reads them where they lie.
    """
    b = ctx.builder
    windows: Windows[Size] = Windows.of(attributes)
    numbers = windows.map(len(b.shape(x)), len(b.shape(indices)))
    fill = from_storage(windows.fill_value, ctx.result_type.dtype) if windows.mode == "fill" else None
    window = [b.size(n) for n in windows.slice_sizes]
    shape = b.shape(x)
    result = [b.size(n) for n in numbers.result_shape(b.shape(indices), window)]
    require_windows_fit(b, shape, window, numbers, result)
    require_batching(b, x, indices, numbers)
    if 0 in result:
        return empty_like(b, x, result)
    if 0 in shape:  # in mode fill, or where the result is empty when the program runs
        dtype = ctx.result_type.dtype
        value = np.zeros((), dtype) if fill is None else fill
        return b.fill(b.scalars.constant(dtype, value[()]), result, dtype)
    can = configuration.gathers_rows(ctx.target, ctx.result_type.dtype)
    if can and is_rows(shape, numbers, window) and not _is_computed_with(ctx):
        return _gather_rows(ctx, x, indices, numbers, result, fill)
    return _gather_elements(ctx, x, indices, numbers, window, result, fill)


def _is_computed_with(ctx: LoweringContext) -> bool:
    """Whether elementwise ops alone take what is gathered, in loops of our own."""
    type_, target = ctx.result_type, ctx.target
    if not type_.shape or type_.static_shape[-1] is None:
        return False
    if type_.dtype in COMPLEX or target.kind is not TargetKind.CPU:
        return False
    users = [_BY_SYMBOL.get(use.owner.operation.name) for use in ctx.operation.results[0].uses]
    if not all(op is not None and op.is_elementwise for op in users):
        return False
    return element_loops(target, type_.static_shape, 8 * type_.dtype.itemsize, operations=0) is not None


def require_windows_fit(
    b: LinalgBuilder,
    shape: Sequence[Size],
    window: Sequence[Size],
    numbers: WindowMap,
    result: Sequence[Size],
) -> None:
    """Windows fit; an axis that the result lacks has an element, if the result has one."""
    for axis, (n, size) in enumerate(zip(shape, window, strict=True)):
        least = size
        if axis in numbers.hidden and not isinstance(n, int):
            least = b.calculate("size_min", 1, size_product(b, result))
        b.require_at_most(least, n, f"adze: the window exceeds axis {axis} of the array")


def require_batching(b: LinalgBuilder, x: Value, indices: Value, numbers: WindowMap) -> None:
    sizes, others = b.shape(x), b.shape(indices)
    for axis, other in zip(numbers.operand_batching, numbers.indices_batching, strict=True):
        b.require_equal(sizes[axis], others[other], "adze: sizes of axes that run together differ")


def is_rows(shape: Sequence[Size], numbers: WindowMap, window: Sequence[Size]) -> bool:
    """Whether each window is a whole contiguous row: indexed axes first, all others complete."""
    indexed = len(numbers.start_index_map)
    leading = list(range(indexed))
    return (
        0 < indexed < numbers.rank
        and sorted(numbers.start_index_map) == leading
        and sorted(numbers.collapsed) == leading
        and not numbers.operand_batching
        and list(numbers.batch_axes) == list(range(numbers.indices_rank - 1))
        and all(m == n for m, n in zip(window[indexed:], shape[indexed:], strict=True))
    )


def _gather_rows(
    ctx: LoweringContext,
    x: Value,
    indices: Value,
    numbers: WindowMap,
    result: Sequence[Size],
    fill: np.ndarray | None,
) -> Value:
    b = ctx.builder
    shape = b.shape(x)
    indexed = len(numbers.start_index_map)
    rows = reshape(b, x, [size_product(b, shape[:indexed]), *shape[indexed:]])
    batch = b.shape(indices)[:-1]
    where, inside = linear_positions(ctx, indices, of_rows(numbers), shape[:indexed], [1] * indexed, batch)
    if not batch:
        where = reshape(b, where, [1])
    if not all(isinstance(n, int) for n in b.shape(rows)):
        # Observed: IREE keeps what computes the rows on the stack ("exceeded stack allocation limit").
        rows = b.materialise(rows)
    init = empty_like(b, x, result if batch else [1, *result])
    gathered = mlir.ir.Operation.create(
        "iree_linalg_ext.gather",
        results=[init.type],
        operands=[rows, where, init],
        attributes={"dimension_map": mlir.ir.DenseI64ArrayAttr.get([0], b.context)},
    ).result
    # Observed: fused with a slice or a reverse of it, it is refused ("'vector.store' op write affecting
    # operations on global resources are restricted to workgroup distributed contexts").
    gathered = b.materialise(b.bind_shape(gathered, b.shape(init)))
    if not batch:
        gathered = reshape(b, gathered, result)
    return gathered if fill is None else _fill_outside(b, gathered, inside, len(batch), fill)


def _fill_outside(b: LinalgBuilder, x: Value, inside: Value, batch_rank: int, fill: np.ndarray) -> Value:
    """`x` where its leading coordinates are inside, `fill` elsewhere."""
    shape = b.shape(x)
    rank = len(shape)

    def body(element: Value, here: Value, _: Value) -> Value:
        return mlir.arith.select(here, element, b.scalars.constant(fill.dtype, fill[()]))

    maps = [b.identity_map(rank), b.axes_map(rank, range(batch_rank)), b.identity_map(rank)]
    return b.generic([x, inside], [b.empty(shape, fill.dtype)], maps, ["parallel"] * rank, body)


def _gather_elements(
    ctx: LoweringContext,
    x: Value,
    indices: Value,
    numbers: WindowMap,
    window: Sequence[Size],
    result: Sequence[Size],
    fill: np.ndarray | None,
) -> Value:
    b = ctx.builder
    x = extractable(b, x)
    shape = b.shape(x)
    rank = len(result)
    lasts = _last_starts(b, numbers, shape, window)
    init = empty_like(b, x, result)
    dtype = ctx.result_type.dtype

    def body(*scalars: Value) -> Value:
        position, inside = _coordinates(b, numbers, index_dtype(ctx), scalars[:-1], lasts)
        element = mlir.tensor.extract(x, position)
        if fill is None or inside is None:
            return element
        return mlir.arith.select(inside, element, b.scalars.constant(dtype, fill[()]))

    columns = _columns(b, indices, len(numbers.start_index_map))
    maps = [b.axes_map(rank, numbers.batch_axes)] * len(columns)
    gathered = b.generic(columns, [init], [*maps, b.identity_map(rank)], ["parallel"] * rank, body)
    if isinstance(x.owner, mlir.ir.Block) or configuration.fuses_taken_elements(ctx.target):
        return gathered
    return b.materialise(gathered)


def index_dtype(ctx: LoweringContext) -> np.dtype:
    """The dtype of the indices: operand 1 of gather and scatter."""
    type_ = ctx.operand_types[1]
    assert isinstance(type_, TensorType)
    return type_.dtype


def _columns(b: LinalgBuilder, indices: Value, count: int) -> list[Value]:
    """One tensor of batch shape for each of the `count` entries of the index vectors."""
    *batch, entries = b.shape(indices)
    b.require_equal(entries, count, "adze: the index vectors have the wrong number of entries")
    if count == 1:
        return [reshape(b, indices, batch)]
    columns = []
    for k in range(count):
        column = _inserted(indices, k)
        if column is None:
            column = extract_slice(b, indices, [0] * len(batch) + [k], [*batch, 1], [1] * (len(batch) + 1))
        columns.append(reshape(b, column, batch))
    return columns


def _inserted(indices: Value, k: int) -> Value | None:
    """The entry `k` of index vectors that were put together of their entries, as it was before.

    The vectors of `x[i[:, None], j]` take 16 bytes an element, their entries are one for a row or a column.
    """
    while (
        not isinstance(indices.owner, mlir.ir.Block) and indices.owner.operation.name == "tensor.insert_slice"
    ):
        operation = indices.owner.operation
        offsets, sizes, strides = (
            list(mlir.ir.DenseI64ArrayAttr(operation.attributes[f"static_{what}"]))
            for what in ("offsets", "sizes", "strides")
        )
        whole = list(mlir.ir.RankedTensorType(indices.type).shape)
        if any(offsets[:-1]) or offsets[-1] < 0 or sizes != [*whole[:-1], 1] or set(strides) != {1}:
            return None
        if offsets[-1] == k:
            return operation.operands[0]
        indices = operation.operands[1]
    return None


def _last_starts(
    b: LinalgBuilder, numbers: WindowMap, shape: Sequence[Size], window: Sequence[Size]
) -> dict[int, Size]:
    """For each indexed axis, the last position at which a window may start."""
    lasts = {axis: b.calculate("size_sub", shape[axis], window[axis]) for axis in numbers.start_index_map}
    return {axis: last if isinstance(last, int) else b.size_value(last) for axis, last in lasts.items()}


def _coordinates(
    b: LinalgBuilder, numbers: WindowMap, dtype: np.dtype, scalars: Sequence[Value], lasts: dict[int, Size]
) -> tuple[list[Value], Value]:
    """Inside a generic over the result: the operand's coordinates, and whether the window is inside."""
    arith = mlir.arith
    position: list[Value] = []
    inside = None
    for axis, (component, along, _) in enumerate(numbers.coordinates()):
        coordinate = None if along is None else mlir.linalg.IndexOp(along).result
        if component is not None:
            start, here = _clamp_index(b, dtype, scalars[component], lasts[axis])
            inside = here if inside is None else arith.andi(inside, here)
            coordinate = start if coordinate is None else arith.addi(coordinate, start)
        position.append(b.size_value(0) if coordinate is None else coordinate)
    return position, inside


def linear_positions(
    ctx: LoweringContext,
    indices: Value,
    numbers: WindowMap,
    shape: Sequence[Size],
    window: Sequence[Size],
    result: Sequence[Size],
) -> tuple[Value, Value]:
    """Row-major positions in `shape` (i64) and whether they are inside (i1), as tensors."""
    b = ctx.builder
    arith = mlir.arith
    rank = len(result)
    lasts = _last_starts(b, numbers, shape, window)
    sizes = [b.size_value(n) for n in shape]
    i64 = b.scalars.element_type(INT64)

    def body(*scalars: Value) -> Value:
        position, inside = _coordinates(b, numbers, index_dtype(ctx), scalars[:-2], lasts)
        linear = None
        for coordinate, n in zip(position, sizes, strict=True):
            linear = coordinate if linear is None else arith.addi(arith.muli(linear, n), coordinate)
        linear = b.size_value(0) if linear is None else linear
        return arith.index_cast(i64, linear), _true(b) if inside is None else inside

    columns = _columns(b, indices, len(numbers.start_index_map))
    maps = [b.axes_map(rank, numbers.batch_axes)] * len(columns)
    maps = [*maps, b.identity_map(rank), b.identity_map(rank)]
    inits = [b.empty(result, INT64), b.empty(result, BOOL)]
    where, inside = b.generics(columns, inits, maps, ["parallel"] * rank, body)
    return where, inside


def _true(b: LinalgBuilder) -> Value:
    return b.scalars.constant(BOOL, True)


def of_rows(numbers: WindowMap) -> WindowMap:
    """The map of a gather or scatter of rows, restricted to the axes that are indexed."""
    indexed = len(numbers.start_index_map)
    return WindowMap(
        indexed, numbers.indices_rank, (), tuple(range(indexed)), numbers.start_index_map, (), ()
    )

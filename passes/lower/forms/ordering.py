"""Lowering of `sort` and `top_k`: the place of every element is computed, then it is put there.

Keys become signed integers whose order is the order wanted (NaN last, -0 equal to +0), so that comparing is
one instruction. CPUs have kernels of our own for short rows (`short_rows.py`) and long ones, CUDA for all
(`sorted_rows.py`). Others, and complex numbers in short rows, are ranked up to `ordering_forms.RANKED`
elements: the place of an element is the number of elements before it, counted over all pairs. Longer rows are
cut into blocks that are ranked and then merged in pairs; there the place is found by a binary search in the
other block. Equal elements keep their order throughout. `iree_linalg_ext.sort` is not used: on CPUs it is a
bubble sort.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.types import COMPLEX, COMPLEX64, FLOAT32, FLOAT64, INT32, INT64
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning import configuration, ordering_forms
from .short_rows import Sorted, exchanged
from .sort_keys import key_dtype, sort_key
from .sorted_rows import gather_columns, greatest_by_kernel, holds_places, sorted_by_kernel
from .tensor_ops import (
    collapse_axes,
    drop_unit_axes,
    expand_axes,
    extract_slice,
    insert_slice,
    pad_tensor,
    parse_attribute,
    permute,
    size_product,
)


def lower_sort(
    ctx: LoweringContext, *operands: Value, axis: int, num_keys: int, is_stable: bool
) -> tuple[Value, ...]:
    """Sort the operands together, always stably."""
    b = ctx.builder
    shape = b.merged_shape(*operands)
    if not shape or shape[axis] == 1 or 0 in shape:
        return tuple(operands)
    results = _exchanged(ctx, operands, shape, axis, num_keys)
    if results is not None:
        return results
    last = len(shape) - 1
    order = [*(a for a in range(len(shape)) if a != axis), axis]
    lengths = [shape[a] for a in order]
    groups = [list(range(last)), [last]]
    rows = [collapse_axes(b, permute(b, b.retype(v, shape), order), groups) for v in operands]
    if ordering_forms.sorts_by_kernel(ctx.target, *b.shape(rows[0])):
        return _moved_back(b, sorted_by_kernel(ctx, rows, num_keys, axis), groups, order, lengths)
    dtypes = [t.dtype for t in ctx.operand_tensors]
    keys = [k for row, dtype in zip(rows[:num_keys], dtypes, strict=False) for k in _keys(b, row, dtype)]
    count, size = b.shape(rows[0])
    pieces = ordering_forms.sort_blocks(size)
    if pieces == 1:
        place = _flat_places(b, _ranks(ctx, keys, count, size), size)
        sorted_rows = [_placed(ctx, row, place, dtype) for row, dtype in zip(rows, dtypes, strict=True)]
    else:
        permutation = _merge_sort(ctx, keys, count, size, pieces)
        sorted_rows = [
            gather_columns(b, row, permutation, dtype) for row, dtype in zip(rows, dtypes, strict=True)
        ]
    return _moved_back(b, sorted_rows, groups, order, lengths)


def _exchanged(
    ctx: LoweringContext, operands: Sequence[Value], shape: Sequence[Size], axis: int, num_keys: int
) -> tuple[Value, ...] | None:
    """The operands as the kernel of short rows sorts them; one whose result is not used as it is."""
    used = _used(ctx)
    fields: dict[int, Sorted] = {}
    for number, (x, tensor) in enumerate(zip(operands, ctx.operand_tensors, strict=True)):
        is_key = number < num_keys
        if is_key or used[number]:
            has_places = not is_key and holds_places(ctx, number, axis)
            array = None if has_places else x
            fields[number] = Sorted(array, tensor.dtype, is_key=is_key, is_kept=used[number])
    found = exchanged(ctx, list(fields.values()), shape, axis, shape[axis])
    if found is None:
        return None
    kept = dict(zip([n for n, field in fields.items() if field.is_kept], found, strict=True))
    return tuple(kept.get(number, x) for number, x in enumerate(operands))


def _exchanged_greatest(
    ctx: LoweringContext, x: Value, shape: Sequence[Size], k: int
) -> tuple[Value, Value] | None:
    """The greatest elements and their places as the kernel of short rows finds them."""
    values, places = _used(ctx)
    fields = [Sorted(x, ctx.operand_dtype, is_key=True, is_falling=True, is_kept=values)]
    fields += [Sorted(None, INT32)] * places
    found = exchanged(ctx, fields, shape, len(shape) - 1, k)
    if found is None:
        return None
    b, kept = ctx.builder, (*shape[:-1], k)
    return (
        found[0] if values else b.empty(kept, ctx.operand_dtype),
        found[-1] if places else b.empty(kept, INT32),
    )


def _used(ctx: LoweringContext) -> list[bool]:
    """Which results of the op are used; the first one where none is."""
    used = [any(True for _ in result.uses) for result in ctx.operation.results]
    return used if any(used) else [True, *used[1:]]


def _moved_back(
    b: LinalgBuilder,
    sorted_rows: Sequence[Value],
    groups: Sequence[Sequence[int]],
    order: Sequence[int],
    lengths: Sequence[Size],
) -> tuple[Value, ...]:
    """Rows as arrays of the operands' shape again."""
    last = len(lengths) - 1
    back = [order.index(a) for a in range(len(order))]
    results = []
    for row in sorted_rows:
        whole = expand_axes(b, row, groups, lengths) if last else drop_unit_axes(b, row, [False, True])
        results.append(permute(b, whole, back))
    return tuple(results)


def lower_top_k(ctx: LoweringContext, x: Value, *, k: int) -> tuple[Value, Value]:
    """The positions whose rank in falling order is below `k`, and the elements there."""
    b = ctx.builder
    dtype = ctx.operand_dtype
    shape = b.shape(x)
    last = len(shape) - 1
    _require_at_least(b, shape[last], k)
    if k == 0 or 0 in shape:
        return b.empty((*shape[:last], k), dtype), b.empty((*shape[:last], k), INT32)
    if shape[last] == 1:
        return x, b.fill(b.scalars.constant(INT32, 0), shape, INT32)
    if k > ordering_forms.FEW_SELECTED:
        results = _exchanged_greatest(ctx, x, shape, k)
        if results is not None:
            return results
    rows = collapse_axes(b, x, [list(range(last)), [last]])
    count, size = b.shape(rows)
    if ordering_forms.selects_by_kernel(ctx.target, count, size, k):
        return _of_rows(b, greatest_by_kernel(ctx, rows, dtype, k), shape[:last], k)
    (key,) = _keys(b, rows, dtype)
    pieces = ordering_forms.sort_blocks(size)
    if ordering_forms.selects(size, k):
        order = _select_greatest(b, key, count, k)
    elif pieces == 1:
        places = _flat_places(b, _ranks(ctx, [_complement(b, key)], count, size), size)
        order = _scatter_rows(b, _column_numbers(b, count, size), places, INT32)
    else:
        order = _merge_sort(ctx, [_complement(b, key)], count, size, pieces)
    order = extract_slice(b, order, [0, 0], [count, k], [1, 1])
    values = gather_columns(b, rows, order, dtype)
    return _of_rows(b, (values, order), shape[:last], k)


def _of_rows(
    b: LinalgBuilder, rows: tuple[Value, Value], batch: Sequence[Size], k: int
) -> tuple[Value, Value]:
    """Rows of `k` elements as arrays with the axes `batch` in front."""
    last = len(batch)
    groups = [list(range(last)), [last]]
    values, order = (
        expand_axes(b, v, groups, (*batch, k)) if last else drop_unit_axes(b, v, [False, True]) for v in rows
    )
    return values, order


def _select_greatest(b: LinalgBuilder, key: Value, count: Size, k: int) -> Value:
    """Positions of the `k` greatest keys of each row: one search after the other, each below the last."""
    wide = _width(key)
    order = b.empty([k, count], INT32)
    last: tuple[Value, ...] = ()
    for step in range(k):
        best = _next_greatest(b, key, last, None, count, wide)
        position = _next_greatest(b, key, last, best, count, wide)
        # Without the barriers IREE fuses all searches into one kernel, which takes minutes to compile.
        last = (b.materialise(best), b.materialise(position))
        order = insert_slice(b, expand_axes(b, position, [[0, 1]], [1, count]), order, [step, 0], [1, 1])
    return permute(b, order, (1, 0))


def _next_greatest(
    b: LinalgBuilder, key: Value, last: Sequence[Value], best: Value, count: Size, wide: np.dtype
) -> Value:
    """The greatest key below `last` (a key and its position); where it is first, once `best` is known."""
    arith, predicate = mlir.arith, mlir.arith.CmpIPredicate
    i32 = b.scalars.element_type(INT32)
    dtype = wide if best is None else INT32
    none = np.iinfo(dtype).min if best is None else np.iinfo(dtype).max
    init = b.fill(b.scalars.constant(dtype, none), [count], dtype)

    def body(here: Value, *others: Value) -> Value:
        at = arith.index_cast(i32, mlir.linalg.IndexOp(1).result)
        wanted = None if best is None else arith.cmpi(predicate.eq, here, others[-2])
        if last:
            later = arith.cmpi(predicate.sgt, at, others[1])
            below = _before([(here, others[0])], later)
            wanted = below if wanted is None else arith.andi(below, wanted)
        result = here if best is None else at
        if wanted is not None:
            result = arith.select(wanted, result, b.scalars.constant(dtype, none))
        return (arith.maxsi if best is None else arith.minsi)(others[-1], result)

    vectors = [*last, *([] if best is None else [best])]
    maps = [b.identity_map(2), *[b.axes_map(2, (0,))] * (len(vectors) + 1)]
    return b.generic([key, *vectors], [init], maps, ["parallel", "reduction"], body)


def _require_at_least(b: LinalgBuilder, size: Size, k: int) -> None:
    if not isinstance(size, int):
        enough = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sge, size, b.size_value(k))
        mlir.cf.assert_(enough, f"adze: top_k of {k} elements from an axis that has fewer")


def _keys(b: LinalgBuilder, x: Value, dtype: np.dtype) -> list[Value]:
    """Tensors of i32 or i64 that are ordered as `x` is, the most significant first."""
    if dtype in COMPLEX:
        part = FLOAT32 if dtype == COMPLEX64 else FLOAT64
        parts = (
            _map(b, x, part, lambda v, get=get: get(dtype, v)) for get in (b.scalars.real, b.scalars.imag)
        )
        return [key for p in parts for key in _keys(b, p, part)]
    wide = key_dtype(dtype)
    key = _map(b, x, wide, lambda v: sort_key(b.scalars, v, dtype))
    return [b.materialise(key)]


def _map(b: LinalgBuilder, x: Value, target: np.dtype, rule: Value) -> Value:
    shape = b.shape(x)
    maps = [b.identity_map(len(shape))] * 2
    return b.generic([x], [b.empty(shape, target)], maps, ["parallel"] * len(shape), lambda v, _: rule(v))


def _complement(b: LinalgBuilder, key: Value) -> Value:
    """Keys in the opposite order: the complement, which unlike the negative never overflows."""
    wide = _width(key)
    flipped = _map(b, key, wide, lambda v: mlir.arith.xori(v, b.scalars.constant(wide, -1)))
    return b.materialise(flipped)


def _before(pairs: Sequence[tuple[Value, Value]], equal: Value) -> Value:
    """Whether the left keys of the pairs come before the right ones, first pair first; ties: `equal`."""
    predicate = mlir.arith.CmpIPredicate
    result = equal
    for left, right in reversed(pairs):
        less = mlir.arith.cmpi(predicate.slt, left, right)
        same = mlir.arith.cmpi(predicate.eq, left, right)
        result = mlir.arith.ori(less, mlir.arith.andi(same, result))
    return result


def _ranks(ctx: LoweringContext, keys: Sequence[Value], count: Size, size: Size) -> Value:
    """For each element of each row, how many elements of the row come before it (i32)."""
    b = ctx.builder
    arith = mlir.arith
    i32 = b.scalars.element_type(INT32)
    init = b.fill(b.scalars.constant(INT32, 0), [count, size], INT32)
    n = len(keys)
    own, others = b.axes_map(3, (0, 1)), b.axes_map(3, (0, 2))
    positions: list[Value] = []
    if configuration.has_kernels(ctx.target):
        position_maps = []
    else:
        # GPUs: IREE has no code on Vulkan for a reduction that asks for its loop index, and crashes where it
        # computes keys of 64 bits of dynamic rows in the reduction's own kernel (CUDA).
        keys = [b.materialise(key) for key in keys]
        positions = [b.materialise(_row_numbers(b, size))] * 2
        position_maps = [b.axes_map(3, (1,)), b.axes_map(3, (2,))]

    def body(*values: Value) -> Value:
        here, there, total = values[:n], values[n : 2 * n], values[-1]
        mine, other = values[2 * n : -1] or (
            arith.index_cast(i32, mlir.linalg.IndexOp(a).result) for a in (1, 2)
        )
        earlier = arith.cmpi(arith.CmpIPredicate.ult, other, mine)
        before = _before(list(zip(there, here, strict=True)), earlier)
        return arith.addi(total, arith.extui(i32, before))

    return b.generic(
        [*keys, *keys, *positions],
        [init],
        [*[own] * n, *[others] * n, *position_maps, own],
        ["parallel", "parallel", "reduction"],
        body,
        parse_attribute(b, ordering_forms.ranking(ctx.target, count, size)),
    )


def _row_numbers(b: LinalgBuilder, size: Size) -> Value:
    """The vector 0, 1, 2, ..."""
    element = b.scalars.element_type(INT32)
    return b.generic(
        [],
        [b.empty([size], INT32)],
        [b.identity_map(1)],
        ["parallel"],
        lambda _: mlir.arith.index_cast(element, mlir.linalg.IndexOp(0).result),
    )


def _flat_places(b: LinalgBuilder, ranks: Value, size: Size) -> Value:
    """Places in rows as places in the whole, one row after the other."""
    i32 = b.scalars.element_type(INT32)
    shape = b.shape(ranks)
    length = mlir.arith.index_cast(i32, b.size_value(size))

    def body(rank: Value, _: Value) -> Value:
        row = mlir.arith.index_cast(i32, mlir.linalg.IndexOp(0).result)
        return mlir.arith.addi(rank, mlir.arith.muli(row, length))

    return b.generic([ranks], [b.empty(shape, INT32)], [b.identity_map(2)] * 2, ["parallel"] * 2, body)


def _column_numbers(b: LinalgBuilder, count: Size, size: Size) -> Value:
    element = b.scalars.element_type(INT32)
    return b.generic(
        [],
        [b.empty([count, size], INT32)],
        [b.identity_map(2)],
        ["parallel"] * 2,
        lambda _: mlir.arith.index_cast(element, mlir.linalg.IndexOp(1).result),
    )


def _placed(ctx: LoweringContext, rows: Value, places: Value, dtype: np.dtype) -> Value:
    """Each element at its place; on GPUs complex ones part by part: IREE has no code for them together."""
    b = ctx.builder
    if dtype not in COMPLEX or configuration.has_kernels(ctx.target):
        return _scatter_rows(b, rows, places, dtype)
    part = FLOAT32 if dtype == COMPLEX64 else FLOAT64
    parts = [
        _scatter_rows(b, _map(b, rows, part, lambda v, get=get: get(dtype, v)), places, part)
        for get in (b.scalars.real, b.scalars.imag)
    ]
    shape = b.shape(rows)
    return b.generic(
        parts,
        [b.empty(shape, dtype)],
        [b.identity_map(len(shape))] * 3,
        ["parallel"] * len(shape),
        lambda real, imag, _: b.scalars.complex(part, real, imag),
    )


def _scatter_rows(b: LinalgBuilder, rows: Value, places: Value, dtype: np.dtype) -> Value:
    """Each element at its place."""
    ir = mlir.ir
    shape = b.shape(rows)
    total = size_product(b, shape)
    updates = b.materialise(collapse_axes(b, rows, [[0, 1]]))
    indices = b.materialise(expand_axes(b, collapse_axes(b, places, [[0, 1]]), [[0, 1]], [total, 1]))
    target = b.empty([total], dtype)
    op = ir.Operation.create(
        "iree_linalg_ext.scatter",
        results=[target.type],
        operands=[updates, indices, target],
        attributes={
            "dimension_map": ir.DenseI64ArrayAttr.get([0], b.context),
            "unique_indices": ir.BoolAttr.get(True, b.context),
        },
        regions=1,
    )
    element = ir.RankedTensorType(target.type).element_type
    block = op.regions[0].blocks.append(element, element, arg_locs=[ir.Location.current] * 2)
    with ir.InsertionPoint(block):
        ir.Operation.create("iree_linalg_ext.yield", operands=[block.arguments[0]])
    return expand_axes(b, b.bind_shape(op.result, [total]), [[0, 1]], shape)


def _merge_sort(ctx: LoweringContext, keys: Sequence[Value], count: Size, size: int, pieces: int) -> Value:
    """The order of each row's elements: `pieces` (a power of two) blocks ranked, then merged in pairs."""
    b = ctx.builder
    length = -(-size // pieces)
    whole = length * pieces
    wides = [_width(key) for key in keys]
    # What fills up the last block comes after everything, even after NaNs, which it is equal to.
    filled = [
        pad_tensor(b, k, [0, 0], [0, whole - size], b.scalars.constant(w, np.iinfo(w).max))
        for k, w in zip(keys, wides, strict=True)
    ]
    state = [*filled, _column_numbers(b, count, whole)]
    dtypes = [*wides, INT32]
    blocks = b.calculate("size_mul", count, pieces)
    cut = [b.materialise(_reshape_rows(b, k, [blocks, length])) for k in filled]
    places = _flat_places(b, _ranks(ctx, cut, blocks, length), length)
    state = [
        _scatter_rows(b, _reshape_rows(b, v, [blocks, length]), places, d)
        for v, d in zip(state, dtypes, strict=True)
    ]
    while pieces > 1:
        pieces //= 2
        pairs = b.calculate("size_mul", count, pieces)
        state = [b.materialise(_reshape_rows(b, v, [pairs, 2 * length])) for v in state]
        places = _flat_places(b, _merged_places(b, state[:-1], pairs, length), 2 * length)
        state = [_scatter_rows(b, v, places, d) for v, d in zip(state, dtypes, strict=True)]
        length *= 2
    order = _reshape_rows(b, state[-1], [count, whole])
    return extract_slice(b, order, [0, 0], [count, size], [1, 1])


def _reshape_rows(b: LinalgBuilder, x: Value, shape: Sequence[Size]) -> Value:
    return expand_axes(b, collapse_axes(b, x, [[0, 1]]), [[0, 1]], shape)


def _merged_places(b: LinalgBuilder, keys: Sequence[Value], pairs: Size, length: int) -> Value:
    """Places of the elements of two sorted halves of each row in the merged row, by binary search."""
    arith = mlir.arith
    i32 = b.scalars.element_type(INT32)

    def body(*values: Value) -> Value:
        mine = values[:-1]
        row, column = mlir.linalg.IndexOp(0).result, mlir.linalg.IndexOp(1).result
        half = b.size_value(length)
        zero, one = b.size_value(0), b.size_value(1)
        is_right = arith.cmpi(arith.CmpIPredicate.uge, column, half)
        base = arith.select(is_right, zero, half)
        low, high = zero, half
        for _ in range(length.bit_length()):
            middle = arith.shrui(arith.addi(low, high), one)
            # Once low = high = length the element looked at does not exist; any will do.
            probe = arith.minui(middle, b.size_value(length - 1))
            at = [row, arith.addi(base, probe)]
            pairs_of_keys = [(mlir.tensor.extract(k, at), m) for k, m in zip(keys, mine, strict=True)]
            # Of equal elements the left half's come first.
            goes_before = _before(pairs_of_keys, is_right)
            open_ = arith.cmpi(arith.CmpIPredicate.ult, low, high)
            forward = arith.andi(open_, goes_before)
            low = arith.select(forward, arith.addi(middle, one), low)
            high = arith.select(arith.andi(open_, arith.xori(goes_before, _true(b))), middle, high)
        own = arith.select(is_right, arith.subi(column, half), column)
        return arith.index_cast(i32, arith.addi(own, low))

    maps = [b.identity_map(2)] * (len(keys) + 1)
    init = b.empty([pairs, 2 * length], INT32)
    return b.generic(list(keys), [init], maps, ["parallel"] * 2, body)


def _true(b: LinalgBuilder) -> Value:
    return b.scalars.constant(np.dtype(bool), True)


def _width(key: Value) -> np.dtype:
    """The dtype of a tensor of keys."""
    width = mlir.ir.IntegerType(mlir.ir.RankedTensorType(key.type).element_type).width
    return INT64 if width == 64 else INT32

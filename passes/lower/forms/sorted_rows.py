"""Sorting and searching by kernels of our own: what they are asked for, key by key.

Input: rows `[count, size]` of every operand. Output: the rows, sorted together.
The kernels of CPUs are in `kernels/sorting.py`, those of CUDA in `gpu_sorting.py` and `gpu_selection.py`.
Idea: a kernel sorts by one key; several keys, and the parts of complex numbers, are sorted by in turn from
the last on, which is right because each sort is stable. Other operands follow by the order that comes out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ....dialects import mlir
from ....dialects.ops.constants import Iota
from ....dialects.ops.reduction import Argmin
from ....dialects.types import BOOL, COMPLEX, COMPLEX64, FLOAT32, FLOAT64, FLOATS, INT32
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, Value
from ..iree.extracted_sources import extractable
from ..kernels.gpu_selection import Search, first_elements, first_places
from ..kernels.gpu_sorting import sort_rows_on_gpu
from ..kernels.sorting import MOST_WORKGROUPS, Ordering, Rows, select_first, sort_rows
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import gpu_rows, ordering_forms
from .sort_keys import key_dtype, sort_key
from .tensor_ops import collapse_axes, drop_unit_axes, expand_axes, size_product

BYTE = np.dtype(np.int8)


def sorted_by_kernel(ctx: LoweringContext, rows: Sequence[Value], num_keys: int, axis: int) -> list[Value]:
    """`rows` of all operands of a sort along `axis`, sorted together by the first `num_keys`."""
    dtypes = [t.dtype for t in ctx.operand_tensors]
    if len(rows) == 1 and dtypes[0] not in COMPLEX:
        return [_sorted(ctx, rows[0], dtypes[0], has_order=False)[0]]
    values, order = _by_keys(ctx, list(zip(rows[:num_keys], dtypes, strict=False)))
    results = []
    for position, (row, dtype) in enumerate(zip(rows, dtypes, strict=True)):
        if position == 0 and values is not None:
            results.append(values)
        elif holds_places(ctx, position, axis):
            results.append(_converted(ctx.builder, order, INT32, dtype))
        else:
            results.append(gather_columns(ctx.builder, row, order, dtype))
    return results


def _by_keys(ctx: LoweringContext, keys: Sequence[tuple[Value, np.dtype]]) -> tuple[Value | None, Value]:
    """The first key's elements in order (None for complex numbers), and the order."""
    b = ctx.builder
    parts = [part for key, dtype in keys for part in _parts(b, key, dtype)]
    values, order = None, None
    for key, dtype in reversed(parts):
        now = key if order is None else gather_columns(b, key, order, dtype)
        values, step = _sorted(ctx, now, dtype)
        assert step is not None
        order = step if order is None else gather_columns(b, order, step, INT32)
    assert order is not None
    return (None if keys[0][1] in COMPLEX else values), order


def _sorted(
    ctx: LoweringContext, x: Value, dtype: np.dtype, *, has_order: bool = True
) -> tuple[Value, Value | None]:
    """The elements of each row in order, and the places that they come from (i32)."""
    b = ctx.builder
    stored, rows = _rows(b, x, dtype)
    values, order = _sorted_rows(ctx, rows, stored, has_order=has_order)
    values = _converted(b, b.bind_shape(values, rows.sizes), stored, dtype)
    return values, None if order is None else b.bind_shape(order, rows.sizes)


def _sorted_rows(
    ctx: LoweringContext, rows: Rows, dtype: np.dtype, *, has_order: bool
) -> tuple[Value, Value | None]:
    how = _ordering(ctx, dtype)
    if ctx.target.kind is not TargetKind.CUDA:
        return sort_rows(ctx.kernels, rows, how, has_order=has_order)
    return _sorted_on_gpu(ctx, rows, dtype, how, None, has_order=has_order)


def _sorted_on_gpu(
    ctx: LoweringContext, rows: Rows, dtype: np.dtype, how: Ordering, kept: int | None, *, has_order: bool
) -> tuple[Value, Value | None]:
    """The first `kept` elements of each row (None: all) as rows again, and their places."""
    b, (count, size) = ctx.builder, rows.sizes
    flat = replace(rows, tensor=collapse_axes(b, rows.tensor, [[0, 1]]))
    key_type = b.scalars.element_type(key_dtype(dtype))
    width = size if kept is None else kept
    total = size_product(b, (count, width))

    def rows_again(x: Value) -> Value:
        return expand_axes(b, b.bind_shape(x, [total]), [[0, 1]], [count, width])

    values, order = sort_rows_on_gpu(ctx.kernels, flat, how, key_type, kept, has_order=has_order)
    return rows_again(values), None if order is None else rows_again(order)


def greatest_by_kernel(ctx: LoweringContext, x: Value, dtype: np.dtype, k: int) -> tuple[Value, Value]:
    """The `k` greatest elements of each row, falling, and the places that they come from (i32)."""
    b = ctx.builder
    stored, rows = _rows(b, x, dtype)
    kept = (rows.sizes[0], k)
    how = _ordering(ctx, stored, falling=True)
    order: Value | None
    if ctx.target.kind is not TargetKind.CUDA:
        values, order = select_first(ctx.kernels, rows, how, k)
    elif ordering_forms.searches(ctx.target, rows.sizes, k):
        values, order = _searched(ctx, rows.tensor, stored, k)
    else:
        values, order = _sorted_on_gpu(ctx, rows, stored, how, k, has_order=True)
    return _converted(b, b.bind_shape(values, kept), stored, dtype), b.bind_shape(order, kept)


def _searched(ctx: LoweringContext, x: Value, dtype: np.dtype, k: int) -> tuple[Value, Value]:
    """The `k` greatest elements of rows of known sizes, and their places, by a search for each."""
    b = ctx.builder
    count, size = b.shape(x)
    assert isinstance(count, int) and isinstance(size, int)
    whole = expand_axes(b, x, [[0], [1, 2]], [count, size, 1])
    how = Search(f"{dtype}-greatest", _ordering(ctx, dtype).key, b.scalars.element_type(key_dtype(dtype)), k)
    found = first_elements(ctx.kernels, whole, how, gpu_rows.shared(count, size))
    values, places = (collapse_axes(b, b.bind_shape(v, (count, k, 1)), [[0], [1, 2]]) for v in found)
    return values, places


def first_by_kernel(ctx: LoweringContext, x: Value, dtype: np.dtype, axis: int, place: np.dtype) -> Value:
    """The places (of dtype `place`) along `axis` of the first of the greatest elements, or of the least.

    `x` has known sizes. A NaN comes before all.
    """
    b, is_least, keys = ctx.builder, ctx.op is Argmin, key_dtype(dtype)
    rising = _ordering(ctx, dtype).key

    def falling(element: Value) -> Value:
        key, scalars = rising(element), Scalars(ctx.target.kind.value)
        flipped = mlir.arith.xori(key, scalars.constant(keys, -1))
        if dtype not in FLOATS:
            return flipped
        nan = scalars.constant(keys, np.iinfo(keys).max)
        is_nan = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, key, nan)
        return mlir.arith.select(is_nan, nan, flipped)

    shape = b.shape(x)
    rows = [list(range(axis)), [axis], list(range(axis + 1, len(shape)))]
    x = collapse_axes(b, x, rows)
    before, size, behind = mlir.ir.RankedTensorType(x.type).shape
    name = f"{dtype}-{'least' if is_least else 'greatest'}"
    how = Search(name, falling if is_least else rising, b.scalars.element_type(keys))
    division = gpu_rows.divided(before, size, behind, is_complex=False)
    found = first_places(ctx.kernels, x, how, division, b.scalars.element_type(place))
    flat = collapse_axes(b, b.bind_shape(found, (before, 1, behind)), [[0, 1, 2]])
    kept = [n for a, n in enumerate(shape) if a != axis]
    if not kept:
        return drop_unit_axes(b, flat, [False])
    return expand_axes(b, flat, [list(range(len(kept)))], kept)


def _rows(b: LinalgBuilder, x: Value, dtype: np.dtype) -> tuple[np.dtype, Rows]:
    """The rows as the kernel takes them, and their dtype: bools as bytes."""
    count, size = b.shape(x)
    stored = BYTE if dtype == BOOL else dtype
    x = _converted(b, x, dtype, stored)
    return stored, Rows(x, (count, size), b.calculate("size_min", count, MOST_WORKGROUPS))


def _ordering(ctx: LoweringContext, dtype: np.dtype, *, falling: bool = False) -> Ordering:
    scalars = Scalars(ctx.target.kind.value)  # one that calls no functions of the module

    def key(element: Value) -> Value:
        found = sort_key(scalars, element, dtype)
        # Falling by the complement, which unlike the negative never overflows.
        return mlir.arith.xori(found, scalars.constant(key_dtype(dtype), -1)) if falling else found

    return Ordering(f"{dtype}{'-falling' if falling else ''}", key, _bits(dtype))


def gather_columns(b: LinalgBuilder, rows: Value, order: Value, dtype: np.dtype) -> Value:
    """`rows[r, order[r, i]]`; the order holds positions that exist."""

    def body(position: Value, _: Value) -> Value:
        at = mlir.arith.index_cast(mlir.ir.IndexType.get(b.context), position)
        return mlir.tensor.extract(rows, [mlir.linalg.IndexOp(0).result, at])

    rows = extractable(b, rows)
    init = b.empty(b.shape(order), dtype)
    return b.generic([order], [init], [b.identity_map(2)] * 2, ["parallel"] * 2, body)


def _bits(dtype: np.dtype) -> int:
    """How many bits of a key are significant, with a sign."""
    if dtype.itemsize == 8:
        return 64
    return 32 if dtype in FLOATS or dtype.itemsize == 4 else 8 * dtype.itemsize + 1


def _parts(b: LinalgBuilder, key: Value, dtype: np.dtype) -> list[tuple[Value, np.dtype]]:
    """A key as keys that are not complex, the most significant first."""
    if dtype not in COMPLEX:
        return [(key, dtype)]
    part = FLOAT32 if dtype == COMPLEX64 else FLOAT64
    rules: tuple[Callable[..., Value], ...] = (b.scalars.real, b.scalars.imag)
    return [(_mapped(b, key, part, functools.partial(rule, dtype)), part) for rule in rules]


def _converted(b: LinalgBuilder, x: Value, source: np.dtype, target: np.dtype) -> Value:
    if source == target:
        return x
    return _mapped(b, x, target, lambda v: b.scalars.convert(source, target, v))


def _mapped(b: LinalgBuilder, x: Value, target: np.dtype, rule: Callable[[Value], Value]) -> Value:
    shape = b.shape(x)
    maps = [b.identity_map(len(shape))] * 2
    parallel = ["parallel"] * len(shape)
    return b.generic([x], [b.empty(shape, target)], maps, parallel, lambda v, _: rule(v))


def holds_places(ctx: LoweringContext, position: int, axis: int) -> bool:
    """Whether an operand holds the places along the axis itself: then the order is what becomes of it."""
    owner = ctx.operation.operands[position].owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != f"adze.{Iota.name}":
        return False
    return bool(owner.operation.attributes["axis"].value == axis)

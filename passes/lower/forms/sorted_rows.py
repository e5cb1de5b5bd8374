"""Sorting by a kernel of our own (`kernels/sorting.py`): what the kernel is asked for, key by key.

Input: rows `[count, size]` of every operand. Output: the rows, sorted together.
Idea: the kernel sorts by one key; several keys, and the parts of complex numbers, are sorted by in turn from
the last on, which is right because each sort is stable. Other operands follow by the order that comes out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.ops.constants import Iota
from ....dialects.types import BOOL, COMPLEX, COMPLEX64, FLOAT32, FLOAT64, FLOATS, INT32
from ..builder import LinalgBuilder, Value
from ..iree.extracted_sources import extractable
from ..kernels.sorting import MOST_WORKGROUPS, Ordering, Rows, select_first, sort_rows
from ..lowering import LoweringContext
from ..scalars import Scalars
from .sort_keys import key_dtype, sort_key

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
        elif _is_numbered(ctx, position, axis):
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
    values, order = sort_rows(ctx.kernels, rows, _ordering(ctx, stored), has_order=has_order)
    values = _converted(b, b.bind_shape(values, rows.sizes), stored, dtype)
    return values, None if order is None else b.bind_shape(order, rows.sizes)


def greatest_by_kernel(ctx: LoweringContext, x: Value, dtype: np.dtype, k: int) -> tuple[Value, Value]:
    """The `k` greatest elements of each row, falling, and the places that they come from (i32)."""
    b = ctx.builder
    stored, rows = _rows(b, x, dtype)
    values, order = select_first(ctx.kernels, rows, _ordering(ctx, stored, falling=True), k)
    kept = (rows.sizes[0], k)
    return _converted(b, b.bind_shape(values, kept), stored, dtype), b.bind_shape(order, kept)


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


def _is_numbered(ctx: LoweringContext, position: int, axis: int) -> bool:
    """Whether an operand holds the places along the axis itself: then the order is what becomes of it."""
    owner = ctx.operation.operands[position].owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != f"adze.{Iota.name}":
        return False
    return bool(owner.operation.attributes["axis"].value == axis)

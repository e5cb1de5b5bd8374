"""Windows at computed places, in kernels: dynamic slices and updates, gather, scatter.

Idea: every index is clamped before it is used, or its window is masked; `ranges.py` drops the clamps of those
that are known to be inside. A scatter is a loop over its windows in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ......dialects import mlir
from ......dialects.ops.indexing.gather import Windows
from ......dialects.ops.indexing.scatter import Updates
from ......dialects.ops.indexing.windows import WindowMap, scatter_window
from ......dialects.types import TensorType, ValueType, from_storage
from ....builder import Size, Value
from ....forms.indexing import clamped_in, require_batching, require_windows_fit
from ....lowering import LoweringContext
from ..builder import KernelBuilder
from .common import builder_of

if TYPE_CHECKING:
    from iree.compiler import ir

_Write: TypeAlias = "Callable[[ir.Value, list[ir.Value]], ir.Value]"


def _clamp(b: KernelBuilder, dtype: np.dtype, index: Value, last: Size) -> tuple[Value, Value]:
    """An index moved into ``0 .. last``, of type `index`, and whether it was there."""
    arith = mlir.arith
    type_, most = clamped_in(b, dtype, last)
    widen = arith.extui if dtype.kind == "u" else arith.extsi
    wide = index if index.type == type_ else widen(type_, index)
    is_unsigned = dtype.kind == "u"
    clamped = (
        arith.minui(wide, most)
        if is_unsigned
        else arith.maxsi(arith.minsi(wide, most), arith.constant(type_, 0))
    )
    inside = arith.cmpi(arith.CmpIPredicate.eq, clamped, wide)
    return arith.index_cast(mlir.ir.IndexType.get(), clamped), inside


def _starts_of_slice(
    b: KernelBuilder, x: Value, sizes: Sequence[Size], starts: Sequence[Value], types: Sequence[ValueType]
) -> list[Size]:
    offsets: list[Size] = []
    for axis, (n, size, start, type_) in enumerate(zip(b.shape(x), sizes, starts, types, strict=True)):
        assert isinstance(type_, TensorType)
        b.require_at_most(size, n, f"adze: the window exceeds axis {axis} of the array")
        is_whole = n == size
        offsets.append(
            0 if is_whole else _clamp(b, type_.dtype, b.element(start), b.calculate("size_sub", n, size))[0]
        )
    return offsets


def lower_dynamic_slice(ctx: LoweringContext, x: Value, *starts: Value, slice_sizes: Sequence[Size]) -> Value:
    """A window at clamped offsets."""
    b = builder_of(ctx)
    offsets = _starts_of_slice(b, x, slice_sizes, starts, ctx.operand_types[1 : 1 + len(starts)])
    return b.window(x, offsets, list(slice_sizes))


def lower_dynamic_update_slice(ctx: LoweringContext, x: Value, update: Value, *starts: Value) -> Value:
    """A window written at clamped offsets."""
    b = builder_of(ctx)
    sizes = b.shape(update)
    if sizes == b.shape(x):
        return update
    offsets = _starts_of_slice(b, x, sizes, starts, ctx.operand_types[2:])
    return b.insert(update, x, offsets)


def lower_gather(ctx: LoweringContext, x: Value, indices: Value, **attributes: object) -> Value:
    """One window for one index vector; else element by element."""
    b = builder_of(ctx)
    windows: Windows[Size] = Windows.of(attributes)
    shape, batch = b.shape(x), b.shape(indices)
    numbers = windows.map(len(shape), len(batch))
    window = [b.size(n) for n in windows.slice_sizes]
    result = list(numbers.result_shape(batch, window))
    require_windows_fit(b, shape, window, numbers, result)
    require_batching(b, x, indices, numbers)
    fill = from_storage(windows.fill_value, ctx.result_type.dtype) if windows.mode == "fill" else None
    dtype = _index_dtype(ctx)
    if all(n == 1 for n in batch[:-1]):
        at = [b.size_value(0)] * (len(indices.type.shape) - 1)
        starts, inside = _starts(b, dtype, indices, numbers, shape, window, at)
        part = b.reshape(b.window(x, starts, window), result)
        return part if fill is None or inside is None else _masked(b, part, inside, fill)
    rank = len(result)
    zero = b.size_value(0)

    def body(_: Value) -> Value:
        along = [mlir.linalg.IndexOp(axis).result for axis in range(rank)]
        at = [along[axis] for axis in numbers.batch_axes]
        starts, inside = _starts(b, dtype, indices, numbers, shape, window, at)
        position = []
        for start, coordinate in zip(starts, numbers.coordinates(), strict=True):
            if coordinate.is_window and coordinate.axis is not None:
                step = along[coordinate.axis]
                start = step if isinstance(start, int) else mlir.arith.addi(start, step)
            position.append(zero if isinstance(start, int) else start)
        element = mlir.tensor.extract(x, position)
        if fill is None or inside is None:
            return element
        return mlir.arith.select(inside, element, b.scalars.constant(fill.dtype, fill[()]))

    init = b.empty_like(x, result)
    return b.generic([], [init], [b.identity_map(rank)], ["parallel"] * rank, body)


def _starts(
    b: KernelBuilder,
    dtype: np.dtype,
    indices: Value,
    numbers: WindowMap,
    shape: Sequence[Size],
    window: Sequence[Size],
    at: Sequence[Value],
) -> tuple[list[Size], Value | None]:
    """Where the window of the index vector at `at` starts along each axis of `x`, and whether it fits there.

    Axes without a start are 0; None: it always fits.
    """
    inside: Value | None = None
    starts: list[Size] = [0] * len(shape)
    for axis, coordinate in enumerate(numbers.coordinates()):
        if coordinate.component is not None:
            index = mlir.tensor.extract(indices, [*at, b.size_value(coordinate.component)])
            starts[axis], fits = _clamp(b, dtype, index, b.calculate("size_sub", shape[axis], window[axis]))
            inside = fits if inside is None else mlir.arith.andi(inside, fits)
        elif coordinate.axis is not None and not coordinate.is_window:
            starts[axis] = at[numbers.batch_axes.index(coordinate.axis)]
    return starts, inside


def _masked(b: KernelBuilder, part: Value, inside: Value, fill: np.ndarray) -> Value:
    """`part` where its window is inside, else the number that fills."""
    other = b.scalars.constant(fill.dtype, fill[()])
    shape = b.shape(part)
    if b.is_single(part):
        return b.single(mlir.arith.select(inside, b.element(part), other), shape)
    maps, rank = [b.identity_map(len(shape))] * 2, len(shape)
    init = b.empty_like(part, shape)
    return b.generic(
        [part], [init], maps, ["parallel"] * rank, lambda e, _: mlir.arith.select(inside, e, other)
    )


def _index_dtype(ctx: LoweringContext) -> np.dtype:
    """The dtype of the indices: operand 1 of gather and scatter."""
    type_ = ctx.operand_types[1]
    assert isinstance(type_, TensorType)
    return type_.dtype


def lower_scatter(
    ctx: LoweringContext, x: Value, indices: Value, updates: Value, **attributes: object
) -> Value:
    """A loop over the index vectors in their order, each of which writes one window."""
    b, own = builder_of(ctx), Updates.of(attributes)
    shape, updated = b.shape(x), b.shape(updates)
    numbers = own.map(len(shape), len(indices.type.shape))
    window = list(scatter_window(numbers, updated))
    dtype, batch = ctx.result_type.dtype, b.shape(indices)[:-1]
    require_windows_fit(b, shape, window, numbers, updated)
    require_batching(b, x, indices, numbers)

    def write(whole: Value, at: list[Value]) -> Value:
        starts, inside = _starts(b, _index_dtype(ctx), indices, numbers, shape, window, at)
        offsets: list[Size] = [0] * len(updated)
        sizes = list(updated)
        for position, axis in zip(at, numbers.batch_axes, strict=True):
            offsets[axis], sizes[axis] = position, 1
        part = b.reshape(b.window(updates, offsets, sizes), window)
        mask = inside if own.mode == "drop" else None
        if own.kind != "set" or mask is not None:
            part = _combined(b, own.kind, dtype, part, b.window(whole, starts, window), mask)
        return b.insert(part, whole, starts)

    return _nest(b, batch, write, x, [])


def _combined(
    b: KernelBuilder, kind: str, dtype: np.dtype, part: Value, old: Value, mask: Value | None
) -> Value:
    """What an update makes of the window that is there; the window itself where it is masked off."""

    def body(update: Value, present: Value) -> Value:
        new = update if kind == "set" else getattr(b.scalars, kind)(dtype, present, update)
        return new if mask is None else mlir.arith.select(mask, new, present)

    shape = b.shape(part)
    if b.is_single(part):
        return b.single(body(b.element(part), b.element(old)), shape)
    rank = len(shape)
    maps, init = [b.identity_map(rank)] * 3, b.empty_like(part, shape)
    return b.generic([part, old], [init], maps, ["parallel"] * rank, lambda u, p, _: body(u, p))


def _nest(b: KernelBuilder, batch: Sequence[Size], write: _Write, whole: Value, at: list[Value]) -> Value:
    """A loop for each axis of the batch, from axis `len(at)` on."""
    if len(at) == len(batch):
        return write(whole, at)
    count = batch[len(at)]
    if count == 1:
        return _nest(b, batch, write, whole, [*at, b.size_value(0)])
    loop = mlir.scf.ForOp(b.size_value(0), b.size_value(count), b.size_value(1), [whole])
    with mlir.ir.InsertionPoint(loop.body):
        inner = loop.inner_iter_args[0]
        mlir.scf.YieldOp([_nest(b, batch, write, inner, [*at, loop.induction_variable])])
    return loop.results[0]

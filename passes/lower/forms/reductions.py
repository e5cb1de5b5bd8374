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
from ....dialects.ops.reduction import Reduction, accumulation_dtype
from ....dialects.types import BOOL, COMPLEX64, FLOATS, INT32
from ....runtime.targets import TargetKind
from ..builder import Attribute, LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..scalars import Scalars
from ..tuning import configuration, gpu_columns
from ..tuning.gpu_facts import is_tiled
from ..tuning.joined_rows import rows_joined
from .complex_products import parts_of
from .ordered_extrema import first_key, floats_of, key_dtype, keys_of, loses_nan
from .reduction_operands import is_cheap, is_computed, is_of_complex, is_stored, is_widened
from .reduction_shapes import column_sizes, joined, kept_sizes, regrouped, split_rows
from .tensor_ops import collapse_axes, convert_elements, expand_axes, extract_slice, parse_attribute, splat

Init: TypeAlias = "Callable[[Sequence[Size]], Value]"  # the initial value of a reduction, by its shape

_COMBINE: Final = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "larger",
    "reduce_min": "smaller",
    "reduce_and": "and_",
    "reduce_or": "or_",
    "cumsum": "add",
    "cumprod": "mul",
    "cummax": "larger",
    "cummin": "smaller",
}


def combine(b: LinalgBuilder, name: str, dtype: np.dtype, left: Value, right: Value) -> Value:
    """The scalar that one step of the reduction or running value `name` makes."""
    return combine_scalars(b.scalars, name, dtype, left, right)


def combine_scalars(scalars: Scalars, name: str, dtype: np.dtype, left: Value, right: Value) -> Value:
    """As `combine`, by the code of `scalars`."""
    return getattr(scalars, _COMBINE[name])(dtype, left, right)


def lower_reduction(ctx: LoweringContext, x: Value, *, axes: Sequence[int]) -> Value:
    """Reduce `x` along `axes`, which may be in any order, in a wider dtype where the sum needs one."""
    assert issubclass(ctx.op, Reduction)
    axes = sorted(axes)
    b, name, dtype = ctx.builder, ctx.op.name, ctx.operand_dtype
    identity = ctx.op.identity(dtype)
    if not axes:
        return x
    carried = _carried_dtype(ctx, name, dtype)
    reduced = _reduced_joined_rows(ctx, name, x, axes, identity, dtype, carried)
    if reduced is None:
        reduced = reduce_axes(ctx, name, x, axes, identity, dtype, carried)
    return convert_elements(b, carried, dtype, reduced)


def _carried_dtype(ctx: LoweringContext, name: str, dtype: np.dtype) -> np.dtype:
    """The dtype that elements are combined in: a sum may need a wider one, and bits are slow on CPUs.

    An extremum of halves is one of float32: on CUDA IREE gives each thread a row where a step rounds, and on
    CPUs each step would convert twice (Intel Xeon with AVX-512, 500,000 bfloat16: 1,983 -> 42 us).
    """
    if dtype == BOOL and configuration.widens_bools(ctx.target):
        return INT32
    is_sum = _COMBINE[name] in ("add", "mul")
    return accumulation_dtype(dtype) if is_sum or _has_wide_extrema(ctx, dtype) else dtype


def _has_wide_extrema(ctx: LoweringContext, dtype: np.dtype) -> bool:
    is_wide = ctx.target.kind in (TargetKind.CUDA, TargetKind.CPU)
    return is_wide and dtype in FLOATS and dtype.itemsize == 2


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
    if loses_nan(ctx.target, name, carried):
        keys, start = keys_of(b, name, dtype, x), first_key(name, dtype)
        integers = key_dtype(dtype)
        return floats_of(b, dtype, reduce_axes(ctx, name, keys, axes, start, integers, integers))
    if configuration.takes_complex_apart(ctx.target, b.shape(x)) and is_of_complex(x):
        # IREE makes no vectors of complex numbers: their kernel stores floats, which that of the sum reads.
        if carried.kind != "c":
            x = b.materialise(x)
        elif name == "reduce_sum" and carried == COMPLEX64 and len(b.shape(x)) - 1 in axes:
            return _sum_of_parts(ctx, x, axes, carried)
    shared = _reduced_by_more_threads(ctx, name, x, axes, identity, dtype, carried)
    if shared is not None:
        return shared
    is_static = all(isinstance(n, int) for n in b.shape(x))
    few_operations = is_cheap(x, takes_reduced=not is_static)
    stages = configuration.reduction_stages(ctx.target, b.shape(x), axes, carried, is_cheap=few_operations)
    is_joined = len(axes) > 1 and is_static
    is_taken_twice = ctx.uses.get(x, 0) > 1 or (is_joined and is_computed(x))
    if is_taken_twice and _leaves_a_rest(b.shape(x), stages):
        # Observed: IREE fuses what computes `x` for another user too, also for the rest of several axes that
        # are one here, whole and on the stack.
        x = b.materialise(x)
    kept = [n for axis, n in enumerate(b.shape(x)) if axis not in axes]
    if kept and all(n == 1 for n in kept) and is_static:
        row = regrouped(b, x, [n for axis, n in enumerate(b.shape(x)) if axis in axes])
        total = reduce_axes(ctx, name, row, tuple(range(len(axes))), identity, dtype, carried)
        return expand_axes(b, total, [], kept)
    is_one_row = stages is None and not kept and not is_static
    if is_one_row and not few_operations and ctx.target.kind is TargetKind.CPU:
        x = b.materialise(x)  # by all threads
    if is_one_row and len(axes) > 1:
        return reduce_axes(ctx, name, joined(b, x), (0,), identity, dtype, carried)
    if stages is None:
        return _reduce_shared(ctx, name, x, axes, identity, dtype, carried)
    if stages.split is not None:
        x = collapse_axes(b, x, [axes]) if len(axes) > 1 else x
        if b.kind is TargetKind.CUDA and is_widened(x):
            x = b.materialise(x)  # IREE refuses to sum elements of one width in another
        return _reduce_vector(ctx, name, x, stages.split, identity, dtype, carried)
    partial = _reduce_once(ctx, name, x, stages.first, _identity_init(b, identity, carried), dtype, carried)
    rest = tuple(range(len(axes) - len(stages.first)))
    return reduce_axes(ctx, name, partial, rest, identity, carried, carried)


def _reduced_by_more_threads(
    ctx: LoweringContext,
    name: str,
    x: Value,
    axes: Sequence[int],
    identity: complex,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value | None:
    """The reduction of few long columns on a GPU, or of rows of several axes: parts of them first."""
    b = ctx.builder
    first = gpu_columns.reduced_first(ctx.target, b.shape(x), axes)
    if first:
        partial = b.materialise(reduce_axes(ctx, name, x, first, identity, dtype, carried))
        rest = tuple(axis for axis in axes if axis not in first)
        return reduce_axes(ctx, name, partial, rest, identity, carried, carried)
    rows = _reduced_as_columns(ctx, name, x, axes, identity, dtype, carried)
    if rows is not None:
        return rows
    sizes = column_sizes(b.shape(x), axes)
    bits = 8 * max(dtype.itemsize, carried.itemsize)
    parts = None if sizes is None else gpu_columns.column_parts(ctx.target, *sizes, bits)
    if sizes is None or parts is None:
        return None
    axis, start = min(axes), _identity_init(b, identity, carried)
    if is_widened(x):
        x = b.materialise(x)  # IREE refuses to sum elements of one width in another
    joined = split_rows(b, x, axes, parts)
    partial = b.materialise(_reduce_once(ctx, name, joined, (axis + 1,), start, dtype, carried))
    return reduce_axes(ctx, name, partial, (axis,), identity, carried, carried)


def _reduced_as_columns(
    ctx: LoweringContext,
    name: str,
    x: Value,
    axes: Sequence[int],
    identity: complex,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value | None:
    """The reduction of rows of 64 bits or more on a GPU, which no lanes share: columns of each row first."""
    b = ctx.builder
    rank = len(b.shape(x))
    if carried.itemsize < 8:
        return None
    if len(axes) == rank > 1 and is_tiled(ctx.target) and all(isinstance(n, int) for n in b.shape(x)):
        x, axes, rank = collapse_axes(b, x, [axes]), (0,), 1
    *kept, size = b.shape(x) or (0,)
    columns = gpu_columns.columns_of_rows(ctx.target, kept, size) if tuple(axes) == (rank - 1,) else None
    if columns is None:
        return None
    groups = [[axis] if axis < rank - 1 else [axis, axis + 1] for axis in range(rank)]
    split = expand_axes(b, x, groups, [*kept, size // columns, columns])
    partial = b.materialise(reduce_axes(ctx, name, split, (rank - 1,), identity, dtype, carried))
    return reduce_axes(ctx, name, partial, (rank - 1,), identity, carried, carried)


def _sum_of_parts(ctx: LoweringContext, x: Value, axes: Sequence[int], dtype: np.dtype) -> Value:
    """The sum of complex numbers: those of their real and of their imaginary parts."""
    b, real = ctx.builder, np.dtype(f"f{dtype.itemsize // 2}")
    sums = [reduce_axes(ctx, "reduce_sum", part, axes, 0, real, real) for part in parts_of(ctx, x, real)]
    kind, rank = b.tensor_type((), dtype).element_type, len(b.shape(sums[0]))

    def body(re: Value, im: Value, _: Value) -> Value:
        return mlir.complex.CreateOp(kind, re, im).result

    init = b.empty(b.shape(sums[0]), dtype)
    return b.generic(sums, [init], [b.identity_map(rank)] * 3, ["parallel"] * rank, body)


def _leaves_a_rest(shape: Sequence[Size], stages: configuration.Stages | None) -> bool:
    """Whether a reduction takes a part of its operand by itself, or may: of sizes that are not known."""
    if stages is None or stages.split is None:
        return False
    sizes = [n for n in shape if isinstance(n, int)]
    return len(sizes) < len(shape) or prod(sizes) % stages.split != 0


def _reduced_joined_rows(
    ctx: LoweringContext,
    name: str,
    x: Value,
    axes: Sequence[int],
    identity: complex,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value | None:
    """The reduction of narrow columns: some rows become one, and its parts are reduced at the end."""
    b = ctx.builder
    sizes = column_sizes(b.shape(x), axes)
    if sizes is None:
        return None
    widest = max(dtype, carried, key=lambda each: each.itemsize)
    joined = rows_joined(ctx.target, sizes, widest, is_stored=is_stored(x))
    if joined is None:
        return None
    batches, rows, columns = sizes
    whole = rows // joined * joined
    body = matrices = regrouped(b, x, sizes)
    if whole < rows:
        body = extract_slice(b, matrices, [0, 0, 0], [batches, whole, columns], [1, 1, 1])
    wide = regrouped(b, body, (batches, whole // joined, joined * columns))
    parts = reduce_axes(ctx, name, wide, (1,), identity, dtype, carried)
    parts = regrouped(b, parts, (batches, joined, columns))
    total = reduce_axes(ctx, name, parts, (1,), identity, carried, carried)
    if whole < rows:
        rest = extract_slice(b, matrices, [0, whole, 0], [batches, rows - whole, columns], [1, 1, 1])
        total = _reduce_once(ctx, name, rest, (1,), lambda _: total, dtype, carried)
    # IREE would compute it again in what uses it with each row, by loops of as many elements as a row has.
    return b.materialise(regrouped(b, total, kept_sizes(b, x, axes)))


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
    partial = _reduce_shared(ctx, name, body, (1,), identity, dtype, carried)
    total = _reduce_shared(ctx, name, partial, (0,), identity, carried, carried)
    if left_over == 0:
        return total
    rest = extract_slice(b, x, [whole], [left_over], [1])
    if b.kind is TargetKind.CUDA and isinstance(size, int):
        # IREE refuses a reduction of a known size that goes on with another ("failed to distribute").
        other = b.materialise(_reduce_shared(ctx, name, rest, (0,), identity, dtype, carried))
        parts = (b.materialise(total), other)
        return b.map_elements(carried, lambda _, __, one, two: combine(b, name, carried, one, two), *parts)
    # Added to the total one by one, small numbers would lose the digits that the large one has no place for.
    left = _reduce_once(ctx, name, rest, (0,), _identity_init(b, identity, carried), dtype, carried)
    return b.map_elements(carried, lambda _, __, one, two: combine(b, name, carried, one, two), total, left)


def hidden_length(b: LinalgBuilder, size: Size) -> Value:
    """A size that IREE does not know."""
    return mlir.util.OptimizationBarrierOp([mlir.ir.IndexType.get()], [b.size_value(size)]).results[0]


def of_hidden_length(b: LinalgBuilder, x: Value, length: Value) -> Value:
    """`x`, but IREE does not know the length of its rows: lanes share those of an unknown length alone."""
    *kept, _ = b.shape(x)
    return extract_slice(b, x, [0] * (len(kept) + 1), [*kept, length], [1] * (len(kept) + 1))


def _identity_init(b: LinalgBuilder, identity: complex, carried: np.dtype) -> Init:
    """What makes the initial value of a reduction: a tensor full of the identity."""
    return lambda shape: b.fill(b.scalars.constant(carried, identity), shape, carried)


def _reduce_shared(
    ctx: LoweringContext,
    name: str,
    x: Value,
    axes: Sequence[int],
    identity: complex,
    dtype: np.dtype,
    carried: np.dtype,
) -> Value:
    """As `_reduce_once`; on GPUs so that lanes share rows, or threads where there are no lanes for them."""
    b = ctx.builder
    rows = _reduced_as_columns(ctx, name, x, axes, identity, dtype, carried)
    if rows is not None:
        return rows
    has_lanes = carried.itemsize == 4 and carried.kind != "c" and not is_widened(x)
    if has_lanes and gpu_columns.hides_length(ctx.target, b.shape(x), axes):
        x = of_hidden_length(b, x, hidden_length(b, b.shape(x)[-1]))
    return _reduce_once(ctx, name, x, axes, _identity_init(b, identity, carried), dtype, carried)


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

    widest = max(dtype, carried, key=lambda each: each.itemsize)
    tiles = configuration.reduction(ctx.target, shape, axes, widest)
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

"""Products in kernels: one `linalg.generic` over batch, free and contracted axes as they are.

Where the rows of the right operand run along the result's, their loop is the inner one, so that it
vectorises without another order of sums; else the contracted loop is, whose sum may be added in any order,
as the host's: where it runs along both operands, it is a sum of vectors, in a register.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from ......dialects import mlir
from ......dialects.ops.contraction.dot_general import Pairs, operand_axes
from ......dialects.ops.reduction import accumulation_dtype
from ......dialects.types import FLOAT32, FLOAT64
from ....builder import Type, Value
from ....lowering import LoweringContext
from ....tuning.texts import divisors
from ..builder import KernelBuilder
from .common import builder_of, shape_of
from .reductions import _convert, in_any_order, reassociable

Shape: TypeAlias = Sequence[int | None]
VECTOR: Final = 64
"""Bytes of the vectors that rows are multiplied by; narrower registers take them in parts."""
TOGETHER: Final = 4
"""Steps of a sum for which a row of the result is loaded and stored once."""
NEAR: Final = 1 << 14
"""Bytes of the right operand that stay in the first cache while all rows of the left are multiplied."""


def sums_are_vectors(left: Shape, right: Shape, contracting: Pairs, dtype: np.dtype) -> bool:
    """Whether the last sum of a product runs along both operands, far enough for a vector."""
    ours, theirs = contracting
    if dtype not in (FLOAT32, FLOAT64) or len(ours) == len(left) == len(right) or not ours:
        return False
    is_last = (ours[-1], theirs[-1]) == (len(left) - 1, len(right) - 1)
    return is_last and (left[-1] or 0) >= VECTOR // dtype.itemsize


def columns_are_vectors(right: Shape, contracting: Pairs, dtype: np.dtype) -> bool:
    """Whether the result's last axis runs along the right operand, far enough for a vector."""
    is_last = bool(right) and len(right) - 1 not in contracting[1]
    return is_last and dtype in (FLOAT32, FLOAT64) and (right[-1] or 0) >= VECTOR // dtype.itemsize


def lower_dot_general(
    ctx: LoweringContext, x: Value, y: Value, *, contracting: Pairs, batch: Pairs, dtype: np.dtype
) -> Value:
    """The sum of products, in a wider dtype where it needs one."""
    b, source, carried = builder_of(ctx), ctx.operand_dtype, accumulation_dtype(dtype)
    left, right = shape_of(x), shape_of(y)
    ours, theirs = (
        operand_axes(len(left), 0, contracting, batch),
        operand_axes(len(right), 1, contracting, batch),
    )
    # Loops by name: of the batch, of the left's axes, of the right's, of the sum.
    names = [
        *(f"b{k}" for k in range(len(ours.batch))),
        *(f"m{k}" for k in range(len(ours.free))),
        *(f"n{k}" for k in range(len(theirs.free))),
    ]
    sums = [f"k{k}" for k in range(len(ours.contracting))]
    of_left = {
        **{a: f"b{k}" for k, a in enumerate(ours.batch)},
        **{a: f"m{k}" for k, a in enumerate(ours.free)},
        **{a: f"k{k}" for k, a in enumerate(ours.contracting)},
    }
    of_right = {
        **{a: f"b{k}" for k, a in enumerate(theirs.batch)},
        **{a: f"n{k}" for k, a in enumerate(theirs.free)},
        **{a: f"k{k}" for k, a in enumerate(theirs.contracting)},
    }
    sizes = {of_left[a]: n for a, n in enumerate(left)} | {of_right[a]: n for a, n in enumerate(right)}
    runs_along = bool(theirs.free) and theirs.free[-1] == len(right) - 1
    loops = [*names[:-1], *sums, names[-1]] if runs_along else [*names, *sums]
    result = [sizes[name] for name in names]
    if source == dtype and sums_are_vectors(left, right, contracting, dtype):
        return _inner_sums(b, x, y, (names, sums), (of_left, of_right), sizes, dtype)
    zero = b.scalars.constant(carried, 0)
    init = mlir.linalg.fill(zero, outs=[b.empty(result, carried)])
    axes = (
        [loops.index(of_left[a]) for a in range(len(left))],
        [loops.index(of_right[a]) for a in range(len(right))],
        [loops.index(name) for name in names],
    )
    iterators = ["reduction" if name in sums else "parallel" for name in loops]

    def body(*scalars: Value) -> Value:
        *factors, total = scalars
        count = len(factors) // 2
        for p, q in zip(factors[:count], factors[count:], strict=True):
            p, q = b.scalars.convert(source, carried, p), b.scalars.convert(source, carried, q)
            total = b.scalars.add(carried, total, b.scalars.mul(carried, p, q))
        return total

    if not loops:
        return _convert(b, carried, dtype, b.single(body(b.element(x), b.element(y), zero), ()))
    if runs_along and sums and columns_are_vectors(right, contracting, source):
        places = ours.contracting[-1], theirs.contracting[-1]
        row = int(right[-1] or 1) * source.itemsize
        total = _in_blocks(b, (x, y), init, places, row, axes, iterators, body)
    else:
        maps = [b.axes_map(len(loops), each) for each in axes]
        total = reassociable(b.generic([x, y], [init], maps, iterators, body))
    return _convert(b, carried, dtype, total)


def _in_blocks(
    b: KernelBuilder,
    operands: tuple[Value, Value],
    total: Value,
    places: tuple[int, int],
    row: int,
    axes: tuple[list[int], list[int], list[int]],
    iterators: list[str],
    body: Callable[..., Value],
) -> Value:
    """`total` and the sum, in blocks of the last summed axis.

    A block of rows of the right operand, of `row` bytes each, stays in the first cache while all rows of the
    left one are multiplied by it; a row of the result is loaded and stored once for all `TOGETHER`. `places`
    are the summed axis in both, `axes` the loops of all axes of both and of the result. Each element is
    summed in the order of the steps.
    """
    steps = int(shape_of(operands[1])[places[1]] or 0)
    whole = steps // TOGETHER * TOGETHER
    if whole:
        parts = [
            [_every(b, value, axis, range(n, whole, TOGETHER)) for n in range(TOGETHER)]
            for value, axis in zip(operands, places, strict=True)
        ]
        inside = max(n for n in divisors(whole // TOGETHER) if n == 1 or n * row * TOGETHER <= NEAR)
        blocked = [
            [_divided(b, value, axis, inside) for value in values]
            for values, axis in zip(parts, places, strict=True)
        ]
        of_left, of_right, of_result = (
            b.axes_map(len(iterators) + 1, _with_blocks(each, axis))
            for each, axis in zip(axes, (*places, None), strict=True)
        )
        maps = [*[of_left] * TOGETHER, *[of_right] * TOGETHER, of_result]
        kinds = ["reduction", *iterators]
        total = reassociable(b.generic([*blocked[0], *blocked[1]], [total], maps, kinds, body))
    if whole < steps:
        rest = [_every(b, v, a, range(whole, steps)) for v, a in zip(operands, places, strict=True)]
        maps = [b.axes_map(len(iterators), each) for each in axes]
        total = reassociable(b.generic(rest, [total], maps, iterators, body))
    return total


def _divided(b: KernelBuilder, x: Value, axis: int, inside: int) -> Value:
    """`x` with an axis as two: its blocks, and what is `inside` one."""
    shape = [int(n or 0) for n in shape_of(x)]
    return b.reshape(x, [*shape[:axis], shape[axis] // inside, inside, *shape[axis + 1 :]])


def _with_blocks(axes: list[int], axis: int | None) -> list[int]:
    """The loops of an array with one more loop, the first, which goes along a new axis before `axis`."""
    moved = [loop + 1 for loop in axes]
    return moved if axis is None else [*moved[:axis], 0, *moved[axis:]]


def _every(b: KernelBuilder, x: Value, axis: int, places: range) -> Value:
    """`x` at these places along an axis."""
    shape = [int(n or 0) for n in shape_of(x)]
    starts, steps = [0] * len(shape), [1] * len(shape)
    starts[axis], shape[axis], steps[axis] = places.start, len(places), places.step
    return b.window(x, starts, shape, steps)


def _inner_sums(
    b: KernelBuilder,
    x: Value,
    y: Value,
    loops: tuple[list[str], list[str]],
    places: tuple[dict[int, str], dict[int, str]],
    sizes: dict[str, int],
    dtype: np.dtype,
) -> Value:
    """A generic over the result, each of whose elements is a sum of vectors and what is left of them."""
    names, sums = loops
    fused = mlir.ir.Attribute.parse("#arith.fastmath<reassoc,contract>")
    width = VECTOR // dtype.itemsize
    whole = sizes[sums[-1]] // width * width
    element = b.scalars.element_type(dtype)
    vector = mlir.ir.VectorType.get([width], element)

    def indices(at: dict[str, Value], of: dict[int, str]) -> list[Value]:
        return [at[of[a]] for a in range(len(of))]

    def element_product(at: dict[str, Value]) -> Value:
        p, q = (mlir.tensor.extract(v, indices(at, of)) for v, of in zip((x, y), places, strict=True))
        return b.scalars.mul(dtype, p, q)

    def vector_product(at: dict[str, Value], total: Value) -> Value:
        p, q = (_row(b, vector, v, indices(at, of)) for v, of in zip((x, y), places, strict=True))
        result = mlir.arith.addf(total, mlir.arith.mulf(p, q))
        for value in (result, result.owner.operation.operands[1]):
            value.owner.operation.attributes["fastmath"] = fused
        return result

    def nest(at: dict[str, Value], total: Value, inner: list[str], is_vector: bool) -> Value:
        name, is_last = inner[0], len(inner) == 1
        first, last = (0, sizes[name])
        if is_last:
            first, last = (0, whole) if is_vector else (whole, last)
        bounds = [b.size_value(n) for n in (first, last, width if is_last and is_vector else 1)]
        loop = mlir.scf.ForOp(*bounds, [total])
        with mlir.ir.InsertionPoint(loop.body):
            here = {**at, name: loop.induction_variable}
            before = loop.inner_iter_args[0]
            if not is_last:
                after = nest(here, before, inner[1:], is_vector)
            elif is_vector:
                after = vector_product(here, before)
            else:
                after = b.scalars.add(dtype, before, element_product(here))
                in_any_order(after)
            mlir.scf.YieldOp([after])
        return loop.results[0]

    def body(_: Value) -> Value:
        at = {name: mlir.linalg.IndexOp(k).result for k, name in enumerate(names)}
        zero = b.scalars.constant(dtype, 0)
        lanes = nest(at, mlir.vector.broadcast(vector, zero), sums, True)
        reassoc = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>")
        total = mlir.vector.reduction(element, mlir.vector.CombiningKind.ADD, lanes, fastmath=reassoc)
        return total if whole == sizes[sums[-1]] else nest(at, total, sums, False)

    order = b.identity_map(len(names))
    result = [sizes[name] for name in names]
    return b.generic([], [b.empty(result, dtype)], [order], ["parallel"] * len(names), body)


def _row(b: KernelBuilder, vector: Type, x: Value, at: list[Value]) -> Value:
    """A vector of `x` along its last axis, all of which is there."""
    last = mlir.ir.AffineMap.get(len(at), 0, [mlir.ir.AffineExpr.get_dim(len(at) - 1)])
    fill = mlir.arith.constant(vector.element_type, 0.0)
    return mlir.vector.transfer_read(vector, x, at, mlir.ir.AffineMapAttr.get(last), fill, [True])

"""Reductions and running values in kernels: `linalg.generic` over all axes, and a loop over rows.

Sums and products of one reduction may be added in any order, as the host's are: their scalar code says
`reassoc` (`docs/kernels.md`). Sums that a loop carries keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ......dialects import mlir
from ......dialects.ops.reduction import (
    Argmax,
    Cumulative,
    Reduction,
    accumulation_dtype,
    greatest,
    least,
)
from ......dialects.types import BOOL, FLOATS, INT32, INT64
from ....builder import Size, Value
from ....forms.reductions import combine
from ....forms.tensor_ops import convert_elements
from ....lowering import LoweringContext
from ....named_ops import filled
from ..builder import KernelBuilder
from ..errors import KernelError
from .common import builder_of


def reassociable(results: Value) -> Value:
    """`results` of a generic whose float sums and products may be computed in any order."""
    owner = None if isinstance(results.owner, mlir.ir.Block) else results.owner.operation
    if owner is not None and owner.name == "linalg.generic":
        operations = list(owner.regions[0].blocks[0].operations)
        for value in operations[-1].operation.operands:
            in_any_order(value)
    return results


def in_any_order(total: Value) -> None:
    """Let a sum or product of floats that one op computes be combined with others in any order."""
    inner = total.owner
    if not isinstance(inner, mlir.ir.Block) and inner.operation.name in ("arith.addf", "arith.mulf"):
        inner.operation.attributes["fastmath"] = mlir.ir.Attribute.parse("#arith.fastmath<reassoc>")


def _convert(b: KernelBuilder, source: np.dtype, target: np.dtype, x: Value) -> Value:
    if source == target:
        return x
    if b.is_single(x):
        return b.single(b.scalars.convert(source, target, b.element(x)), b.shape(x))
    return convert_elements(b, source, target, x)


def lower_reduction(ctx: LoweringContext, x: Value, *, axes: Sequence[int]) -> Value:
    """A generic whose reduced axes are its inner loops, in a wider dtype where the sum needs one."""
    assert issubclass(ctx.op, Reduction)
    b, name, dtype = builder_of(ctx), ctx.op.name, ctx.operand_dtype
    shape = b.shape(x)
    kept = [a for a in range(len(shape)) if a not in axes]
    result = [shape[a] for a in kept]
    if all(shape[a] == 1 for a in axes):
        return b.reshape(x, result)
    carried = accumulation_dtype(dtype) if name in ("reduce_sum", "reduce_prod") else dtype
    identity = b.scalars.constant(carried, ctx.op.identity(dtype))
    init = filled(identity, b.empty(result, carried))
    order = [*kept, *(a for a in range(len(shape)) if a in axes)]
    maps = [
        b.axes_map(len(shape), [order.index(a) for a in range(len(shape))]),
        b.axes_map(len(shape), list(range(len(kept)))),
    ]

    def body(element: Value, total: Value) -> Value:
        return combine(b, name, carried, total, b.scalars.convert(dtype, carried, element))

    iterators = ["parallel"] * len(kept) + ["reduction"] * len(axes)
    total = reassociable(b.generic([x], [init], maps, iterators, body))
    return _convert(b, carried, dtype, total)


def lower_argument_extremum(ctx: LoweringContext, x: Value, *, axis: int, index_dtype: np.dtype) -> Value:
    """One pass that keeps the best element and its position; the first NaN is better than any number."""
    b, dtype = builder_of(ctx), ctx.operand_dtype
    shape = b.shape(x)
    kept = [a for a in range(len(shape)) if a != axis]
    result = [shape[a] for a in kept]
    count = shape[axis]
    if count == 1:
        return b.repeat(b.scalars.constant(index_dtype, 0), result)
    is_max = ctx.op is Argmax
    worst = (least if is_max else greatest)(dtype)
    is_short = isinstance(count, int) and count < 2**31
    counter = INT32 if dtype.itemsize < 8 and is_short else INT64  # as wide as the elements
    inits = [
        filled(b.scalars.constant(kind, value), b.empty(result, kind))
        for kind, value in ((dtype, worst), (counter, 0))
    ]
    order = [*kept, axis]
    whole = b.axes_map(len(shape), [order.index(a) for a in range(len(shape))])
    part = b.axes_map(len(shape), list(range(len(kept))))
    integer = b.scalars.element_type(counter)

    def body(element: Value, best: Value, place: Value) -> list[Value]:
        is_better = _is_better(dtype, is_max, element, best)
        here = mlir.arith.index_cast(integer, mlir.linalg.IndexOp(len(kept)).result)
        select = mlir.arith.select
        return [select(is_better, element, best), select(is_better, here, place)]

    iterators = ["parallel"] * len(kept) + ["reduction"]
    _, places = b.generics([x], inits, [whole, part, part], iterators, body)
    return _convert(b, counter, index_dtype, places)


def _is_better(dtype: np.dtype, is_max: bool, element: Value, best: Value) -> Value:
    arith = mlir.arith
    if dtype in FLOATS:
        order = arith.CmpFPredicate.OGT if is_max else arith.CmpFPredicate.OLT
        is_nan = arith.cmpf(arith.CmpFPredicate.UNO, element, element)
        was_number = arith.cmpf(arith.CmpFPredicate.ORD, best, best)
        return arith.ori(arith.cmpf(order, element, best), arith.andi(is_nan, was_number))
    predicates = arith.CmpIPredicate
    if dtype == BOOL or dtype.kind == "u":
        return arith.cmpi(predicates.ugt if is_max else predicates.ult, element, best)
    return arith.cmpi(predicates.sgt if is_max else predicates.slt, element, best)


def lower_cumulative(ctx: LoweringContext, x: Value, *, axis: int, reverse: bool) -> Value:
    """A loop along `axis` that carries the running row: the first row as it is, each other combined."""
    assert issubclass(ctx.op, Cumulative)
    b, name, dtype = builder_of(ctx), ctx.op.name, ctx.operand_dtype
    shape = b.shape(x)
    carried = accumulation_dtype(dtype) if name in ("cumsum", "cumprod") else dtype
    count = shape[axis]
    if not isinstance(count, int):
        raise KernelError("it has running values along an axis of a size that shows at the call")
    sizes: list[Size] = [1 if a == axis else n for a, n in enumerate(shape)]

    def offsets(position: Value) -> list[int | Value]:
        return [position if a == axis else 0 for a in range(len(shape))]

    first = b.size_value(count - 1 if reverse else 0)
    row = _convert(b, dtype, carried, b.window(x, offsets(first), sizes))
    whole = b.insert(_convert(b, carried, dtype, row), b.empty_like(x, shape), offsets(first))
    is_single = all(n == 1 for n in sizes)
    running = b.element(row) if is_single else row
    loop = mlir.scf.ForOp(b.size_value(1), b.size_value(count), b.size_value(1), [whole, running])
    with mlir.ir.InsertionPoint(loop.body):
        position = loop.induction_variable
        if reverse:
            position = mlir.arith.subi(b.size_value(count - 1), position)
        inner, total = loop.inner_iter_args
        total = b.single(total, sizes) if is_single else total
        element = _convert(b, dtype, carried, b.window(x, offsets(position), sizes))
        total = b.map_elements(carried, lambda s, _, t, e: combine(b, name, carried, t, e), total, element)
        inner = b.insert(_convert(b, carried, dtype, total), inner, offsets(position))
        mlir.scf.YieldOp([inner, b.element(total) if is_single else total])
    return loop.results[0]

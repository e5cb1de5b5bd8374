"""Lowering of `cond`: a chain of `scf.if`, whose branches call their functions.

Branches yield their dynamic sizes beside their values: IREE cannot infer those inside of loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects import mlir
from ....dialects.types import INT32, TensorType
from ..builder import LinalgBuilder, Type, Value
from ..lowering import LoweringContext
from .bodies import call_body, dynamic_sizes, result_tensor_types, tie_shape


def lower_cond(
    ctx: LoweringContext,
    index: Value,
    *operands: Value,
    branches: Sequence[str],
    results: Sequence[TensorType],
) -> tuple[Value, ...]:
    """A chain of `scf.if`; the last branch is taken when no other is."""
    chosen = mlir.tensor.extract(index, [])
    return _emit_from(0, ctx, chosen, operands, branches, result_tensor_types(ctx))


def _emit_from(
    position: int,
    ctx: LoweringContext,
    chosen: Value,
    operands: Sequence[Value],
    branches: Sequence[str],
    types: list[Type],
) -> tuple[Value, ...]:
    """The choice between the branches from `position` on."""
    b = ctx.builder
    if position == len(branches) - 1:
        return call_body(ctx, branches[position], operands, types)
    limit = b.scalars.constant(INT32, position)
    is_this = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sle, chosen, limit)
    index = mlir.ir.IndexType.get()
    dynamic = [index for t in types for axis in range(t.rank) if t.is_dynamic_dim(axis)]
    choice = mlir.scf.IfOp(is_this, [*types, *dynamic], has_else=True)
    with mlir.ir.InsertionPoint(choice.then_block):
        mlir.scf.YieldOp(_with_sizes(b, call_body(ctx, branches[position], operands, types)))
    with mlir.ir.InsertionPoint(choice.else_block):
        others = _emit_from(position + 1, ctx, chosen, operands, branches, types)
        mlir.scf.YieldOp(_with_sizes(b, others))
    results, sizes = list(choice.results)[: len(types)], iter(list(choice.results)[len(types) :])
    shapes = [
        [next(sizes) if t.is_dynamic_dim(axis) else t.get_dim_size(axis) for axis in range(t.rank)]
        for t in types
    ]
    return tuple(tie_shape(b, r, shape) for r, shape in zip(results, shapes, strict=True))


def _with_sizes(b: LinalgBuilder, values: Sequence[Value]) -> list[Value]:
    """The values, then all of their sizes that are dynamic."""
    return [*values, *(n for v in values for n in dynamic_sizes(b, v, b.shape(v)))]

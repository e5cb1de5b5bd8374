"""Lowering of `while`: `scf.while`, in two forms.

Where all sizes are static, an iteration computes the next state and its condition together, so that it is one
list of commands; where one is dynamic, it computes one after the other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ....dialects import mlir
from ....dialects.types import BOOL
from ..builder import Value
from ..lowering import LoweringContext
from .bodies import call_body, initial_value, resident_arguments, result_tensor_types, tie_shapes


def lower_while(
    ctx: LoweringContext,
    *operands: Value,
    condition: str,
    body: str,
    condition_constants: int,
    body_constants: int,
    saved_states: int,
) -> tuple[Value, ...]:
    """`scf.while` on the state; the constants are used from outside of it."""
    n = condition_constants + body_constants
    constants = operands[:condition_constants], operands[condition_constants:n]
    state = [initial_value(ctx, v, t) for v, t in zip(operands[n:], ctx.result_tensors, strict=True)]
    # Observed: IREE crashes on some of these loops where what they carry has dynamic sizes.
    is_static = all(t.is_static for t in ctx.result_tensors)
    emit = _emit_carrying_condition if is_static else _emit_asking_first
    return emit(ctx, condition, constants[0], body, constants[1], state)


def _emit_asking_first(
    ctx: LoweringContext,
    condition: str,
    condition_constants: Sequence[Value],
    body: str,
    body_constants: Sequence[Value],
    state: Sequence[Value],
) -> tuple[Value, ...]:
    """`scf.while` whose first region computes the condition, and whose second the next state."""
    b, types = ctx.builder, result_tensor_types(ctx)
    loop = mlir.scf.WhileOp(types, state)
    before = mlir.ir.Block.create_at_start(loop.before, types)
    with mlir.ir.InsertionPoint(before):
        current = resident_arguments(b, before.arguments, state)
        (goes_on,) = call_body(ctx, condition, [*condition_constants, *current], [b.tensor_type((), BOOL)])
        mlir.scf.ConditionOp(mlir.tensor.extract(goes_on, []), list(before.arguments))
    after = mlir.ir.Block.create_at_start(loop.after, types)
    with mlir.ir.InsertionPoint(after):
        current = resident_arguments(b, after.arguments, state)
        mlir.scf.YieldOp(list(call_body(ctx, body, [*body_constants, *current], types)))
    return tie_shapes(b, loop.results, state)


def _emit_carrying_condition(
    ctx: LoweringContext,
    condition: str,
    condition_constants: Sequence[Value],
    body: str,
    body_constants: Sequence[Value],
    state: Sequence[Value],
) -> tuple[Value, ...]:
    """`scf.while` that carries its condition beside the state, without what only the condition uses."""
    b = ctx.builder
    flag, types = b.tensor_type((), BOOL), result_tensor_types(ctx)
    arguments = ctx.functions.arguments(body)[len(body_constants) :]
    uses = zip(ctx.operation.results, arguments, strict=True)
    is_carried = [_is_used(result) or _is_used(argument) for result, argument in uses]
    (first,) = call_body(ctx, condition, [*condition_constants, *state], [flag])
    carried = [*itertools.compress(state, is_carried), first]
    carried_types = [*itertools.compress(types, is_carried), flag]
    loop = mlir.scf.WhileOp(carried_types, carried)
    before = mlir.ir.Block.create_at_start(loop.before, carried_types)
    with mlir.ir.InsertionPoint(before):
        # Not resident: "streamable op expected to be in an execution region" where the flag alone is read.
        mlir.scf.ConditionOp(mlir.tensor.extract(before.arguments[-1], []), list(before.arguments))
    after = mlir.ir.Block.create_at_start(loop.after, carried_types)
    with mlir.ir.InsertionPoint(after):
        (*current, went_on) = resident_arguments(b, after.arguments, carried)
        old = _replaced(state, current, is_carried)
        new = call_body(ctx, body, [*body_constants, *old], types)
        (goes_on,) = call_body(ctx, condition, [*condition_constants, *new], [flag])
        # The body has to use all that is carried (`iree/dropped_loop_state.py`): the flag is true in it.
        goes_on = b.map_elements(BOOL, lambda s, _, x, y: s.and_(BOOL, x, y), goes_on, went_on)
        mlir.scf.YieldOp([*itertools.compress(new, is_carried), goes_on])
    (*final, _) = tie_shapes(b, loop.results, carried)
    return tuple(_replaced(state, final, is_carried))


def _replaced(values: Sequence[Value], others: Sequence[Value], flags: Sequence[bool]) -> list[Value]:
    """`values`, those whose flag is set replaced in order by `others`."""
    remaining = iter(others)
    return [next(remaining) if flag else v for v, flag in zip(values, flags, strict=True)]


def _is_used(value: Value) -> bool:
    return next(iter(value.uses), None) is not None

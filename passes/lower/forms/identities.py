"""Lowerings of ops that compute nothing: what only derivatives or checkpoint policies ask for."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.errors import MissingRuleError
from ....dialects.types import TensorType
from ..builder import Value
from ..lowering import LoweringContext


def lower_stop_gradient(ctx: LoweringContext, x: Value) -> Value:
    """The operand."""
    return x


def lower_checkpoint_name(ctx: LoweringContext, x: Value, *, label: str) -> Value:
    """The operand."""
    return x


def lower_sharding_constraint(
    ctx: LoweringContext, x: Value, *, mesh: tuple[int, ...], axis_names: str, spec: str
) -> Value:
    """The operand: a program that is not divided has all of it."""
    return x


def lower_optimization_barrier(ctx: LoweringContext, *xs: Value) -> tuple[Value, ...]:
    """The operands behind barriers that IREE does not fuse through."""
    return tuple(ctx.builder.materialise(x) for x in xs)


def lower_undefined_value(
    ctx: LoweringContext, *xs: Value, message: str, results: Sequence[TensorType]
) -> None:
    """A value without a definition is used: the error says why there is none."""
    raise MissingRuleError(message)

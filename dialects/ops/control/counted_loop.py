"""A loop whose number of iterations is a value, and its linearization by a pushforward and a pullback.

Reverse mode sees a `while` as such a loop, once the forward pass has counted its iterations. The engine says
how tangents are pushed through one and cotangents pulled back (`Engine.push_through`, `Engine.pull_back`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...protocols import Build, Builder, CountedLoop, Engine, Tangent, Value, Values
from .values import pick, present, spread, values_of, zeros_where_none

T = TypeVar("T")


def parts(values: Sequence[T], constants: int, state: int) -> tuple[T, list[T], list[T], list[T]]:
    """Values in the order steps, constants, state, rest."""
    n = 1 + constants
    return values[0], list(values[1:n]), list(values[n : n + state]), list(values[n + state :])


def linearized_loop(
    b: Builder,
    engine: Engine,
    loop: CountedLoop,
    results: Values,
    dconstants: Sequence[Tangent],
    dstate: Sequence[Tangent],
) -> list[Tangent]:
    """Tangents of the final state `results`, by an op with a pullback; None where there is none."""
    tangents = [*dconstants, *dstate]
    is_active = present(tangents)
    k, n = len(loop.constants), len(loop.state)
    active = engine.active_state(loop.body, is_active[:k], is_active[k:])

    def inner(values: Values) -> CountedLoop:
        steps, constants, state, _ = parts(values, k, n)
        return CountedLoop(loop.body, constants, state, steps, loop.saved_states)

    def push(c: Builder, values: Values) -> Values:
        moving = spread(values[len(values) - sum(is_active) :], is_active)
        return values_of(pick(engine.push_through(c, inner(values), moving[:k], moving[k:]), active))

    def pull(c: Builder, values: Values) -> Values:
        cotangents = spread(values[k + n + 1 :], active)
        dc, ds = engine.pull_back(c, inner(values), cotangents, is_active[:k], is_active[k:])
        return zeros_where_none(c, pick([*dc, *ds], is_active), pick(values[1 : 1 + k + n], is_active))

    assert loop.steps is not None, "a loop without a number of steps has no backward pass"
    residuals = [loop.steps, *loop.constants, *loop.state]
    outputs = list(pick(results, active))
    return spread(linear_by_rules(b, engine, loop.body, residuals, tangents, outputs, push, pull), active)


def linear_by_rules(
    b: Builder,
    engine: Engine,
    name: str,
    residuals: Values,
    tangents: Sequence[Tangent],
    results: Values,
    push: Build,
    pull: Build,
) -> list[Value]:
    """Tangents of `results`, by an op linear in `tangents`; `push` builds it and `pull` its transpose."""
    moving = [t for t in tangents if t is not None]
    if not moving or not results:
        return []
    types = tuple(b.type_of(r) for r in results)
    shape_operands = [] if all(t.is_static for t in types) else list(results)
    pushed_types = [b.type_of(v) for v in (*residuals, *shape_operands, *moving)]
    pulled_types = [b.type_of(r) for r in residuals] + list(types)
    pushed = b.custom_vjp_linear(
        *residuals,
        *shape_operands,
        *moving,
        callee=engine.function(f"{name}_push", pushed_types, push),
        bwd=engine.function(f"{name}_pull", pulled_types, pull),
        residual_count=len(residuals),
        shape_operand_count=len(shape_operands),
        results=types,
    )
    return list(pushed)

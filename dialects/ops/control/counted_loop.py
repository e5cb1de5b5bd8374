"""A loop whose number of iterations is a value, and its linearization by a pushforward and a pullback.

Reverse mode sees a `while` as such a loop, once the forward pass has counted its iterations. The engine says
how tangents are pushed through one and cotangents pulled back (`Engine.push_through`, `Engine.pull_back`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .values import pick, present, spread, zeros_where_none


@dataclass(frozen=True)
class CountedLoop:
    """`steps` times `state = body(constants..., state...)`, from the initial `state`.

    `steps` is a 0-d int32. `saved_states` says how many states the backward pass may keep at a time.
    """

    body: str
    constants: list[Any]
    state: list[Any]
    steps: Any
    saved_states: int


def parts(values: Sequence[Any], constants: int, state: int) -> tuple[Any, list[Any], list[Any], list[Any]]:
    """Values in the order steps, constants, state, rest."""
    n = 1 + constants
    return values[0], list(values[1:n]), list(values[n : n + state]), list(values[n + state :])


def linearized_loop(
    b: Any,
    engine: Any,
    loop: CountedLoop,
    results: Sequence[Any],
    dconstants: Sequence[Any],
    dstate: Sequence[Any],
) -> list[Any]:
    """Tangents of the final state `results`, by an op with a pullback; None where there is none."""
    tangents = [*dconstants, *dstate]
    is_active = present(tangents)
    k, n = len(loop.constants), len(loop.state)
    active = engine.active_state(loop.body, is_active[:k], is_active[k:])

    def inner(values: Sequence[Any]) -> CountedLoop:
        steps, constants, state, _ = parts(values, k, n)
        return CountedLoop(loop.body, constants, state, steps, loop.saved_states)

    def push(c: Any, values: Any) -> Any:
        moving = spread(values[len(values) - sum(is_active) :], is_active)
        return list(pick(engine.push_through(c, inner(values), moving[:k], moving[k:]), active))

    def pull(c: Any, values: Any) -> Any:
        cotangents = spread(values[k + n + 1 :], active)
        dc, ds = engine.pull_back(c, inner(values), cotangents, is_active[:k], is_active[k:])
        return zeros_where_none(c, pick([*dc, *ds], is_active), pick(values[1 : 1 + k + n], is_active))

    residuals = [loop.steps, *loop.constants, *loop.state]
    outputs = list(pick(results, active))
    return spread(linear_by_rules(b, engine, loop.body, residuals, tangents, outputs, push, pull), active)


def linear_by_rules(
    b: Any,
    engine: Any,
    name: str,
    residuals: Sequence[Any],
    tangents: Sequence[Any],
    results: Sequence[Any],
    push: Callable[[Any, Any], Any],
    pull: Callable[[Any, Any], Any],
) -> list[Any]:
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

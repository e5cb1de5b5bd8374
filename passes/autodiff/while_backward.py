"""The backward pass of a loop whose number of iterations is a value.

Input: a `CountedLoop` and cotangents of its final state. Output: cotangents of its constants and its initial
state, by one op, `while_pullback`. Idea: the forward pass counts iterations and saves no residuals; the
pullback starts from the initial state again and keeps a bounded number of states, see `revolve.py`. Tangents
are pushed through by the same loop with tangents beside its state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...dialects.builder.emitter import Emitter
from ...dialects.ops.control.counted_loop import parts
from ...dialects.ops.control.values import (
    Flags,
    fixed_point,
    pick,
    present,
    spread,
    zeros_where_none,
)
from ...dialects.protocols import CountedLoop
from ...dialects.types import INT32
from ..ir.aliases import Tangent, Tangents, Value, Values
from .revolve import Reversible, pulled_back

if TYPE_CHECKING:
    from .engine import Engine
    from .linearize import Linearized


def active_state(engine: Engine, body: str, constants: Flags, state: Flags) -> Flags:
    """Which entries of the state of a loop have a tangent after some iteration."""

    def one_iteration(carried: Flags) -> tuple[Flags, None]:
        return engine.forward.differentiate(body, (*constants, *carried)).active_results, None

    return fixed_point(one_iteration, state)[0]


def tangent_loop(
    b: Emitter, engine: Engine, loop: CountedLoop, dconstants: Tangents, dstate: Tangents
) -> tuple[CountedLoop, Flags]:
    """The loop with tangents beside its constants and its state, and which entries of the state have one.

    Its body takes the constants, the tangents of those that have one, the state, and its tangents.
    """
    constants = present(dconstants)
    active = active_state(engine, loop.body, constants, present(dstate))
    derivative = engine.forward.differentiate(loop.body, (*constants, *active), active)
    k, n = len(loop.constants), len(loop.state)
    types = [b.type_of(v) for v in (*loop.constants, *pick(loop.constants, constants), *loop.state)]
    types += [b.type_of(v) for v in pick(loop.state, active)]
    extended = k + sum(constants)

    def step(c: Emitter, values: Values) -> list[Value]:
        fixed, now = values[:extended], values[extended:]
        return engine.called(c, derivative.symbol, [*fixed[:k], *now[:n], *fixed[k:], *now[n:]])

    body = str(engine.function(f"{loop.body}_tangent", types, step))
    tangents = zeros_where_none(b, pick(dstate, active), pick(loop.state, active))
    moving = [t for t in dconstants if t is not None]
    state = [*loop.state, *tangents]
    return CountedLoop(body, [*loop.constants, *moving], state, loop.steps, loop.saved_states), active


def push_through(
    b: Emitter, engine: Engine, loop: CountedLoop, dconstants: Tangents, dstate: Tangents
) -> list[Tangent]:
    """Tangents of the final state; None where there is none."""
    moved, active = tangent_loop(b, engine, loop, dconstants, dstate)
    k = len(moved.constants)
    types = [b.type_of(v) for v in (loop.steps, *moved.state, loop.steps)]

    def is_left(c: Emitter, values: Values) -> list[Value]:
        return [c.compare(values[-1], values[0], direction="LT")]

    def step(c: Emitter, values: Values) -> list[Value]:
        after = engine.called(c, moved.body, values[:-1])
        return [*after, c.add(values[-1], c.scalar(1, INT32))]

    constant_types = [b.type_of(v) for v in moved.constants]
    final = b.while_(
        loop.steps,
        *moved.constants,
        *moved.state,
        b.scalar(0, INT32),
        condition=engine.function(f"{moved.body}_left", types, is_left),
        body=engine.function(f"{moved.body}_counted", [*constant_types, *types[1:]], step),
        condition_constants=1,
        body_constants=k,
        saved_states=loop.saved_states,
    )
    return spread(list(final)[len(loop.state) : -1], active)


def pull_back(
    b: Emitter,
    engine: Engine,
    loop: CountedLoop,
    cotangents: Tangents,
    wanted_constants: Sequence[bool],
    wanted_state: Sequence[bool],
) -> tuple[list[Tangent], list[Tangent]]:
    """Cotangents of constants and of the initial state for those of the final one; None stands for zero."""
    constants = tuple(wanted_constants)

    def one_iteration(carried: Flags) -> tuple[Flags, Linearized]:
        part = engine.linearizer.linearize(loop.body, (*constants, *carried))
        return part.active_results, part

    state, part = fixed_point(one_iteration, wanted_state)
    k, n = len(loop.constants), len(loop.state)
    if not any(state):
        return [None] * k, [None] * n
    operands = [*loop.constants, *loop.state]
    active = tuple(i for i, is_active in enumerate((*constants, *state)) if is_active)
    seeds = zeros_where_none(b, pick(cotangents, state), pick(loop.state, state))
    inputs = [loop.steps, *operands, *seeds]
    build = _schedule(engine, loop, part, constants, state)
    outgoing = b.while_pullback(
        *inputs,
        callee=engine.function(f"{loop.body}_reversed", [b.type_of(v) for v in inputs], build),
        body=loop.body,
        body_constants=k,
        state_count=n,
        saved_states=loop.saved_states,
        active=active,
        results=tuple(b.type_of(operands[i]) for i in active),
    )
    every = spread(list(outgoing), (*constants, *state))
    return every[:k], every[k:]


def _schedule(
    engine: Engine, loop: CountedLoop, part: Linearized, constants: Flags, state: Flags
) -> Callable[[Emitter, Values], list[Value]]:
    """What builds the function that computes a pullback: the loops of `revolve.py` around this body."""
    k, n = len(constants), len(state)
    count = sum(constants)
    linear = (False,) * len(part.residuals) + (True,) * (count + sum(state))
    backward = engine.transposer.transpose(part.linear, linear)
    step, again = engine.effect_free(loop.body), engine.effect_free(part.primal)

    def advance(c: Emitter, fixed: Values, now: Values) -> list[Value]:
        return engine.called(c, step, [*fixed, *now])

    def pull(
        c: Emitter, fixed: Values, now: Values, cotangents: Values, sums: Values
    ) -> tuple[Values, Values]:
        outputs = engine.called(c, again, [*fixed, *now])
        residuals = part.residual_values([*fixed, *now], outputs)
        seeds = pick(spread(cotangents, state), part.active_results)
        out = spread(engine.called(c, backward.symbol, [*residuals, *seeds]), backward.nonzero)
        before = zeros_where_none(c, out[count:], cotangents)
        return before, [s if o is None else c.add(s, o) for s, o in zip(sums, out[:count], strict=True)]

    def build(c: Emitter, values: Values) -> list[Value]:
        steps, fixed, initial, cotangents = parts(values, k, n)
        sums = [c.zeros_like(x) for x in pick(fixed, constants)]
        reversible = Reversible(loop.body, engine.function, advance, pull, loop.saved_states)
        pulled, summed = pulled_back(c, reversible, fixed, initial, steps, cotangents, sums)
        return [*summed, *pulled]

    return build

"""What reverse mode makes of a `while` that may keep a number of its states.

The loop counts its steps as it runs forward and saves nothing. Its pullback is one op, `while_pullback`,
which starts from the initial state again: `revolve.py` says how. That op is a gradient, so its own derivative
is symmetric: one direction pushed through the loop beside the state, and the pullback of that loop. In this
way derivatives of every order, in both modes, are loops and pullbacks of loops again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...op import Operand, integer, ints, symbol
from ...types import ANY, INEXACT, INT32, TensorType
from ..custom_rules.derivatives import RESULTS, CallLike
from ..elementwise.family import repeated
from .call import Flags, Passed, as_list, choose, gated, pick, spread
from .revolve import Reversible, reversed_loop


class WhilePullback(CallLike):
    """``cotangents of (d..., state...) = pullback of `steps` turns of state = body(d..., state...)``.

    The operands are the number of steps, the constants `d`, the initial state, and a cotangent of each active
    entry of the final state. `callee` computes it, keeping `saved_states` states at a time.
    """

    name = "while_pullback"
    operands = (Operand("steps", frozenset({INT32})), Passed("xs", ANY, variadic=True))
    attributes = {
        "callee": symbol("the loops that compute it"),
        "body": symbol("gives the next state"),
        "body_constants": integer("how many operands after `steps` are constants of the body"),
        "state_count": integer("how many operands after those are the state"),
        "saved_states": integer("how many states may be kept at a time"),
        "active": ints("which constants and entries of the state, counted together, have a cotangent"),
        "results": RESULTS,
    }

    @staticmethod
    def shape_donors(*, active: Sequence[int], **attributes: Any) -> tuple[int, ...]:
        return tuple(1 + i for i in active)

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, engine: Any, **attributes: Any) -> Any:
        given = _Given(primals, attributes)
        results = as_list(b.while_pullback(*primals, **attributes))
        return results, given.moved(b, engine, tangents)

    @staticmethod
    def linearize(b: Any, primals: Any, tangents: Any, engine: Any, **attributes: Any) -> Any:
        """The derivative of a gradient is symmetric: the transpose is itself, for cotangents a push."""
        given = _Given(primals, attributes)
        results = as_list(b.while_pullback(*primals, **attributes))
        is_moving = [t is not None for t in tangents]
        count = len(primals)

        def push(c: Any, values: Any) -> Any:
            inner = _Given(values[:count], attributes)
            first = len(values) - sum(is_moving)
            found = inner.moved(c, engine, spread(values[first:], is_moving))
            return [c.zeros_like(r) if t is None else t for r, t in zip(inner.shapes, found, strict=True)]

        def pull(c: Any, values: Any) -> Any:
            inner = _Given(values[:count], attributes)
            return list(pick(inner.pulled(c, engine, values[count:]), is_moving))

        linear = _linear(b, engine, f"{given.loop.body}_pullback", primals, tangents, results, push, pull)
        return results, linear

    @staticmethod
    def transpose(b: Any, cotangents: Any, operands: Any, engine: Any, **attributes: Any) -> Any:
        """Linear in the cotangents: a push."""
        given = _Given(operands, attributes)
        directions = given.directions(list(cotangents))
        pushed = push_through(b, engine, given.loop, *directions)
        found = pick(pushed, given.active_state)
        return [*(None for _ in operands[len(found) :]), *found]

    @staticmethod
    def batch(b: Any, size: Any, operands: Any, batched: Any, engine: Any, **attributes: Any) -> Any:
        """The pullback of a loop over a batch, in which elements that have done their steps stay."""
        return _Given(operands, attributes).batched(b, size, batched, engine)


def parted(values: Sequence[Any], constants: int, state: int) -> tuple[Any, list[Any], list[Any], list[Any]]:
    """Steps, constants, state, and what comes after."""
    n = 1 + constants
    return values[0], list(values[1:n]), list(values[n : n + state]), list(values[n + state :])


@dataclass(frozen=True)
class Steps:
    """A loop of a known number of steps: its body, what it reads, where it starts."""

    body: str
    constants: list[Any]
    state: list[Any]
    steps: Any
    saved_states: int


class _Given:
    """The operands of a pullback by what they are."""

    def __init__(self, operands: Sequence[Any], attributes: dict[str, Any]) -> None:
        k, n = attributes["body_constants"], attributes["state_count"]
        steps, fixed, state, cotangents = parted(operands, k, n)
        self.loop = Steps(attributes["body"], fixed, state, steps, attributes["saved_states"])
        flags = [i in attributes["active"] for i in range(k + n)]
        self.active_constants, self.active_state = tuple(flags[:k]), tuple(flags[k:])
        self.shapes = [operands[1 + i] for i in attributes["active"]]
        self.cotangents = spread(cotangents, self.active_state)

    def parts(self, values: Sequence[Any]) -> tuple[Any, list[Any], list[Any], list[Any]]:
        """What belongs to the operands: to the steps, the constants, the state and the cotangents."""
        return parted(values, len(self.loop.constants), len(self.loop.state))

    def directions(self, values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What belongs to the results, by constants and entries of the state."""
        found = spread(values, (*self.active_constants, *self.active_state))
        k = len(self.loop.constants)
        return found[:k], found[k:]

    def moved(self, b: Any, engine: Any, tangents: Sequence[Any]) -> list[Any]:
        """Tangents of the results for tangents of the operands."""
        _, constants, state, cotangents = self.parts(tangents)
        moving = spread(cotangents, self.active_state)
        wanted = self.active_constants, self.active_state
        found = self._second(b, engine, constants, state, moving, *wanted)
        return list(pick(found, (*self.active_constants, *self.active_state)))

    def pulled(self, b: Any, engine: Any, values: Sequence[Any]) -> list[Any]:
        """Cotangents of the operands for cotangents of the results."""
        directions = self.directions(values)
        everything = carrying(b, self.loop.constants), carrying(b, self.loop.state)
        none = [None] * len(self.loop.state)
        found = self._second(b, engine, *directions, none, *everything)
        pushed = push_through(b, engine, self.loop, *directions)
        return [None, *found, *pick(pushed, self.active_state)]

    def _second(
        self,
        b: Any,
        engine: Any,
        constants: Sequence[Any],
        state: Sequence[Any],
        cotangents: Sequence[Any],
        wanted_constants: Flags,
        wanted_state: Flags,
    ) -> list[Any]:
        """The derivative of the pullback along directions of constants, state and cotangents.

        It is the pullback of the loop that pushes the directions along, for the cotangents' direction where
        the state ends and the cotangents themselves where its tangent does.
        """
        loop = self.loop
        moved, active = tangent_loop(b, engine, loop, constants, state)
        extra = len(moved.constants) - len(loop.constants)
        ends = [*cotangents, *pick(self.cotangents, active)]
        wanted = (*wanted_constants, *(False,) * extra), (*wanted_state, *(False,) * sum(active))
        found, first = pull_back(b, engine, moved, ends, *wanted)
        return [*found[: len(loop.constants)], *first[: len(loop.state)]]

    def batched(self, b: Any, size: Any, batched: Sequence[bool], engine: Any) -> Any:
        """The pullback for a batch, with all that has a cotangent repeated along it."""
        loop, k = self.loop, len(self.loop.constants)
        is_own, has_constant, has_state, has_cotangent = self.parts(batched)
        constant_flags = _either(has_constant, self.active_constants)
        flags = tuple(is_own or f for f in _either(has_state, self.active_state))
        while True:
            made = engine.batch(loop.body, (*constant_flags, *flags))
            grown = _either(flags, made.batched_results)
            if grown == flags:
                break
            flags = grown
        constants = _repeated(b, loop.constants, constant_flags, has_constant, size)
        state = _repeated(b, loop.state, flags, has_state, size)
        given = pick(self.cotangents, self.active_state)
        cotangents = _repeated(b, given, (True,) * len(given), has_cotangent, size)
        lead, own = engine.leading(size), [loop.steps] if is_own else []
        fixed = len(lead) + len(own)

        def step(c: Any, values: Any) -> Any:
            width = values[0] if lead else size
            now = values[fixed + k :]
            inside = list(values[fixed : fixed + k])
            count, current = now[:1] if own else [], list(now[1:] if own else now)
            entered = current
            if own:  # what is done is computed with the others and dropped, with its derivatives
                is_left = c.compare(_everyone(c, count[0], width), values[len(lead)], direction="LT")
                inside = _gated(c, is_left, inside, constant_flags)
                entered = _gated(c, is_left, current, flags)
            found = engine.called(c, made.symbol, [*values[: len(lead)], *inside, *entered])
            new = _repeated(c, found, flags, made.batched_results, width)
            if not own:
                return new
            new = [choose(c, is_left, x, y) for x, y in zip(new, current, strict=True)]
            return [c.add(count[0], c.scalar(1, INT32)), *new]

        counter = [b.scalar(0, INT32)] if own else []
        operands = [*lead, *own, *constants, *counter, *state]
        symbol_ = engine.function(f"{loop.body}_masked", [b.type_of(v) for v in operands], step)
        steps = b.reduce_max(loop.steps, axes=(0,)) if is_own else loop.steps
        moved = Steps(symbol_, [*lead, *own, *constants], [*counter, *state], steps, loop.saved_states)
        none = [None] * len(counter)
        wanted_constants = (*(False,) * fixed, *self.active_constants)
        wanted_state = (*(False,) * len(counter), *self.active_state)
        ends = [*none, *spread(cotangents, self.active_state)]
        found, first = pull_back(b, engine, moved, ends, wanted_constants, wanted_state)
        results = [
            *pick(found[fixed:], self.active_constants),
            *pick(first[len(counter) :], self.active_state),
        ]
        return results, [True] * len(results)


def linearize_counted(
    b: Any, engine: Any, loop: Steps, results: Sequence[Any], tangents: tuple[Sequence[Any], Sequence[Any]]
) -> list[Any]:
    """Tangents of the final state `results`, linear and with a pullback; None where there is none."""
    dconstants, dstate = list(tangents[0]), list(tangents[1])
    moving = [*dconstants, *dstate]
    is_moving = [t is not None for t in moving]
    k, n = len(loop.constants), len(loop.state)
    _, active = settled(b, engine, loop, [t is not None for t in dconstants], [t is not None for t in dstate])

    def inner(values: Sequence[Any]) -> Steps:
        steps, fixed, state, _ = parted(values, k, n)
        return Steps(loop.body, fixed, state, steps, loop.saved_states)

    def push(c: Any, values: Any) -> Any:
        given = spread(values[len(values) - sum(is_moving) :], is_moving)
        return list(pick(push_through(c, engine, inner(values), given[:k], given[k:]), active))

    def pull(c: Any, values: Any) -> Any:
        ends = spread(values[k + n + 1 :], active)
        wanted = tuple(is_moving[:k]), tuple(is_moving[k:])
        found, first = pull_back(c, engine, inner(values), ends, *wanted)
        out = pick([*found, *first], is_moving)
        shapes = pick(values[1 : 1 + k + n], is_moving)
        return [c.zeros_like(s) if o is None else o for s, o in zip(shapes, out, strict=True)]

    residuals = [loop.steps, *loop.constants, *loop.state]
    shown = list(pick(results, active))
    return spread(_linear(b, engine, loop.body, residuals, moving, shown, push, pull), active)


def push_through(
    b: Any, engine: Any, loop: Steps, dconstants: Sequence[Any], dstate: Sequence[Any]
) -> list[Any]:
    """Tangents of the final state; None where there is none."""
    moved, active = tangent_loop(b, engine, loop, dconstants, dstate)
    k = len(moved.constants)
    types = [b.type_of(v) for v in (loop.steps, *moved.state, loop.steps)]

    def is_left(c: Any, values: Any) -> Any:
        return [c.compare(values[-1], values[0], direction="LT")]

    def step(c: Any, values: Any) -> Any:
        found = engine.called(c, moved.body, values[:-1])
        return [*found, c.add(values[-1], c.scalar(1, INT32))]

    constant_types = [b.type_of(v) for v in moved.constants]
    found = b.while_(
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
    return spread(as_list(found)[len(loop.state) : -1], active)


def pull_back(
    b: Any,
    engine: Any,
    loop: Steps,
    cotangents: Sequence[Any],
    wanted_constants: Sequence[bool],
    wanted_state: Sequence[bool],
) -> tuple[list[Any], list[Any]]:
    """Cotangents of constants and of the initial state for those of the final one; None stands for zero."""
    linearizer = engine.linearizer
    constants, flags = tuple(wanted_constants), tuple(wanted_state)
    while True:
        part = linearizer.linearize(loop.body, (*constants, *flags))
        grown = _either(flags, part.active_results)
        if grown == flags:
            break
        flags = grown
    k, n = len(loop.constants), len(loop.state)
    if not any(flags):
        return [None] * k, [None] * n
    operands = [*loop.constants, *loop.state]
    active = tuple(i for i, on in enumerate((*constants, *flags)) if on)
    incoming = [
        b.zeros_like(x) if c is None else c
        for x, c, on in zip(loop.state, cotangents, flags, strict=True)
        if on
    ]
    given = [loop.steps, *operands, *incoming]
    build = _schedule(engine, loop, part, constants, flags)
    callee = engine.function(f"{loop.body}_reversed", [b.type_of(v) for v in given], build)
    found = b.while_pullback(
        *given,
        callee=callee,
        body=loop.body,
        body_constants=k,
        state_count=n,
        saved_states=loop.saved_states,
        active=active,
        results=tuple(b.type_of(operands[i]) for i in active),
    )
    pulled = spread(as_list(found), (*constants, *flags))
    return pulled[:k], pulled[k:]


def _schedule(engine: Any, loop: Steps, part: Any, constants: Flags, flags: Flags) -> Any:
    """What builds the function that computes a pullback: the loops of `revolve.py` around this body."""
    k, n = len(constants), len(flags)
    count = sum(constants)
    moving = (False,) * len(part.residuals) + (True,) * (count + sum(flags))
    transposed = engine.linearizer.transposer.transpose(part.linear, moving)
    step, again = engine.silenced(loop.body), engine.silenced(part.primal)

    def advance(c: Any, fixed: Sequence[Any], now: Sequence[Any]) -> Any:
        return engine.called(c, step, [*fixed, *now])

    def pull(c: Any, fixed: Any, now: Any, cotangents: Any, sums: Any) -> Any:
        outputs = engine.called(c, again, [*fixed, *now])
        residuals = part.residual_values([*fixed, *now], outputs)
        ends = pick(spread(cotangents, flags), part.active_results)
        found = iter(engine.called(c, transposed.symbol, [*residuals, *ends]))
        out = [next(found) if has else None for has in transposed.nonzero]
        before = [c.zeros_like(x) if o is None else o for x, o in zip(cotangents, out[count:], strict=True)]
        return before, [s if o is None else c.add(s, o) for s, o in zip(sums, out[:count], strict=True)]

    def build(c: Any, values: Any) -> Any:
        steps, fixed, state, ends = parted(values, k, n)
        sums = [c.zeros_like(x) for x in pick(fixed, constants)]
        reversible = Reversible(loop.body, engine.function, advance, pull, loop.saved_states)
        pulled, summed = reversed_loop(c, reversible, fixed, state, steps, ends, sums)
        return [*summed, *pulled]

    return build


def tangent_loop(
    b: Any, engine: Any, loop: Steps, dconstants: Sequence[Any], dstate: Sequence[Any]
) -> tuple[Steps, Flags]:
    """The loop with tangents beside its constants and its state, and which entries of the state have one."""
    moving, given = [t is not None for t in dconstants], [t is not None for t in dstate]
    body, active = settled(b, engine, loop, moving, given)
    tangents = [
        b.zeros_like(x) if t is None else t for x, t, on in zip(loop.state, dstate, active, strict=True) if on
    ]
    constants = [*loop.constants, *(t for t in dconstants if t is not None)]
    return Steps(body, constants, [*loop.state, *tangents], loop.steps, loop.saved_states), active


def settled(
    b: Any, engine: Any, loop: Steps, moving: Sequence[bool], given: Sequence[bool]
) -> tuple[str, Flags]:
    """The body that pushes tangents along, and the entries of the state that have one after some step.

    It takes constants, tangents of those that are `moving`, the state, and its tangents.
    """
    forward = engine.forward
    constants, active = tuple(moving), tuple(given)
    while True:
        made = forward.differentiate(loop.body, (*constants, *active))
        grown = _either(active, made.active_results)
        if grown == active:
            break
        active = grown
    made = forward.differentiate(loop.body, (*constants, *active), active)
    k, n = len(loop.constants), len(loop.state)
    types = [b.type_of(v) for v in (*loop.constants, *pick(loop.constants, constants), *loop.state)]
    types += [b.type_of(v) for v in pick(loop.state, active)]
    extended = k + sum(constants)

    def step(c: Any, values: Any) -> Any:
        fixed, now = values[:extended], values[extended:]
        return engine.called(c, made.symbol, [*fixed[:k], *now[:n], *fixed[k:], *now[n:]])

    return str(engine.function(f"{loop.body}_tangent", types, step)), active


def carrying(b: Any, values: Sequence[Any]) -> Flags:
    """Which values carry a tangent."""
    kinds = [b.type_of(v) for v in values]
    return tuple(isinstance(t, TensorType) and t.dtype in INEXACT for t in kinds)


def _linear(
    b: Any,
    engine: Any,
    name: str,
    residuals: Sequence[Any],
    tangents: Sequence[Any],
    results: Sequence[Any],
    push: Any,
    pull: Any,
) -> list[Any]:
    """An op that is linear in `tangents` and gives tangents of `results`; `push` and `pull` build it."""
    moving = [t for t in tangents if t is not None]
    if not moving or not results:
        return []
    kinds = tuple(b.type_of(r) for r in results)
    donors = [] if all(t.is_static for t in kinds) else list(results)
    types = [b.type_of(v) for v in (*residuals, *donors, *moving)]
    pulled = [b.type_of(r) for r in residuals] + list(kinds)
    found = b.custom_vjp_linear(
        *residuals,
        *donors,
        *moving,
        callee=engine.function(f"{name}_push", types, push),
        bwd=engine.function(f"{name}_pull", pulled, pull),
        residual_count=len(residuals),
        donor_count=len(donors),
        results=kinds,
    )
    return as_list(found)


def _either(flags: Sequence[bool], others: Sequence[bool]) -> Flags:
    return tuple(f or o for f, o in zip(flags, others, strict=True))


def _repeated(
    b: Any, values: Sequence[Any], flags: Sequence[bool], already: Sequence[bool], size: Any
) -> list[Any]:
    """The values, repeated along the batch where a flag says so and they are not yet."""
    return [
        repeated(b, x, size) if on and not has else x
        for x, on, has in zip(values, flags, already, strict=True)
    ]


def _gated(b: Any, predicate: Any, values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    return [gated(b, predicate, x) if on else x for x, on in zip(values, flags, strict=True)]


def _everyone(b: Any, count: Any, size: Any) -> Any:
    return b.broadcast_in_dim(count, shape=(size,), dimensions=())

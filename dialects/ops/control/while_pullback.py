"""The pullback of a loop whose number of iterations is a value, as one op.

The op is the gradient of a loop, so its own derivative is symmetric: one direction pushed through the loop
beside the state, and the pullback of that loop. In this way derivatives of every order, in both modes, are
loops and pullbacks of loops again. How a pullback is computed is the engine's business: `Engine.pull_back`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...attributes import Record, stated
from ...op import Operand, integer, ints, symbol
from ...protocols import (
    Batched,
    Batching,
    Builder,
    CountedLoop,
    Differentiation,
    Engine,
    Linearization,
    Size,
    Tangent,
    Transposition,
    Value,
    Values,
    WithTangents,
)
from ...types import ANY, INT32, TensorType
from .call import RESULTS, CallLike, Passed
from .counted_loop import linear_by_rules, parts
from .values import (
    Flags,
    carrying,
    choose,
    either,
    fixed_point,
    gated_where,
    pick,
    present,
    repeated_where,
    spread,
    values_of,
    zeros_where_none,
)


class Pullback(Record):
    """The attributes of a `while_pullback`."""

    callee: str = stated(symbol("the loops that compute it"))
    body: str = stated(symbol("returns the next state"))
    body_constants: int = stated(integer("how many operands after `steps` are constants of the body"))
    state_count: int = stated(integer("how many operands after those are the state"))
    saved_states: int = stated(integer("how many states may be kept at a time"))
    active: tuple[int, ...] = stated(
        ints("which constants and entries of the state, counted together, have a cotangent")
    )
    results: tuple[TensorType, ...] = stated(RESULTS)


class WhilePullback(CallLike):
    """``cotangents of (d..., state...) = pullback of `steps` iterations of state = body(d..., state...)``.

    The operands are the number of steps, the constants `d`, the initial state, and a cotangent of each active
    entry of the final state. `callee` computes it, keeping `saved_states` states at a time.
    """

    name = "while_pullback"
    operands = (Operand("steps", frozenset({INT32})), Passed("xs", ANY, variadic=True))
    record = Pullback
    has_own_rules = True

    @staticmethod
    def shape_operands(*, active: Sequence[int], **attributes: Any) -> tuple[int, ...]:
        return tuple(1 + i for i in active)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: Pullback,
    ) -> WithTangents:
        results = list(b.while_pullback(*primals, **attributes.keywords))
        return results, _Operands(primals, attributes).push(b, engine, tangents)

    @staticmethod
    def linearize(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Linearization,
        *,
        attributes: Pullback,
    ) -> WithTangents:
        """The derivative of a gradient is symmetric: its transpose is itself, and a push for cotangents."""
        results = list(b.while_pullback(*primals, **attributes.keywords))
        is_active = present(tangents)
        count = len(primals)

        def push(c: Builder, values: Values) -> Values:
            inner = _Operands(values[:count], attributes)
            moving = spread(values[len(values) - sum(is_active) :], is_active)
            return zeros_where_none(c, inner.push(c, engine, moving), inner.shapes)

        def pull(c: Builder, values: Values) -> Values:
            inner = _Operands(values[:count], attributes)
            return values_of(pick(inner.pull(c, engine, values[count:]), is_active))

        name = f"{attributes.body}_pullback"
        return results, linear_by_rules(b, engine, name, primals, tangents, results, push, pull)

    @staticmethod
    def transpose(
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        attributes: Pullback,
    ) -> Sequence[Tangent]:
        """Linear in the cotangents of the final state: a push of tangents."""
        inner = _Operands(operands, attributes)
        pushed = engine.push_through(b, inner.loop, *inner.directions(list(cotangents)))
        outgoing = pick(pushed, inner.active_state)
        return [*(None for _ in operands[len(outgoing) :]), *outgoing]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: Pullback,
    ) -> Batched:
        """The pullback of a loop over a batch, which keeps the state of elements that are done."""
        return _Operands(operands, attributes).batched(b, size, batched, engine)


T = TypeVar("T")


class _Operands:
    """The operands of a pullback by what they are."""

    def __init__(self, operands: Values, attributes: Pullback) -> None:
        k, n = attributes.body_constants, attributes.state_count
        steps, constants, state, cotangents = parts(operands, k, n)
        self.loop = CountedLoop(attributes.body, constants, state, steps, attributes.saved_states)
        flags = [i in attributes.active for i in range(k + n)]
        self.active_constants, self.active_state = tuple(flags[:k]), tuple(flags[k:])
        self.shapes = [operands[1 + i] for i in attributes.active]
        self.cotangents = spread(cotangents, self.active_state)

    def parts(self, values: Sequence[T]) -> tuple[T, list[T], list[T], list[T]]:
        """One value for each operand, as those of the steps, the constants, the state and the cotangents."""
        return parts(values, len(self.loop.constants), len(self.loop.state))

    def directions(self, values: Sequence[Tangent]) -> tuple[list[Tangent], list[Tangent]]:
        """One value for each result, by constants and entries of the state."""
        every = spread(values, (*self.active_constants, *self.active_state))
        k = len(self.loop.constants)
        return every[:k], every[k:]

    def push(self, b: Builder, engine: Engine, tangents: Sequence[Tangent]) -> list[Tangent]:
        """Tangents of the results for tangents of the operands."""
        _, constants, state, cotangents = self.parts(tangents)
        moving = spread(cotangents, self.active_state)
        active = self.active_constants, self.active_state
        second = self._second(b, engine, constants, state, moving, *active)
        return list(pick(second, (*self.active_constants, *self.active_state)))

    def pull(self, b: Builder, engine: Engine, values: Values) -> list[Tangent]:
        """Cotangents of the operands for cotangents of the results."""
        directions = self.directions(values)
        every = [carrying([b.type_of(v) for v in vs]) for vs in (self.loop.constants, self.loop.state)]
        none = [None] * len(self.loop.state)
        second = self._second(b, engine, *directions, none, *every)
        pushed = engine.push_through(b, self.loop, *directions)
        return [None, *second, *pick(pushed, self.active_state)]

    def _second(
        self,
        b: Builder,
        engine: Engine,
        constants: Sequence[Tangent],
        state: Sequence[Tangent],
        cotangents: Sequence[Tangent],
        wanted_constants: Flags,
        wanted_state: Flags,
    ) -> list[Tangent]:
        """The derivative of the pullback along directions of constants, state and cotangents.

        It is the pullback of the loop that pushes the directions along, for the cotangents' direction where
        the state ends and the cotangents themselves where its tangent does.
        """
        loop = self.loop
        moved, active = engine.tangent_loop(b, loop, constants, state)
        extra = len(moved.constants) - len(loop.constants)
        ends = [*cotangents, *pick(self.cotangents, active)]
        wanted = (*wanted_constants, *(False,) * extra), (*wanted_state, *(False,) * sum(active))
        dconstants, dstate = engine.pull_back(b, moved, ends, *wanted)
        return [*dconstants[: len(loop.constants)], *dstate[: len(loop.state)]]

    def batched(self, b: Builder, size: Size, batched: Sequence[bool], engine: Batching) -> Batched:
        """The pullback for a batch; everything that has a cotangent is repeated along it."""
        loop, k = self.loop, len(self.loop.constants)
        assert loop.steps is not None, "a loop that is pulled back has a number of steps"
        is_own, has_constant, has_state, has_cotangent = self.parts(batched)
        constant_flags = either(has_constant, self.active_constants)

        def one_iteration(carried: Flags) -> tuple[Flags, Any]:
            callee = engine.batch(loop.body, (*constant_flags, *carried))
            return callee.batched_results, callee

        start = tuple(is_own or f for f in either(has_state, self.active_state))
        flags, callee = fixed_point(one_iteration, start)
        constants = repeated_where(b, loop.constants, constant_flags, has_constant, size)
        state = repeated_where(b, loop.state, flags, has_state, size)
        ends = values_of(pick(self.cotangents, self.active_state))
        cotangents = repeated_where(b, ends, (True,) * len(ends), has_cotangent, size)
        lead, own = engine.leading(size), [loop.steps] if is_own else []
        fixed = len(lead) + len(own)

        def step(c: Builder, values: Values) -> Values:
            width = values[0] if lead else size
            now = values[fixed + k :]
            inside = list(values[fixed : fixed + k])
            count, current = now[:1] if own else [], list(now[1:] if own else now)
            entered = current
            if own:  # an element that is done is computed with the others; its results and derivatives drop
                is_left = c.compare(_for_each(c, count[0], width), values[len(lead)], direction="LT")
                inside = gated_where(c, is_left, inside, constant_flags)
                entered = gated_where(c, is_left, current, flags)
            after = engine.called(c, callee.symbol, [*values[: len(lead)], *inside, *entered])
            new = repeated_where(c, after, flags, callee.batched_results, width)
            if not own:
                return new
            new = [choose(c, is_left, x, y) for x, y in zip(new, current, strict=True)]
            return [c.add(count[0], c.scalar(1, INT32)), *new]

        counter = [b.scalar(0, INT32)] if own else []
        operands = [*lead, *own, *constants, *counter, *state]
        symbol_ = engine.function(f"{loop.body}_masked", [b.type_of(v) for v in operands], step)
        steps = b.reduce_max(loop.steps, axes=(0,)) if is_own else loop.steps
        moved = CountedLoop(symbol_, [*lead, *own, *constants], [*counter, *state], steps, loop.saved_states)
        wanted_constants = (*(False,) * fixed, *self.active_constants)
        wanted_state = (*(False,) * len(counter), *self.active_state)
        seeds = [*(None for _ in counter), *spread(cotangents, self.active_state)]
        dconstants, dstate = engine.pull_back(b, moved, seeds, wanted_constants, wanted_state)
        results = values_of(
            [
                *pick(dconstants[fixed:], self.active_constants),
                *pick(dstate[len(counter) :], self.active_state),
            ]
        )
        return results, [True] * len(results)


def _for_each(b: Builder, count: Value, size: Size) -> Value:
    return b.broadcast_in_dim(count, shape=(size,), dimensions=())

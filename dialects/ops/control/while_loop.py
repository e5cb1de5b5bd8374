"""`while`: repeat a function while a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from ...attributes import Record, stated
from ...op import Op, integer, symbol, undefined
from ...protocols import (
    Batched,
    Batching,
    Builder,
    CountedLoop,
    DeadResults,
    Differentiation,
    Linearization,
    Predication,
    Size,
    Tangent,
    Value,
    Values,
    VaryingFunctions,
    WithTangents,
)
from ...types import ANY, INT32, TensorType
from .batched_while import BatchedWhile
from .call import Passed
from .counted_loop import linearized_loop
from .values import (
    Flags,
    either,
    fixed_point,
    repeated_where,
    spread,
)

T = TypeVar("T")


class WhileLoop(Record):
    """The attributes of a while."""

    condition: str = stated(symbol("returns one 0-d i1"))
    body: str = stated(symbol("returns the next state"))
    condition_constants: int = stated(integer("how many operands are constants of the condition"))
    body_constants: int = stated(integer("how many operands after those are constants of the body"))
    saved_states: int = stated(
        integer("how many states its backward pass may keep at a time; 0: it has none")
    )

    def parts(self, values: Sequence[T]) -> tuple[list[T], list[T], list[T]]:
        """Constants of the condition, constants of the body, and the state."""
        m, n = self.condition_constants, self.condition_constants + self.body_constants
        return list(values[:m]), list(values[m:n]), list(values[n:])


class While(Op):
    """``while condition(c..., state...): state = body(d..., state...)``; the final state.

    The operands are the constants `c` of the condition, the constants `d` of the body, and the state.
    """

    name = "while"
    operands = (Passed("xs", ANY, variadic=True),)
    record = WhileLoop
    is_always_predicated = True
    transpose = undefined(
        "a loop whose number of steps is known only when it ends cannot be reversed without a bound: "
        "give it a memory_budget (bytes) or saved_states, or max_steps; or use scan or fori_loop with a "
        "static length"
    )

    @staticmethod
    def infer(*xs: TensorType, attributes: WhileLoop) -> tuple[TensorType, ...]:
        return tuple(attributes.parts(xs)[2])

    @staticmethod
    def varies(
        engine: VaryingFunctions, operands: Sequence[frozenset[str]], attributes: Mapping[str, Any]
    ) -> Sequence[frozenset[str]]:
        """The fixed point of the state, each of which ends where the condition says."""
        first, second = attributes["condition_constants"], attributes["body_constants"]
        state = list(operands[first + second :])
        while True:
            (predicate,) = engine.of_function(attributes["condition"], [*operands[:first], *state])
            results = engine.of_function(attributes["body"], [*operands[first : first + second], *state])
            after = [a | b | predicate for a, b in zip(state, results, strict=True)]
            if after == state:
                return state
            state = after

    @staticmethod
    def iterations(*, attributes: WhileLoop) -> None:
        return None

    @staticmethod
    def evaluate(*xs: np.ndarray, attributes: WhileLoop) -> Any:
        # NumPy functions in place of their symbols
        condition = cast("Callable[..., Any]", attributes.condition)
        body = cast("Callable[..., Any]", attributes.body)
        c, d, state = attributes.parts(xs)
        while bool(condition(*c, *state)[0]):
            state = body(*d, *state)
        return tuple(state)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: WhileLoop,
    ) -> WithTangents:
        """One loop that carries the tangents along."""
        m = attributes.condition_constants
        c, d, state = attributes.parts(primals)
        loop = CountedLoop(attributes.body, d, state, None, attributes.saved_states)
        moved, active = engine.tangent_loop(b, loop, *attributes.parts(tangents)[1:])

        def condition_too(builder: Builder, values: Values) -> Values:
            return engine.called(builder, attributes.condition, values[: m + len(state)])

        types = [b.type_of(v) for v in (*c, *moved.state)]
        outputs = list(
            b.while_(
                *c,
                *moved.constants,
                *moved.state,
                condition=engine.function(f"{attributes.condition}_jvp", types, condition_too),
                body=moved.body,
                condition_constants=m,
                body_constants=len(moved.constants),
                saved_states=attributes.saved_states,
            )
        )
        return outputs[: len(state)], spread(outputs[len(state) :], active)

    @staticmethod
    def linearize(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Linearization,
        *,
        attributes: WhileLoop,
    ) -> WithTangents:
        """The primal loop, and beside it a linear one that runs again with tangents.

        The linear loop can be transposed where states may be saved; the primal loop then counts its steps.
        """
        if attributes.saved_states == 0:
            results = list(b.while_(*primals, **attributes.keywords))
            _, moving = While.jvp(b, primals, tangents, engine.forward, **attributes.keywords)
            return results, moving
        c, d, state = attributes.parts(primals)
        zero = b.scalar(0, INT32)
        types = [b.type_of(v) for v in (*state, zero)]

        def ask(builder: Builder, values: Values) -> Values:
            return engine.called(builder, attributes.condition, values[:-1])

        def step(builder: Builder, values: Values) -> Values:
            after = engine.called(builder, attributes.body, values[:-1])
            return [*after, builder.add(values[-1], builder.scalar(1, INT32))]

        counted = {
            "condition": engine.function(
                f"{attributes.condition}_counted", [*(b.type_of(v) for v in c), *types], ask
            ),
            "body": engine.function(f"{attributes.body}_counted", [*(b.type_of(v) for v in d), *types], step),
        }
        *results, steps = b.while_(
            *primals,
            zero,
            **counted,
            condition_constants=attributes.condition_constants,
            body_constants=attributes.body_constants,
            saved_states=attributes.saved_states,
        )
        loop = CountedLoop(attributes.body, d, state, steps, attributes.saved_states)
        moving = linearized_loop(b, engine, loop, results, *attributes.parts(tangents)[1:])
        return results, moving

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: WhileLoop,
    ) -> Batched:
        """Runs until every element is done; the state of an element that is done is kept."""
        condition, body, saved_states = attributes.condition, attributes.body, attributes.saved_states
        flags = attributes.parts(batched)
        loop = BatchedWhile.of(b, engine, size, (condition, body), flags, gates=saved_states > 0)
        asked, constants, state = attributes.parts(operands)
        state = repeated_where(b, state, loop.flags, flags[2], size)
        lead = engine.leading(size)
        asked = [*lead, *asked]
        types = [[b.type_of(v) for v in values] for values in (asked, constants, state)]
        masked = loop.masked(len(lead), attributes.condition_constants)
        results = b.while_(
            *(*asked, *asked, *constants, *state),
            condition=engine.function(f"{condition}_any", [*types[0], *types[2]], loop.any_left),
            body=engine.function(f"{body}_masked", [*types[0], *types[1], *types[2]], masked),
            condition_constants=len(asked),
            body_constants=len(asked) + len(constants),
            saved_states=saved_states,
        )
        return results, loop.flags

    @classmethod
    def predicated(
        cls,
        b: Builder,
        predicate: Value,
        operands: Values,
        engine: Predication,
        *,
        attributes: WhileLoop,
    ) -> Values:
        """The loop makes no iteration where the predicate is false: it may never end there."""
        c, d, state = attributes.parts(operands)
        condition = engine.predicated(attributes.condition)

        def ask(builder: Builder, values: Values) -> Values:
            (left,) = engine.called(builder, condition, values)
            return [builder.and_(values[0], left)]

        types = [b.type_of(v) for v in (predicate, *c, *state)]
        changed = {
            "condition": engine.function(f"{attributes.condition}_if", types, ask),
            "body": engine.predicated(attributes.body),
            "condition_constants": attributes.condition_constants + 1,
            "body_constants": attributes.body_constants + 1,
        }
        return b.apply(cls, (predicate, *c, predicate, *d, *state), {**attributes.keywords, **changed})

    @staticmethod
    def live_operands(engine: DeadResults, used: Flags, attributes: Mapping[str, Any]) -> tuple[Flags, Flags]:
        """Live is what the condition or a used entry of the state depends on, in any iteration."""
        m, k = attributes["condition_constants"], attributes["body_constants"]
        asked = engine.live_arguments(attributes["condition"], (True,))

        def one_iteration(carried: Flags) -> tuple[Flags, Flags]:
            live = engine.live_arguments(attributes["body"], carried)
            return live[k:], live

        carried, live = fixed_point(one_iteration, either(used, asked[m:]))
        return (*asked[:m], *live[:k], *carried), carried

    @staticmethod
    def without_dead_results(
        engine: DeadResults, operands: Flags, results: Flags, attributes: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Condition and body with these constants and entries of the state only."""
        m, k = attributes["condition_constants"], attributes["body_constants"]
        asked, live = operands[:m], operands[m : m + k]
        return {
            **attributes,
            "condition": engine.restricted(attributes["condition"], (*asked, *results), (True,)),
            "body": engine.restricted(attributes["body"], (*live, *results), results),
            "condition_constants": sum(asked),
            "body_constants": sum(live),
        }

"""Control flow: choose between functions, repeat one while a condition holds, fold one over an axis.

Bodies are private functions by symbol. What they capture arrives as operands: the constants of a loop come
first, then what it carries, then what it walks over. An engine that maps functions hands itself to the
rules here, which say how the mapped bodies are put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import MissingRuleError
from ...op import Attribute, Linear, Op, Operand, integer, require, symbol, undefined
from ...types import ANY, INEXACT, INT32, TensorType, ValueType
from ..elementwise.family import repeated
from .call import Flags, Passed, as_list, choose, gated, pick, spread
from .dead_results import NarrowedBranches, NarrowedWhile
from .predication import GuardedBranches, GuardedWhile
from .while_backward import Steps, linearize_counted, tangent_loop

RESULTS = Attribute("types", "the types of the results")


class Cond(GuardedBranches, NarrowedBranches, Op):
    """``y... = branches[index](x...)``, with `index` clamped to the branches there are."""

    name = "cond"
    operands = (Operand("index", frozenset({INT32})), Passed("xs", ANY, variadic=True))
    attributes = {"branches": Attribute("symbols", "the functions to choose from"), "results": RESULTS}

    @staticmethod
    def infer(index: TensorType, *xs: TensorType, branches: Any, results: Any) -> tuple[TensorType, ...]:
        require(index.rank == 0, f"cond: the index must be 0-d, got {index}")
        require(len(branches) > 0, "cond: expected at least one branch")
        return tuple(results)

    @staticmethod
    def evaluate(
        index: np.ndarray, *xs: np.ndarray, branches: Sequence[Callable[..., Any]], results: Any
    ) -> Any:
        return branches[min(max(int(index), 0), len(branches) - 1)](*xs)

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, engine: Any, *, branches: Any, results: Any) -> Any:
        active = tuple(t is not None for t in tangents[1:])
        everything = carrying(results)
        made = [engine.differentiate(s, active, everything).symbol for s in branches]
        moving = [t for t in tangents[1:] if t is not None]
        kinds = (*results, *pick(results, everything))
        found = as_list(b.cond(primals[0], *primals[1:], *moving, branches=made, results=kinds))
        return found[: len(results)], spread(found[len(results) :], everything)

    @staticmethod
    def linearize(b: Any, primals: Any, tangents: Any, engine: Any, *, branches: Any, results: Any) -> Any:
        """Each branch saves its residuals in slots of its own; the others fill them with zeros.

        Where the sizes of a slot are dynamic, they are those that its branch would have given it.
        """
        active = tuple(t is not None for t in tangents[1:])
        parts = [engine.linearize(s, active) for s in branches]
        arguments = [b.type_of(x) for x in primals[1:]]
        slots = [engine.types_of(p.primal)[len(results) :] for p in parts]
        firsts = [sum(map(len, slots[:i])) for i in range(len(slots))]
        flat = [t for part in slots for t in part]

        def empty(c: Any, values: Any, position: int) -> list[Any]:
            if all(t.is_static for t in slots[position]):
                return [zeros_of(c, t) for t in slots[position]]
            again = engine.called(c, engine.silenced(parts[position].primal), values)
            return [c.zeros_like(x) for x in again[len(results) :]]

        def primal(position: int) -> str:
            def build(c: Any, values: Any) -> Any:
                outputs = engine.called(c, parts[position].primal, values)
                filled: list[Any] = []
                for i in range(len(branches)):
                    filled += outputs[len(results) :] if i == position else empty(c, values, i)
                return [*outputs[: len(results)], *filled]

            return str(engine.function(f"{branches[position]}_branch", arguments, build))

        kinds = (*results, *flat)
        chosen = [primal(i) for i in range(len(branches))]
        outputs = as_list(b.cond(*primals, branches=chosen, results=kinds))
        union = tuple(any(p.active_results[i] for p in parts) for i in range(len(results)))
        moving = [t for t in tangents[1:] if t is not None]
        everything = [*primals[1:], *outputs]
        first_result = len(arguments)
        first_slot = first_result + len(results)

        def residuals_of(position: int, values: Sequence[Any]) -> list[Any]:
            """What the linear part of one branch takes, picked from inputs, results and slots."""
            first = first_slot + firsts[position]
            own = [*values[first_result:first_slot], *values[first : first + len(slots[position])]]
            picked: list[Any] = parts[position].residual_values(values[:first_result], own)
            return picked

        # Of these the linear parts are given what some branch needs, and what tells dynamic shapes.
        places = list(range(len(everything)))
        needed = {i for position in range(len(parts)) for i in residuals_of(position, places)}
        needed |= {i for i, on in enumerate(active) if on and not arguments[i].is_static}
        needed |= {first_result + i for i, on in enumerate(union) if on and not results[i].is_static}
        kept = sorted(needed)
        given = [everything[i] for i in kept]
        donors = [kept.index(i) if i in needed else -1 for i, on in enumerate(active) if on]
        linear_types = [b.type_of(v) for v in (*given, *moving)]

        def linear(position: int) -> str:
            part = parts[position]

            def build(c: Any, values: Any) -> Any:
                known = dict(zip(kept, values[: len(given)], strict=True))
                residuals = residuals_of(position, [known.get(i) for i in places])
                found = iter(engine.called(c, part.linear, [*residuals, *values[len(given) :]]))
                pushed = [next(found) if has else None for has in part.active_results]
                filled = []
                for i, is_active in enumerate(union):
                    if is_active and pushed[i] is None:
                        shaped = known.get(first_result + i)
                        filled.append(zeros_of(c, results[i]) if shaped is None else c.zeros_like(shaped))
                    elif is_active:
                        filled.append(pushed[i])
                return filled

            made = engine.function(f"{branches[position]}_branch_linear", linear_types, build)
            engine.lend_shapes(made, [*(-1 for _ in given), *donors])
            return str(made)

        chosen = [linear(i) for i in range(len(branches))]
        pushed = b.cond(primals[0], *given, *moving, branches=chosen, results=pick(results, union))
        return outputs[: len(results)], spread(as_list(pushed), union)

    @staticmethod
    def transpose(b: Any, cotangents: Any, operands: Any, engine: Any, *, branches: Any, results: Any) -> Any:
        index, xs = operands[0], operands[1:]
        linear = tuple(isinstance(x, Linear) for x in xs)
        given = tuple(c is not None for c in cotangents)
        kinds: list[Any] = [x.type for x in xs if isinstance(x, Linear)]
        other = [x for x in xs if not isinstance(x, Linear)]
        incoming = [c for c in cotangents if c is not None]
        reversed_ = [engine.transpose(name, linear, given) for name in branches]
        shapes = [kind.shape for kind in kinds]
        for i, x in enumerate(x for x in xs if isinstance(x, Linear)):
            if not all(made.nonzero[i] for made in reversed_):
                shapes[i] = x.sizes
        sizes = [n for shape in shapes for n in shape if n is not None and not isinstance(n, int)]
        count = len(other) + len(incoming)
        types = [b.type_of(v) for v in (*other, *incoming, *sizes)]

        def reverse(name: str, made: Any) -> str:
            def build(c: Any, values: Any) -> Any:
                found = iter(engine.called(c, made.symbol, values[:count]))
                known = iter(values[count:])
                out = []
                for has, kind, shape in zip(made.nonzero, kinds, shapes, strict=True):
                    own = [n if n is None or isinstance(n, int) else next(known) for n in shape]
                    out.append(next(found) if has else c.full(0, tuple(own), kind.dtype))
                return out

            return str(engine.function(f"{name}_branch_transpose", types, build))

        chosen = [reverse(name, made) for name, made in zip(branches, reversed_, strict=True)]
        found = as_list(b.cond(index, *other, *incoming, *sizes, branches=chosen, results=tuple(kinds)))
        return [None, *spread(found, linear)]

    @staticmethod
    def batch(
        b: Any, size: Any, operands: Any, batched: Any, engine: Any, *, branches: Any, results: Any
    ) -> Any:
        """One index for all: one cond of batched branches. One for each: all branches, then select."""
        if not batched[0]:
            return _batched_branches(b, size, operands, tuple(batched[1:]), engine, branches)
        lead = engine.leading(size)
        outcomes = []
        for position, branch in enumerate(branches):
            is_this = _is_branch(b, operands[0], position, len(branches))
            guard = [is_this] if engine.needs_guard(branch) else []
            branch = engine.guarded(branch) if guard else branch
            flags = (*(True for _ in guard), *batched[1:])
            symbol_, _, _ = engine.batched_callee(b, branch, flags, all_results=True)
            inputs = [
                gated(b, is_this, x) if has else x for x, has in zip(operands[1:], batched[1:], strict=True)
            ]
            outcomes.append(engine.called(b, symbol_, [*lead, *guard, *inputs]))
        chosen = outcomes[-1]
        for position in range(len(outcomes) - 2, -1, -1):
            limit = b.full_like(operands[0], position)
            is_before = b.compare(operands[0], limit, direction="LE")
            chosen = [choose(b, is_before, x, y) for x, y in zip(outcomes[position], chosen, strict=True)]
        return chosen, [True] * len(results)

    @staticmethod
    def lower(l: Any, index: Any, *xs: Any, branches: Any, results: Any) -> Any:
        return l.cond(index, xs, branches)


class While(GuardedWhile, NarrowedWhile, Op):
    """``while condition(c..., state...): state = body(d..., state...)``; the final state.

    The operands are the constants `c` of the condition, the constants `d` of the body, and the state.
    """

    name = "while"
    operands = (Passed("xs", ANY, variadic=True),)
    attributes = {
        "condition": symbol("gives one 0-d i1"),
        "body": symbol("gives the next state"),
        "condition_constants": integer("how many operands are constants of the condition"),
        "body_constants": integer("how many operands after those are constants of the body"),
        "saved_states": integer("how many states its reversal may keep at a time; 0: it has none"),
    }
    transpose = undefined(
        "a loop whose number of steps is known only when it ends cannot be reversed without a bound: "
        "give it a memory_budget (bytes) or saved_states, or max_steps; or use scan or fori_loop with a "
        "static length"
    )

    @staticmethod
    def infer(
        *xs: TensorType,
        condition: str,
        body: str,
        condition_constants: int,
        body_constants: int,
        saved_states: int,
    ) -> tuple[TensorType, ...]:
        return xs[condition_constants + body_constants :]

    @staticmethod
    def evaluate(
        *xs: np.ndarray,
        condition: Any,
        body: Any,
        condition_constants: int,
        body_constants: int,
        saved_states: int,
    ) -> Any:
        c, d = xs[:condition_constants], xs[condition_constants : condition_constants + body_constants]
        state = xs[condition_constants + body_constants :]
        while bool(condition(*c, *state)[0]):
            state = body(*d, *state)
        return tuple(state)

    @staticmethod
    def jvp(
        b: Any,
        primals: Any,
        tangents: Any,
        engine: Any,
        *,
        condition: str,
        body: str,
        condition_constants: int,
        body_constants: int,
        saved_states: int,
    ) -> Any:
        """One loop that carries the tangents along."""
        m, n = condition_constants, condition_constants + body_constants
        c, d, state = primals[:m], primals[m:n], primals[n:]
        loop = Steps(body, list(d), list(state), None, saved_states)
        moved, active = tangent_loop(b, engine, loop, tangents[m:n], tangents[n:])

        def condition_too(builder: Any, values: Any) -> Any:
            return engine.called(builder, condition, values[: m + len(state)])

        types = [b.type_of(v) for v in (*c, *moved.state)]
        found = as_list(
            b.while_(
                *c,
                *moved.constants,
                *moved.state,
                condition=engine.function(f"{condition}_jvp", types, condition_too),
                body=moved.body,
                condition_constants=m,
                body_constants=len(moved.constants),
                saved_states=saved_states,
            )
        )
        return found[: len(state)], spread(found[len(state) :], active)

    @staticmethod
    def linearize(b: Any, primals: Any, tangents: Any, engine: Any, **attributes: Any) -> Any:
        """The primal loop, and beside it one that runs again with tangents: linear.

        That one is reversible where states may be saved; the primal loop then counts its steps.
        """
        if attributes["saved_states"] == 0:
            results = as_list(b.while_(*primals, **attributes))
            _, moving = While.jvp(b, primals, tangents, engine.forward, **attributes)
            return results, moving
        m, k = attributes["condition_constants"], attributes["body_constants"]
        c, d, state = primals[:m], primals[m : m + k], primals[m + k :]
        zero = b.scalar(0, INT32)
        types = [b.type_of(v) for v in (*state, zero)]

        def ask(builder: Any, values: Any) -> Any:
            return engine.called(builder, attributes["condition"], values[:-1])

        def step(builder: Any, values: Any) -> Any:
            found = engine.called(builder, attributes["body"], values[:-1])
            return [*found, builder.add(values[-1], builder.scalar(1, INT32))]

        counted = {
            "condition": engine.function(
                f"{attributes['condition']}_counted", [*(b.type_of(v) for v in c), *types], ask
            ),
            "body": engine.function(
                f"{attributes['body']}_counted", [*(b.type_of(v) for v in d), *types], step
            ),
        }
        *results, steps = as_list(b.while_(*primals, zero, **{**attributes, **counted}))
        loop = Steps(attributes["body"], list(d), list(state), steps, attributes["saved_states"])
        moving = linearize_counted(b, engine, loop, results, (tangents[m : m + k], tangents[m + k :]))
        return results, moving

    @staticmethod
    def batch(
        b: Any,
        size: Any,
        operands: Any,
        batched: Any,
        engine: Any,
        *,
        condition: str,
        body: str,
        condition_constants: int,
        body_constants: int,
        saved_states: int,
    ) -> Any:
        """Runs until every element is done; where one is done its state stays as it is."""
        m, n = condition_constants, condition_constants + body_constants
        c, d, state = operands[:m], operands[m:n], operands[n:]
        bc, bd, flags = tuple(batched[:m]), tuple(batched[m:n]), tuple(batched[n:])
        while True:
            ask, (is_own,), _ = engine.batched_callee(b, condition, (*bc, *flags))
            is_guarded = is_own and engine.needs_guard(body)
            run = engine.guarded(body) if is_guarded else body
            step, after, _ = engine.batched_callee(b, run, (*([True] * is_guarded), *bd, *flags))
            grown = tuple(f or r or is_own for f, r in zip(flags, after, strict=True))
            if grown == flags:
                break
            flags = grown
        spread_state = [
            repeated(b, x, size) if f and not was else x
            for x, f, was in zip(state, flags, batched[n:], strict=True)
        ]
        lead = engine.leading(size)
        types = [b.type_of(v) for v in spread_state]
        lead_types = [b.type_of(v) for v in lead]

        def any_left(builder: Any, values: Any) -> Any:
            (left,) = engine.called(builder, ask, values)
            return [builder.reduce_or(left, axes=(0,)) if is_own else left]

        def masked(builder: Any, values: Any) -> Any:
            first = values[: len(lead)]
            conditions = values[len(lead) : len(lead) + m]
            constants = values[len(lead) + m : len(lead) + n]
            now = entered = values[len(lead) + n :]
            left = engine.called(builder, ask, [*first, *conditions, *now])[0] if is_own else None
            if is_own and saved_states:  # derivatives of what is dropped must not reach what is kept
                entered = [gated(builder, left, x) for x in now]
                constants = [
                    gated(builder, left, x) if has else x for x, has in zip(constants, bd, strict=True)
                ]
            guard = [left] if is_guarded else []
            new = engine.called(builder, step, [*first, *guard, *constants, *entered])
            new = [
                repeated(builder, x, first[0] if first else size) if f and not has else x
                for x, f, has in zip(new, flags, after, strict=True)
            ]
            if not is_own:
                return new
            return [choose(builder, left, x, y) for x, y in zip(new, now, strict=True)]

        constant_types = [b.type_of(v) for v in c]
        body_types = [b.type_of(v) for v in d]
        loop = {
            "condition": engine.function(
                f"{condition}_any", [*lead_types, *constant_types, *types], any_left
            ),
            "body": engine.function(
                f"{body}_masked", [*lead_types, *constant_types, *body_types, *types], masked
            ),
            "condition_constants": len(lead) + m,
            "body_constants": len(lead) + n,
            "saved_states": saved_states,
        }
        found = b.while_(*lead, *c, *lead, *c, *d, *spread_state, **loop)
        return as_list(found), list(flags)

    @staticmethod
    def lower(
        l: Any,
        *xs: Any,
        condition: str,
        body: str,
        condition_constants: int,
        body_constants: int,
        saved_states: int,
    ) -> Any:
        return l.while_loop(xs, condition, body, condition_constants, body_constants)


def _batched_branches(
    b: Any, size: Any, operands: Any, batched: Flags, engine: Any, branches: Sequence[str]
) -> tuple[list[Any], list[bool]]:
    """One cond of batched branches; a result is batched if one branch gives it so."""
    parts = [engine.batched_callee(b, branch, batched) for branch in branches]
    flags = [any(column) for column in zip(*(own for _, own, _ in parts), strict=True)]
    given = [*engine.leading(size), *operands[1:]]

    def branch(position: int) -> str:
        symbol_, own, _ = parts[position]

        def build(c: Any, values: Any) -> list[Any]:
            width = values[0] if engine.leading(size) else size
            found = engine.called(c, symbol_, values)
            return [
                repeated(c, x, width) if wanted and not has else x
                for x, wanted, has in zip(found, flags, own, strict=True)
            ]

        return str(engine.function(f"{symbol_}_branch", [b.type_of(v) for v in given], build))

    chosen = [s if list(own) == flags else branch(i) for i, (s, own, _) in enumerate(parts)]
    kinds = [types for types in zip(*(t for _, _, t in parts), strict=True)]
    owns = list(zip(*(own for _, own, _ in parts), strict=True))
    results = tuple(t[own.index(True) if True in own else 0] for t, own in zip(kinds, owns, strict=True))
    found = b.cond(operands[0], *given, branches=chosen, results=results)
    return as_list(found), flags


def _is_branch(b: Any, index: Any, position: int, count: int) -> Any:
    """Which elements of a batched index choose the branch at `position`, ends clamped."""
    direction = "LE" if position == 0 else "GE" if position == count - 1 else "EQ"
    return b.compare(index, b.full_like(index, position), direction=direction)


def carrying(types: Sequence[ValueType]) -> Flags:
    """Which types carry a tangent."""
    return tuple(isinstance(t, TensorType) and t.dtype in INEXACT for t in types)


def zeros_of(b: Any, type_: ValueType) -> Any:
    """Zeros of a static type."""
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise MissingRuleError(f"zeros of type {type_} are needed where its dynamic sizes are not known")
    return b.full(0, type_.shape, type_.dtype)

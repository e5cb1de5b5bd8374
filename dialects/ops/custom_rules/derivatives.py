"""Calls of functions whose derivatives are functions too: users' own rules for jvp and vjp.

Each computes what its `callee` computes; only the engines of differentiation see the difference. The inliner
replaces the calls that are left by their callees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...attributes import Record, stated
from ...op import (
    Linear,
    integer,
    symbol,
)
from ...protocols import (
    Batched,
    Batching,
    Builder,
    Differentiation,
    Size,
    Tangent,
    Transposition,
    Value,
    Values,
    WithTangents,
)
from ...types import INEXACT, SIZE, TensorType
from ..control.call import RESULTS, CallLike
from ..control.values import zeros_of
from ..elementwise.family import repeated

T = TypeVar("T")


CLOSED_OVER = integer("how many operands, the last ones, the function closes over: the rules leave them out")


def with_closure(
    b: Builder,
    engine: Differentiation,
    callee: str,
    primals: Values,
    tangents: Sequence[Tangent],
    closed_over: int,
    by_rule: Any,
) -> Any:
    """Tangents by a user's rule, and those by what `callee` closes over: it is differentiated by that."""
    first = len(primals) - closed_over
    if all(t is None for t in tangents[first:]):
        return by_rule
    moving = [None if n < first else t for n, t in enumerate(tangents)]
    _, by_closure = engine.call(b, callee, primals, moving)
    return [t if more is None else b.add(t, more) for t, more in zip(by_rule, by_closure, strict=True)]


class JvpByRule(Record):
    """The attributes of a `custom_jvp_call`."""

    callee: str = stated(symbol("the function's name"))
    rule: str = stated(symbol("maps primals and tangents to results and their tangents"))
    closed_over: int = stated(CLOSED_OVER)
    results: tuple[TensorType, ...] = stated(RESULTS)


class CustomJvpCall(CallLike):
    """``y... = callee(x...);  dy... = `` the second half of ``rule(x..., dx...)``, a user's function."""

    name = "custom_jvp_call"
    has_own_rules = True
    record = JvpByRule

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: JvpByRule,
    ) -> WithTangents:
        moving = [
            b.zeros_like(x) if t is None else t
            for x, t in zip(primals, tangents, strict=True)
            if b.type_of(x) != SIZE
        ]
        closed_over = attributes.closed_over
        rule = engine.rule_for(attributes.rule, own_activity(b, primals, tangents, closed_over))
        outputs = engine.inlined(b, rule, [*primals, *moving], len(moving))
        count = len(attributes.results)
        values, by_rule = outputs[:count], outputs[count:]
        return values, with_closure(b, engine, attributes.callee, primals, tangents, closed_over, by_rule)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: JvpByRule,
    ) -> Batched:
        body, _, types = engine.batched_callee(b, attributes.callee, batched, all_results=True)
        moving = tuple(has for x, has in zip(operands, batched, strict=True) if b.type_of(x) != SIZE)

        def batched_rule(rules: Sequence[str]) -> list[str]:
            return [engine.batched_callee(b, rules[0], (*batched, *moving), all_results=True)[0]]

        (rule,) = engine.batched_rules([attributes.rule], batched_rule)
        mapped = {**attributes.keywords, "callee": body, "rule": rule, "results": types}
        outputs = b.custom_jvp_call(*engine.leading(size), *operands, **mapped)
        return list(outputs), [True] * len(types)


class VjpByRules(Record):
    """The attributes of a `custom_vjp_call`."""

    callee: str = stated(symbol("the function's name"))
    fwd: str = stated(symbol("maps operands to results and residuals"))
    bwd: str = stated(symbol("maps residuals and cotangents to cotangents of the operands"))
    closed_over: int = stated(CLOSED_OVER)
    results: tuple[TensorType, ...] = stated(RESULTS)


class CustomVjpCall(CallLike):
    """``y... = callee(x...)``, whose pullback is a user's: ``bwd(residuals..., dy...)``.

    `fwd` maps operands to results, then residuals; `bwd` maps residuals and cotangents of the results to
    cotangents of the operands, and is linear in the cotangents.
    """

    name = "custom_vjp_call"
    has_own_rules = True
    record = VjpByRules

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: VjpByRules,
    ) -> WithTangents:
        moving = [
            b.zeros_like(x) if t is None else t
            for x, t in zip(primals, tangents, strict=True)
            if carries_cotangent(b, x)
        ]
        closed_over = attributes.closed_over
        active = own_activity(b, primals, tangents, closed_over)
        fwd, bwd = (engine.rule_for(rule, active) for rule in (attributes.fwd, attributes.bwd))
        values, by_rule = engine.custom_pullback(b, fwd, bwd, primals, moving, len(attributes.results))
        return values, with_closure(b, engine, attributes.callee, primals, tangents, closed_over, by_rule)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: VjpByRules,
    ) -> Batched:
        inputs, everything = batched_arrays(b, size, operands, batched)
        body, _, types = engine.batched_callee(b, attributes.callee, everything, all_results=True)

        def batched_rules(rules: Sequence[str]) -> list[str]:
            forward, _, forward_types = engine.batched_callee(b, rules[0], everything, all_results=True)
            sizes = (False,) * everything.count(False)
            pulled = (*sizes, *(True for _ in forward_types))
            return [forward, engine.batched_callee(b, rules[1], pulled, all_results=True)[0]]

        fwd, bwd = engine.batched_rules([attributes.fwd, attributes.bwd], batched_rules)
        mapped = {**attributes.keywords, "callee": body, "fwd": fwd, "bwd": bwd, "results": types}
        outputs = b.custom_vjp_call(*engine.leading(size), *inputs, **mapped)
        return list(outputs), [True] * len(types)


class LinearVjp(Record):
    """The attributes of a `custom_vjp_linear`."""

    callee: str = stated(symbol("maps residuals and tangents to tangents of the results"))
    bwd: str = stated(symbol("maps residuals and cotangents to cotangents of the operands"))
    residual_count: int = stated(integer("how many operands are residuals"))
    shape_operand_count: int = stated(
        integer("how many operands after those have the shapes of the results: none or all")
    )
    results: tuple[TensorType, ...] = stated(RESULTS)

    def parts(self, values: Sequence[T]) -> tuple[Sequence[T], Sequence[T], Sequence[T]]:
        """Residuals, shape operands and tangents."""
        first, last = self.residual_count, self.residual_count + self.shape_operand_count
        return values[:first], values[first:last], values[last:]


class CustomVjpLinear(CallLike):
    """The linear part of a `custom_vjp_call`: ``dy... = transpose of bwd(residuals, .) at dx...``.

    `callee` is that transpose where there is one; transposing the op calls the user's `bwd`. Between
    residuals and tangents there may be shape operands: values that have the shapes of the results.
    """

    name = "custom_vjp_linear"
    has_own_rules = True
    has_own_transpose = True
    record = LinearVjp

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        attributes: LinearVjp,
    ) -> WithTangents:
        residuals, shaped, linear = attributes.parts(tangents)
        moving = [*residuals, *(None for _ in shaped), *linear]
        return engine.call(b, attributes.callee, primals, moving)

    @staticmethod
    def shape_operands(
        *, residual_count: int, shape_operand_count: int, **attributes: Any
    ) -> tuple[int, ...]:
        return tuple(range(residual_count, residual_count + shape_operand_count))

    @classmethod
    def transpose(
        cls,
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        attributes: LinearVjp,
    ) -> Sequence[Tangent]:
        residuals, shaped, linear = attributes.parts(operands)
        if any(isinstance(r, Linear) for r in residuals):
            return engine.call(b, attributes.callee, operands, cotangents)
        types = attributes.results
        zeros = [b.zeros_like(x) for x in shaped] if shaped else [zeros_of(b, t) for t in types]
        seeds = [z if c is None else c for c, z in zip(cotangents, zeros, strict=True)]
        bwd = engine.rule_for(attributes.bwd, tuple(c is not None for c in cotangents))
        outgoing = engine.called(b, bwd, [*residuals, *seeds])
        return [*(None for _ in operands[: len(operands) - len(linear)]), *outgoing]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        attributes: LinearVjp,
    ) -> Batched:
        inputs, everything = batched_arrays(b, size, operands, batched)
        body, _, types = engine.batched_callee(b, attributes.callee, everything, all_results=True)
        pulled = (*attributes.parts(everything)[0], *(True for _ in attributes.results))

        def batched_pullback(rules: Sequence[str]) -> list[str]:
            return [engine.batched_callee(b, rules[0], pulled, all_results=True)[0]]

        (bwd,) = engine.batched_rules([attributes.bwd], batched_pullback)
        lead = engine.leading(size)
        residual_count = len(lead) + attributes.residual_count
        mapped = {"callee": body, "bwd": bwd, "residual_count": residual_count, "results": types}
        outputs = b.custom_vjp_linear(*lead, *inputs, **{**attributes.keywords, **mapped})
        return list(outputs), [True] * len(types)


def carries_cotangent(b: Builder, x: Value) -> bool:
    """Whether a pullback returns a cotangent for operand `x`: for floats and complex numbers."""
    return b.type_of(x) != SIZE and b.tensor_type(x).dtype in INEXACT


def own_activity(
    b: Builder, primals: Values, tangents: Sequence[Tangent], closed_over: int
) -> tuple[bool, ...]:
    """Which arguments of a user's rule have tangents: of its operands, those that are no sizes and not closed
    over. Integers, which have none, do not count."""
    own = list(zip(primals, tangents, strict=True))[: len(primals) - closed_over]
    return tuple(t is not None or not carries_cotangent(b, x) for x, t in own if b.type_of(x) != SIZE)


def batched_arrays(
    b: Builder, size: Size, operands: Values, batched: Sequence[bool]
) -> tuple[list[Any], tuple[bool, ...]]:
    """All arrays with the batch axis, sizes unchanged; and which of them are arrays."""
    arrays = tuple(b.type_of(x) != SIZE for x in operands)
    mapped = [
        x if has or not is_array else repeated(b, x, size)
        for x, has, is_array in zip(operands, batched, arrays, strict=True)
    ]
    return mapped, arrays

"""Ops by which a program directs its own differentiation: custom rules, checkpoints, stops.

Each computes what its `callee` (or its operand) computes; only the engines of differentiation see the
difference, and once they have run the inliner dissolves what is left into the callee's body.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...errors import MissingRuleError
from ...op import (
    NO_BATCH,
    NO_TANGENT,
    Attribute,
    Linear,
    Op,
    Operand,
    choice,
    integer,
    symbol,
    text,
    undefined,
)
from ...types import ANY, INEXACT, SIZE, TensorType
from ..control.call import Passed
from ..control.predication import GuardedCall
from ..elementwise.family import Unary, repeated

RESULTS = Attribute("types", "the types of the results")


class StopGradient(Unary):
    """``y = x;  dy = 0``."""

    name = "stop_gradient"

    @staticmethod
    def evaluate(x: np.ndarray) -> np.ndarray:
        return x

    @staticmethod
    def lower(l: Any, x: Any) -> Any:
        return x


class CheckpointName(Unary):
    """``y = x``, under a name that checkpoint policies can refer to;  ``dy = dx``."""

    name = "checkpoint_name"
    attributes = {"label": text("the name")}

    @staticmethod
    def infer(x: TensorType, *, label: str) -> TensorType:
        return x

    @staticmethod
    def evaluate(x: np.ndarray, *, label: str) -> np.ndarray:
        return x

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, result: Any, *, label: str) -> Any:
        return tangents[0]

    @staticmethod
    def lower(l: Any, x: Any, *, label: str) -> Any:
        return x


class OptimizationBarrier(Op):
    """``y... = x...``, behind which no value is known: what is computed again stays computed again."""

    name = "optimization_barrier"
    operands = (Operand("xs", ANY, variadic=True),)

    @staticmethod
    def infer(*xs: TensorType) -> tuple[TensorType, ...]:
        return xs

    @staticmethod
    def evaluate(*xs: np.ndarray) -> tuple[np.ndarray, ...]:
        return xs

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, results: Any) -> Any:
        return list(tangents)

    @staticmethod
    def transpose(b: Any, cotangents: Any, operands: Any) -> Any:
        return list(cotangents) if isinstance(cotangents, tuple) else [cotangents]

    @staticmethod
    def batch(b: Any, size: Any, operands: Any, batched: Any) -> Any:
        found = b.optimization_barrier(*operands)
        return (list(found) if isinstance(found, tuple) else [found]), list(batched)

    @staticmethod
    def lower(l: Any, *xs: Any) -> Any:
        return tuple(l.materialise(x) for x in xs)


class UndefinedValue(Op):
    """Values that no rule can give; evaluating or lowering them is the error `message`."""

    name = "undefined_value"
    attributes = {"message": text("why there is no such value"), "results": RESULTS}
    jvp = NO_TANGENT
    transpose = undefined("it has no operands")
    batch = NO_BATCH

    @staticmethod
    def infer(*, message: str, results: Any) -> tuple[TensorType, ...]:
        return tuple(results)

    @staticmethod
    def evaluate(*, message: str, results: Any) -> Any:
        raise MissingRuleError(message)

    @staticmethod
    def lower(l: Any, *, message: str, results: Any) -> Any:
        raise MissingRuleError(message)


class CallLike(Op):
    """Family of ops that compute what their `callee` computes; sizes among the operands come first."""

    operands: ClassVar[tuple[Operand, ...]] = (Passed("xs", ANY, variadic=True),)
    callee_attribute = "callee"

    @classmethod
    def infer(cls, *xs: TensorType, results: Any, **attributes: Any) -> tuple[TensorType, ...]:
        return tuple(results)

    @classmethod
    def evaluate(cls, *xs: np.ndarray, callee: Callable[..., Any], **attributes: Any) -> Any:
        return callee(*xs)

    @classmethod
    def lower(cls, l: Any, *xs: Any, callee: str, **attributes: Any) -> Any:
        return l.call(callee, xs)

    @classmethod
    def transpose(
        cls, b: Any, cotangents: Any, operands: Any, engine: Any, *, callee: str, **attributes: Any
    ) -> Any:
        return engine.call(b, callee, operands, cotangents)


class CheckpointCall(GuardedCall, CallLike):
    """``y... = callee(x...)``, of which only what `policy` allows is kept for the backward pass.

    `nothing`: inputs only; `dots`: results of contractions and convolutions too; `named`: values that
    `checkpoint_name` gave one of the names in `labels` (comma separated); `everything`: all.
    """

    name = "checkpoint_call"
    attributes = {
        "callee": symbol("the function's name"),
        "policy": choice("nothing", "dots", "named", "everything", doc="what may be saved"),
        "labels": text("names of values that may be saved"),
        "results": RESULTS,
    }

    @staticmethod
    def jvp(
        b: Any,
        primals: Any,
        tangents: Any,
        engine: Any,
        *,
        callee: str,
        policy: str,
        labels: str,
        results: Any,
    ) -> Any:
        return engine.call(b, callee, primals, tangents, (policy, labels))

    @staticmethod
    def batch(
        b: Any,
        size: Any,
        operands: Any,
        batched: Any,
        engine: Any,
        *,
        callee: str,
        policy: str,
        labels: str,
        results: Any,
    ) -> Any:
        made, flags, types = engine.batched_callee(b, callee, batched)
        found = b.checkpoint_call(
            *engine.leading(size), *operands, callee=made, policy=policy, labels=labels, results=types
        )
        return (list(found) if isinstance(found, tuple) else [found]), flags


CLOSED_OVER = integer("how many operands, the last ones, the function closes over: no rule speaks of them")


def with_closure(
    b: Any, engine: Any, callee: str, primals: Any, tangents: Any, closed_over: int, by_rule: Any
) -> Any:
    """Tangents by a user's rule, and those by what `callee` closes over: it is differentiated by that."""
    first = len(primals) - closed_over
    if all(t is None for t in tangents[first:]):
        return by_rule
    moving = [None if n < first else t for n, t in enumerate(tangents)]
    _, found = engine.call(b, callee, primals, moving)
    return [t if more is None else b.add(t, more) for t, more in zip(by_rule, found, strict=True)]


class CustomJvpCall(CallLike):
    """``y... = callee(x...);  dy... = `` the second half of ``rule(x..., dx...)``, a user's function."""

    name = "custom_jvp_call"
    attributes = {
        "callee": symbol("the function's name"),
        "rule": symbol("maps primals and tangents to results and their tangents"),
        "closed_over": CLOSED_OVER,
        "results": RESULTS,
    }

    @staticmethod
    def jvp(
        b: Any,
        primals: Any,
        tangents: Any,
        engine: Any,
        *,
        callee: str,
        rule: str,
        closed_over: int,
        results: Any,
    ) -> Any:
        moving = [
            b.zeros_like(x) if t is None else t
            for x, t in zip(primals, tangents, strict=True)
            if b.type_of(x) != SIZE
        ]
        found = engine.inlined(b, rule, [*primals, *moving], len(moving))
        by_rule = found[len(results) :]
        return found[: len(results)], with_closure(b, engine, callee, primals, tangents, closed_over, by_rule)

    @staticmethod
    def batch(
        b: Any,
        size: Any,
        operands: Any,
        batched: Any,
        engine: Any,
        *,
        callee: str,
        rule: str,
        closed_over: int,
        results: Any,
    ) -> Any:
        made, _, types = engine.batched_callee(b, callee, batched, all_results=True)
        moving = tuple(has for x, has in zip(operands, batched, strict=True) if b.type_of(x) != SIZE)

        def batched_rule() -> list[str]:
            return [engine.batched_callee(b, rule, (*batched, *moving), all_results=True)[0]]

        (made_rule,) = engine.batched_rules([rule], batched_rule)
        found = b.custom_jvp_call(
            *engine.leading(size),
            *operands,
            callee=made,
            rule=made_rule,
            closed_over=closed_over,
            results=types,
        )
        return (list(found) if isinstance(found, tuple) else [found]), [True] * len(types)


class CustomVjpCall(CallLike):
    """``y... = callee(x...)``, whose pullback is a user's: ``bwd(residuals..., dy...)``.

    `fwd` maps operands to results, then residuals; `bwd` maps residuals and cotangents of the results to
    cotangents of the operands, and is linear in the cotangents.
    """

    name = "custom_vjp_call"
    attributes = {
        "callee": symbol("the function's name"),
        "fwd": symbol("maps operands to results and residuals"),
        "bwd": symbol("maps residuals and cotangents to cotangents of the operands"),
        "closed_over": CLOSED_OVER,
        "results": RESULTS,
    }

    @staticmethod
    def jvp(
        b: Any,
        primals: Any,
        tangents: Any,
        engine: Any,
        *,
        callee: str,
        fwd: str,
        bwd: str,
        closed_over: int,
        results: Any,
    ) -> Any:
        moving = [
            b.zeros_like(x) if t is None else t
            for x, t in zip(primals, tangents, strict=True)
            if carries_cotangent(b, x)
        ]
        values, by_rule = engine.custom_pullback(b, fwd, bwd, primals, moving, len(results))
        return values, with_closure(b, engine, callee, primals, tangents, closed_over, by_rule)

    @staticmethod
    def batch(
        b: Any,
        size: Any,
        operands: Any,
        batched: Any,
        engine: Any,
        *,
        callee: str,
        fwd: str,
        bwd: str,
        closed_over: int,
        results: Any,
    ) -> Any:
        spread, everything = spread_arrays(b, size, operands, batched)
        made, _, types = engine.batched_callee(b, callee, everything, all_results=True)

        def batched_rules() -> list[str]:
            made_fwd, _, forward_types = engine.batched_callee(b, fwd, everything, all_results=True)
            sizes = (False,) * everything.count(False)
            pulled = (*sizes, *(True for _ in forward_types))
            return [made_fwd, engine.batched_callee(b, bwd, pulled, all_results=True)[0]]

        made_fwd, made_bwd = engine.batched_rules([fwd, bwd], batched_rules)
        found = b.custom_vjp_call(
            *engine.leading(size),
            *spread,
            callee=made,
            fwd=made_fwd,
            bwd=made_bwd,
            closed_over=closed_over,
            results=types,
        )
        return (list(found) if isinstance(found, tuple) else [found]), [True] * len(types)


class CustomVjpLinear(CallLike):
    """The linear part of a `custom_vjp_call`: ``dy... = transpose of bwd(residuals, .) at dx...``.

    `callee` is that transpose where there is one; transposing the op gives the user's `bwd` back. Between
    residuals and tangents there may be values that only lend their shapes to the results.
    """

    name = "custom_vjp_linear"
    has_own_transpose = True
    attributes = {
        "callee": symbol("maps residuals and tangents to tangents of the results"),
        "bwd": symbol("maps residuals and cotangents to cotangents of the operands"),
        "residual_count": integer("how many operands are residuals"),
        "donor_count": integer("how many operands after those have the shapes of the results: none or all"),
        "results": RESULTS,
    }

    @staticmethod
    def jvp(
        b: Any,
        primals: Any,
        tangents: Any,
        engine: Any,
        *,
        callee: str,
        bwd: str,
        residual_count: int,
        donor_count: int,
        results: Any,
    ) -> Any:
        still = range(residual_count, residual_count + donor_count)
        moving = [None if i in still else t for i, t in enumerate(tangents)]
        return engine.call(b, callee, primals, moving)

    @staticmethod
    def shape_donors(*, residual_count: int, donor_count: int, **attributes: Any) -> tuple[int, ...]:
        return tuple(range(residual_count, residual_count + donor_count))

    @classmethod
    def transpose(
        cls,
        b: Any,
        cotangents: Any,
        operands: Any,
        engine: Any,
        *,
        callee: str,
        bwd: str,
        residual_count: int,
        donor_count: int,
        results: Any,
    ) -> Any:
        residuals = operands[:residual_count]
        if any(isinstance(r, Linear) for r in residuals):
            return engine.call(b, callee, operands, cotangents)
        donors = operands[residual_count : residual_count + donor_count] or (None,) * len(results)
        zeros = [
            b.full(0, t.shape, t.dtype) if d is None else b.zeros_like(d)
            for d, t in zip(donors, results, strict=True)
        ]
        given = [z if c is None else c for c, z in zip(cotangents, zeros, strict=True)]
        return [None] * (residual_count + donor_count) + engine.called(b, bwd, [*residuals, *given])

    @staticmethod
    def batch(
        b: Any,
        size: Any,
        operands: Any,
        batched: Any,
        engine: Any,
        *,
        callee: str,
        bwd: str,
        residual_count: int,
        donor_count: int,
        results: Any,
    ) -> Any:
        spread, everything = spread_arrays(b, size, operands, batched)
        made, _, types = engine.batched_callee(b, callee, everything, all_results=True)
        pulled = (*everything[:residual_count], *(True for _ in results))
        made_bwd, _, _ = engine.batched_callee(b, bwd, pulled, all_results=True)
        found = b.custom_vjp_linear(
            *engine.leading(size),
            *spread,
            callee=made,
            bwd=made_bwd,
            residual_count=len(engine.leading(size)) + residual_count,
            donor_count=donor_count,
            results=types,
        )
        return (list(found) if isinstance(found, tuple) else [found]), [True] * len(types)


def carries_cotangent(b: Any, x: Any) -> bool:
    """Whether a pullback gives a cotangent for operand `x`: for floats and complex numbers."""
    return b.type_of(x) != SIZE and b.tensor_type(x).dtype in INEXACT


def spread_arrays(b: Any, size: Any, operands: Any, batched: Any) -> tuple[list[Any], tuple[bool, ...]]:
    """All arrays with the batch axis, sizes as they are; and which of them are arrays."""
    arrays = tuple(b.type_of(x) != SIZE for x in operands)
    spread = [
        x if has or not is_array else repeated(b, x, size)
        for x, has, is_array in zip(operands, batched, arrays, strict=True)
    ]
    return spread, arrays

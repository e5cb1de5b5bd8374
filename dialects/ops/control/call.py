"""Calls: ops that refer to functions of the module by symbol.

A body is a private function, never a nested region; the values that it captures are operands. An engine that
evaluates passes the rule a callable on arrays in place of a `symbol` attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from ...dataclass import dataclass
from ...op import Attribute, Op, Operand, family_rule, symbol
from ...protocols import (
    Batched,
    Batching,
    Builder,
    Differentiation,
    Predication,
    Size,
    Tangent,
    Transposition,
    Value,
    Values,
    WithTangents,
)
from ...types import ANY, SizeType, TensorType, ValueType

RESULTS: Final = Attribute("types", "the types of the results")


@dataclass(frozen=True, slots=True)
class Passed(Operand):
    """An operand that a call passes on: an array, or a size (of a dynamic dimension)."""

    def check(self, op: str, actual: ValueType) -> None:
        if not isinstance(actual, SizeType):
            Operand.check(self, op, actual)


class CallLike(Op):
    """Family of ops that compute what their `callee` computes; sizes among the operands come first."""

    operands: ClassVar[tuple[Operand, ...]] = (Passed("xs", ANY, variadic=True),)
    callee_attribute = "callee"

    @classmethod
    def infer(
        cls, *xs: TensorType, results: tuple[TensorType, ...], **attributes: Any
    ) -> tuple[TensorType, ...]:
        return tuple(results)

    @classmethod
    def evaluate(cls, *xs: np.ndarray, callee: Callable[..., Any], **attributes: Any) -> Any:
        return callee(*xs)

    @classmethod
    @family_rule
    def transpose(
        cls,
        /,
        b: Builder,
        cotangents: Sequence[Tangent],
        operands: Values,
        engine: Transposition,
        *,
        callee: str,
        **attributes: Any,
    ) -> Sequence[Tangent]:
        return engine.call(b, callee, operands, cotangents)


class PlainCall(CallLike):
    """Family of calls without derivative or batching rules of their own."""

    @classmethod
    def predicated(
        cls, b: Builder, predicate: Value, operands: Values, engine: Predication, **attributes: Any
    ) -> Values:
        """The callee takes the predicate too."""
        callee = engine.predicated(attributes["callee"])
        return b.apply(cls, (predicate, *operands), {**attributes, "callee": callee})


class Call(PlainCall):
    """``y... = callee(x...)``, the results of another function of the module.

    Their types are stated by `results`, so that inference stays local; the verifier of the module compares
    them with the callee's.
    """

    name = "call"
    attributes = {
        "callee": symbol("the function's name"),
        "results": Attribute("types", "the types of its results"),
    }

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        engine: Differentiation,
        *,
        callee: str,
        results: tuple[TensorType, ...],
    ) -> WithTangents:
        return engine.call(b, callee, primals, tangents)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        engine: Batching,
        *,
        callee: str,
        results: tuple[TensorType, ...],
    ) -> Batched:
        return engine.call(b, size, callee, operands, batched)

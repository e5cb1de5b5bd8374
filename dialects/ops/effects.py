"""Ops that act on the world outside the program: `print` shows arrays, `check` stops it.

They are kept though nothing uses them, in the order in which the function states them. They have no results,
so nothing to differentiate: a differentiated function shows and checks its primals, once. In a batch, `print`
shows all of it at once and `check` holds if it holds for every element that reaches it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import AdzeError
from ..op import Op, Operand, require, text, undefined
from ..protocols import Batched, Builder, Size, Tangent, Value, Values
from ..types import ANY, BOOLS, TensorType


class CheckFailedError(AdzeError, RuntimeError):
    """A `check` of the program did not hold when it ran."""


class Effect(Op):
    """Family of ops without results."""

    has_effect = True
    is_arithmetic = False

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        results: Values,
        **attributes: object,
    ) -> tuple[()]:
        return ()


class Print(Effect):
    """Show the operands when the program reaches this point, under the text `format`.

    `{}` in `format` stands for the operands in order. Eager evaluation prints to standard output. A compiled
    program has no formatter: it hands `format` and the arrays to the runtime's debug sink.
    """

    name = "print"
    operands = (Operand("xs", ANY, variadic=True),)
    attributes = {"format": text("what to show, `{}` for each operand")}
    transpose = undefined("print has no result, so no cotangent reaches it")

    @staticmethod
    def infer(*xs: TensorType, format: str) -> tuple[()]:
        try:
            format.format(*range(len(xs)))
        except (IndexError, KeyError, ValueError) as error:
            require(False, f"print: format {format!r} does not fit {len(xs)} operands: {error}")
        return ()

    @staticmethod
    def evaluate(*xs: np.ndarray, format: str) -> tuple[()]:
        print(format.format(*xs))
        return ()

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, format: str) -> Batched:
        """One line for the whole batch: batched operands show with their batch axis first."""
        b.print(*operands, format=format)
        return [], []


class Check(Effect):
    """Stop the program with the error `message` unless `predicate` holds; it survives into the artifact."""

    name = "check"
    operands = (Operand("predicate", BOOLS),)
    attributes = {"message": text("what the error says")}
    is_always_predicated = True
    transpose = undefined("check has no result, so no cotangent reaches it")

    @staticmethod
    def infer(predicate: TensorType, *, message: str) -> tuple[()]:
        require(predicate.rank == 0, f"check: the predicate must be 0-d, got {predicate}")
        return ()

    @staticmethod
    def evaluate(predicate: np.ndarray, *, message: str) -> tuple[()]:
        if not predicate:
            raise CheckFailedError(message)
        return ()

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, message: str) -> Batched:
        b.check(b.reduce_and(operands[0], axes=(0,)), message=message)
        return [], []

    @classmethod
    def predicated(
        cls, b: Builder, predicate: Value, operands: Values, engine: object, *, message: str
    ) -> tuple[()]:
        """The check holds where the predicate is false."""
        b.check(b.or_(operands[0], b.not_(predicate)), message=message)
        return ()

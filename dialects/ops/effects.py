"""Ops that act on the world outside the program: `print` shows arrays, `check` stops it.

They have no results and no derivative; they are kept though nothing uses them, in the order in which
the function states them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declaration import BATCHING_LATER, DIFFERENTIATION_LATER, Op, Operand, require, text, undefined
from ..errors import AdzeError
from ..types import ANY, BOOLS, TensorType


class CheckFailedError(AdzeError):
    """A `check` of the program did not hold when it ran."""


class Print(Op):
    """Show the operands when the program reaches this point, under the text `format`.

    `{}` in `format` stands for the operands in order. Eager evaluation prints to standard output. A compiled
    program has no formatter: it hands `format` and the arrays to the runtime's debug sink.
    """

    name = "print"
    operands = (Operand("xs", ANY, variadic=True),)
    attributes = {"format": text("what to show, `{}` for each operand")}
    has_effect = True
    builder_result = "tuple[()]"
    jvp = DIFFERENTIATION_LATER
    transpose = undefined("print has no result, so no cotangent reaches it")
    batch = BATCHING_LATER

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
    def lower(l: Any, *xs: Any, format: str) -> Any:
        return l.trace(format, xs)


class Check(Op):
    """Stop the program with the error `message` unless `predicate` holds; it survives into the artifact."""

    name = "check"
    operands = (Operand("predicate", BOOLS),)
    attributes = {"message": text("what the error says")}
    has_effect = True
    builder_result = "tuple[()]"
    jvp = DIFFERENTIATION_LATER
    transpose = undefined("check has no result, so no cotangent reaches it")
    batch = BATCHING_LATER

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
    def lower(l: Any, predicate: Any, *, message: str) -> Any:
        return l.check(predicate, message)

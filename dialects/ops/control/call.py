"""Control: ops that refer to functions of the module by symbol.

A body is a private function, never a nested region; what it captures it gets as operands. An engine that
evaluates hands a `symbol` attribute to the rule as a callable on arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...op import Attribute, Op, Operand, symbol
from ...types import ANY, INEXACT, SizeType, TensorType, ValueType
from .predication import GuardedCall

Flags = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Passed(Operand):
    """An operand that a call hands on: an array, or a size (of a dynamic dimension)."""

    def check(self, op: str, actual: ValueType) -> None:
        if not isinstance(actual, SizeType):
            Operand.check(self, op, actual)


class Call(GuardedCall, Op):
    """``y... = callee(x...)``, the results of another function of the module.

    Their types are stated by `results`, so that inference stays local; the verifier of the module compares
    them with the callee's.
    """

    name = "call"
    operands = (Passed("xs", ANY, variadic=True),)
    attributes = {
        "callee": symbol("the function's name"),
        "results": Attribute("types", "the types of its results"),
    }
    callee_attribute = "callee"

    @staticmethod
    def infer(*xs: TensorType, callee: str, results: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
        return tuple(results)

    @staticmethod
    def evaluate(
        *xs: np.ndarray, callee: Callable[..., Any], results: tuple[TensorType, ...]
    ) -> np.ndarray | tuple[np.ndarray, ...]:
        returned: np.ndarray | tuple[np.ndarray, ...] = callee(*xs)
        return returned

    @staticmethod
    def lower(l: Any, *xs: Any, callee: str, results: tuple[TensorType, ...]) -> Any:
        return l.call(callee, xs)

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, engine: Any, *, callee: str, results: Any) -> Any:
        return engine.call(b, callee, primals, tangents)

    @staticmethod
    def transpose(b: Any, cotangents: Any, operands: Any, engine: Any, *, callee: str, results: Any) -> Any:
        return engine.call(b, callee, operands, cotangents)

    @staticmethod
    def batch(
        b: Any, size: Any, operands: Any, batched: Any, engine: Any, *, callee: str, results: Any
    ) -> Any:
        return engine.call(b, size, callee, operands, batched)


def as_list(found: Any) -> list[Any]:
    """The results of an application as a list."""
    return list(found) if isinstance(found, (tuple, list)) else [found]


def pick(values: Sequence[Any], flags: Sequence[bool]) -> tuple[Any, ...]:
    """The values whose flag is set."""
    return tuple(v for v, flag in zip(values, flags, strict=True) if flag)


def spread(values: Sequence[Any], flags: Sequence[bool]) -> list[Any]:
    """The inverse of `pick`, None where the flag is not set."""
    remaining = iter(values)
    return [next(remaining) if flag else None for flag in flags]


def gated(b: Any, predicate: Any, x: Any) -> Any:
    """`x`, through which derivatives pass only where `predicate` holds.

    What a branch does to elements that did not choose it is dropped, but its derivative there may be
    infinite, and 0 times that is NaN: here it becomes 0 again.
    """
    if b.tensor_type(x).dtype not in INEXACT:
        return x
    return choose(b, predicate, x, b.stop_gradient(x))


def choose(b: Any, predicate: Any, on_true: Any, on_false: Any) -> Any:
    """Select with one predicate an element of axis 0."""
    shape = b.sizes(on_true)
    if len(shape) > 1:
        predicate = b.broadcast_in_dim(predicate, shape=shape, dimensions=(0,))
    return b.select(predicate, on_true, on_false)

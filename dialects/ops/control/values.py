"""Values and flags of control ops: lists of operands of which only some are active, batched or live.

Rules of ops with bodies keep one flag a value: whether it has a tangent, a batch axis, a use. What is carried
round a loop feeds back into itself, so that such flags are a fixed point of the loop's body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...errors import MissingRuleError
from ...protocols import Builder, Size, Tangent, Value, Values
from ...types import INEXACT, TensorType, ValueType
from ..elementwise.family import repeated

Flags = tuple[bool, ...]
T = TypeVar("T")


# -- flags ---------------------------------------------------------------------------------------------


def present(values: Sequence[Any]) -> Flags:
    """Which values are not None."""
    return tuple(v is not None for v in values)


def carrying(types: Sequence[ValueType]) -> Flags:
    """Which types carry a tangent."""
    return tuple(isinstance(t, TensorType) and t.dtype in INEXACT for t in types)


def either(left: Sequence[bool], right: Sequence[bool]) -> Flags:
    """The union of two sets of flags."""
    return tuple(a or b for a, b in zip(left, right, strict=True))


def fixed_point(step: Callable[[Flags], tuple[Sequence[bool], T]], flags: Sequence[bool]) -> tuple[Flags, T]:
    """The least flags, from `flags` on, to which `step` adds none; and the outcome of `step` for them.

    `step(flags)` returns the flags after one iteration of a loop, and an outcome.
    """
    current = tuple(flags)
    while True:
        after, outcome = step(current)
        grown = either(current, after)
        if grown == current:
            return current, outcome
        current = grown


def pick(values: Sequence[T], flags: Sequence[bool]) -> tuple[T, ...]:
    """The values whose flag is set."""
    return tuple(v for v, flag in zip(values, flags, strict=True) if flag)


def spread(values: Sequence[T], flags: Sequence[bool]) -> list[T | None]:
    """The inverse of `pick`, None where the flag is not set."""
    remaining = iter(values)
    return [next(remaining) if flag else None for flag in flags]


def values_of(values: Sequence[T | None]) -> list[T]:
    """The values that are not None."""
    return [v for v in values if v is not None]


# -- values --------------------------------------------------------------------------------------------


def zeros_of(b: Builder, type_: ValueType) -> Value:
    """Zeros of a static type."""
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise MissingRuleError(f"zeros of type {type_} are needed where its dynamic sizes are not known")
    return b.full(0, tuple(n for n in type_.static_shape if n is not None), type_.dtype)


def zeros_where_none(b: Builder, values: Sequence[Tangent], like: Values) -> list[Value]:
    """The values, with zeros of the shape and dtype of `like` in place of None."""
    return [b.zeros_like(x) if v is None else v for v, x in zip(values, like, strict=True)]


def repeated_where(
    b: Builder, values: Values, wanted: Sequence[bool], batched: Sequence[bool], size: Size
) -> list[Value]:
    """The values, repeated along the batch where that axis is wanted and missing."""
    return [
        repeated(b, x, size) if is_wanted and not has else x
        for x, is_wanted, has in zip(values, wanted, batched, strict=True)
    ]


def gated(b: Builder, predicate: Value, x: Value) -> Value:
    """`x`, through which derivatives pass only where `predicate` holds.

    A branch also runs for elements that did not choose it. Its results for them are dropped, but their
    derivative may be infinite, and 0 times that is NaN: the gate makes it 0 again.
    """
    if b.tensor_type(x).dtype not in INEXACT:
        return x
    return choose(b, predicate, x, b.stop_gradient(x))


def gated_where(b: Builder, predicate: Value, values: Values, flags: Sequence[bool]) -> list[Value]:
    """The values, gated where the flag is set."""
    return [gated(b, predicate, x) if flag else x for x, flag in zip(values, flags, strict=True)]


def choose(b: Builder, predicate: Value, on_true: Value, on_false: Value) -> Value:
    """Select with one predicate an element of axis 0."""
    shape = b.sizes(on_true)
    if len(shape) > 1:
        predicate = b.broadcast_in_dim(predicate, shape=shape, dimensions=(0,))
    return b.select(predicate, on_true, on_false)

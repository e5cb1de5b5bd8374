"""Arithmetic on shapes with dynamic dimensions, as models compute them: Shape, Gather, Concat, Mul, ...

Input: vectors (or single numbers) of sizes, some of them `Dim`s. Output: the same, or None where a node does
something else with them: then they become an array of int64 that is traced.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ...errors import TraceError
from ...library import numpy as xp
from ...tracing.array import Array
from ...tracing.interpreter import as_value
from ...tracing.sizes import Dim, maximum, minimum


@dataclass(frozen=True, eq=False)
class Sizes:
    """A vector of sizes (or one size, `is_scalar`) of which at least one is dynamic."""

    items: tuple[Any, ...]
    is_scalar: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.is_scalar else (len(self.items),)

    def traced(self) -> Any:
        """The sizes as a traced array of int64."""
        values = [as_value(n, np.int64) for n in self.items]
        return values[0] if self.is_scalar else xp.stack(values)


def sizes(items: Sequence[Any], is_scalar: bool = False) -> Any:
    """Sizes where one is dynamic, else an array of int64."""
    if any(isinstance(n, Dim) for n in items):
        return Sizes(tuple(items), is_scalar)
    array = np.array([int(n) for n in items], np.int64)
    return as_value(array[0] if is_scalar else array)


def on_sizes(op: str, attributes: Mapping[str, Any], inputs: Sequence[Any]) -> Any:
    """What `op` makes of inputs of which one is `Sizes`, or None where that is nothing of sizes."""
    rule = _RULES.get(op)
    if rule is None:
        return None
    vectors = [_vector(value) for value in inputs]
    if any(v is None for v in vectors):
        return None
    try:
        return rule(attributes, *vectors)
    except (TraceError, _NotSizesError):
        return None


class _NotSizesError(Exception):
    """A node computes something that is no size."""


def _vector(value: Any) -> Sizes | None:
    """Integers of at most one axis."""
    if isinstance(value, Sizes):
        return value
    if isinstance(value, Array) and value.ndim <= 1 and value.dtype.kind in "iu":
        array = np.asarray(value)
        return Sizes(tuple(int(n) for n in array.ravel()), array.ndim == 0)
    return None


def _elementwise(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def rule(_: Mapping[str, Any], *operands: Sizes) -> Any:
        count = max(len(v.items) for v in operands)
        if any(len(v.items) not in (1, count) for v in operands):
            raise _NotSizesError
        rows = [v.items * count if len(v.items) == 1 else v.items for v in operands]
        items = [reduce(function, column) for column in zip(*rows, strict=True)]
        return sizes(items, all(v.is_scalar for v in operands))

    return rule


def _gather(attributes: Mapping[str, Any], vector: Sizes, indices: Sizes) -> Any:
    if not all(isinstance(i, int) for i in indices.items):
        raise _NotSizesError
    return sizes([vector.items[i] for i in indices.items], indices.is_scalar)


def _slice(attributes: Mapping[str, Any], vector: Sizes, *bounds: Sizes) -> Any:
    numbers = [v.items for v in bounds]
    if len(numbers) < 2:
        numbers = [tuple(attributes["starts"]), tuple(attributes["ends"])]
    start, stop, step = numbers[0][0], numbers[1][0], numbers[3][0] if len(numbers) > 3 else 1
    if not all(isinstance(n, int) for n in (start, stop, step)):
        raise _NotSizesError
    return sizes(vector.items[slice(start, None if step < 0 and stop < -len(vector.items) else stop, step)])


def _reduced(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def rule(attributes: Mapping[str, Any], vector: Sizes, *_: Any) -> Any:
        return sizes([reduce(function, vector.items)], not attributes.get("keepdims", 1))

    return rule


def _reshaped(attributes: Mapping[str, Any], vector: Sizes, shape: Sizes, *_: Any) -> Any:
    if shape.items not in ((-1,), (len(vector.items),), ()):
        raise _NotSizesError
    return sizes(vector.items, shape.items == ())


def _squeezed(attributes: Mapping[str, Any], vector: Sizes, *_: Any) -> Any:
    if len(vector.items) != 1:
        raise _NotSizesError
    return sizes(vector.items, is_scalar=True)


def _unsqueezed(attributes: Mapping[str, Any], vector: Sizes, *_: Any) -> Any:
    if not vector.is_scalar:
        raise _NotSizesError
    return sizes(vector.items)


def _cast(attributes: Mapping[str, Any], vector: Sizes) -> Any:
    if attributes.get("to") not in (6, 7):
        raise _NotSizesError
    return vector


def _concatenated(attributes: Mapping[str, Any], *vectors: Sizes) -> Any:
    return sizes([n for vector in vectors for n in vector.items])


_RULES: Final[Mapping[str, Callable[..., Any]]] = {
    "Add": _elementwise(operator.add),
    "Sub": _elementwise(operator.sub),
    "Mul": _elementwise(operator.mul),
    "Div": _elementwise(operator.floordiv),  # sizes are not negative
    "Max": _elementwise(maximum),
    "Min": _elementwise(minimum),
    "Concat": _concatenated,
    "Gather": _gather,
    "Slice": _slice,
    "Cast": _cast,
    "Identity": lambda attributes, vector: vector,
    "Reshape": _reshaped,
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "ReduceProd": _reduced(operator.mul),
    "ReduceSum": _reduced(operator.add),
}

"""What a rule of an op sees of its node: attributes by type, the op set's version, subgraphs to run.

Input: a `Node` and the evaluation that it is part of. Output: `Call`, the first argument of every rule, and
the helpers that rules share. An operand that decides a shape must be known while tracing: `known` says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from ....dialects.dataclass import dataclass
from ...tracing.array import Array
from ...tracing.frames import known_value
from ...tracing.interpreter import as_value
from ..errors import ModelError, ModelUnsupportedError
from .graph import Graph, Node
from .sizes import Sizes
from .tensors import DTYPES, Tensors

Rule = Callable[..., Any]
"""`rule(call, *inputs)` returns an output, or a list of outputs; inputs that are left out are None."""

MOST: Final = 2**31
"""More elements than a shape that a model computes may have; a larger one is a damaged model."""
MOST_COMPUTED: Final = 1 << 28
"""Elements of an array that the import computes: weights of a Resize, of a transform."""


@dataclass(frozen=True, eq=False)
class Call:
    """One application of an op."""

    node: Node
    opset: int
    run: Callable[[Graph, Sequence[Any]], list[Any]]
    """Runs a graph of an attribute on values of its inputs; it also sees the values around the node."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opsets: Mapping[str, int] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        return name in self.attributes

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def integer(self, name: str, default: int | None = None) -> int:
        return int(self._get(name, default))

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self._get(name, default))

    def real(self, name: str, default: float | None = None) -> float:
        # The nearest decimal of a float32: 0.01 is meant, not 0.009999999776.
        value = self._get(name, default)
        return float(str(np.float32(value))) if name in self.attributes else float(value)

    def ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        return tuple(self._get(name, default))

    def text(self, name: str, default: str | None = None) -> str:
        value = self._get(name, default)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)

    def dtype(self, name: str, default: np.dtype | None = None) -> np.dtype:
        if name not in self.attributes and default is not None:
            return default
        return Tensors.dtype(self.integer(name), f"attribute {name!r}")

    def _get(self, name: str, default: Any) -> Any:
        if name in self.attributes:
            return self.attributes[name]
        if default is None:
            raise ModelError(f"the attribute {name!r} is missing")
        return default

    def choice(self, name: str, default: str, legal: Sequence[str]) -> str:
        """A text that must be one of a few."""
        text = self.text(name, default)
        if text not in legal:
            raise ModelUnsupportedError(f"the attribute {name!r} is {text!r}, expected {' or '.join(legal)}")
        return text


def elements(value: Any, name: str) -> np.ndarray:
    """The elements of an operand which must be known while tracing."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Array):
        return np.asarray(value)
    found = None if isinstance(value, Sizes) else known_value(value)
    if found is None:
        raise ModelUnsupportedError(
            f"its input {name!r} must be known while tracing, and is computed from the inputs of the model",
            hint="make it a constant of the model, or export the model with that size fixed",
        )
    return np.asarray(found)


def known(value: Any, name: str) -> list[Any]:
    """The integers of an operand that decides a shape; some may be dynamic dimensions."""
    if isinstance(value, Sizes):
        return list(value.items)
    return [int(n) for n in elements(value, name).ravel()]


def known_int(value: Any, name: str) -> Any:
    """The one integer of such an operand."""
    items = known(value, name)
    if len(items) != 1:
        raise ModelError(f"its input {name!r} has {len(items)} elements, expected one")
    return items[0]


def has_elements(*values: Any) -> bool:
    """Whether all values are arrays whose elements are there: nothing of them is traced."""
    return all(v is None or isinstance(v, (Array, np.ndarray)) for v in values)


def axis_of(axis: int, rank: int, name: str = "axis") -> int:
    """An axis counted from 0."""
    if not -rank <= axis < rank:
        raise ModelError(f"{name} {axis} is out of range for an array of {rank} axes")
    return axis % rank


def axes_of(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    return tuple(axis_of(axis, rank, "axes: axis") for axis in axes)


def possible(shape: Sequence[Any]) -> tuple[Any, ...]:
    """A shape that a model computes, if an array may have it."""
    sizes = [n for n in shape if isinstance(n, int)]
    if any(n < 0 for n in sizes) or (0 not in sizes and math.prod(sizes) > MOST):
        raise ModelError(f"its result would have the shape {list(shape)}, which no array of a model has")
    return tuple(shape)


def computed_here(shape: Sequence[int], what: str) -> None:
    """Refuse an array that the import would compute before the program runs, if it is too large."""
    if math.prod(shape) > MOST_COMPUTED:
        raise ModelError(f"{what} would be an array of shape {list(shape)}, which no model needs")


def constant(value: Any) -> Any:
    """An array of the model as an adze array, without a copy."""
    array = np.asarray(value)
    if array.dtype not in DTYPES.values():
        raise ModelUnsupportedError(f"a constant has the dtype {array.dtype.name}, which adze has not")
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return as_value(array)

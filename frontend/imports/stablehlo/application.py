"""What a rule sees of one application of an op: operands, attributes, and a way to run regions.

Input: an `Operation` and the values of its operands. Output: `Application`, whose `arrays` are ready
for adze's ops.

Idea: four kinds of values stand for arrays. NumPy arrays are constants of the text, known while tracing.
`Sizes` are integers that follow from sizes of arguments; they stay exact, so that what takes a shape can have
them. All others are adze's own arrays and tracers; every rule may ask for that form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import TensorType
from ...tracing.array import Array
from ...tracing.interpreter import as_value, ops
from ...tracing.sizes import Dim
from .program import Function, Operation, Ranks, Region, StableHLOError, static_shape, tensors

Run: TypeAlias = Callable[[Region, Sequence[Any]], list[Any]]
Rule: TypeAlias = "Callable[[Application], Any]"


@dataclass(frozen=True, slots=True)
class Sizes:
    """An integer array whose elements are sizes: integers and dynamic dimensions."""

    entries: np.ndarray  # of objects
    dtype: np.dtype

    def array(self) -> Any:
        """The sizes as an array of adze."""
        if not any(isinstance(n, Dim) for n in self.entries.flat):
            return as_value(self.entries.astype(self.dtype))
        if self.dtype == np.bool_:
            number = Sizes(self.entries, np.dtype(np.int32)).array()
            return ops.compare(number, ops.full_like(number, 0), direction="NE")
        flat = [ops.reshape(as_value(n, self.dtype), shape=(1,)) for n in self.entries.flat]
        return ops.reshape(ops.concatenate(*flat, axis=0), shape=self.entries.shape)


@dataclass(frozen=True, slots=True)
class Counted:
    """The result of an `iota`: positions along an axis, which an argmax wants to know."""

    shape: tuple[Any, ...]
    axis: int
    dtype: np.dtype

    def array(self) -> Any:
        """The positions as an array of adze."""
        return ops.iota(shape=self.shape, axis=self.axis, dtype=self.dtype)


def as_array(value: Any) -> Any:
    """A value of any kind as an array of adze."""
    if isinstance(value, Counted):
        return value.array()
    if isinstance(value, Sizes):
        return value.array()
    if isinstance(value, np.ndarray) and value.size > 1 and not any(value.strides):
        scalar = as_value(value[(0,) * value.ndim])
        return ops.broadcast_in_dim(scalar, shape=value.shape, dimensions=())
    return as_value(value)


def known_array(value: Any) -> np.ndarray | None:
    """The elements where they are known while tracing."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Array):
        return np.asarray(value)
    if isinstance(value, Counted) and value.shape == (1,):
        return np.zeros(1, value.dtype)
    if isinstance(value, Sizes) and not any(isinstance(n, Dim) for n in value.entries.flat):
        return value.entries.astype(value.dtype)
    return None


def sizes_in(value: Any) -> tuple[Any, ...] | None:
    """The entries of an integer array where they are sizes or known while tracing."""
    if isinstance(value, Sizes):
        return tuple(value.entries.reshape(-1))
    known = known_array(value)
    return None if known is None else tuple(int(n) for n in known.reshape(-1))


@dataclass(slots=True)
class Draws:
    """What `rng` takes its numbers from: the key of a call, how many ops have drawn, in how many loops."""

    key: Any
    count: int = 0
    repeated: int = 0


@dataclass(frozen=True, slots=True)
class Application:
    """An op, its operands' values, `run(region, arguments)`; of the program functions, ranks and draws.

    `operands_of(name, index)` are the operands of the op `name` whose result operand `index` is, None where
    that is the result of another op.
    """

    op: Operation
    inputs: tuple[Any, ...]
    run: Run
    functions: Mapping[str, Function]
    ranks: Ranks
    draws: Draws
    operands_of: Callable[[str, int], tuple[Any, ...] | None]

    @property
    def arrays(self) -> list[Any]:
        """All operands as arrays."""
        return [as_array(value) for value in self.inputs]

    def array(self, index: int = 0) -> Any:
        """One operand as an array."""
        return as_array(self.inputs[index])

    @property
    def result_types(self) -> tuple[TensorType, ...]:
        return tensors(self.op, self.op.result_types)

    @property
    def dtype(self) -> np.dtype:
        """The element type of the first result."""
        return self.result_types[0].dtype

    def attribute(self, name: str, default: Any = None) -> Any:
        return self.op.attributes.get(name, default)

    def ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """An attribute of integers."""
        value = self.op.attributes.get(name)
        if value is None and default is not None:
            return tuple(default)
        if isinstance(value, np.ndarray):
            return tuple(int(n) for n in value.reshape(-1))
        if not isinstance(value, tuple):
            raise self.op.error(f"the attribute {name} is {value!r}, expected integers")
        return tuple(int(n) for n in value)

    def pads(self, rank: int, name: str = "padding") -> list[tuple[int, int]]:
        """An attribute of low and high padding for each axis."""
        flat = self.ints(name, (0,) * (2 * rank))
        return [(flat[2 * i], flat[2 * i + 1]) for i in range(rank)]

    def record(self, name: str) -> dict[str, Any]:
        """An attribute that is a record of a dialect."""
        value = self.op.attributes.get(name)
        if not isinstance(value, dict):
            raise self.op.error(f"the attribute {name} is {value!r}, expected a record")
        return value

    def static_shape(self) -> tuple[int, ...]:
        """The shape of the first result, which must be static."""
        type_ = self.result_types[0]
        if not type_.is_static:
            raise self.error(f"its result {type_} has dynamic sizes", "use the dynamic form of the op")
        return static_shape(type_)

    def sizes(self, index: int) -> tuple[Any, ...]:
        """An operand of integers as sizes: each a Python integer or a dynamic dimension."""
        sizes = sizes_in(self.inputs[index])
        if sizes is None:
            raise self.error(
                f"operand {index} is computed from the elements of arrays, and a shape depends on it",
                "in adze, shapes follow from the shapes of arguments",
            )
        return sizes

    def error(self, problem: str, hint: str | None = None) -> StableHLOError:
        return self.op.error(problem, hint)

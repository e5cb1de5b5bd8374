"""The interface through which every rule makes new values: an abstract builder of adze ops.

A rule receives a `Builder` and never learns what stands behind it: the emitter appends ops to a
function, the evaluator computes with NumPy at once, the frontend traces or evaluates as its arguments
ask. Subclasses state `apply` and `type_of`; the typed method of each op is generated into `builder.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from ..op import Op
from ..types import TensorType, ValueType, storage

V = TypeVar("V")


class Application(NamedTuple):
    """One application of an op, decoded: what a rule needs to know of it."""

    op: type[Op]
    operands: tuple[Any, ...]
    attributes: dict[str, Any]


class Functions(Protocol):
    """Where a rule gets a function that an op of its result refers to."""

    def function(
        self, name: str, types: Sequence[ValueType], build: Callable[[Any, Sequence[Any]], Sequence[Any]], /
    ) -> str:
        """The symbol of a new private function of `types`: `build(b, arguments)` returns its results."""

    def types_of(self, symbol: str, /) -> tuple[ValueType, ...]:
        """The types of the results of a function."""


class BuilderCore(ABC, Generic[V]):
    """What all builders share: two primitive operations, and conveniences made of ops."""

    dialect: ClassVar[Mapping[str, type[Op]]]
    """The ops by name, as the generated methods find them."""
    functions: Functions
    """The engine that a rule asks for a function; a builder that makes no IR has none."""

    @abstractmethod
    def apply(self, op: type[Op], operands: Sequence[V], attributes: Mapping[str, Any]) -> tuple[V, ...]:
        """Apply `op`; the tuple of its results, however many there are."""

    @abstractmethod
    def type_of(self, value: V) -> ValueType:
        """The type of a value of this builder."""

    def tensor_type(self, value: V) -> TensorType:
        """The type of a value that is known to be an array."""
        actual = self.type_of(value)
        assert isinstance(actual, TensorType), f"expected an array, got a {actual}"
        return actual

    def sizes(self, value: V) -> tuple[int | V, ...]:
        """The shape of `value`: static dimensions as integers, dynamic ones as size values."""
        return tuple(
            self.apply(self.dialect["dim"], (value,), {"axis": axis})[0] if n is None else n
            for axis, n in enumerate(self.tensor_type(value).static_shape)
        )

    def scalar(self, value: Any, dtype: np.dtype) -> V:
        """The 0-d constant `value` of type `dtype`."""
        return self.array(np.asarray(value).astype(dtype))

    def array(self, value: np.ndarray) -> V:
        """The constant array `value`."""
        (result,) = self.apply(self.dialect["constant"], (), {"value": storage(value), "dtype": value.dtype})
        return result

    def full(self, value: Any, shape: Sequence[int | V], dtype: np.dtype) -> V:
        """An array of `shape` whose elements all are `value`."""
        scalar = self.scalar(value, dtype)
        repeat = self.dialect["broadcast_in_dim"]
        (result,) = self.apply(repeat, (scalar,), {"shape": tuple(shape), "dimensions": ()})
        return result

    def full_like(self, value: V, fill: Any) -> V:
        """An array of the shape and dtype of `value` whose elements all are `fill`."""
        kind = self.tensor_type(value)
        if not kind.shape:
            return self.scalar(fill, kind.dtype)
        return self.full(fill, self.sizes(value), kind.dtype)

    def zeros_like(self, value: V) -> V:
        """Zeros of the shape and dtype of `value`."""
        return self.full_like(value, 0)

    def constant_of(self, value: V) -> np.ndarray | None:
        """What `value` is known to be, or a 0-d array that repeats to it, or None; for `simplify` rules."""
        return None

    def defining(self, value: V) -> Application | None:
        """The application whose only result is `value`, or None; for `simplify` rules."""
        return None

    def is_read_once(self, value: V, times: int = 1) -> bool:
        """Whether `value` is known to have one use, so that what makes it may be made otherwise.

        Or one op that reads it so many `times`.
        """
        return False

    def size_sum(self, m: int | V, n: int | V) -> int | V:
        """`m + n`, an integer where both are."""
        return self._on_sizes("size_add", m, n)

    def size_difference(self, m: int | V, n: int | V) -> int | V:
        """`m - n`, an integer where both are."""
        return self._on_sizes("size_sub", m, n)

    def size_product(self, m: int | V, n: int | V) -> int | V:
        """`m * n`, an integer where both are."""
        return self._on_sizes("size_mul", m, n)

    def size_quotient(self, m: int | V, n: int | V) -> int | V:
        """`m // n`, an integer where both are."""
        return self._on_sizes("size_div", m, n)

    def size_greatest(self, m: int | V, n: int | V) -> int | V:
        """`max(m, n)`, an integer where both are."""
        return self._on_sizes("size_max", m, n)

    def _on_sizes(self, name: str, m: int | V, n: int | V) -> int | V:
        op = self.dialect[name]
        if isinstance(m, int) and isinstance(n, int):
            size: int = op.evaluate(m, n)
            return size
        operands = [self._size_value(k) if isinstance(k, int) else k for k in (m, n)]
        (result,) = self.apply(op, operands, {})
        return result

    def _size_value(self, n: int) -> V:
        (size,) = self.apply(self.dialect["size_constant"], (), {"value": n})
        return size

"""The interface through which every rule makes new values: an abstract builder of adze ops.

A rule receives a `Builder` and never learns what stands behind it: the emitter appends ops to a
function, the evaluator computes with NumPy at once, the frontend traces or evaluates as its arguments
ask. Subclasses state `apply` and `type_of`; the typed method of each op is generated into `builder.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..op import Op
from ..ops.constants import (
    Constant,
    Dim,
    SizeAdd,
    SizeArithmetic,
    SizeConstant,
    SizeDiv,
    SizeMax,
    SizeMul,
    SizeSub,
)
from ..ops.shape.rearrange import BroadcastInDim
from ..types import TensorType, ValueType, storage

V = TypeVar("V")


class Application(NamedTuple):
    """One application of an op, decoded: what a rule needs to know of it."""

    op: type[Op]
    operands: tuple[Any, ...]
    attributes: dict[str, Any]


class BuilderCore(ABC, Generic[V]):
    """What all builders share: two primitive operations, and conveniences made of ops."""

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
            self.apply(Dim, (value,), {"axis": axis})[0] if n is None else n
            for axis, n in enumerate(self.tensor_type(value).shape)
        )

    def scalar(self, value: Any, dtype: np.dtype) -> V:
        """The 0-d constant `value` of type `dtype`."""
        return self.array(np.asarray(value).astype(dtype))

    def array(self, value: np.ndarray) -> V:
        """The constant array `value`."""
        (result,) = self.apply(Constant, (), {"value": storage(value), "dtype": value.dtype})
        return result

    def full(self, value: Any, shape: Sequence[int | V], dtype: np.dtype) -> V:
        """An array of `shape` whose elements all are `value`."""
        scalar = self.scalar(value, dtype)
        (result,) = self.apply(BroadcastInDim, (scalar,), {"shape": tuple(shape), "dimensions": ()})
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

    def is_read_once(self, value: V) -> bool:
        """Whether `value` is known to have one reader, so that what makes it may be made otherwise."""
        return False

    def size_sum(self, m: int | V, n: int | V) -> int | V:
        """`m + n`, an integer where both are."""
        return self._on_sizes(SizeAdd, m, n)

    def size_difference(self, m: int | V, n: int | V) -> int | V:
        """`m - n`, an integer where both are."""
        return self._on_sizes(SizeSub, m, n)

    def size_product(self, m: int | V, n: int | V) -> int | V:
        """`m * n`, an integer where both are."""
        return self._on_sizes(SizeMul, m, n)

    def size_quotient(self, m: int | V, n: int | V) -> int | V:
        """`m // n`, an integer where both are."""
        return self._on_sizes(SizeDiv, m, n)

    def size_greatest(self, m: int | V, n: int | V) -> int | V:
        """`max(m, n)`, an integer where both are."""
        return self._on_sizes(SizeMax, m, n)

    def _on_sizes(self, op: type[SizeArithmetic], m: int | V, n: int | V) -> int | V:
        if isinstance(m, int) and isinstance(n, int):
            return op.evaluate(m, n)
        operands = [
            self.apply(SizeConstant, (), {"value": k})[0] if isinstance(k, int) else k for k in (m, n)
        ]
        (result,) = self.apply(op, operands, {})
        return result

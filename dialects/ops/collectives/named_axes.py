"""Collectives: ops in which the elements of a named batch axis see each other.

A function under `vmap(axis_name=...)` is written for one element; `index` says which one, and is how these
ops know their axis: it is batched along that axis and along no other. The batch pass dissolves them: a value
with the batch as axis 0 is already all of its elements. Where no batch has dissolved one, every element of
the axis is the same, and so it is evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...op import Linear, Op, Operand, require, sizes, text
from ...protocols import Batched, Builder, Cotangents, Shape, Size, Tangent, Tangents, Value, Values
from ...types import ANY, INT32, NUMBERS, Dimension, TensorType
from ..elementwise.family import repeated


class Collective(Op):
    """Family of ops over a named axis."""

    attributes = {
        "axis_name": text("the name that vmap gave the axis"),
        "length": sizes("the number of its elements, one size"),
    }


def _check(op: str, index: TensorType, length: tuple[Dimension, ...]) -> None:
    require(index.rank == 0, f"{op}: the index must be 0-d, got {index}")
    require(len(length) == 1, f"{op}: length {length} must be one size")


def _scaled(b: Builder, x: Value, length: Size) -> Value:
    """`length * x`."""
    dtype = b.tensor_type(x).dtype
    if isinstance(length, int):
        return b.mul(x, b.full_like(x, length))
    count = b.size_to_array(length, dtype=dtype)
    return b.mul(x, b.broadcast_in_dim(count, shape=b.sizes(x), dimensions=()))


class AxisSum(Collective):
    """``y = sum over the axis of x``, one for all elements;  ``dy = sum of dx``;  ``x' = sum of y'``."""

    name = "axis_sum"
    operands = (Operand("x", NUMBERS), Operand("index", frozenset({INT32})))

    @staticmethod
    def infer(
        x: TensorType, index: TensorType, *, axis_name: str, length: tuple[Dimension, ...]
    ) -> TensorType:
        _check("axis_sum", index, length)
        return x

    @staticmethod
    def evaluate(x: np.ndarray, index: np.ndarray, *, axis_name: str, length: tuple[int, ...]) -> np.ndarray:
        return np.asarray(np.multiply(x, np.asarray(length[0]).astype(x.dtype), dtype=x.dtype))

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        result: Value,
        *,
        axis_name: str,
        length: Shape,
    ) -> Tangents:
        return (
            None
            if tangents[0] is None
            else b.axis_sum(tangents[0], primals[1], axis_name=axis_name, length=length)
        )

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: Values, *, axis_name: str, length: Shape
    ) -> Cotangents:
        return [b.axis_sum(cotangent, operands[1], axis_name=axis_name, length=length), None]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        axis_name: str,
        length: Shape,
    ) -> Batched:
        (x, index), (has_axis, is_own) = operands, batched
        if not is_own:
            return [b.axis_sum(x, index, axis_name=axis_name, length=length)], [has_axis]
        return [b.reduce_sum(x, axes=(0,)) if has_axis else _scaled(b, x, size)], [False]


class AxisGather(Collective):
    """``y[i] = x of element i`` along a new leading axis, the same for every element.

    ``dy[i] = dx of element i``;  ``x' = (sum over the axis of y')[index]``.
    """

    name = "axis_gather"
    operands = (Operand("x", ANY), Operand("index", frozenset({INT32})))

    @staticmethod
    def infer(
        x: TensorType, index: TensorType, *, axis_name: str, length: tuple[Dimension, ...]
    ) -> TensorType:
        _check("axis_gather", index, length)
        return x.with_shape((length[0], *x.shape))

    @staticmethod
    def evaluate(x: np.ndarray, index: np.ndarray, *, axis_name: str, length: tuple[int, ...]) -> np.ndarray:
        return np.broadcast_to(x, (length[0], *x.shape)).copy()

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: Sequence[Tangent],
        result: Value,
        *,
        axis_name: str,
        length: Shape,
    ) -> Tangents:
        return (
            None
            if tangents[0] is None
            else b.axis_gather(tangents[0], primals[1], axis_name=axis_name, length=length)
        )

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: Values, *, axis_name: str, length: Shape
    ) -> Cotangents:
        x, index = operands
        assert isinstance(x, Linear)
        total = b.axis_sum(cotangent, index, axis_name=axis_name, length=length)
        zero = b.scalar(0, INT32)
        row = b.dynamic_slice(total, index, *[zero] * x.rank, slice_sizes=(1, *x.sizes))
        return [b.reshape(row, shape=x.sizes), None]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        axis_name: str,
        length: Shape,
    ) -> Batched:
        (x, index), (has_axis, is_own) = operands, batched
        if is_own:
            return [x if has_axis else repeated(b, x, size)], [False]
        y = b.axis_gather(x, index, axis_name=axis_name, length=length)
        if has_axis:
            rank = b.tensor_type(y).rank
            y = b.transpose(y, permutation=(1, 0, *range(2, rank)))
        return [y], [has_axis]

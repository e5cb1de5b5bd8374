"""Ordering: sorting along an axis, by one or several keys, and the greatest elements of a row.

The order is NumPy's: NaNs are equal to each other and come after every number, -0 equals +0, False comes
before True. Complex numbers are compared by real part, then by imaginary part (each in that order).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..factors import Factors
from ..op import (
    Op,
    Operand,
    Record,
    boolean,
    integer,
    require,
    require_axis,
    require_same_shape,
    stated,
    undefined,
)
from ..protocols import Batched, Builder, OneTangent, Size, Tangent, Tangents, Values
from ..types import ANY, BFLOAT16, BOOLS, COMPLEX, FLOAT32, INT32, REALS, TensorType, known
from .common import take_along
from .elementwise.family import repeated


class Order(Record):
    """The attributes of `sort`."""

    axis: int = stated(integer("the axis to sort along"))
    num_keys: int = stated(integer("how many operands, from the first, are keys"))
    is_stable: bool = stated(boolean("keep the order of elements with equal keys"))


class Sort(Op):
    """Sorts equally shaped arrays together along `axis`, by the first `num_keys` of them in turn.

    With `is_stable` elements with equal keys keep their order; without it they may not.
    """

    name = "sort"
    operands = (Operand("operands", ANY, variadic=True),)
    record = Order

    @staticmethod
    def infer(*types: TensorType, attributes: Order) -> tuple[TensorType, ...]:
        axis, num_keys = attributes.axis, attributes.num_keys
        require(bool(types), "sort: expected at least one operand")
        shape = require_same_shape("sort", *types)
        require_axis("sort", "axis", axis, len(shape))
        require(
            1 <= num_keys <= len(types),
            f"sort: num_keys is {num_keys}, expected at least 1 and at most the {len(types)} operands",
        )
        return tuple(t.with_shape(shape) for t in types)

    @staticmethod
    def evaluate(*arrays: np.ndarray, attributes: Order) -> tuple[np.ndarray, ...]:
        axis, num_keys = attributes.axis, attributes.num_keys
        keys = [part for array in arrays[:num_keys] for part in _comparable(array)]
        order = np.argsort(keys[-1], axis=axis, kind="stable")
        for key in keys[-2::-1]:
            within = np.argsort(np.take_along_axis(key, order, axis), axis=axis, kind="stable")
            order = np.take_along_axis(order, within, axis)
        results = tuple(np.take_along_axis(array, order, axis) for array in arrays)
        return results

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: Sequence[Tangent], results: Values, *, attributes: Order
    ) -> Tangents:
        """Tangents go where their elements went: an index is sorted along."""
        position = b.iota(shape=b.sizes(primals[0]), axis=attributes.axis, dtype=INT32)
        *_, order = b.sort(*primals, position, **attributes.keywords)
        return [None if t is None else take_along(b, t, order, attributes.axis) for t in tangents]

    transpose = undefined("sorting is not a linear function of its keys")

    @staticmethod
    def factors(*types: TensorType, attributes: Order) -> Factors:
        """Along the other axes."""
        factors = Factors()
        before, after = factors.shared_but(types[0], (attributes.axis,), types[0])
        factors.operands, factors.results = [before] * len(types), [after] * len(types)
        return factors

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: Order
    ) -> Batched:
        spread = [x if has else repeated(b, x, size) for x, has in zip(operands, batched, strict=True)]
        results = b.sort(*spread, **attributes.replaced(axis=attributes.axis + 1).keywords)
        return results, [True] * len(results)


class TopK(Op):
    """The `k` greatest elements of each row (last axis) in falling order, and where they are (int32).

    Of equal elements the one with the lower index comes first; NaN is greater than every number.
    """

    name = "top_k"
    operands = (Operand("x", REALS | BOOLS),)
    attributes = {"k": integer("how many elements")}

    @staticmethod
    def infer(x: TensorType, *, k: int) -> tuple[TensorType, TensorType]:
        require(x.rank > 0, "top_k: expected an array with at least one axis, got a 0-d array")
        require(k >= 0, f"top_k: k is {k}, expected at least 0")
        size = known(x.shape[-1])
        require(size is None or k <= size, f"top_k: k is {k}, but the last axis of {x} has {size} elements")
        shape = (*x.shape[:-1], k)
        return TensorType(shape, x.dtype), TensorType(shape, INT32)

    @staticmethod
    def evaluate(x: np.ndarray, *, k: int) -> tuple[np.ndarray, np.ndarray]:
        (key,) = _comparable(x[..., ::-1])
        falling = x.shape[-1] - 1 - np.argsort(key, axis=-1, kind="stable")[..., ::-1]
        order = falling[..., :k]
        return np.take_along_axis(x, order, -1), order.astype(np.int32)

    @staticmethod
    def jvp(b: Builder, primals: Values, tangents: OneTangent, results: Values, *, k: int) -> Tangents:
        last = b.tensor_type(primals[0]).rank - 1
        return [take_along(b, tangents[0], results[1], last), None]

    transpose = undefined("top_k is not a linear function")

    @staticmethod
    def factors(x: TensorType, *, k: int) -> Factors:
        """Along all axes but the last."""
        factors = Factors()
        before, after = factors.shared_but(x, (x.rank - 1,), x.with_shape((*x.shape[:-1], k)))
        factors.operands, factors.results = [before], [after, after]
        return factors

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, k: int) -> Batched:
        return b.top_k(operands[0], k=k), [True, True]


def _comparable(key: np.ndarray) -> tuple[np.ndarray, ...]:
    """`key` as arrays that NumPy compares in this module's order, the most significant first."""
    if key.dtype in COMPLEX:
        return key.real, key.imag
    return (key.astype(FLOAT32),) if key.dtype == BFLOAT16 else (key,)

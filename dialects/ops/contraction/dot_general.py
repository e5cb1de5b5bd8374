"""Contraction: sums of products over shared axes, of which every matrix product is a case.

One op, `dot_general`, with the axes named as in `jax.lax`; matmul, matvec, tensordot and einsum are
compositions of it and movement. Sums are carried as `reductions.accumulation_dtype` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from ...factors import Factors
from ...op import (
    Linear,
    Op,
    Operand,
    Record,
    dtype_attribute,
    element_count,
    pairs,
    require,
    require_axes,
    require_same_dtype,
    stated,
)
from ...protocols import Batched, Builder, Cotangents, Size, Tangent, Tangents, Value, Values
from ...types import COMPLEX, FLOATS, INTEGERS, NUMBERS, TensorType, dtype_name, known, same_dimension
from ..elementwise.family import total
from ..reduction import accumulation_dtype
from ..shape.rearrange import Transpose

Pairs = tuple[tuple[int, ...], tuple[int, ...]]


class Axes(NamedTuple):
    """The axes of one operand by their part in the contraction, each in order."""

    batch: tuple[int, ...]
    free: tuple[int, ...]
    contracting: tuple[int, ...]


def operand_axes(rank: int, side: int, contracting: Pairs, batch: Pairs) -> Axes:
    """The axes of the left (`side` 0) or right (1) operand of `dot_general`."""
    taken = batch[side] + contracting[side]
    return Axes(batch[side], tuple(a for a in range(rank) if a not in taken), contracting[side])


class Product(Record):
    """The attributes of `dot_general`."""

    contracting: Pairs = stated(pairs("axes summed over: a row of axes of x, a row of axes of y"))
    batch: Pairs = stated(pairs("axes kept in step: a row of axes of x, a row of axes of y"))
    dtype: np.dtype = stated(dtype_attribute("the element type of the result"))

    def operand_axes(self, rank: int, side: int) -> Axes:
        """The axes of the left (`side` 0) or right (1) operand, which has this rank."""
        return operand_axes(rank, side, self.contracting, self.batch)

    def exchanged(self) -> Product:
        """The attributes of the product with its operands exchanged."""
        (i, j), (k, l) = self.contracting, self.batch
        return self.replaced(contracting=(j, i), batch=(l, k))


class DotGeneral(Op):
    """``z[b, i, j] = sum_k x[b, i, k] * y[b, j, k]``: batch axes, then the free axes of `x`, then of `y`.

    `contracting` and `batch` each are two rows, the axes of `x` and of `y` that go together. `dtype` is
    the element type of the result: the operands' own, or a wider one of the same kind, to which the
    operands are converted before they are multiplied. ``dz = dx . y + x . dy``.
    """

    name = "dot_general"
    is_contraction = True
    is_product = True
    operands = (Operand("x", NUMBERS), Operand("y", NUMBERS))
    record = Product

    @staticmethod
    def infer(x: TensorType, y: TensorType, *, attributes: Product) -> TensorType:
        operand_dtype = require_same_dtype("dot_general", x, y)
        contracting, batch, dtype = attributes.contracting, attributes.batch, attributes.dtype
        for word, rows in (("contracting", contracting), ("batch", batch)):
            require(
                len(rows) == 2 and len(rows[0]) == len(rows[1]),
                f"dot_general: {word} must be two rows of equally many axes, got {rows}",
            )
        for side, type_ in enumerate((x, y)):
            named = contracting[side] + batch[side]
            require_axes("dot_general", "contracting and batch", named, type_.rank)
        for word, rows in (("contracting", contracting), ("batch", batch)):
            for left, right in zip(rows[0], rows[1], strict=True):
                require(
                    same_dimension(x.shape[left], y.shape[right]),
                    f"dot_general: {word} axis {left} of {x} and axis {right} of {y} differ in size",
                )
        require(
            _widens(operand_dtype, dtype),
            f"dot_general: cannot accumulate {dtype_name(operand_dtype)} products in {dtype_name(dtype)}",
        )
        left_axes = attributes.operand_axes(x.rank, 0)
        right_axes = attributes.operand_axes(y.rank, 1)
        shared = [
            y.shape[j] if known(x.shape[i]) is None else x.shape[i]
            for i, j in zip(batch[0], batch[1], strict=True)
        ]
        free = [*(x.shape[a] for a in left_axes.free), *(y.shape[a] for a in right_axes.free)]
        return TensorType((*shared, *free), dtype)

    @classmethod
    def flops(
        cls, operands: Sequence[TensorType], results: Sequence[TensorType], attributes: Mapping[str, object]
    ) -> int:
        """One multiplication and one addition for each product."""
        depth = prod(operands[0].static_shape[axis] or 1 for axis in Product.of(attributes).contracting[0])
        return 2 * depth * element_count(results[0])

    @classmethod
    def reuses_operands(cls, arrays: Sequence[TensorType], attributes: Mapping[str, object]) -> bool:
        """Both operands have free axes: a product with a vector uses each element of the matrix once."""
        product = Product.of(attributes)
        return all(
            any(
                n != 1
                for a, n in enumerate(t.shape)
                if a not in product.contracting[side] + product.batch[side]
            )
            for side, t in enumerate(arrays[:2])
        )

    @staticmethod
    def factors(x: TensorType, y: TensorType, *, attributes: Product) -> Factors:
        """Along any axis; ranks add up their results along axes that are summed over."""
        factors = Factors()
        left, right = factors.all_free(x), factors.all_free(y)
        for rows in (attributes.batch, attributes.contracting):
            for i, j in zip(*rows, strict=True):
                right[j] = left[i]
        factors.reduced.update(left[i][0] for i in attributes.contracting[0])
        factors.operands = [left, right]
        mine, others = attributes.operand_axes(x.rank, 0), attributes.operand_axes(y.rank, 1)
        factors.results = [[left[i] for i in (*mine.batch, *mine.free)] + [right[j] for j in others.free]]
        return factors

    @staticmethod
    def evaluate(x: np.ndarray, y: np.ndarray, *, attributes: Product) -> np.ndarray:
        carried = accumulation_dtype(attributes.dtype)
        if x.ndim == y.ndim == 2 and attributes.contracting == ((1,), (0,)):
            with np.errstate(all="ignore"):
                product = np.matmul(x.astype(carried, copy=False), y.astype(carried, copy=False))
                return product.astype(attributes.dtype, copy=False)
        left, right = (attributes.operand_axes(a.ndim, s) for s, a in enumerate((x, y)))
        shape = [x.shape[a] for a in left.batch + left.free] + [y.shape[a] for a in right.free]
        x = np.transpose(x, left.batch + left.free + left.contracting).astype(carried, copy=False)
        y = np.transpose(y, right.batch + right.contracting + right.free).astype(carried, copy=False)
        shared, summed = len(left.batch), len(left.contracting)
        x = x.reshape(*x.shape[:shared], prod(x.shape[shared : x.ndim - summed]),
                      prod(x.shape[x.ndim - summed :]))  # fmt: skip
        y = y.reshape(*y.shape[:shared], prod(y.shape[shared : shared + summed]),
                      prod(y.shape[shared + summed :]))  # fmt: skip
        with np.errstate(all="ignore"):
            return np.asarray(np.matmul(x, y).reshape(shape).astype(attributes.dtype))

    @staticmethod
    def simplify(b: Builder, x: Value, y: Value, *, attributes: Product) -> Value | None:
        """A transposed operand is read as it lies, where that leaves batch and free axes in order."""
        operands, summed = [x, y], list(attributes.contracting)
        for side, operand in enumerate((x, y)):
            inner = b.defining(operand)
            if inner is None or inner.op is not Transpose:
                continue
            order = inner.attributes["permutation"]
            free = [order[a] for a in attributes.operand_axes(len(order), side).free]
            if free == sorted(free) and all(order[a] == a for a in attributes.batch[side]):
                operands[side] = inner.operands[0]
                summed[side] = tuple(order[a] for a in attributes.contracting[side])
        if operands == [x, y]:
            return None
        untransposed = attributes.replaced(contracting=(summed[0], summed[1]))
        return b.dot_general(operands[0], operands[1], **untransposed.keywords)

    @staticmethod
    def permuted(
        b: Builder, permutation: tuple[int, ...], x: Value, y: Value, *, attributes: Product
    ) -> Value | None:
        """With the operands exchanged, the free axes of `y` come before those of `x`."""
        shared = len(attributes.batch[0])
        left = len(attributes.operand_axes(b.tensor_type(x).rank, 0).free)
        both = range(shared + left, len(permutation)), range(shared, shared + left)
        if permutation != (*range(shared), *both[0], *both[1]):
            return None
        return b.dot_general(y, x, **attributes.exchanged().keywords)

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, *, attributes: Product
    ) -> Tangents:
        (x, y), (dx, dy) = primals, tangents
        left = None if dx is None else b.dot_general(dx, y, **attributes.keywords)
        return total(b, left, None if dy is None else b.dot_general(x, dy, **attributes.keywords))

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Product) -> Cotangents:
        """The cotangent contracted with the other operand over its free axes, put back in order."""
        side = 0 if isinstance(operands[0], Linear) else 1
        linear, other = operands[side], operands[1 - side]
        assert isinstance(linear, Linear)
        mine = attributes.operand_axes(linear.rank, side)
        its = attributes.operand_axes(b.tensor_type(other).rank, 1 - side)
        shared = tuple(range(len(mine.batch)))
        first = len(shared) + (len(mine.free) if side == 0 else 0)
        freed = tuple(range(first, first + len(its.free)))
        dtype = attributes.dtype
        wide = other if b.tensor_type(other).dtype == dtype else b.convert(other, dtype=dtype)
        paired = dict(zip(its.contracting, mine.contracting, strict=True))
        summed = tuple(paired[a] for a in sorted(its.contracting))
        # Either may stand on the left; a matrix product's cotangents come out in order one way.
        places = (*mine.batch, *summed, *mine.free)
        if places == tuple(range(len(places))):
            product = b.dot_general(
                wide, cotangent, contracting=(its.free, freed), batch=(its.batch, shared), dtype=dtype
            )
        else:
            places = (*mine.batch, *mine.free, *summed)
            product = b.dot_general(
                cotangent, wide, contracting=(freed, its.free), batch=(shared, its.batch), dtype=dtype
            )
        order = tuple(places.index(a) for a in range(len(places)))
        if order != tuple(range(len(order))):
            product = b.transpose(product, permutation=order)
        if linear.dtype != dtype:
            product = b.convert(product, dtype=linear.dtype)
        return [product, None] if side == 0 else [None, product]

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: Product
    ) -> Batched:
        """Both batched: one more batch axis. One batched: its batch is one more free axis."""
        x, y = operands
        contracted, kept = _moved(attributes.contracting, batched), _moved(attributes.batch, batched)
        if all(batched):
            kept = ((0, *kept[0]), (0, *kept[1]))
            return [b.dot_general(x, y, contracting=contracted, batch=kept, dtype=attributes.dtype)], [True]
        result = b.dot_general(x, y, contracting=contracted, batch=kept, dtype=attributes.dtype)
        place = len(kept[0])
        if batched[1]:
            place += len(operand_axes(b.tensor_type(x).rank, 0, contracted, kept).free)
        if place:
            rank = b.tensor_type(result).rank
            result = b.transpose(result, permutation=(place, *(a for a in range(rank) if a != place)))
        return [result], [True]


def _moved(rows: Pairs, batched: Sequence[bool]) -> Pairs:
    """The axes of both operands, where those that are batched have one more in front."""
    left, right = (tuple(a + has for a in row) for row, has in zip(rows, batched, strict=True))
    return left, right


def _widens(operand: np.dtype, result: np.dtype) -> bool:
    """Whether products of `operand` may be summed in `result`."""
    if operand == result:
        return True
    same_kind = any(operand in kind and result in kind for kind in (INTEGERS, FLOATS, COMPLEX))
    return same_kind and result.itemsize > operand.itemsize

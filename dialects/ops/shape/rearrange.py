"""Ops that rearrange elements without computing on them: broadcast, reshape, transpose, slice, pad, ...

Each is a map from positions of the result to positions of the operand, so each is linear in its array
operand whatever the dtype. Sizes may be static or dynamic; what inference cannot decide (equal element
counts, slices in bounds) is checked when the program runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...errors import AdzeError
from ...factors import Axes, Factors
from ...op import (
    Linear,
    Op,
    Operand,
    family_rule,
    integer,
    ints,
    require,
    require_axes,
    require_axis,
    require_same_dtype,
    sizes,
)
from ...protocols import (
    Batched,
    Builder,
    Cotangents,
    OneLinear,
    Shape,
    Size,
    Tangent,
    Tangents,
    Value,
    Values,
)
from ...types import ANY, Dimension, TensorType, merge_shapes, same_dimension
from ..constants import Dim
from ..elementwise.family import repeated
from .free_permutations import permuted_freely


class Movement(Op):
    """Family of ops that are linear in their array operand whatever its dtype."""

    is_movement = True
    is_arithmetic = False
    operands: ClassVar[tuple[Operand, ...]] = (Operand("x", ANY),)

    @classmethod
    @family_rule
    def jvp(
        cls, /, b: Builder, primals: Values, tangents: Values, result: Value, **attributes: object
    ) -> Tangents:
        """The tangent moves as the operand does."""
        return b.apply(cls, tangents, attributes)[0]


class BroadcastInDim(Movement):
    """``y[i] = x[i[dimensions]]``: axis `k` of `x` becomes axis `dimensions[k]` of `y`.

    An axis of `x` whose static size is 1 is repeated; any other size must equal the result's.
    """

    name = "broadcast_in_dim"
    is_broadcast = True
    is_cheap = True
    attributes = {"shape": sizes("the result's shape"), "dimensions": ints("where each axis of x goes")}

    @staticmethod
    def infer(x: TensorType, *, shape: tuple[Dimension, ...], dimensions: tuple[int, ...]) -> TensorType:
        require_axes("broadcast_in_dim", "dimensions", dimensions, len(shape))
        require(
            len(dimensions) == x.rank,
            f"broadcast_in_dim: dimensions {dimensions} must name one axis of the result "
            f"for each axis of the operand {x}",
        )
        for axis, dimension in enumerate(dimensions):
            size, target = x.shape[axis], shape[dimension]
            require(
                size == 1 or same_dimension(size, target),
                f"broadcast_in_dim: axis {axis} of {x} cannot become size {target}",
            )
        return TensorType(shape, x.dtype)

    @staticmethod
    def evaluate(x: np.ndarray, *, shape: tuple[int, ...], dimensions: tuple[int, ...]) -> np.ndarray:
        expanded = [1] * len(shape)
        for axis, dimension in enumerate(dimensions):
            expanded[dimension] = x.shape[axis]
        if any(a > b for a, b in itertools.pairwise(dimensions)):
            x = np.transpose(x, np.argsort(dimensions))
        result = np.empty(shape, x.dtype)
        result[...] = x.reshape(expanded)
        return result

    @staticmethod
    def factors(x: TensorType, *, shape: tuple[int | None, ...], dimensions: tuple[int, ...]) -> Factors:
        """Along axes of the result; an axis that is repeated has one element in each rank."""
        factors = Factors()
        axes: Axes = [(factors.free(n),) for n in shape]
        kept = zip(x.static_shape, dimensions, strict=True)
        factors.operands = [[axes[d] if n == shape[d] else (factors.undivided(n),) for n, d in kept]]
        factors.results = [axes]
        return factors

    @staticmethod
    def of_part(
        operands: Sequence[TensorType],
        results: Sequence[TensorType],
        *,
        shape: Shape,
        dimensions: tuple[int, ...],
    ) -> dict[str, Any]:
        return {"shape": results[0].shape, "dimensions": dimensions}

    @staticmethod
    def simplify(b: Builder, x: Value, *, shape: Shape, dimensions: tuple[int, ...]) -> Value | None:
        """A broadcast that adds no axis and moves none is its operand; of two the second suffices."""
        if states_own_shape(b, x, shape) and tuple(dimensions) == tuple(range(len(shape))):
            return x
        inner = b.defining(x)
        if inner is None:
            return None
        if inner.op is BroadcastInDim:
            through = tuple(dimensions[d] for d in inner.attributes["dimensions"])
            return b.broadcast_in_dim(inner.operands[0], shape=shape, dimensions=through)
        if inner.op is Reshape:
            kept = _kept_axes(b.tensor_type(inner.operands[0]), b.tensor_type(x))
            if kept is not None:
                through = tuple(dimensions[k] for k in kept)
                return b.broadcast_in_dim(inner.operands[0], shape=shape, dimensions=through)
        return None

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: OneLinear, *, shape: Shape, dimensions: tuple[int, ...]
    ) -> Cotangents:
        """Sums over the axes that were added or repeated, then puts the others in the operand's order."""
        x = operands[0]
        repeated = [k for k, d in enumerate(dimensions) if x.shape[k] == 1 and not _is_one(shape[d])]
        added = [d for d in range(len(shape)) if d not in dimensions]
        summed = sorted((*added, *(dimensions[k] for k in repeated)))
        value = b.reduce_sum(cotangent, axes=tuple(summed)) if summed else cotangent
        kept = [k for k in range(len(dimensions)) if k not in repeated]
        order = sorted(kept, key=lambda k: dimensions[k])
        if order != kept:
            value = b.transpose(value, permutation=tuple(order.index(k) for k in kept))
        return b.reshape(value, shape=x.sizes) if repeated else value

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        shape: Shape,
        dimensions: tuple[int, ...],
    ) -> Batched:
        shifted = (0, *(d + 1 for d in dimensions))
        return [b.broadcast_in_dim(operands[0], shape=(size, *shape), dimensions=shifted)], [True]


class Reshape(Movement):
    """``y.flat[k] = x.flat[k]``: the same elements in row-major order under another shape."""

    name = "reshape"
    is_cheap = True
    attributes = {"shape": sizes("the result's shape")}

    @staticmethod
    def infer(x: TensorType, *, shape: tuple[Dimension, ...]) -> TensorType:
        require(
            all(not isinstance(n, int) or n >= 0 for n in shape),
            f"reshape: shape {shape} has a negative size",
        )
        have, want = _count(x.shape), _count(shape)
        require(
            have is None or want is None or have == want,
            f"reshape: {x} has {have} elements, the shape {shape} has {want}",
        )
        return TensorType(shape, x.dtype)

    @staticmethod
    def evaluate(x: np.ndarray, *, shape: tuple[int, ...]) -> np.ndarray:
        if x.size != math.prod(shape):
            raise AdzeError(f"reshape: an array of shape {x.shape} cannot take the shape {tuple(shape)}")
        return x.reshape(shape).copy()

    @staticmethod
    def factors(x: TensorType, *, shape: tuple[int, ...]) -> Factors:
        """Along factors that axes of both shapes have in common."""
        factors = Factors()
        before, after = factors.reshaped([n or 0 for n in x.static_shape], [n or 0 for n in shape])
        factors.operands, factors.results = [before], [after]
        return factors

    @staticmethod
    def of_part(
        operands: Sequence[TensorType], results: Sequence[TensorType], *, shape: Shape
    ) -> dict[str, Any]:
        return {"shape": results[0].shape}

    @staticmethod
    def simplify(b: Builder, x: Value, *, shape: Shape) -> Value | None:
        """Of two reshapes the second suffices; one to the same shape is its operand."""
        if states_own_shape(b, x, shape):
            return x
        inner = b.defining(x)
        if inner is None or inner.op is not Reshape:
            return None
        return b.reshape(inner.operands[0], shape=shape)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: OneLinear, *, shape: Shape) -> Cotangents:
        return b.reshape(cotangent, shape=operands[0].sizes)

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, shape: Shape) -> Batched:
        return [b.reshape(operands[0], shape=(size, *shape))], [True]


class Transpose(Movement):
    """``y[i] = x[j]`` with ``i[k] = j[permutation[k]]``: axis `permutation[k]` of `x` becomes axis `k`."""

    name = "transpose"
    is_cheap = True
    attributes = {"permutation": ints("the axis of x that becomes each axis of the result")}

    @staticmethod
    def infer(x: TensorType, *, permutation: tuple[int, ...]) -> TensorType:
        require(
            sorted(permutation) == list(range(x.rank)),
            f"transpose: permutation {tuple(permutation)} must order the {x.rank} axes of {x}",
        )
        return x.with_shape(x.shape[axis] for axis in permutation)

    @staticmethod
    def evaluate(x: np.ndarray, *, permutation: tuple[int, ...]) -> np.ndarray:
        return np.ascontiguousarray(np.transpose(x, permutation)).reshape([x.shape[a] for a in permutation])

    @staticmethod
    def factors(x: TensorType, *, permutation: tuple[int, ...]) -> Factors:
        factors = Factors()
        axes = factors.all_free(x)
        factors.operands, factors.results = [axes], [[axes[axis] for axis in permutation]]
        return factors

    @staticmethod
    def simplify(b: Builder, x: Value, *, permutation: tuple[int, ...]) -> Value | None:
        """Permutations compose; the identity is its operand; what may come out in any order does so."""
        if tuple(permutation) == tuple(range(len(permutation))):
            return x
        inner = b.defining(x)
        if inner is None:
            return None
        if inner.op is Transpose:
            first = inner.attributes["permutation"]
            return b.transpose(inner.operands[0], permutation=tuple(first[axis] for axis in permutation))
        if inner.op.permuted is None or not b.is_read_once(x):
            return permuted_freely(b, x, tuple(permutation))
        return inner.op.permuted(b, tuple(permutation), *inner.operands, **inner.attributes)

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: Values, *, permutation: tuple[int, ...]
    ) -> Cotangents:
        inverse = tuple(permutation.index(axis) for axis in range(len(permutation)))
        return b.transpose(cotangent, permutation=inverse)

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        permutation: tuple[int, ...],
    ) -> Batched:
        return [b.transpose(operands[0], permutation=(0, *(p + 1 for p in permutation)))], [True]


class Concatenate(Movement):
    """``y = x0, x1, ...`` one after the other along `axis`."""

    name = "concatenate"
    is_aligned = True
    operands = (Operand("xs", ANY, variadic=True),)
    attributes = {"axis": integer("the axis along which the operands follow each other")}

    @staticmethod
    def infer(*xs: TensorType, axis: int) -> TensorType:
        require(len(xs) > 0, "concatenate: expected at least one operand")
        dtype = require_same_dtype("concatenate", *xs)
        require_axis("concatenate", "axis", axis, xs[0].rank)
        others = merge_shapes((*x.shape[:axis], *x.shape[axis + 1 :]) for x in xs)
        require(
            others is not None and len({x.rank for x in xs}) == 1,
            f"concatenate: operands must agree in all axes but {axis}, got {', '.join(map(str, xs))}",
        )
        assert others is not None
        total = _sum([x.shape[axis] for x in xs])
        return TensorType((*others[:axis], total, *others[axis:]), dtype)

    @staticmethod
    def evaluate(*xs: np.ndarray, axis: int) -> np.ndarray:
        return np.concatenate(xs, axis=axis)

    @staticmethod
    def factors(*xs: TensorType, axis: int) -> Factors:
        """Along the other axes."""
        factors = Factors()
        axes = factors.all_free(xs[0])
        lengths = [x.static_shape[axis] for x in xs]
        own = [(factors.undivided(n),) for n in (*lengths, sum(n or 0 for n in lengths))]
        *factors.operands, last = [[*axes[:axis], each, *axes[axis + 1 :]] for each in own]
        factors.results = [last]
        return factors

    @staticmethod
    def simplify(b: Builder, *xs: Value, axis: int) -> Value | None:
        """One array concatenated is itself."""
        return xs[0] if len(xs) == 1 else None

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, *, axis: int
    ) -> Tangents:
        moved = [b.zeros_like(x) if t is None else t for x, t in zip(primals, tangents, strict=True)]
        return b.concatenate(*moved, axis=axis)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, axis: int) -> Cotangents:
        """Each operand's cotangent is its own piece."""
        cotangents: list[Tangent] = []
        first: Size = 0
        shape = b.sizes(cotangent)
        for x in operands:
            n = x.sizes[axis] if isinstance(x, Linear) else b.sizes(x)[axis]
            last = b.size_sum(first, n)
            start = tuple(first if k == axis else 0 for k in range(len(shape)))
            limit = tuple(last if k == axis else m for k, m in enumerate(shape))
            piece = b.slice(cotangent, start=start, limit=limit, strides=(1,) * len(shape))
            cotangents.append(piece if isinstance(x, Linear) else None)
            first = last
        return cotangents

    @staticmethod
    def batch(b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, axis: int) -> Batched:
        spread = [x if has else repeated(b, x, size) for x, has in zip(operands, batched, strict=True)]
        return [b.concatenate(*spread, axis=axis + 1)], [True]


class Reverse(Movement):
    """``y[..., i, ...] = x[..., n - 1 - i, ...]`` along each of `axes`."""

    name = "reverse"
    is_cheap = True
    attributes = {"axes": ints("the axes whose order is turned around")}

    @staticmethod
    def infer(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
        require_axes("reverse", "axes", axes, x.rank)
        return x

    @staticmethod
    def evaluate(x: np.ndarray, *, axes: tuple[int, ...]) -> np.ndarray:
        return np.array(np.flip(x, axes), x.dtype)  # NumPy makes a bf16 scalar of a 0-d array

    @staticmethod
    def factors(x: TensorType, *, axes: tuple[int, ...]) -> Factors:
        """Along the other axes."""
        factors = Factors()
        before, after = factors.shared_but(x, axes, x)
        factors.operands, factors.results = [before], [after]
        return factors

    @staticmethod
    def simplify(b: Builder, x: Value, *, axes: tuple[int, ...]) -> Value | None:
        """Turning around twice is nothing; no axes is nothing."""
        if not axes:
            return x
        inner = b.defining(x)
        if inner is None or inner.op is not Reverse:
            return None
        remaining = tuple(sorted(set(axes) ^ set(inner.attributes["axes"])))
        return b.reverse(inner.operands[0], axes=remaining)

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, axes: tuple[int, ...]) -> Cotangents:
        return b.reverse(cotangent, axes=axes)

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, axes: tuple[int, ...]
    ) -> Batched:
        return [b.reverse(operands[0], axes=tuple(a + 1 for a in axes))], [True]


def states_own_shape(b: Builder, x: Value, shape: Sequence[Size]) -> bool:
    """Whether `shape` is the shape of `x`: equal integers, and `dim` of `x` where that is dynamic."""
    kind = b.tensor_type(x)
    return len(shape) == kind.rank and all(
        _states_size(b, x, axis, n, kind.shape[axis]) for axis, n in enumerate(shape)
    )


def _states_size(b: Builder, x: Value, axis: int, stated: Size, size: Dimension) -> bool:
    if isinstance(stated, int) or size is not None:
        return isinstance(stated, int) and stated == size
    source = b.defining(stated)
    return (
        source is not None
        and source.op is Dim
        and source.operands[0] == x
        and source.attributes["axis"] == axis
    )


def _kept_axes(before: TensorType, after: TensorType) -> list[int] | None:
    """The axes of `after` that are those of `before`, where a reshape only put axes of size 1 in."""
    if not (before.is_static and after.is_static):
        return None
    kept = [k for k, n in enumerate(after.shape) if n != 1]
    has_same = tuple(after.shape[k] for k in kept) == before.shape
    return kept if has_same else None


def _count(shape: tuple[Dimension, ...]) -> int | None:
    """The number of elements of a shape, None where it depends on a dynamic size."""
    static = [n for n in shape if isinstance(n, int)]
    if 0 in static:
        return 0
    return math.prod(static) if len(static) == len(shape) else None


def _sum(sizes: Sequence[Dimension]) -> Dimension:
    """The sum of sizes: None where one that is not known is added to others."""
    nonzero = [n for n in sizes if n != 0]
    if len(nonzero) == 1:
        return nonzero[0]
    known = [n for n in nonzero if n is not None]
    return sum(known) if len(known) == len(nonzero) else None


def _is_one(size: Size) -> bool:
    return isinstance(size, int) and size == 1

"""Ops that rearrange elements without computing on them: broadcast, reshape, transpose, slice, pad, ...

Each is a map from positions of the result to positions of the operand, so each is linear in its array
operand whatever the dtype. Sizes may be static or dynamic; what inference cannot decide (equal element
counts, slices in bounds) is checked when the program runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..declaration import (
    BATCHING_LATER,
    DIFFERENTIATION_LATER,
    Op,
    Operand,
    integer,
    ints,
    require,
    require_axes,
    require_axis,
    require_same_dtype,
    sizes,
)
from ..errors import AdzeError
from ..types import ANY, TensorType, merge_shapes
from .constants import Dim


class Movement(Op):
    """Family of ops that are linear in their array operand whatever its dtype."""

    operands = (Operand("x", ANY),)
    jvp = DIFFERENTIATION_LATER
    transpose = DIFFERENTIATION_LATER
    batch = BATCHING_LATER


class BroadcastInDim(Movement):
    """``y[i] = x[i[dimensions]]``: axis `k` of `x` becomes axis `dimensions[k]` of `y`.

    An axis of `x` whose static size is 1 is repeated; any other size must equal the result's.
    """

    name = "broadcast_in_dim"
    attributes = {"shape": sizes("the result's shape"), "dimensions": ints("where each axis of x goes")}

    @staticmethod
    def infer(x: TensorType, *, shape: tuple[int | None, ...], dimensions: tuple[int, ...]) -> TensorType:
        require_axes("broadcast_in_dim", "dimensions", dimensions, len(shape))
        require(
            len(dimensions) == x.rank,
            f"broadcast_in_dim: dimensions {dimensions} must name one axis of the result "
            f"for each axis of the operand {x}",
        )
        for axis, dimension in enumerate(dimensions):
            size, target = x.shape[axis], shape[dimension]
            require(
                size in (1, None, target) or target is None,
                f"broadcast_in_dim: axis {axis} of {x} cannot become size {target}",
            )
        return TensorType(shape, x.dtype)

    @staticmethod
    def evaluate(x: np.ndarray, *, shape: tuple[int, ...], dimensions: tuple[int, ...]) -> np.ndarray:
        expanded = [1] * len(shape)
        for axis, dimension in enumerate(dimensions):
            expanded[dimension] = x.shape[axis]
        order = np.argsort(dimensions)
        return np.broadcast_to(np.transpose(x, order).reshape(expanded), shape).copy()

    @staticmethod
    def lower(l: Any, x: Any, *, shape: tuple[Any, ...], dimensions: tuple[int, ...]) -> Any:
        return l.broadcast(x, shape, dimensions)

    @staticmethod
    def simplify(b: Any, x: Any, *, shape: tuple[Any, ...], dimensions: tuple[int, ...]) -> Any:
        """A broadcast that adds no axis and moves none is its operand."""
        is_whole = states_own_shape(b, x, shape) and tuple(dimensions) == tuple(range(len(shape)))
        return x if is_whole else None


class Reshape(Movement):
    """``y.flat[k] = x.flat[k]``: the same elements in row-major order under another shape."""

    name = "reshape"
    attributes = {"shape": sizes("the result's shape")}

    @staticmethod
    def infer(x: TensorType, *, shape: tuple[int | None, ...]) -> TensorType:
        require(all(n is None or n >= 0 for n in shape), f"reshape: shape {shape} has a negative size")
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
    def lower(l: Any, x: Any, *, shape: tuple[Any, ...]) -> Any:
        return l.reshape(x, shape)

    @staticmethod
    def simplify(b: Any, x: Any, *, shape: tuple[Any, ...]) -> Any:
        """Of two reshapes the second suffices; one to the same shape is its operand."""
        if states_own_shape(b, x, shape):
            return x
        inner = b.defining(x)
        if inner is None or inner.op is not Reshape:
            return None
        return b.reshape(inner.operands[0], shape=shape)


class Transpose(Movement):
    """``y[i] = x[j]`` with ``i[k] = j[permutation[k]]``: axis `permutation[k]` of `x` becomes axis `k`."""

    name = "transpose"
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
    def lower(l: Any, x: Any, *, permutation: tuple[int, ...]) -> Any:
        return l.transpose(x, permutation)

    @staticmethod
    def simplify(b: Any, x: Any, *, permutation: tuple[int, ...]) -> Any:
        """Permutations compose; the identity is its operand."""
        if tuple(permutation) == tuple(range(len(permutation))):
            return x
        inner = b.defining(x)
        if inner is None or inner.op is not Transpose:
            return None
        first = inner.attributes["permutation"]
        return b.transpose(inner.operands[0], permutation=tuple(first[axis] for axis in permutation))


class Slice(Movement):
    """``y[i] = x[start + strides * i]`` for ``start <= start + strides * i < limit``, axis by axis.

    ``0 <= start <= limit <= size`` must hold: dynamic bounds are checked when the program runs.
    """

    name = "slice"
    attributes = {
        "start": sizes("the first position of each axis"),
        "limit": sizes("the position after the last of each axis"),
        "strides": ints("the step along each axis, at least 1"),
    }

    @staticmethod
    def infer(
        x: TensorType,
        *,
        start: tuple[int | None, ...],
        limit: tuple[int | None, ...],
        strides: tuple[int, ...],
    ) -> TensorType:
        require(
            len(start) == len(limit) == len(strides) == x.rank,
            f"slice: start {start}, limit {limit} and strides {strides} must have one entry "
            f"for each axis of {x}",
        )
        return x.with_shape(
            Slice._size(x, axis, start[axis], limit[axis], strides[axis]) for axis in range(x.rank)
        )

    @staticmethod
    def _size(x: TensorType, axis: int, start: int | None, limit: int | None, stride: int) -> int | None:
        require(stride >= 1, f"slice: stride {stride} of axis {axis} must be at least 1")
        require(start is None or start >= 0, f"slice: start {start} of axis {axis} of {x} is negative")
        size = x.shape[axis]
        require(
            limit is None or size is None or limit <= size,
            f"slice: limit {limit} of axis {axis} is beyond the end of {x}",
        )
        if start is None or limit is None:
            return None
        require(start <= limit, f"slice: start {start} of axis {axis} of {x} is after its limit {limit}")
        return -(-(limit - start) // stride)

    @staticmethod
    def evaluate(
        x: np.ndarray, *, start: tuple[int, ...], limit: tuple[int, ...], strides: tuple[int, ...]
    ) -> np.ndarray:
        for axis, (first, last, n) in enumerate(zip(start, limit, x.shape, strict=True)):
            if not 0 <= first <= last <= n:
                raise AdzeError(f"adze: slice [{first}:{last}] of axis {axis} is out of bounds for size {n}")
        window = tuple(slice(*bounds) for bounds in zip(start, limit, strides, strict=True))
        return x[window].copy()

    @staticmethod
    def lower(
        l: Any, x: Any, *, start: tuple[Any, ...], limit: tuple[Any, ...], strides: tuple[int, ...]
    ) -> Any:
        return l.slice(x, start, limit, strides)

    @staticmethod
    def simplify(
        b: Any, x: Any, *, start: tuple[Any, ...], limit: tuple[Any, ...], strides: tuple[int, ...]
    ) -> Any:
        """A slice of everything is its operand."""
        from_origin = all(isinstance(n, int) and n == 0 for n in start)
        is_whole = from_origin and set(strides) <= {1} and states_own_shape(b, x, limit)
        return x if is_whole else None


class Pad(Movement):
    """``y[low + (interior + 1) * i] = x[i]``, and `padding_value` everywhere else.

    Negative `low` and `high` cut elements off, after `interior` elements went between neighbours.
    """

    name = "pad"
    operands = (Operand("x", ANY), Operand("padding_value", ANY))
    attributes = {
        "low": sizes("how many elements go before each axis; negative: are cut off"),
        "high": sizes("how many elements go after each axis; negative: are cut off"),
        "interior": ints("how many elements go between neighbours of each axis"),
    }

    @staticmethod
    def infer(
        x: TensorType,
        padding_value: TensorType,
        *,
        low: tuple[int | None, ...],
        high: tuple[int | None, ...],
        interior: tuple[int, ...],
    ) -> TensorType:
        require_same_dtype("pad", x, padding_value)
        require(padding_value.rank == 0, f"pad: padding_value must be 0-d, got {padding_value}")
        require(
            len(low) == len(high) == len(interior) == x.rank,
            f"pad: low {low}, high {high} and interior {interior} must have one entry for each axis of {x}",
        )
        require(all(n >= 0 for n in interior), f"pad: interior {interior} has a negative entry")
        return x.with_shape(
            Pad._size(x, axis, low[axis], high[axis], interior[axis]) for axis in range(x.rank)
        )

    @staticmethod
    def _size(x: TensorType, axis: int, low: int | None, high: int | None, interior: int) -> int | None:
        size = x.shape[axis]
        if size is None or low is None or high is None:
            return None
        padded = low + high + size + interior * max(size - 1, 0)
        require(padded >= 0, f"pad: low {low} and high {high} leave a negative size of axis {axis} of {x}")
        return padded

    @staticmethod
    def evaluate(
        x: np.ndarray,
        padding_value: np.ndarray,
        *,
        low: tuple[int, ...],
        high: tuple[int, ...],
        interior: tuple[int, ...],
    ) -> np.ndarray:
        spread = np.full(
            [n + k * max(n - 1, 0) for n, k in zip(x.shape, interior, strict=True)], padding_value, x.dtype
        )
        spread[tuple(slice(None, None, k + 1) for k in interior)] = x
        cut = spread[
            tuple(
                slice(max(-before, 0), max(n - max(-after, 0), 0))
                for n, before, after in zip(spread.shape, low, high, strict=True)
            )
        ]
        shape = [n + a + z for n, a, z in zip(spread.shape, low, high, strict=True)]
        if min(shape, default=0) < 0:
            raise AdzeError(f"adze: pad low {low} and high {high} leave a negative size of {x.shape}")
        result = np.full(shape, padding_value, x.dtype)
        place = tuple(
            slice(min(max(a, 0), n), min(max(a, 0), n) + k)
            for a, k, n in zip(low, cut.shape, shape, strict=True)
        )
        result[place] = cut
        return result

    @staticmethod
    def lower(
        l: Any,
        x: Any,
        padding_value: Any,
        *,
        low: tuple[Any, ...],
        high: tuple[Any, ...],
        interior: tuple[int, ...],
    ) -> Any:
        return l.pad(x, padding_value, low, high, interior)

    @staticmethod
    def simplify(
        b: Any,
        x: Any,
        padding_value: Any,
        *,
        low: tuple[Any, ...],
        high: tuple[Any, ...],
        interior: tuple[int, ...],
    ) -> Any:
        """Padding by nothing is the operand."""
        nothing = all(isinstance(n, int) and n == 0 for n in (*low, *high, *interior))
        return x if nothing else None


class Concatenate(Movement):
    """``y = x0, x1, ...`` one after the other along `axis`."""

    name = "concatenate"
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
        along = [x.shape[axis] for x in xs]
        total = None if None in along else sum(n for n in along if n is not None)
        return TensorType((*others[:axis], total, *others[axis:]), dtype)

    @staticmethod
    def evaluate(*xs: np.ndarray, axis: int) -> np.ndarray:
        return np.concatenate(xs, axis=axis)

    @staticmethod
    def lower(l: Any, *xs: Any, axis: int) -> Any:
        return l.concatenate(xs, axis)

    @staticmethod
    def simplify(b: Any, *xs: Any, axis: int) -> Any:
        """One array concatenated is itself."""
        return xs[0] if len(xs) == 1 else None


class Reverse(Movement):
    """``y[..., i, ...] = x[..., n - 1 - i, ...]`` along each of `axes`."""

    name = "reverse"
    attributes = {"axes": ints("the axes whose order is turned around")}

    @staticmethod
    def infer(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
        require_axes("reverse", "axes", axes, x.rank)
        return x

    @staticmethod
    def evaluate(x: np.ndarray, *, axes: tuple[int, ...]) -> np.ndarray:
        return np.flip(x, axes).copy()

    @staticmethod
    def lower(l: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        return l.reverse(x, axes)

    @staticmethod
    def simplify(b: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        """Turning around twice is nothing; no axes is nothing."""
        if not axes:
            return x
        inner = b.defining(x)
        if inner is None or inner.op is not Reverse:
            return None
        remaining = tuple(sorted(set(axes) ^ set(inner.attributes["axes"])))
        return b.reverse(inner.operands[0], axes=remaining)


def states_own_shape(b: Any, x: Any, shape: Sequence[Any]) -> bool:
    """Whether `shape` is the shape of `x`: equal integers, and `dim` of `x` where that is dynamic."""
    kind = b.tensor_type(x)
    return len(shape) == kind.rank and all(
        _states_size(b, x, axis, n, kind.shape[axis]) for axis, n in enumerate(shape)
    )


def _states_size(b: Any, x: Any, axis: int, stated: Any, size: int | None) -> bool:
    if isinstance(stated, int) or size is not None:
        return isinstance(stated, int) and stated == size
    source = b.defining(stated)
    return (
        source is not None
        and source.op is Dim
        and source.operands[0] == x
        and source.attributes["axis"] == axis
    )


def _count(shape: tuple[int | None, ...]) -> int | None:
    """The number of elements of a shape, None where it depends on a dynamic size."""
    known = [n for n in shape if n is not None]
    if 0 in known:
        return 0
    return math.prod(known) if len(known) == len(shape) else None

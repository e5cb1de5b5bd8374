"""Ops that take a regular part of an array, and that put an array into a larger one: slice and pad.

Each is the transpose of the other. Bounds may be sizes; what inference cannot decide is checked when the
program runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import AdzeError
from ...op import Linear, Operand, ints, require, require_same_dtype, sizes
from ...types import ANY, BOOL, TensorType
from ..elementwise.family import repeated
from .rearrange import Movement, states_own_shape


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
        return np.array(x[window], x.dtype)  # x[()] is a scalar, not an array

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

    @staticmethod
    def transpose(
        b: Any, cotangent: Any, operands: Any, *, start: Any, limit: Any, strides: tuple[int, ...]
    ) -> Any:
        """Zeros where the slice did not look."""
        high = []
        for n, first, taken, stride in zip(
            operands[0].sizes, start, b.sizes(cotangent), strides, strict=True
        ):
            reach = b.size_product(b.size_difference(taken, 1), stride)
            if isinstance(taken, int) and taken == 0:
                high.append(b.size_difference(n, first))
            else:
                high.append(b.size_difference(b.size_difference(n, first), b.size_sum(reach, 1)))
        zero = b.scalar(0, b.tensor_type(cotangent).dtype)
        interior = tuple(stride - 1 for stride in strides)
        return b.pad(cotangent, zero, low=tuple(start), high=tuple(high), interior=interior)

    @staticmethod
    def batch(
        b: Any, size: Any, operands: Any, batched: Any, *, start: Any, limit: Any, strides: tuple[int, ...]
    ) -> Any:
        found = b.slice(operands[0], start=(0, *start), limit=(size, *limit), strides=(1, *strides))
        return [found], [True]


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

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, result: Any, *, low: Any, high: Any, interior: Any) -> Any:
        dx, dvalue = tangents
        moved = b.zeros_like(primals[0]) if dx is None else dx
        around = b.zeros_like(primals[1]) if dvalue is None else dvalue
        return b.pad(moved, around, low=low, high=high, interior=interior)

    @staticmethod
    def transpose(
        b: Any, cotangent: Any, operands: Any, *, low: Any, high: Any, interior: tuple[int, ...]
    ) -> Any:
        """The operand's cotangent lies where its elements went; the rest belongs to the padding value."""
        x, value = operands
        zero = b.scalar(0, b.tensor_type(cotangent).dtype)
        whole = b.pad(
            cotangent,
            zero,
            low=tuple(b.size_difference(0, n) for n in low),
            high=tuple(b.size_difference(0, n) for n in high),
            interior=(0,) * len(interior),
        )
        limit = b.sizes(whole)
        strides = tuple(n + 1 for n in interior)
        inside = b.slice(whole, start=(0,) * len(limit), limit=limit, strides=strides)
        if not isinstance(value, Linear):
            return [inside, None]
        axes = tuple(range(len(limit)))
        around = b.sub(b.reduce_sum(cotangent, axes=axes), b.reduce_sum(inside, axes=axes))
        return [inside if isinstance(x, Linear) else None, around]

    @staticmethod
    def batch(
        b: Any, size: Any, operands: Any, batched: Any, *, low: Any, high: Any, interior: tuple[int, ...]
    ) -> Any:
        """A batched padding value is chosen wherever a padded mask says that no element came."""
        x, value = operands
        x = x if batched[0] else repeated(b, x, size)
        config = {"low": (0, *low), "high": (0, *high), "interior": (0, *interior)}
        if not batched[1]:
            return [b.pad(x, value, **config)], [True]
        padded = b.pad(x, b.scalar(0, b.tensor_type(x).dtype), **config)
        mask = b.pad(b.full(True, b.sizes(x), BOOL), b.scalar(False, BOOL), **config)
        around = b.broadcast_in_dim(value, shape=b.sizes(padded), dimensions=(0,))
        return [b.select(mask, padded, around)], [True]

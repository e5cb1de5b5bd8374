"""Ops that take a regular part of an array, and that put an array into a larger one: slice and pad.

Each is the transpose of the other. Bounds may be sizes; what inference cannot decide is checked when the
program runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Generic

import numpy as np

from ...errors import AdzeError
from ...factors import Factors
from ...op import Linear, Operand, Record, ints, require, require_same_dtype, sizes, stated
from ...protocols import (
    Batched,
    Builder,
    Cotangents,
    OneLinear,
    Size,
    Tangent,
    Tangents,
    Value,
    Values,
)
from ...symbolic_sizes import maximum, quotient
from ...types import ANY, BOOL, INT32, Dimension, N, TensorType
from ..elementwise.family import repeated
from .parts_in_zeros import joined
from .rearrange import Movement, states_own_shape
from .slices_of_parts import Ranges, known_sizes, slice_of_part, sliced


class Bounds(Record, Generic[N]):
    """The attributes of `slice`."""

    start: tuple[N, ...] = stated(sizes("the first position of each axis"))
    limit: tuple[N, ...] = stated(sizes("the position after the last of each axis"))
    strides: tuple[int, ...] = stated(ints("the step along each axis, at least 1"))


class Padding(Record, Generic[N]):
    """The attributes of `pad`."""

    low: tuple[N, ...] = stated(sizes("how many elements go before each axis; negative: are cut off"))
    high: tuple[N, ...] = stated(sizes("how many elements go after each axis; negative: are cut off"))
    interior: tuple[int, ...] = stated(ints("how many elements go between neighbours of each axis"))


class Slice(Movement):
    """``y[i] = x[start + strides * i]`` for ``start <= start + strides * i < limit``, axis by axis.

    ``0 <= start <= limit <= size`` must hold: dynamic bounds are checked when the program runs.
    """

    name = "slice"
    record = Bounds

    @staticmethod
    def infer(x: TensorType, *, attributes: Bounds[Dimension]) -> TensorType:
        start, limit, strides = attributes.start, attributes.limit, attributes.strides
        require(
            len(start) == len(limit) == len(strides) == x.rank,
            f"slice: start {start}, limit {limit} and strides {strides} must have one entry "
            f"for each axis of {x}",
        )
        return x.with_shape(
            Slice._size(x, axis, start[axis], limit[axis], strides[axis]) for axis in range(x.rank)
        )

    @staticmethod
    def _size(x: TensorType, axis: int, start: Dimension, limit: Dimension, stride: int) -> Dimension:
        require(stride >= 1, f"slice: stride {stride} of axis {axis} must be at least 1")
        require(
            not isinstance(start, int) or start >= 0,
            f"slice: start {start} of axis {axis} of {x} is negative",
        )
        size = x.shape[axis]
        require(
            not isinstance(limit, int) or not isinstance(size, int) or limit <= size,
            f"slice: limit {limit} of axis {axis} is beyond the end of {x}",
        )
        if start is None or limit is None:
            return None
        require(
            not isinstance(start, int) or not isinstance(limit, int) or start <= limit,
            f"slice: start {start} of axis {axis} of {x} is after its limit {limit}",
        )
        return quotient(limit - start + (stride - 1), stride)

    @staticmethod
    def factors(x: TensorType, *, attributes: Bounds[int]) -> Factors:
        """Along axes of which it takes everything."""
        y = Slice.infer(x, **attributes.keywords)
        factors = Factors()
        before, after = factors.shared_but(x, Slice._cut(x, attributes), y)
        factors.operands, factors.results = [before], [after]
        return factors

    @staticmethod
    def of_part(
        operands: Sequence[TensorType], results: Sequence[TensorType], *, attributes: Bounds[int]
    ) -> dict[str, Any]:
        limits = zip(attributes.limit, attributes.start, operands[0].shape, results[0].shape, strict=True)
        limit = tuple(n if n == m and start == 0 else stop for stop, start, n, m in limits)
        return {**attributes.keywords, "limit": limit}

    @staticmethod
    def _cut(x: TensorType, attributes: Bounds[int]) -> list[int]:
        """The axes of which elements are left out."""
        taken = zip(attributes.start, attributes.limit, attributes.strides, x.static_shape, strict=True)
        return [axis for axis, (start, stop, step, n) in enumerate(taken) if (start, stop, step) != (0, n, 1)]

    @staticmethod
    def evaluate(x: np.ndarray, *, attributes: Bounds[int]) -> np.ndarray:
        start, limit, strides = attributes.start, attributes.limit, attributes.strides
        for axis, (first, last, n) in enumerate(zip(start, limit, x.shape, strict=True)):
            if not 0 <= first <= last <= n:
                raise AdzeError(f"adze: slice [{first}:{last}] of axis {axis} is out of bounds for size {n}")
        window = tuple(slice(*bounds) for bounds in zip(start, limit, strides, strict=True))
        return np.array(x[window], x.dtype)  # x[()] is a scalar, not an array

    @staticmethod
    def simplify(b: Builder, x: Value, *, attributes: Bounds[Size]) -> Value | None:
        """A slice of everything is its operand; one of a part of what was put together is of that part."""
        start, limit, strides = attributes.start, attributes.limit, attributes.strides
        from_origin = all(isinstance(n, int) and n == 0 for n in start)
        if from_origin and set(strides) <= {1} and states_own_shape(b, x, limit):
            return x
        bounds = [n for n in (*start, *limit) if isinstance(n, int)]
        if len(bounds) < 2 * len(strides):
            return None
        ranges = list(map(range, bounds[: len(strides)], bounds[len(strides) :], strides))
        return slice_of_part(b, x, ranges, {Slice: Slice._of_slice, Pad: Slice._of_pad})

    @staticmethod
    def _of_slice(b: Builder, xs: Values, ranges: Ranges, **attributes: Any) -> Value | None:
        inner = Bounds[int](**attributes)
        if not all(isinstance(n, int) for n in (*inner.start, *inner.limit)):
            return None
        there = [
            range(first + r.start * step, first + r[-1] * step + 1, r.step * step)
            for r, first, step in zip(ranges, inner.start, inner.strides, strict=True)
        ]
        return sliced(b, xs[0], there)

    @staticmethod
    def _of_pad(b: Builder, xs: Values, ranges: Ranges, **attributes: Any) -> Value | None:
        inner = Padding[int](**attributes)
        if any(inner.interior) or not all(isinstance(n, int) for n in inner.low):
            return None
        moved = [
            range(r.start - low, r[-1] + 1 - low, r.step) for r, low in zip(ranges, inner.low, strict=True)
        ]
        sizes = known_sizes(b, xs[0])
        is_inside = all(r.start >= 0 and r[-1] < n for r, n in zip(moved, sizes, strict=True))
        return sliced(b, xs[0], moved) if is_inside else None

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: OneLinear, *, attributes: Bounds[Size]
    ) -> Cotangents:
        """Zeros where the slice did not look."""
        start, strides = attributes.start, attributes.strides
        high = []
        for n, first, taken, stride in zip(
            operands[0].sizes, start, b.sizes(cotangent), strides, strict=True
        ):
            behind = n if isinstance(first, int) and first == 0 else b.size_difference(n, first)
            if stride == 1:
                high.append(b.size_difference(behind, taken))  # nothing where all of an axis is taken
            else:
                reach = b.size_product(b.size_difference(taken, 1), stride)
                seen = b.size_greatest(b.size_sum(reach, 1), 0)  # nothing where nothing is taken
                high.append(b.size_difference(behind, seen))
        zero = b.scalar(0, b.tensor_type(cotangent).dtype)
        interior = tuple(stride - 1 for stride in strides)
        return b.pad(cotangent, zero, low=tuple(start), high=tuple(high), interior=interior)

    @staticmethod
    def batch(
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: Bounds[Size]
    ) -> Batched:
        start, limit, strides = attributes.start, attributes.limit, attributes.strides
        result = b.slice(operands[0], start=(0, *start), limit=(size, *limit), strides=(1, *strides))
        return [result], [True]


class Pad(Movement):
    """``y[low + (interior + 1) * i] = x[i]``, and `padding_value` everywhere else.

    Negative `low` and `high` cut elements off, after `interior` elements went between neighbours.
    """

    name = "pad"
    operands = (Operand("x", ANY), Operand("padding_value", ANY))
    record = Padding

    @staticmethod
    def infer(x: TensorType, padding_value: TensorType, *, attributes: Padding[Dimension]) -> TensorType:
        low, high, interior = attributes.low, attributes.high, attributes.interior
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
    def _size(x: TensorType, axis: int, low: Dimension, high: Dimension, interior: int) -> Dimension:
        size = x.shape[axis]
        if low == high == interior == 0:
            return size
        if size is None or low is None or high is None:
            return None
        padded = low + high + size + interior * maximum(size - 1, 0)
        require(
            not isinstance(padded, int) or padded >= 0,
            f"pad: low {low} and high {high} leave a negative size of axis {axis} of {x}",
        )
        return padded

    @staticmethod
    def factors(x: TensorType, padding_value: TensorType, *, attributes: Padding[int]) -> Factors:
        """Along axes that stay as they are."""
        y = Pad.infer(x, padding_value, **attributes.keywords)
        padding = zip(attributes.low, attributes.high, attributes.interior, strict=True)
        factors = Factors()
        before, after = factors.shared_but(x, [axis for axis, each in enumerate(padding) if any(each)], y)
        factors.operands, factors.results = [before, []], [after]
        return factors

    @staticmethod
    def evaluate(x: np.ndarray, padding_value: np.ndarray, *, attributes: Padding[int]) -> np.ndarray:
        low, high, interior = attributes.low, attributes.high, attributes.interior
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
    def simplify(b: Builder, x: Value, padding_value: Value, *, attributes: Padding[Size]) -> Value | None:
        """Padding by nothing is the operand; one number between others is chosen by the place, as are the
        elements of a long vector."""
        low, high, interior = attributes.low, attributes.high, attributes.interior
        nothing = all(isinstance(n, int) and n == 0 for n in (*low, *high, *interior))
        if nothing:
            return x
        return Pad._of_numbers(b, x, padding_value, attributes)

    @staticmethod
    def _of_numbers(b: Builder, x: Value, padding_value: Value, attributes: Padding[Size]) -> Value | None:
        """Where both operands repeat a number, and something goes between neighbours: a choice by place."""
        number, around, type_ = b.constant_of(x), b.constant_of(padding_value), b.type_of(x)
        assert isinstance(type_, TensorType)
        if number is None or around is None or number.size != 1 or not any(attributes.interior):
            return None
        ends = [n for n in (*attributes.low, *attributes.high) if isinstance(n, int) and n >= 0]
        if len(ends) < 2 * type_.rank or not type_.is_static or 0 in type_.shape:
            return None
        low, counts = ends[: type_.rank], [n for n in type_.static_shape if n is not None]
        last = [m + (n - 1) * (k + 1) for m, n, k in zip(low, counts, attributes.interior, strict=True)]
        shape = [m + 1 + after for m, after in zip(last, ends[type_.rank :], strict=True)]
        if max(shape) > np.iinfo(INT32).max:
            return None
        inside = None
        for axis, (first, end, between) in enumerate(zip(low, last, attributes.interior, strict=True)):
            for condition in Pad._conditions(b, shape, axis, (first, end, between + 1)):
                inside = condition if inside is None else b.and_(inside, condition)
        chosen = [b.full(value.reshape(()), shape, type_.dtype) for value in (number, around)]
        return None if inside is None else b.select(inside, *chosen)

    @staticmethod
    def _conditions(
        b: Builder, shape: Sequence[int], axis: int, steps: tuple[int, int, int]
    ) -> Iterator[Value]:
        """That a place along an axis is one of the `steps`: from the first to the last, so far apart."""
        first, last, apart = steps
        place = b.iota(shape=tuple(shape), axis=axis, dtype=INT32)
        if first:
            yield b.compare(place, b.full_like(place, first), direction="GE")
        if last < shape[axis] - 1:
            yield b.compare(place, b.full_like(place, last), direction="LE")
        if apart > 1:
            rest = b.rem(b.sub(place, b.full_like(place, first)), b.full_like(place, apart))
            yield b.compare(rest, b.full_like(place, 0), direction="EQ")

    @staticmethod
    def jvp(
        b: Builder, primals: Values, tangents: Sequence[Tangent], result: Value, *, attributes: Padding[Size]
    ) -> Tangents:
        dx, dvalue = tangents
        moved = b.zeros_like(primals[0]) if dx is None else dx
        around = b.zeros_like(primals[1]) if dvalue is None else dvalue
        return b.pad(moved, around, **attributes.keywords)

    @staticmethod
    def summed(
        b: Builder, present: Value, x: Value, padding_value: Value, *, attributes: Padding[Size]
    ) -> Value | None:
        """Beside another array in zeros, both are parts of one."""
        inner = b.defining(present)
        if inner is None or inner.op is not Pad:
            return None
        return joined(b, inner.operands, (x, padding_value), (inner.attributes, attributes.keywords))

    @staticmethod
    def transpose(b: Builder, cotangent: Value, operands: Values, *, attributes: Padding[Size]) -> Cotangents:
        """The operand's cotangent lies where its elements went; the rest belongs to the padding value."""
        low, high, interior = attributes.low, attributes.high, attributes.interior
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
        b: Builder, size: Size, operands: Values, batched: Sequence[bool], *, attributes: Padding[Size]
    ) -> Batched:
        """A batched padding value is chosen wherever a padded mask says that no element came."""
        low, high, interior = attributes.low, attributes.high, attributes.interior
        x, value = operands
        x = x if batched[0] else repeated(b, x, size)
        pad = partial(b.pad, low=(0, *low), high=(0, *high), interior=(0, *interior))
        if not batched[1]:
            return [pad(x, value)], [True]
        padded = pad(x, b.scalar(0, b.tensor_type(x).dtype))
        mask = pad(b.full(True, b.sizes(x), BOOL), b.scalar(False, BOOL))
        around = b.broadcast_in_dim(value, shape=b.sizes(padded), dimensions=(0,))
        return [b.select(mask, padded, around)], [True]

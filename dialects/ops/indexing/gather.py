"""Gather: windows of an array at many positions.

It is linear in the array; its transpose is the scatter that adds. A batch of it, in either operand or both,
is one gather again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Generic

import numpy as np

from ...errors import RunTimeCheckError
from ...factors import Factors
from ...op import Linear, Op, Operand, Record, choice, elements, ints, require, sizes, stated
from ...protocols import (
    Batched,
    Builder,
    Cotangents,
    OneTangent,
    Size,
    Tangents,
    Value,
    Values,
)
from ...types import (
    ANY,
    BOOL,
    COMPLEX,
    INT32,
    INT64,
    INTEGERS,
    NUMBERS,
    Dimension,
    N,
    TensorType,
    from_storage,
    storage,
)
from .windows import WindowMap, check_batching, fits, window_axes


class Windows(Record, Generic[N]):
    """The attributes of `gather`."""

    offset_dims: tuple[int, ...] = stated(ints("the result axes along which windows extend"))
    collapsed_slice_dims: tuple[int, ...] = stated(
        ints("the axes of x, of window size 1, that the result lacks")
    )
    start_index_map: tuple[int, ...] = stated(
        ints("the axis of x that each entry of an index vector counts along")
    )
    operand_batching_dims: tuple[int, ...] = stated(
        ints("axes of x that run together with an axis of the indices")
    )
    start_indices_batching_dims: tuple[int, ...] = stated(ints("the axes of the indices that they run with"))
    slice_sizes: tuple[N, ...] = stated(sizes("the window's size along each axis of x"))
    mode: str = stated(
        choice("clip", "fill", "promise_in_bounds", doc="what becomes of windows that leave x")
    )
    fill_value: np.ndarray = stated(elements("the value of elements out of range in mode fill"))

    def map(self, x_rank: int, indices_rank: int) -> WindowMap:
        """The window map that the attributes state."""
        return WindowMap(
            x_rank,
            indices_rank,
            self.offset_dims,
            self.collapsed_slice_dims,
            self.start_index_map,
            self.operand_batching_dims,
            self.start_indices_batching_dims,
        )


class Gather(Op):
    """``y[batch, offset] = x[indices[batch] + offset]``: one window of `x` for each index vector.

    The dimension numbers are those of `jax.lax.gather`. `clip` moves a window that would leave `x` back
    inside; `fill` returns `fill_value` for it; `promise_in_bounds` says that there is none (and clips).
    Of an empty `x`, only mode `fill` returns elements.
    `fill_value` holds the bits of a 0-d array of x's dtype as `types.storage` writes them.
    """

    name = "gather"
    is_arithmetic = False
    operands = (Operand("x", ANY), Operand("start_indices", INTEGERS))
    record = Windows

    @staticmethod
    def infer(x: TensorType, start_indices: TensorType, *, attributes: Windows[Dimension]) -> TensorType:
        numbers, slice_sizes = attributes.map(x.rank, start_indices.rank), attributes.slice_sizes
        numbers.check("gather", start_indices.shape[-1] if start_indices.rank else None)
        require(len(slice_sizes) == x.rank, f"gather: slice_sizes {slice_sizes} must have the rank of {x}")
        for axis, (n, size) in enumerate(zip(slice_sizes, x.shape, strict=True)):
            hidden = axis in numbers.hidden
            require(
                not hidden or n == 1, f"gather: slice size {n} of collapsed or batching axis {axis} must be 1"
            )
            require(fits(n, size, hidden), f"gather: slice_sizes {slice_sizes} do not fit into {x}")
        check_batching("gather", numbers, x, start_indices)
        value = attributes.fill_value
        require(
            value.shape == ((2,) if x.dtype in COMPLEX else ()),
            f"gather: fill_value must be 0-d and of dtype {x.dtype}",
        )
        shape = numbers.result_shape(start_indices.shape, slice_sizes)
        empty = any(x.shape[axis] == 0 for axis in numbers.hidden)
        require(
            not empty or attributes.mode == "fill" or 0 in shape or None in shape,
            f"gather: {x} has no elements, for a result of shape {shape}",
        )
        return x.with_shape(shape)

    @staticmethod
    def factors(x: TensorType, start_indices: TensorType, *, attributes: Windows[int]) -> Factors:
        """Along axes of the indices, and those of `x` of which windows have everything. Where windows have
        one element, ranks that have some of these add up results: each has zeros for what others have."""
        numbers = attributes.map(x.rank, start_indices.rank)
        y = Gather.infer(x, start_indices, **attributes.keywords)
        factors = Factors()
        factors.operands, after = window_axes(factors, numbers, x, start_indices, y)
        factors.results = [after]
        if x.dtype in NUMBERS and start_indices.dtype != np.uint64:
            before = factors.operands[0]
            for axis in set(numbers.collapsed).intersection(numbers.start_index_map):
                before[axis] = (factors.combined(x.static_shape[axis]),)
        return factors

    @staticmethod
    def of_part(
        operands: Sequence[TensorType], results: Sequence[TensorType], *, attributes: Windows[int]
    ) -> dict[str, Any]:
        x, indices = operands
        numbers = attributes.map(x.rank, indices.rank)
        window = [1] * x.rank
        for axis, offset in zip(numbers.window_axes, numbers.offset_dims, strict=True):
            window[axis] = results[0].static_shape[offset] or 0
        sizes = tuple(
            n if axis in numbers.hidden else window[axis] for axis, n in enumerate(attributes.slice_sizes)
        )
        return attributes.replaced(slice_sizes=sizes).keywords

    @staticmethod
    def of_block(
        b: Builder,
        operands: Values,
        shapes: Sequence[Sequence[int]],
        starts: Sequence[Sequence[Value | None]],
        *,
        attributes: Windows[int],
    ) -> Value:
        """The windows in the block of `x`; zeros where they are in another. The first block fills."""
        x, indices = operands
        type_, given = b.tensor_type(x), b.tensor_type(indices)
        numbers = attributes.map(type_.rank, given.rank)
        wide = INT32 if given.dtype.itemsize < INT32.itemsize or given.dtype == INT32 else INT64
        at = b.convert(indices, dtype=wide) if given.dtype != wide else indices
        vector = (len(numbers.start_index_map),)

        def along_last(value: Value) -> Value:
            return b.broadcast_in_dim(value, shape=b.sizes(indices), dimensions=(given.rank - 1,))

        axes = numbers.start_index_map
        last = np.array([shapes[0][axis] - attributes.slice_sizes[axis] for axis in axes], wide)
        zero, most = along_last(b.array(np.zeros(vector, wide))), along_last(b.array(last))
        inside = None
        if attributes.mode == "fill":
            low, high = b.compare(at, zero, direction="GE"), b.compare(at, most, direction="LE")
            inside = b.reduce_and(b.and_(low, high), axes=(given.rank - 1,))
        else:
            at = b.min(b.max(at, zero), most)
        is_first = b.scalar(True, BOOL)
        for position, axis in enumerate(axes):
            start = starts[0][axis]
            if start is None:
                continue
            is_first = b.and_(is_first, b.compare(start, b.scalar(0, INT32), direction="EQ"))
            shift = b.broadcast_in_dim(b.convert(start, dtype=wide), shape=vector, dimensions=())
            own = b.array(np.array([k == position for k in range(vector[0])], wide))
            at = b.sub(at, along_last(b.mul(shift, own)))
        nothing = storage(np.zeros((), type_.dtype))
        found = b.gather(x, at, **attributes.replaced(mode="fill", fill_value=nothing).keywords)
        if inside is None:
            return found
        shape = b.sizes(found)
        filling = b.select(
            is_first,
            b.scalar(from_storage(attributes.fill_value, type_.dtype), type_.dtype),
            b.scalar(0, type_.dtype),
        )
        chosen = b.broadcast_in_dim(inside, shape=shape, dimensions=numbers.batch_axes)
        return b.select(chosen, found, b.broadcast_in_dim(filling, shape=shape, dimensions=()))

    @staticmethod
    def evaluate(x: np.ndarray, start_indices: np.ndarray, *, attributes: Windows[int]) -> np.ndarray:
        numbers, slice_sizes = attributes.map(x.ndim, start_indices.ndim), attributes.slice_sizes
        fill = attributes.mode == "fill"
        shape = numbers.result_shape(start_indices.shape, slice_sizes)
        if math.prod(shape) == 0:
            return np.zeros(shape, x.dtype)
        if x.size == 0:
            if not fill:
                raise RunTimeCheckError(f"gather: an array of shape {x.shape} has no elements")
            return np.full(shape, from_storage(attributes.fill_value, x.dtype), x.dtype)
        if not fill:
            taken = numbers.taken(x, start_indices, slice_sizes)
            if taken is not None:
                return taken
        arrays, inside = numbers.positions(x.shape, start_indices, slice_sizes, clip=not fill)
        result = np.broadcast_to(x[tuple(arrays)] if arrays else x, shape)
        if fill:
            result = np.where(inside, result, from_storage(attributes.fill_value, x.dtype))
        return np.array(np.broadcast_to(result, shape), dtype=x.dtype)

    @staticmethod
    def jvp(
        b: Builder,
        primals: Values,
        tangents: OneTangent,
        result: Value,
        *,
        attributes: Windows[Size],
    ) -> Tangents:
        """The windows of the tangent; what was filled is constant."""
        zero = storage(np.zeros((), b.tensor_type(tangents[0]).dtype))
        return b.gather(tangents[0], primals[1], **attributes.replaced(fill_value=zero).keywords)

    @staticmethod
    def transpose(
        b: Builder, cotangent: Value, operands: tuple[Linear, Value], *, attributes: Windows[Size]
    ) -> Cotangents:
        """Each element of `x` gets the sum of the cotangents of the places where it went."""
        x, indices = operands
        mode, numbers = attributes.mode, attributes.map(x.rank, b.tensor_type(indices).rank)
        scattered = b.scatter(
            b.full(0, x.sizes, x.dtype),
            indices,
            cotangent,
            kind="add",
            **numbers.of_scatter,
            mode="drop" if mode == "fill" else mode,
            unique_indices=False,
            indices_are_sorted=False,
        )
        return [scattered, None]

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        attributes: Windows[Size],
    ) -> Batched:
        """Windows through the whole batch where the indices are shared; else each at its own element."""
        x, indices = operands
        ranks = [b.tensor_type(v).rank - has for v, has in zip(operands, batched, strict=True)]
        numbers = attributes.map(ranks[0], ranks[1]).batched(batched[0], batched[1])
        slice_sizes = attributes.slice_sizes
        if batched[0]:
            slice_sizes = (1 if batched[1] else size, *slice_sizes)
        result = b.gather(
            x,
            indices,
            **numbers.of_gather,
            slice_sizes=slice_sizes,
            mode=attributes.mode,
            fill_value=attributes.fill_value,
        )
        return [result], [True]

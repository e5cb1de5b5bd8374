"""Gather: windows of an array at many positions.

It is linear in the array; its transpose is the scatter that adds. A batch of it, in either operand or both,
is one gather again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import RunTimeCheckError
from ...op import Op, Operand, choice, elements, ints, require, sizes
from ...types import ANY, COMPLEX, INTEGERS, TensorType, from_storage, storage
from .windows import WindowMap, check_batching, fits


class Gather(Op):
    """``y[batch, offset] = x[indices[batch] + offset]``: one window of `x` for each index vector.

    The dimension numbers are those of `jax.lax.gather`. `clip` moves a window that would leave `x` back
    inside; `fill` gives `fill_value` for it; `promise_in_bounds` says that there is none (and clips).
    An empty `x` gives elements in mode `fill` only.
    `fill_value` holds the bits of a 0-d array of x's dtype as `types.storage` writes them.
    """

    name = "gather"
    is_arithmetic = False
    operands = (Operand("x", ANY), Operand("start_indices", INTEGERS))
    attributes = {
        "offset_dims": ints("the result axes along which windows extend"),
        "collapsed_slice_dims": ints("the axes of x, of window size 1, that the result lacks"),
        "start_index_map": ints("the axis of x that each entry of an index vector counts along"),
        "operand_batching_dims": ints("axes of x that run together with an axis of the indices"),
        "start_indices_batching_dims": ints("the axes of the indices that they run with"),
        "slice_sizes": sizes("the window's size along each axis of x"),
        "mode": choice("clip", "fill", "promise_in_bounds", doc="what becomes of windows that leave x"),
        "fill_value": elements("the value of elements out of range in mode fill"),
    }

    @staticmethod
    def map(x_rank: int, indices_rank: int, attributes: dict[str, Any]) -> WindowMap:
        """The window map that the attributes state."""
        return WindowMap(
            x_rank,
            indices_rank,
            tuple(attributes["offset_dims"]),
            tuple(attributes["collapsed_slice_dims"]),
            tuple(attributes["start_index_map"]),
            tuple(attributes["operand_batching_dims"]),
            tuple(attributes["start_indices_batching_dims"]),
        )

    @staticmethod
    def infer(
        x: TensorType, start_indices: TensorType, *, slice_sizes: tuple[int | None, ...], **attributes: Any
    ) -> TensorType:
        numbers = Gather.map(x.rank, start_indices.rank, attributes)
        numbers.check("gather", start_indices.shape[-1] if start_indices.rank else None)
        require(len(slice_sizes) == x.rank, f"gather: slice_sizes {slice_sizes} must have the rank of {x}")
        for axis, (n, size) in enumerate(zip(slice_sizes, x.shape, strict=True)):
            hidden = axis in numbers.hidden
            require(
                not hidden or n == 1, f"gather: slice size {n} of collapsed or batching axis {axis} must be 1"
            )
            require(fits(n, size, hidden), f"gather: slice_sizes {slice_sizes} do not fit into {x}")
        check_batching("gather", numbers, x, start_indices)
        value = attributes["fill_value"]
        require(
            value.shape == ((2,) if x.dtype in COMPLEX else ()),
            f"gather: fill_value must be 0-d and of dtype {x.dtype}",
        )
        shape = numbers.result_shape(start_indices.shape, slice_sizes)
        empty = any(x.shape[axis] == 0 for axis in numbers.hidden)
        require(
            not empty or attributes["mode"] == "fill" or 0 in shape or None in shape,
            f"gather: {x} has no elements, for a result of shape {shape}",
        )
        return x.with_shape(shape)

    @staticmethod
    def evaluate(
        x: np.ndarray, start_indices: np.ndarray, *, slice_sizes: tuple[int, ...], **attributes: Any
    ) -> np.ndarray:
        numbers = Gather.map(x.ndim, start_indices.ndim, attributes)
        fill = attributes["mode"] == "fill"
        shape = numbers.result_shape(start_indices.shape, slice_sizes)
        if math.prod(shape) == 0:
            return np.zeros(shape, x.dtype)
        if x.size == 0:
            if not fill:
                raise RunTimeCheckError(f"gather: an array of shape {x.shape} has no elements")
            return np.full(shape, from_storage(attributes["fill_value"], x.dtype), x.dtype)
        arrays, inside = numbers.positions(x.shape, start_indices, slice_sizes, clip=not fill)
        result = np.broadcast_to(x[tuple(arrays)] if arrays else x, shape)
        if fill:
            result = np.where(inside, result, from_storage(attributes["fill_value"], x.dtype))
        return np.array(np.broadcast_to(result, shape), dtype=x.dtype)

    @staticmethod
    def lower(l: Any, x: Any, start_indices: Any, *, slice_sizes: tuple[Any, ...], **attributes: Any) -> Any:
        numbers = Gather.map(len(l.shape(x)), len(l.shape(start_indices)), attributes)
        fill = None
        if attributes["mode"] == "fill":
            fill = from_storage(attributes["fill_value"], l.result_type.dtype)
        return l.gather(x, start_indices, numbers, slice_sizes, fill)

    @staticmethod
    def jvp(b: Any, primals: Any, tangents: Any, result: Any, *, fill_value: Any, **attributes: Any) -> Any:
        """The windows of the tangent; what was filled is constant."""
        zero = storage(np.zeros((), b.tensor_type(tangents[0]).dtype))
        return b.gather(tangents[0], primals[1], fill_value=zero, **attributes)

    @staticmethod
    def transpose(b: Any, cotangent: Any, operands: Any, *, mode: str, **attributes: Any) -> Any:
        """Each element of `x` gets the sum of the cotangents of the places where it went."""
        x, indices = operands
        numbers = Gather.map(x.rank, b.tensor_type(indices).rank, attributes)
        found = b.scatter(
            b.full(0, x.sizes, x.dtype),
            indices,
            cotangent,
            kind="add",
            **numbers.of_scatter,
            mode="drop" if mode == "fill" else mode,
            unique_indices=False,
            indices_are_sorted=False,
        )
        return [found, None]

    @staticmethod
    def batch(
        b: Any,
        size: Any,
        operands: Any,
        batched: Any,
        *,
        slice_sizes: Any,
        mode: str,
        fill_value: Any,
        **attributes: Any,
    ) -> Any:
        """Windows through the whole batch where the indices are shared; else each at its own element."""
        x, indices = operands
        ranks = [b.tensor_type(v).rank - has for v, has in zip(operands, batched, strict=True)]
        numbers = Gather.map(ranks[0], ranks[1], attributes).batched(*batched)
        if batched[0]:
            slice_sizes = (1 if batched[1] else size, *slice_sizes)
        found = b.gather(
            x, indices, **numbers.of_gather, slice_sizes=slice_sizes, mode=mode, fill_value=fill_value
        )
        return [found], [True]

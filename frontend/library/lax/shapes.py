"""Primitives that make and rearrange arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ... import tree
from ...errors import ShapeError
from ...tracing.default_dtypes import stated_dtype
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.sizes import product
from .. import numpy as xp
from ..random import older_order
from .scalar_operands import axes_of, axis_of


def full(shape: Sequence[Any], fill_value: Any, dtype: Any = None) -> Any:
    """An array of `shape` filled with a scalar; its dtype is the scalar's unless given."""
    wanted = as_value(fill_value).dtype if dtype is None else stated_dtype(dtype)
    value = as_value(fill_value, wanted)
    return ops.broadcast_in_dim(value, shape=tuple(shape), dimensions=())


def full_like(x: Any, fill_value: Any, dtype: Any = None, shape: Sequence[Any] | None = None) -> Any:
    """`full` with the shape and dtype of `x` unless given."""
    value = as_value(x)
    return full(value.shape if shape is None else shape, fill_value, dtype or value.dtype)


def iota(dtype: Any, size: Any) -> Any:
    """`[0, 1, ..., size - 1]`."""
    return ops.iota(shape=(size,), axis=0, dtype=stated_dtype(dtype))


def broadcasted_iota(dtype: Any, shape: Sequence[Any], dimension: int) -> Any:
    """Counts along one axis of an array of `shape`."""
    return ops.iota(shape=tuple(shape), axis=axis_of(dimension, len(shape)), dtype=stated_dtype(dtype))


def broadcast(operand: Any, sizes: Sequence[Any]) -> Any:
    """`operand` repeated along new leading axes of `sizes`."""
    value = as_value(operand)
    new = len(sizes)
    dimensions = tuple(range(new, new + value.ndim))
    return ops.broadcast_in_dim(value, shape=(*sizes, *value.shape), dimensions=dimensions)


def broadcast_in_dim(operand: Any, shape: Sequence[Any], broadcast_dimensions: Sequence[int]) -> Any:
    """Axis `k` of `operand` becomes axis `broadcast_dimensions[k]`; axes of size 1 repeat."""
    return ops.broadcast_in_dim(as_value(operand), shape=tuple(shape), dimensions=tuple(broadcast_dimensions))


def reshape(operand: Any, new_sizes: Sequence[Any], dimensions: Sequence[int] | None = None) -> Any:
    """The same elements in row-major order under another shape; `dimensions` transposes first."""
    value = as_value(operand)
    if dimensions is not None:
        value = transpose(value, dimensions)
    return ops.reshape(value, shape=tuple(new_sizes))


def collapse(operand: Any, start_dimension: int, stop_dimension: int | None = None) -> Any:
    """Axes `start_dimension` to `stop_dimension` (exclusive) as one."""
    value = as_value(operand)
    stop = value.ndim if stop_dimension is None else stop_dimension
    shape = value.shape
    return ops.reshape(
        value, shape=(*shape[:start_dimension], product(shape[start_dimension:stop]), *shape[stop:])
    )


def expand_dims(array: Any, dimensions: Sequence[int]) -> Any:
    """New axes of size 1 at positions `dimensions` of the result."""
    value = as_value(array)
    rank = value.ndim + len(tuple(dimensions))
    new = axes_of(dimensions, rank)
    sizes = iter(value.shape)
    return ops.reshape(value, shape=tuple(1 if i in new else next(sizes) for i in range(rank)))


def squeeze(array: Any, dimensions: Sequence[int]) -> Any:
    """Without the axes `dimensions`, each of size 1."""
    value = as_value(array)
    gone = axes_of(dimensions, value.ndim)
    for axis in gone:
        if isinstance(value.shape[axis], int) and value.shape[axis] != 1:
            raise ShapeError(
                f"squeeze: axis {axis} of {ops.type_of(value)} has size {value.shape[axis]}, expected 1",
                where=user_location_text(),
            )
    return ops.reshape(value, shape=tuple(n for i, n in enumerate(value.shape) if i not in gone))


def transpose(operand: Any, permutation: Sequence[int]) -> Any:
    """Axis `k` of the result is axis `permutation[k]` of `operand`."""
    value = as_value(operand)
    return ops.transpose(value, permutation=axes_of(permutation, value.ndim, "permutation"))


def rev(operand: Any, dimensions: Sequence[int]) -> Any:
    """The elements in reverse order along `dimensions`."""
    value = as_value(operand)
    return ops.reverse(value, axes=axes_of(dimensions, value.ndim))


def concatenate(operands: Sequence[Any], dimension: int) -> Any:
    """Arrays joined along an axis."""
    values = [as_value(x) for x in operands]
    if not values:
        raise ShapeError("concatenate needs at least one array", where=user_location_text())
    return ops.concatenate(*values, axis=axis_of(dimension, values[0].ndim, "dimension"))


def pad(operand: Any, padding_value: Any, padding_config: Sequence[tuple[int, int, int]]) -> Any:
    """`(low, high, interior)` padding for each axis; negative low and high cut."""
    value = as_value(operand)
    low, high, interior = zip(*padding_config, strict=True) if padding_config else ((), (), ())
    return ops.pad(value, as_value(padding_value, value.dtype), low=low, high=high, interior=interior)


def slice(
    operand: Any,
    start_indices: Sequence[Any],
    limit_indices: Sequence[Any],
    strides: Sequence[int] | None = None,
) -> Any:
    """`operand[start:limit:stride, ...]` with static bounds."""
    value = as_value(operand)
    return ops.slice(
        value,
        start=tuple(start_indices),
        limit=tuple(limit_indices),
        strides=tuple(strides) if strides is not None else (1,) * value.ndim,
    )


def slice_in_dim(operand: Any, start_index: Any, limit_index: Any, stride: int = 1, axis: int = 0) -> Any:
    """`slice` along one axis; negative and None bounds as in Python."""
    value = as_value(operand)
    axis = axis_of(axis, value.ndim)
    n = value.shape[axis]
    first = 0 if start_index is None else start_index + n if start_index < 0 else start_index
    last = n if limit_index is None else limit_index + n if limit_index < 0 else limit_index
    starts, limits, strides = [0] * value.ndim, list(value.shape), [1] * value.ndim
    starts[axis], limits[axis], strides[axis] = first, last, stride
    return ops.slice(value, start=tuple(starts), limit=tuple(limits), strides=tuple(strides))


def dtype(x: Any) -> np.dtype:
    """The dtype of an array-like."""
    dtype_of_value: np.dtype = as_value(x).dtype
    return dtype_of_value


def index_in_dim(operand: Any, index: int, axis: int = 0, keepdims: bool = True) -> Any:
    """The slice at a static `index` along `axis`; negative ones count from the end."""
    value = as_value(operand)
    place = axis_of(axis, value.ndim)
    n = value.shape[place]
    if not isinstance(index, int) or (isinstance(n, int) and not -n <= index < n):
        raise ShapeError(
            f"index_in_dim: index {index!r} is out of range for axis {place} of {ops.type_of(value)}",
            where=user_location_text(),
        )
    slice_ = slice_in_dim(value, index, None if index == -1 else index + 1, axis=place)
    return slice_ if keepdims else squeeze(slice_, (place,))


def tile(operand: Any, reps: Sequence[int]) -> Any:
    """`operand` repeated `reps[k]` times along axis `k`."""
    value = as_value(operand)
    if len(reps) != value.ndim:
        raise ShapeError(
            f"tile: expected {value.ndim} repetitions, one an axis of {ops.type_of(value)}, got {len(reps)}",
            where=user_location_text(),
        )
    return xp.tile(value, tuple(reps))


def stack(operands: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of one shape joined along a new axis."""
    values = [as_value(x) for x in operands]
    if not values:
        raise ShapeError("stack needs at least one array", where=user_location_text())
    place = axis_of(axis, values[0].ndim + 1)
    return concatenate([expand_dims(v, (place,)) for v in values], place)


def unstack(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """The slices along `axis`, without it."""
    value = as_value(x)
    place = axis_of(axis, value.ndim)
    size = value.shape[place]
    if not isinstance(size, int):
        raise ShapeError(
            f"unstack: the size {size} of axis {place} must be known while tracing",
            where=user_location_text(),
        )
    return tuple(index_in_dim(value, i, place, keepdims=False) for i in range(size))


def broadcast_shapes(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    """The shape that arrays of these shapes have when broadcast together."""
    return xp.broadcast_shapes(*shapes)


def broadcast_to_rank(x: Any, rank: int) -> Any:
    """`x` with new leading axes of size 1, `rank` axes in all."""
    value = as_value(x)
    if rank < value.ndim:
        raise ShapeError(
            f"broadcast_to_rank: {ops.type_of(value)} has more than {rank} axes", where=user_location_text()
        )
    return expand_dims(value, tuple(range(rank - value.ndim)))


def optimization_barrier(operand: Any) -> Any:
    """`operand`, a tree of arrays, as it is.

    In XLA nothing is moved across such a barrier; adze has none, and values do not depend on it.
    """
    return tree.map(as_value, operand)


def split(operand: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Pieces of the given sizes along `axis`, which they must fill."""
    value = as_value(operand)
    place = axis_of(axis, value.ndim)
    if any(n < 0 for n in sizes) or sum(sizes) != value.shape[place]:
        raise ShapeError(
            f"split: the sizes {tuple(sizes)} do not add up to axis {place} of {ops.type_of(value)}",
            where=user_location_text(),
        )
    ends = np.cumsum([0, *sizes]).tolist()
    return [slice_in_dim(value, start, end, axis=place) for start, end in pairwise(ends)]


def random_bits(key: Any, bit_width: int, shape: Sequence[Any]) -> Any:
    """Random bits by Threefry-2x32 from a key of two uint32: unsigned integers of `bit_width`."""
    return older_order.random_bits(as_value(key, np.uint32), shape=tuple(shape), width=bit_width)

"""Shapes and the order of axes: reshape, transpose, squeeze, broadcast, flip, roll, repeat, tile.

Each is a few movement primitives; sizes may be dynamic wherever the result's shape can be stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ....dialects.types import BOOL, INT64, INTEGERS
from ...errors import ShapeError
from ...tracing.array import Array
from ...tracing.frames import Tracer
from ...tracing.interpreter import as_weak, ops, wide_of
from ...tracing.sizes import Dim, maximum, product
from ...tree import ARRAY_NODES
from .arguments import (
    argument_error,
    count_array,
    count_of,
    drop_unit_axes,
    insert_unit_axes,
    integer,
    normalize_axes,
    normalize_axis,
    reshaped,
    scalar,
    shape_error,
    shape_of,
    type_error,
)
from .arguments import size as one_size
from .arithmetic import negative, remainder
from .cumulative import part
from .promotion import asarray_of, broadcast, broadcast_together, convert, is_one, same_size, type_text
from .promotion import broadcast_shapes as _broadcast_shapes


def reshape(
    a: Any, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: bool | None = None
) -> Any:
    """The elements in row-major order (`order="F"`: column-major) under another shape; one size may be -1."""
    value = asarray_of(a)
    wanted = _given_sizes("reshape", value, newshape if shape is None else shape)
    if order == "F":
        flipped = ops.transpose(value, permutation=tuple(range(value.ndim))[::-1])
        result = ops.reshape(flipped, shape=wanted[::-1])
        return ops.transpose(result, permutation=tuple(range(len(wanted)))[::-1])
    if order not in ("C", "A"):
        raise argument_error(f"reshape: order is {order!r}, expected 'C' or 'F'")
    return reshaped(value, wanted)


def _given_sizes(function: str, value: Any, shape: Any) -> tuple[Any, ...]:
    """The sizes asked for, -1 replaced by what is left over."""
    entries = shape if isinstance(shape, (tuple, list)) else (shape,)
    sizes = tuple(one_size(function, n) for n in entries)
    unknown = [k for k, n in enumerate(sizes) if not isinstance(n, Dim) and n == -1]
    if len(unknown) > 1 or any(not isinstance(n, Dim) and n < -1 for n in sizes):
        raise shape_error(f"{function}: shape {sizes} may have one -1 and no other negative size")
    total = product(value.shape)
    rest = product(n for k, n in enumerate(sizes) if k not in unknown)
    if unknown:
        return tuple(_left_over(function, value, sizes) if k in unknown else n for k, n in enumerate(sizes))
    if not isinstance(total, Dim) and not isinstance(rest, Dim) and total != rest:
        raise shape_error(
            f"{function}: cannot reshape {type_text(value)} ({total} elements) into shape {sizes}"
        )
    return sizes


def _left_over(function: str, value: Any, sizes: tuple[Any, ...]) -> Any:
    """The size that -1 stands for: that of the axes which the others do not name."""
    left = list(value.shape)
    other = [n for n in sizes if isinstance(n, Dim) or n != -1]
    for n in tuple(other):
        if isinstance(n, Dim) and any(same_size(n, m) for m in left):
            left = list(_without(left, n))
            other = list(_without(other, n))
    total, rest = product(left), product(other)
    if isinstance(rest, int) and rest > 1 and isinstance(total, Dim):
        static = product(n for n in left if not isinstance(n, Dim))
        if static % rest == 0:
            return product((*(n for n in left if isinstance(n, Dim)), static // rest))
    if isinstance(total, Dim) or isinstance(rest, Dim):
        return total // rest
    if rest == 0 or total % rest:
        raise shape_error(
            f"{function}: cannot reshape {type_text(value)} ({product(value.shape)} elements) into shape "
            f"{sizes}"
        )
    return total // rest


def _without(sizes: Sequence[Any], left_out: Any) -> Iterator[Any]:
    """Sizes without the first that is equal to `left_out`."""
    remaining = iter(sizes)
    for n in remaining:
        if same_size(n, left_out):
            break
        yield n
    yield from remaining


def ravel(a: Any, order: str = "C") -> Any:
    """The elements as a vector, in row-major order."""
    return reshape(a, (-1,), order) if order == "F" else _flattened(asarray_of(a))


def _flattened(value: Any) -> Any:
    return value if value.ndim == 1 else reshaped(value, (count_of(value.shape, range(value.ndim)),))


def shape(a: Any) -> tuple[Any, ...]:
    """The shape of an array."""
    return tuple(_array(a).shape)


def ndim(a: Any) -> int:
    """The number of axes of an array."""
    return int(_array(a).ndim)


def size(a: Any, axis: Any = None) -> Any:
    """The number of elements, in all or along `axis`."""
    value = _array(a)
    return count_of(value.shape, normalize_axes("size", axis, value.ndim))


def _array(a: Any) -> Any:
    """`a`, or the array of it; a node that is one array has a shape of its own."""
    return a if type(a) in ARRAY_NODES else asarray_of(a)


def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order, reversed when `axes` is None."""
    value = asarray_of(a)
    if axes is None:
        axes = tuple(range(value.ndim))[::-1]
    if not isinstance(axes, Iterable):
        raise type_error(f"transpose: expected all axes as a tuple, got {axes!r}")
    order = normalize_axes("transpose", tuple(axes), value.ndim)
    if len(order) != value.ndim:
        raise shape_error(f"transpose: axes {tuple(axes)} must name every axis of {type_text(value)} once")
    return value if order == tuple(range(value.ndim)) else ops.transpose(value, permutation=order)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """The axes in the order `axes`."""
    return transpose(x, axes)


def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged."""
    value = asarray_of(x)
    if value.ndim < 2:
        raise shape_error(f"matrix_transpose: expected at least 2 dimensions, got {type_text(value)}")
    return swapaxes(value, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    value = asarray_of(a)
    order = list(range(value.ndim))
    first, second = (normalize_axis("swapaxes", number, value.ndim) for number in (axis1, axis2))
    order[first], order[second] = second, first
    return transpose(value, order)


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to new positions, the others keeping their order."""
    value = asarray_of(a)
    start = normalize_axes("moveaxis", source, value.ndim)
    end = normalize_axes("moveaxis", destination, value.ndim)
    if len(start) != len(end):
        raise shape_error(f"moveaxis: source {source} and destination {destination} must have equal lengths")
    order = [number for number in range(value.ndim) if number not in start]
    for position, axis in sorted(zip(end, start, strict=True)):
        order.insert(position, axis)
    return transpose(value, order)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """`axis` rolled back until it lies before `start`."""
    rank = asarray_of(a).ndim
    source = normalize_axis("rollaxis", axis, rank)
    target = start + rank if start < 0 else start
    return moveaxis(a, source, target - 1 if source < target else target)


def expand_dims(a: Any, axis: Any = 0) -> Any:
    """Axes of size 1 put in at the positions `axis`."""
    value = asarray_of(a)
    count = len(axis) if isinstance(axis, Sequence) and not isinstance(axis, str) else 1
    result = insert_unit_axes(wide_of(value), normalize_axes("expand_dims", axis, value.ndim + count))
    return as_weak(result) if value.weak_type else result


def squeeze(a: Any, axis: Any = None) -> Any:
    """Axes of size 1 taken out: those named, or all that have static size 1."""
    value = asarray_of(a)
    if axis is None:
        axes = tuple(number for number, n in enumerate(value.shape) if is_one(n))
    else:
        axes = normalize_axes("squeeze", axis, value.ndim)
    return drop_unit_axes("squeeze", value, axes)


def atleast_1d(*arrays: Any) -> Any:
    """Arrays of at least one axis."""
    results = [reshape(v, (1,)) if v.ndim == 0 else v for v in map(asarray_of, arrays)]
    return results[0] if len(results) == 1 else tuple(results)


def atleast_2d(*arrays: Any) -> Any:
    """Arrays of at least two axes; new ones come first."""
    results = [insert_unit_axes(v, tuple(range(2 - v.ndim))) for v in map(asarray_of, arrays)]
    return results[0] if len(results) == 1 else tuple(results)


def atleast_3d(*arrays: Any) -> Any:
    """Arrays of at least three axes: a vector becomes `[1, n, 1]`, a matrix `[m, n, 1]`."""
    places = {0: (0, 1, 2), 1: (0, 2), 2: (2,)}
    results = [insert_unit_axes(v, places.get(v.ndim, ())) for v in map(asarray_of, arrays)]
    return results[0] if len(results) == 1 else tuple(results)


# -- broadcasting ------------------------------------------------------------------------------


def broadcast_to(array: Any, shape: Any) -> Any:
    """`array` repeated along new and unit axes to `shape`."""
    return broadcast(asarray_of(array), shape_of("broadcast_to", shape))


def broadcast_arrays(*arrays: Any) -> list[Any]:
    """The arrays in the shape that they broadcast to, dtypes kept."""
    return broadcast_together([asarray_of(a) for a in arrays]) if arrays else []


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """The shape that `shapes` broadcast to."""
    try:
        return _broadcast_shapes(*(shape_of("broadcast_shapes", s) for s in shapes))
    except ShapeError as error:
        raise shape_error(f"broadcast_shapes: {error.message}") from None


# -- order -------------------------------------------------------------------------------------


def flip(m: Any, axis: Any = None) -> Any:
    """The order along `axis` (along all axes when None) turned around."""
    value = asarray_of(m)
    return ops.reverse(value, axes=normalize_axes("flip", axis, value.ndim))


def fliplr(m: Any) -> Any:
    """The second axis turned around."""
    return flip(m, 1)


def flipud(m: Any) -> Any:
    """The first axis turned around."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """`m` turned by 90 degrees `k` times in the plane of two axes, from the first toward the second."""
    value = asarray_of(m)
    first, second = normalize_axes("rot90", tuple(axes), value.ndim)
    turns = k % 4
    if turns == 0:
        return value
    if turns == 2:
        return flip(value, (first, second))
    if turns == 1:
        return swapaxes(flip(value, second), first, second)
    return flip(swapaxes(value, first, second), second)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements moved along `axis` by `shift`, those that leave coming back at the other end.

    `axis` and `shift` may be several, or one for all of the other; shifts may be traced integers.
    """
    value = asarray_of(a)
    if axis is None:
        return reshape(roll(_flattened(value), shift, 0), value.shape)
    axes = [
        normalize_axis("roll", number, value.ndim)
        for number in (axis if isinstance(axis, (tuple, list)) else (axis,))
    ]
    shifts = _shifts(shift)
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise shape_error(f"roll: shift {shift} and axis {axis} must have equal lengths")
    count = max(len(shifts), len(axes))
    for move, place in zip(shifts * (count // len(shifts)), axes * (count // len(axes)), strict=True):
        value = _rolled(value, move, place)
    return value


def _shifts(shift: Any) -> list[Any]:
    """The shifts one by one: Python integers, and 0-d tracers of integers."""
    if isinstance(shift, (tuple, list)):
        return [one for s in shift for one in _shifts(s)]
    if not isinstance(shift, (Tracer, Array, np.ndarray)):
        return [integer("roll", shift, "shift")]
    if shift.dtype not in INTEGERS and shift.dtype != BOOL:
        raise type_error(f"roll: shift must be of integers, got {type_text(shift)}")
    if shift.ndim > 1:
        raise shape_error(f"roll: shift must be a number or a vector, got {type_text(shift)}")
    shifts = list(shift) if shift.ndim else [shift]
    return [s if isinstance(s, Tracer) else int(s) for s in shifts]


def _rolled(value: Any, shift: Any, axis: int) -> Any:
    """The axis cut in two parts, which change places; where the cut is traced, a window of the axis twice."""
    size = value.shape[axis]
    if isinstance(shift, Tracer):
        shape = list(value.shape)
        starts = [scalar(0, INT64)] * value.ndim
        starts[axis] = remainder(negative(convert(shift, INT64)), count_array(size, INT64))
        twice = ops.concatenate(value, value, axis=axis)
        return ops.dynamic_slice(twice, *starts, slice_sizes=tuple(shape))
    cut = -shift % maximum(size, 1)
    if not isinstance(cut, Dim) and cut == 0:
        return value
    return ops.concatenate(part(value, axis, cut, size), part(value, axis, 0, cut), axis=axis)


# -- repetition --------------------------------------------------------------------------------

"""Reading by index: `x[...]`, with NumPy's rules of shape.

Integers and slices lower to slice and reverse, traced integers to dynamic_slice, integer arrays to one
gather. Integers known while tracing are checked; values of arrays that are out of bounds are clamped, as
JAX has it, unless `outside` says something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....dialects.types import INT32, INT64
from ....passes.analysis.evaluate import is_watching
from ...errors import IndexBoundsError, ShapeError
from ...tracing.array import Array
from ...tracing.frames import current_frame
from ...tracing.interludes import suspended_frame
from ...tracing.interpreter import as_weak, ops, wide_of
from ...tracing.locations import user_location_text
from .arguments import scalar
from .index_expressions import (
    BY_DEFAULT,
    Bounds,
    Item,
    OutOfBounds,
    bounds,
    is_full,
    known_masks,
    parse,
    require_no_mask,
)
from .promotion import asarray_of, broadcast, broadcast_shapes, same_size
from .sized_slices import has_sized, window
from .taking import gather_at


def get_index(x: Any, index: Any, outside: OutOfBounds = BY_DEFAULT, fill_value: Any = None) -> Any:
    """`x[index]`; `outside` and `fill_value` say what indices out of bounds give."""
    value = asarray_of(x)
    if has_sized(index):
        is_weak = value.weak_type
        value, index = window(value, index)
        value = as_weak(value) if is_weak and not value.weak_type else value
    items = parse(value, known_masks(index), outside)
    require_no_mask(value, items)
    fills = outside.gathers_with == "fill" or outside.mode == "wrap"
    gathers = any(i.kind == "array" for i in items) or (fills and _has_scalar(items))
    weak, value = value.weak_type, wide_of(value)
    result = _advanced(value, items, outside, fill_value) if gathers else _basic(value, items, outside)
    return as_weak(result) if weak else result


def rows_of(x: Any) -> Iterator[Any]:
    """`x[0]`, `x[1]`, ... of an array with an axis at least; outside of traces views of its memory."""
    is_plain = type(x) is Array and not x.weak_type and not is_watching()
    if is_plain and current_frame() is None and suspended_frame() is None:
        return map(Array, x.numpy())
    return (x[i] for i in range(len(x)))


def _has_scalar(items: Sequence[Item]) -> bool:
    return any(i.kind == "scalar" for i in items)


# -- integers and slices -----------------------------------------------------------------------


def _basic(value: Any, items: Sequence[Item], outside: OutOfBounds) -> Any:
    if _has_scalar(items):
        known = [Item("slice", slice(None), i.axis) if i.kind == "scalar" else i for i in items]
        value = _windowed(value, known)
        value = _at_scalars(value, [i for i in items if i.kind == "scalar"], outside)
    else:
        value = _windowed(value, items)
    return _arranged(value, items)


def _windowed(value: Any, items: Sequence[Item]) -> Any:
    """The part of `value` that integers and slices take, rank kept; arrays and scalars take all."""
    window = {
        i.axis: bounds(value, i) for i in items if i.kind == "int" or (i.kind == "slice" and not is_full(i))
    }
    if not window:
        return value
    whole = [Bounds(0, n, 1, False, False) for n in value.shape]
    taken = [window.get(a, w) for a, w in enumerate(whole)]
    value = _flipped(value, [a for a, w in enumerate(taken) if w.flip_before])
    if not all(_is_whole(w, n) for w, n in zip(taken, value.shape, strict=True)):
        value = ops.slice(
            value,
            start=tuple(w.start for w in taken),
            limit=tuple(w.limit for w in taken),
            strides=tuple(w.stride for w in taken),
        )
    return _flipped(value, [a for a, w in enumerate(taken) if w.flip_after])


def _is_whole(w: Bounds, size: Any) -> bool:
    return w.stride == 1 and isinstance(w.start, int) and w.start == 0 and same_size(w.limit, size)


def _flipped(value: Any, axes: Sequence[Any]) -> Any:
    return ops.reverse(value, axes=tuple(axes)) if axes else value


def _at_scalars(value: Any, scalars: Sequence[Item], outside: OutOfBounds) -> Any:
    """The window of size 1 at traced positions, clamped into the array."""
    dtype = INT32 if all(i.value.dtype == INT32 for i in scalars) else INT64
    starts = [scalar(0, dtype)] * value.ndim
    sizes = list(value.shape)
    for item in scalars:
        assert item.axis is not None
        position = outside.positions(item.value, value.shape[item.axis])
        starts[item.axis] = position if position.dtype == dtype else ops.convert(position, dtype=dtype)
        sizes[item.axis] = 1
    return ops.dynamic_slice(value, *starts, slice_sizes=tuple(sizes))


def _arranged(value: Any, items: Sequence[Item]) -> Any:
    """`value` with axes of integers taken out and new axes put in."""
    if all(i.kind == "slice" for i in items):
        return value
    shape = tuple(1 if i.kind == "new" else value.shape[i.axis] for i in items if i.kind in ("new", "slice"))
    return ops.reshape(value, shape=shape)


# -- arrays ------------------------------------------------------------------------------------


def batch_place(items: Sequence[Item]) -> int | None:
    """After which item the axes of array indices come: None when the indices are apart, so they lead."""
    advanced = [k for k, item in enumerate(items) if item.is_advanced]
    together = advanced == list(range(advanced[0], advanced[-1] + 1))
    return advanced[0] if together else None


def batch_shape(items: Sequence[Item]) -> tuple[Any, ...]:
    """The shape that the array indices broadcast to."""
    shapes = [i.value.shape for i in items if i.kind in ("array", "scalar")]
    try:
        return broadcast_shapes(*shapes)
    except ShapeError:
        raise IndexBoundsError(
            "index arrays could not be broadcast together: "
            f"shapes {', '.join(str(tuple(s)) for s in shapes)}",
            where=user_location_text(),
        ) from None


def _advanced(value: Any, items: Sequence[Item], outside: OutOfBounds, fill_value: Any) -> Any:
    window = _windowed(value, items)
    dropped = [i.axis for i in items if i.kind == "int"]
    kept = [a for a in range(value.ndim) if a not in dropped]
    window = ops.reshape(window, shape=tuple(window.shape[a] for a in kept)) if dropped else window
    indexed = [i for i in items if i.kind in ("array", "scalar") and i.axis is not None]
    shape = batch_shape(items)
    place = batch_place(items)
    before = items[:place] if place is not None else []
    slices_before = sum(i.kind == "slice" for i in before)
    axes = [k for k, axis in enumerate(kept) if axis in {i.axis for i in indexed}]
    if axes:
        positions = [
            broadcast(outside.positions(i.value, value.shape[i.axis]), shape)
            for i in indexed
            if i.axis is not None
        ]
        result = gather_at(window, axes, positions, slices_before, outside.gathers_with, fill_value)
    else:  # only a 0-d mask: an axis of size 1 or 0
        dimensions = tuple(a if a < slices_before else a + len(shape) for a in range(window.ndim))
        spread = [*window.shape[:slices_before], *shape, *window.shape[slices_before:]]
        result = ops.broadcast_in_dim(window, shape=tuple(spread), dimensions=dimensions)
    return _with_new_axes(result, items, place, len(shape))


def _with_new_axes(result: Any, items: Sequence[Item], place: int | None, batch: int) -> Any:
    """The gathered array with the new axes of the index where they were written."""
    if not any(i.kind == "new" for i in items):
        return result
    sizes = list(result.shape)
    shape: list[Any] = []
    if place is None:
        shape, sizes = sizes[:batch], sizes[batch:]
    for k, item in enumerate(items):
        if k == place:
            shape, sizes = [*shape, *sizes[:batch]], sizes[batch:]
        if item.kind == "new":
            shape.append(1)
        elif item.kind == "slice":
            shape.append(sizes.pop(0))
    return ops.reshape(result, shape=tuple(shape))

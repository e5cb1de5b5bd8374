"""Writing by index: `x.at[...].set(y)` and its kin, which give a new array.

Contiguous windows become dynamic_update_slice, strided ones a padded select, masks a select, and traced
integers and integer arrays one scatter, whose windows are the contiguous slices beside them. Traced positions
out of bounds are dropped, as JAX has it, unless `mode="clip"`; integers known while tracing are checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, INT64
from ...errors import ShapeError
from ...tracing.array import Array
from ...tracing.interpreter import as_value, ops, wide_of
from ...tracing.jax_rules import follows_jax
from ...tracing.locations import user_location
from ...tracing.sizes import Dim
from .arguments import argument_error, count_array, dtype_error, scalar, shape_error
from .arithmetic import add, maximum, minimum, multiply
from .dtypes import can_cast
from .index_expressions import BY_DEFAULT, Bounds, Item, OutOfBounds, bounds, is_full, parse
from .indexing import batch_place, batch_shape
from .promotion import (
    PYTHON_SCALARS,
    asarray_of,
    broadcast,
    broadcast_shapes,
    convert,
    is_one,
    same_shape,
    same_size,
    type_text,
)
from .sized_slices import has_sized, positions
from .taking import join_positions

_COMBINE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "set": lambda old, new: new,
    "add": add,
    "mul": multiply,
    "min": minimum,
    "max": maximum,
}


def update_index(
    x: Any, index: Any, values: Any, kind: str, outside: OutOfBounds = BY_DEFAULT, is_unique: bool = False
) -> Any:
    """`x` with `x[index]` replaced by `values` (`set`), or combined with them (add, mul, min, max)."""
    value = asarray_of(x)
    index = positions(value, index) if has_sized(index) else index
    new = values_for(value, values)
    masked = _masked(value, index, new, kind)
    if masked is not None:
        return masked
    items = parse(value, index, outside)
    if any(i.kind == "mask" for i in items):
        raise argument_error(
            f"x.at[mask] with a traced mask takes a value that does not depend on the number of true "
            f"elements, and no other index, got {type_text(new)}",
            "use adze.numpy.where(mask, values, x) with values in the shape of x",
        )
    if any(i.kind in ("array", "scalar") for i in items):
        return _scatter(value, items, new, kind, outside, is_unique)
    return _window(value, items, new, kind)


def values_for(x: Any, values: Any) -> Any:
    """The values to write into `x`, in its dtype, which must be able to hold their kind of number."""
    if type(values) in PYTHON_SCALARS:
        wanted = {bool: "b", int: "i", float: "f", complex: "c"}[type(values)]
        if "biufc".index(wanted.replace("u", "i")) <= "biufc".index(
            x.dtype.kind if x.dtype.kind in "biufc" else "f"
        ):
            return convert(values, x.dtype)
        if follows_jax():
            return _cast(as_value(values), x.dtype)
        raise dtype_error(
            f"cannot write {values!r} into {type_text(x)} without losing its kind of number",
            "convert the array first: x.astype(...)",
        )
    new = asarray_of(values)
    if new.dtype != x.dtype and not new.weak_type and not can_cast(new.dtype, x.dtype, "same_kind"):
        if follows_jax():
            return _cast(new, x.dtype)
        raise dtype_error(
            f"cannot write {type_text(new)} into {type_text(x)} without losing its kind of number",
            "convert one of them first with .astype",
        )
    return convert(new, x.dtype)


def _cast(new: Any, dtype: np.dtype) -> Any:
    """Values of another kind of number in the dtype of what they are written into, with JAX's warning."""
    text = (
        f"scatter inputs have incompatible types: cannot safely cast value from dtype={new.dtype.name} to "
        f"dtype={dtype.name}; the part behind the point, or the imaginary part, is lost"
    )
    warnings.warn_explicit(text, FutureWarning, *user_location())
    return ops.convert(ops.real(new) if new.dtype.kind == "c" else wide_of(new), dtype=dtype)


def _fitted(new: Any, shape: Sequence[Any], x: Any) -> Any:
    """The values broadcast to the shape of what the index selects; leading axes of size 1 may be too many."""
    extra = new.ndim - len(shape)
    if extra > 0 and all(is_one(n) for n in new.shape[:extra]):
        new = ops.reshape(new, shape=tuple(new.shape[extra:]))
    try:
        fits = new.ndim <= len(shape) and same_or_dynamic(broadcast_shapes(new.shape, shape), shape)
    except ShapeError:
        fits = False
    if not fits:
        raise shape_error(
            f"cannot write {type_text(new)} into the part of shape ({', '.join(map(str, shape))}) "
            f"of {type_text(x)}"
        )
    return broadcast(new, shape)


def same_or_dynamic(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether two shapes may be equal: dynamic sizes are checked when the program runs."""
    return len(left) == len(right) and all(
        isinstance(n, Dim) or isinstance(m, Dim) or same_size(n, m) for n, m in zip(left, right, strict=True)
    )


# -- masks -------------------------------------------------------------------------------------


def _masked(x: Any, index: Any, new: Any, kind: str) -> Any:
    """The update by one boolean mask over the leading axes, or None when the index is something else."""
    entries = index if isinstance(index, tuple) else (index,)
    if not entries or isinstance(entries[0], (int, slice)) or entries[0] is None or entries[0] is Ellipsis:
        return None
    if any(not (e is Ellipsis or (isinstance(e, slice) and e == slice(None))) for e in entries[1:]):
        return None
    mask = asarray_of(entries[0])
    if mask.dtype != BOOL or mask.ndim == 0:
        return None
    parse(x, entries)  # checks ranks and sizes
    rest = x.shape[mask.ndim :]
    if new.ndim > len(rest) and not (new.ndim == len(rest) + 1 and is_one(new.shape[0])):
        return None
    new = broadcast(_fitted(new, rest, x), x.shape)
    if any(isinstance(n, int) and n == 0 for n in mask.shape):
        return x  # the mask may be empty along axes that are not
    mask = ops.broadcast_in_dim(mask, shape=x.shape, dimensions=tuple(range(mask.ndim)))
    return ops.select(mask, _combined(kind, x, new), x)


def _combined(kind: str, old: Any, new: Any) -> Any:
    return _COMBINE[kind](old, new)


# -- windows -----------------------------------------------------------------------------------


def _window(x: Any, items: Sequence[Item], new: Any, kind: str) -> Any:
    taken = [Bounds(0, n, 1, False, False) for n in x.shape]
    for item in items:
        if item.axis is not None and not (item.kind == "slice" and is_full(item)):
            taken[item.axis] = bounds(x, item)
    shape = tuple(
        1 if i.axis is None else taken[i.axis].length for i in items if i.kind not in ("int", "gap")
    )
    single = _single(new, kind)
    new = _fitted(new, shape, x)
    region = tuple(w.length for w in taken)
    if not same_shape(new.shape, region):
        new = ops.reshape(new, shape=region)
    flips = tuple(a for a, w in enumerate(taken) if w.flip_after)
    new = ops.reverse(new, axes=flips) if flips else new
    before = tuple(a for a, w in enumerate(taken) if w.flip_before)
    turned = ops.reverse(x, axes=before) if before else x
    result = _written(turned, taken, new, kind, single)
    return ops.reverse(result, axes=before) if before else result


def _single(new: Any, kind: str) -> Any:
    """The one number that is written everywhere, None for others.

    Elements that stay are combined with it too and then not chosen. A product would give them a cotangent of
    0 times what they are or are multiplied by, which has to be finite.
    """
    if not all(is_one(n) for n in new.shape):
        return None
    number = ops.reshape(new, shape=()) if new.ndim else new
    is_safe = kind != "mul" or (isinstance(number, Array) and bool(np.isfinite(number.numpy())))
    return number if is_safe else None


def _written(x: Any, taken: Sequence[Bounds], new: Any, kind: str, single: Any) -> Any:
    if not any(w.flip_before for w in taken) and same_shape(new.shape, x.shape):
        return _combined(kind, x, new)
    start = tuple(w.start for w in taken)
    limit = tuple(w.limit for w in taken)
    strides = tuple(w.stride for w in taken)
    is_strided = any(s != 1 for s in strides)
    if kind != "set" and not (is_strided and single is not None):
        old = ops.slice(x, start=start, limit=limit, strides=strides)
        new = _combined(kind, old, new)
    if not is_strided:
        return ops.dynamic_update_slice(x, new, *(count_array(s, INT64) for s in start))
    high = tuple(
        n - (s + (w.length - 1) * w.stride + 1) for n, s, w in zip(x.shape, start, taken, strict=True)
    )
    if any(isinstance(w.length, int) and w.length == 0 for w in taken):
        return x
    interior = tuple(s - 1 for s in strides)
    if single is not None:
        spread = _combined(kind, x, broadcast(single, x.shape))
    else:
        spread = ops.pad(new, scalar(0, x.dtype), low=start, high=high, interior=interior)
    everywhere = ops.broadcast_in_dim(scalar(True, BOOL), shape=new.shape, dimensions=())
    mask = ops.pad(everywhere, scalar(False, BOOL), low=start, high=high, interior=interior)
    return ops.select(mask, spread, x)


# -- positions ---------------------------------------------------------------------------------


def _scatter(
    x: Any, items: Sequence[Item], new: Any, kind: str, outside: OutOfBounds, is_unique: bool
) -> Any:
    batch = batch_shape(items)
    place = batch_place(items)
    windows = [i for i in items if i.kind == "slice" and _is_window(x, i)]
    listed = [i for i in items if i.kind == "slice" and not any(i is w for w in windows)]
    lengths = {id(i): bounds(x, i).length for i in items if i.kind == "slice" and not is_full(i)}
    # What each axis of x[index] is: a batch axis (its number), the axis of a slice (its item), a new one.
    labels: list[Any] = []
    for k, item in enumerate(items):
        if k == place or (place is None and k == 0):
            labels = [*range(len(batch)), *labels] if place is None else [*labels, *range(len(batch))]
        if item.kind in ("new", "slice"):
            labels.append(item)
    shape = tuple(_label_size(x, label, batch, lengths) for label in labels)
    new = _fitted(new, shape, x)
    solid = [label for label in labels if isinstance(label, int) or label.kind != "new"]
    if len(solid) != len(labels):
        new = ops.reshape(new, shape=tuple(_label_size(x, label, batch, lengths) for label in solid))
    wanted = [*range(len(batch)), *listed, *windows]
    order = tuple(next(k for k, label in enumerate(solid) if label is w or label == w) for w in wanted)
    new = ops.transpose(new, permutation=order) if order != tuple(range(len(order))) else new
    outer = (*batch, *(lengths[id(i)] for i in listed))
    axes, positions = _scatter_positions(x, items, listed, windows, outer, len(batch), outside)
    if not axes:
        return (
            x
            if isinstance(batch[0], int) and batch[0] == 0
            else _combined(kind, x, broadcast(new[0], x.shape))
        )
    return ops.scatter(
        x,
        join_positions(positions),
        new,
        kind=kind,
        update_window_dims=tuple(range(len(outer), new.ndim)),
        inserted_window_dims=tuple(a for a in axes if not any(w.axis == a for w in windows)),
        scatter_dims_to_operand_dims=tuple(axes),
        operand_batching_dims=(),
        scatter_indices_batching_dims=(),
        mode=outside.scatters_with,
        unique_indices=is_unique,
        indices_are_sorted=False,
    )


def _is_window(x: Any, item: Item) -> bool:
    """Whether a slice is a whole axis, or known and contiguous: one window, written at once."""
    if is_full(item):
        return True
    size = x.shape[item.axis]
    known = all(v is None or isinstance(v, int) for v in (item.value.start, item.value.stop, item.value.step))
    if not (known and isinstance(size, int)):
        return False
    taken = bounds(x, item)
    return taken.stride == 1 and not (taken.flip_before or taken.flip_after)


def _label_size(x: Any, label: Any, batch: Sequence[Any], lengths: dict[int, Any]) -> Any:
    if isinstance(label, int):
        return batch[label]
    return 1 if label.kind == "new" else lengths.get(id(label), x.shape[label.axis])


def _scatter_positions(
    x: Any,
    items: Sequence[Item],
    listed: Sequence[Item],
    windows: Sequence[Item],
    outer: Sequence[Any],
    batch_rank: int,
    outside: OutOfBounds,
) -> tuple[list[int], list[Any]]:
    """The indexed axes in order, and for each its positions in the shape `outer`.

    A window that begins at 0 needs none.
    """
    axes: list[int] = []
    positions: list[Any] = []
    for item in items:
        if item.axis is None:
            continue
        size = x.shape[item.axis]
        if any(item is w for w in windows):
            if is_full(item) or bounds(x, item).start == 0:
                continue
            position: Any = broadcast(count_array(bounds(x, item).start, INT64), outer)
        elif item.kind == "int":
            position = broadcast(count_array(bounds(x, item).start, INT64), outer)
        elif item.kind == "slice":
            position = _slice_positions(bounds(x, item), size)
            along = batch_rank + next(k for k, i in enumerate(listed) if i is item)
            position = ops.broadcast_in_dim(position, shape=tuple(outer), dimensions=(along,))
        else:
            position = broadcast(outside.positions(item.value, size), outer[:batch_rank])
            position = ops.broadcast_in_dim(position, shape=tuple(outer), dimensions=tuple(range(batch_rank)))
        axes.append(item.axis)
        positions.append(position)
    return axes, positions


def _slice_positions(w: Bounds, size: Any) -> Any:
    """The positions along the axis that a slice takes, in its order."""
    count = ops.iota(shape=(w.length,), axis=0, dtype=INT64)
    position = add(multiply(count, np.int64(w.stride)), count_array(w.start, INT64))
    if w.flip_before:
        return add(multiply(position, np.int64(-1)), count_array(size - 1, INT64))
    return ops.reverse(position, axes=(0,)) if w.flip_after else position

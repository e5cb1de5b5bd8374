"""Putting arrays together and taking them apart: concatenate, stack, split, delete, insert, append."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from ....dialects.types import INTEGERS
from ...errors import IndexBoundsError
from ...tracing.array import Array
from ...tracing.frames import Tracer
from ...tracing.function_scope import keep_dimensions
from ...tracing.interpreter import ops
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim, maximum, minimum
from .arguments import (
    argument_error,
    concrete,
    dtype_of,
    insert_unit_axes,
    integer,
    normalize_axes,
    normalize_axis,
    refuse_out,
    shape_error,
    static_size,
    type_error,
)
from .arithmetic import clip
from .cumulative import part
from .promotion import (
    asarray_of,
    broadcast,
    broadcast_together,
    convert,
    promote,
    same_size,
    type_text,
)
from .reshaping import atleast_1d, atleast_2d, atleast_3d, moveaxis, ravel
from .searching import where
from .sorting import sort
from .taking import take

_LONGEST = 60  # characters of a sum of sizes: a loop in Python may join an array with itself again and again


def _sequence(function: str, arrays: Any) -> list[Any]:
    if isinstance(arrays, (Tracer, Array, np.ndarray)):
        items = list(asarray_of(arrays))
    elif isinstance(arrays, Sequence) and not isinstance(arrays, str):
        items = [asarray_of(a) for a in arrays]
    else:
        raise type_error(f"{function}: expected a sequence of arrays, got {type(arrays).__name__}")
    if not items:
        raise argument_error(f"{function}: need at least one array")
    return items


def concat(arrays: Any, /, *, axis: int | None = 0, dtype: Any = None) -> Any:
    """Arrays one after the other along `axis` (flattened when None), promoted to one dtype."""
    values = _sequence("concat", arrays)
    if isinstance(axis, (Tracer, Array, np.ndarray)) and axis.ndim:
        hint = "write concatenate([x, y]): the arrays are one list"
        raise type_error("concat: the axis is an array, expected an integer", hint)
    if axis is None:
        values, axis = [ravel(v) for v in values], 0
    rank = values[0].ndim
    if rank == 0:
        raise shape_error("concat: 0-d arrays cannot be concatenated", "use stack")
    place = normalize_axis("concat", axis, rank)
    for value in values[1:]:
        fits = value.ndim == rank and all(
            a == place or isinstance(n, Dim) or isinstance(m, Dim) or same_size(n, m)
            for a, (n, m) in enumerate(zip(value.shape, values[0].shape, strict=True))
        )
        if not fits:
            raise shape_error(
                f"concat: arrays must agree in all axes but {place}: got {', '.join(map(type_text, values))}"
            )
    joined = [*promote(*values)] if dtype is None else [convert(v, dtype_of("concat", dtype)) for v in values]
    if len(joined) == 1:
        return joined[0]
    result = ops.concatenate(*joined, axis=place)
    return _named(result, joined, place) if isinstance(result, Tracer) else result


def _named(result: Tracer, joined: Sequence[Any], place: int) -> Any:
    """`result` with the sizes of what was joined along `place`, unless their sum is a long expression."""
    sizes = [v.shape[place] for v in joined]
    if result.type.is_static or sum(len(str(n)) for n in sizes) > _LONGEST:
        return result
    shape = [
        known if known is not None else next(v.shape[axis] for v in joined if isinstance(v.shape[axis], Dim))
        for axis, known in enumerate(result.type.shape)
        if axis != place
    ]
    return keep_dimensions(result, (*shape[:place], reduce(operator.add, sizes), *shape[place:]))


def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None) -> Any:
    """`concat` under NumPy's name."""
    refuse_out("concatenate", out)
    return concat(arrays, axis=axis, dtype=dtype)


def stack(arrays: Any, axis: int = 0, out: Any = None, dtype: Any = None) -> Any:
    """Arrays of one shape along a new axis."""
    refuse_out("stack", out)
    values = _sequence("stack", arrays)
    first = values[0]
    for value in values[1:]:
        fits = value.ndim == first.ndim and all(
            isinstance(n, Dim) or isinstance(m, Dim) or same_size(n, m)
            for n, m in zip(value.shape, first.shape, strict=True)
        )
        if not fits:
            raise shape_error(f"stack: arrays must have one shape: got {', '.join(map(type_text, values))}")
    place = normalize_axis("stack", axis, first.ndim + 1)
    return concat([insert_unit_axes(v, (place,)) for v in values], axis=place, dtype=dtype)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """The slices of `x` along `axis`, without that axis."""
    value = asarray_of(x)
    place = normalize_axis("unstack", axis, value.ndim)
    count = static_size("unstack", value.shape[place], f"axis {place}")
    rest = tuple(n for a, n in enumerate(value.shape) if a != place)
    return tuple(ops.reshape(part(value, place, i, i + 1), shape=rest) for i in range(count))


def hstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays side by side: along the second axis, vectors along their only one."""
    values = [atleast_1d(v) for v in _sequence("hstack", tup)]
    return concat(values, axis=0 if values[0].ndim == 1 else 1, dtype=dtype)


def vstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays on top of each other: along the first axis, vectors as rows."""
    return concat([atleast_2d(v) for v in _sequence("vstack", tup)], axis=0, dtype=dtype)


def dstack(tup: Any, dtype: Any = None) -> Any:
    """Arrays behind each other, along the third axis."""
    return concat([atleast_3d(v) for v in _sequence("dstack", tup)], axis=2, dtype=dtype)


def column_stack(tup: Any) -> Any:
    """Vectors as columns, matrices side by side."""
    columns = [
        insert_unit_axes(v, (1,)) if v.ndim == 1 else v
        for v in map(atleast_1d, _sequence("column_stack", tup))
    ]
    return concat(columns, axis=1)


def block(arrays: Any) -> Any:
    """An array of nested lists of blocks, the innermost lists joined along the last axis."""

    def depth(item: Any) -> int:
        return 1 + max(map(depth, item)) if isinstance(item, list) else 0

    def leaves(item: Any) -> list[Any]:
        return [leaf for i in item for leaf in leaves(i)] if isinstance(item, list) else [asarray_of(item)]

    levels = depth(arrays)
    rank = max(levels, *(leaf.ndim for leaf in leaves(arrays)))

    def join(item: Any, level: int) -> Any:
        if not isinstance(item, list):
            value = asarray_of(item)
            return insert_unit_axes(value, tuple(range(rank - value.ndim)))
        return concat([join(i, level + 1) for i in item], axis=rank - levels + level)

    return join(arrays, 0)


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """`arr` with `values` after it along `axis` (both flattened when None)."""
    return concat((arr, values), axis=axis)


# -- apart -------------------------------------------------------------------------------------


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`ary` in several parts along `axis`: at given positions, or in nearly equal sections."""
    value = asarray_of(ary)
    place = normalize_axis("array_split", axis, value.ndim)
    size = value.shape[place]
    if np.ndim(indices_or_sections) == 0:
        sections = integer("array_split", indices_or_sections, "the number of sections")
        if sections <= 0:
            raise argument_error(f"array_split: the number of sections must be positive, got {sections}")
        each, more = size // sections, size % sections
        bounds = [each * k + minimum(more, k) for k in range(sections + 1)]
    else:
        cuts = [integer("array_split", i, "a position") for i in indices_or_sections]
        bounds = [0, *(minimum(maximum(size + c, 0) if c < 0 else c, size) for c in cuts), size]
    return [part(value, place, low, maximum(low, high)) for low, high in pairwise(bounds)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`ary` in equal sections along `axis`, or at given positions."""
    value = asarray_of(ary)
    place = normalize_axis("split", axis, value.ndim)
    if np.ndim(indices_or_sections) == 0 and isinstance(value.shape[place], int):
        sections = integer("split", indices_or_sections, "the number of sections")
        if sections <= 0 or value.shape[place] % sections:
            raise shape_error(
                f"split: axis {place} of {type_text(value)} cannot be split into {sections} equal sections",
                "array_split allows unequal ones",
            )
    return array_split(value, indices_or_sections, place)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along the first axis."""
    return split(ary, indices_or_sections, 0)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along the second axis, of vectors along their only one."""
    return split(ary, indices_or_sections, 0 if asarray_of(ary).ndim == 1 else 1)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """`split` along the third axis."""
    return split(ary, indices_or_sections, 2)


def delete(arr: Any, obj: Any, axis: int | None = None, *, assume_unique_indices: bool = False) -> Any:
    """`arr` without the elements at `obj` (integers, slice or mask, known while tracing) along `axis`.

    `assume_unique_indices` promises that no two integers are equal: then they may be traced.
    """
    value, place, size = _positions("delete", arr, axis)
    if assume_unique_indices and isinstance(obj, Tracer) and obj.dtype in INTEGERS:
        return _without_distinct(value, place, ravel(obj))
    if not isinstance(size, int):
        return _deleted(value, place, obj)
    kept = np.delete(np.arange(size), _index("delete", obj, size))
    return take(value, kept, axis=place)


def _without_distinct(value: Any, axis: int, positions: Any) -> Any:
    """`value` without the elements at so many distinct positions along `axis`, which need not be known."""
    size, count = value.shape[axis], positions.shape[0]
    chosen = where(positions < 0, positions + size, positions)
    ordered = sort(clip(chosen, 0, size)) - ops.iota(shape=(count,), axis=0, dtype=positions.dtype)
    kept = ops.iota(shape=(size - count,), axis=0, dtype=positions.dtype)
    # Element k of the result is k places and the number of deleted ones before it from the front.
    before = ops.compare(*broadcast_together([kept[None, :], ordered[:, None]]), direction="GE")
    skipped = ops.reduce_sum(ops.convert(before, dtype=positions.dtype), axes=(0,))
    return take(value, ops.add(kept, skipped), axis=axis, mode="clip")


def _deleted(value: Any, axis: int, obj: Any) -> Any:
    """The same along an axis of a named size."""
    if isinstance(obj, slice):
        if obj.step not in (None, 1):
            raise shape_error(
                f"delete: axis {axis} of {type_text(value)} must be static for steps of {obj.step}"
            )
        low, high = (
            _inside(n, value.shape[axis], default) for n, default in ((obj.start, 0), (obj.stop, None))
        )
        return _without(value, axis, low, maximum(low, high))
    places = np.unique(concrete("delete", obj, "the positions"))
    if places.dtype.kind not in "iu" or (places.size and places[0] < 0 <= places[-1]):
        raise shape_error(
            f"delete: positions in axis {axis} of {type_text(value)} must count from one end, got {obj!r}",
            "trace with a static shape, or delete twice",
        )
    for n in places[::-1] if places.size and places[0] >= 0 else places:
        first = int(n) if n >= 0 else value.shape[axis] + int(n)
        value = _without(value, axis, first, first + 1)
    return value


def _inside(place: int | None, size: Any, default: int | None) -> Any:
    """An end of a slice of an axis of a named size, as a place in it."""
    place = default if place is None else place
    if place is None:
        return size
    return minimum(maximum(size + place, 0) if place < 0 else place, size)


def _without(value: Any, axis: int, first: Any, end: Any) -> Any:
    rest = part(value, axis, 0, first), part(value, axis, end, value.shape[axis])
    return ops.concatenate(*rest, axis=axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Any:
    """`arr` with `values` put in before the positions `obj` (known while tracing) along `axis`."""
    value, place, size = _positions("insert", arr, axis)
    if not isinstance(size, int):
        return _inserted(value, place, obj, convert(asarray_of(values), value.dtype))
    index = _index("insert", obj, size + 1)
    if isinstance(index, slice):
        index = np.arange(size)[index]
    new = convert(asarray_of(values), value.dtype)
    scalar_index = np.ndim(index) == 0
    count = np.size(index)
    if scalar_index:
        new = _at_one_position(new, value.ndim, place)
        count = static_size("insert", new.shape[place], "the number of values")
    shape = tuple(count if a == place else n for a, n in enumerate(value.shape))
    new = broadcast(new, shape)
    marks = np.insert(np.arange(size), index, size + np.arange(count))
    if not scalar_index and np.size(index) == 1 and count > 1:
        marks = np.insert(np.arange(size), np.full(count, index), size + np.arange(count))
    return take(ops.concatenate(value, new, axis=place), marks, axis=place)


def _inserted(value: Any, axis: int, obj: Any, new: Any) -> Any:
    """The same along an axis of a named size, before one position."""
    if np.ndim(obj) != 0 or isinstance(obj, slice):
        raise shape_error(
            f"insert: expected one position in axis {axis} of {type_text(value)}, got {obj!r}",
            "trace with a static shape, or insert several times",
        )
    n, size = integer("insert", obj, "the position"), value.shape[axis]
    new = _at_one_position(new, value.ndim, axis)
    new = broadcast(new, tuple(new.shape[axis] if a == axis else m for a, m in enumerate(value.shape)))
    at = n if n >= 0 else size + n
    return ops.concatenate(part(value, axis, 0, at), new, part(value, axis, at, size), axis=axis)


def _at_one_position(new: Any, rank: int, axis: int) -> Any:
    """Values for one position: as in NumPy their first axis is that of what follows each other."""
    return moveaxis(insert_unit_axes(new, range(rank - new.ndim)), 0, axis)


def _positions(function: str, x: Any, axis: int | None) -> tuple[Any, int, Any]:
    value = asarray_of(x)
    if axis is None:
        value, axis = ravel(value), 0
    place = normalize_axis(function, axis, value.ndim)
    return value, place, value.shape[place]


def _index(function: str, obj: Any, count: int) -> Any:
    """Positions that are known while tracing, of `count` that there are."""
    if isinstance(obj, slice):
        return obj
    positions = obj if isinstance(obj, int) else concrete(function, obj, "the positions")
    known = np.asarray(positions)
    if not known.size and known.dtype != np.bool_:
        return known.astype(np.int64)  # NumPy makes an empty list one of floats
    if known.dtype.kind not in "biu":
        raise type_error(f"{function}: positions must be integers or a mask, got {obj!r}")
    if known.dtype != np.bool_ and known.size and (known.min() < -count or known.max() >= count):
        message = f"{function}: position {positions} is out of range, there are {count}"
        raise IndexBoundsError(message, where=user_location_text())
    return positions


def trim_zeros(
    filt: Any, trim: Literal["f", "b", "fb"] = "fb", axis: int | Sequence[int] | None = None
) -> Any:
    """A concrete array without what is zero at its front and back along `axis` (several, or None for all)."""
    if not isinstance(trim, str) or trim.lower() not in ("f", "b", "fb", "bf"):
        raise argument_error(f"trim_zeros: trim must be 'f', 'b' or 'fb', got {trim!r}")
    known = concrete("trim_zeros", filt, "the array")
    axes = normalize_axes("trim_zeros", axis, known.ndim)
    return Array(known[tuple(_nonzero_part(known, a, trim.lower(), axes) for a in range(known.ndim))])


def _nonzero_part(known: np.ndarray, axis: int, trim: str, axes: Sequence[int]) -> slice:
    """Which part of `axis` remains without zeros; all of it unless it is one of `axes`."""
    if axis not in axes:
        return slice(None)
    (places,) = np.nonzero(known.any(axis=tuple(a for a in range(known.ndim) if a != axis)))
    if not places.size:
        return slice(0, 0)
    return slice(places[0] if "f" in trim else None, places[-1] + 1 if "b" in trim else None)

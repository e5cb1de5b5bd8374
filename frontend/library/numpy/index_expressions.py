"""Reading an index expression: what `x[...]` is indexed with, axis by axis.

Input: the index as Python passes it. Output: a list of items in the order written, each bound to its axis:
integers and slices that are known, integers and integer arrays that are values, new axes. Boolean masks
whose elements are known have become integer arrays; traced ones stay masks, for the callers to judge.
"""

from __future__ import annotations

import operator
from typing import Any, Final, NamedTuple

import numpy as np

from ....dialects.dataclass import dataclass
from ....dialects.types import BOOL, INT32, INT64, INTEGERS, SIGNED
from ...errors import IndexBoundsError, IndexingError, UnknownIndexError
from ...tracing.array import Array
from ...tracing.frames import Tracer, known_value
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from ...tracing.locations import user_location_text
from ...tracing.sizes import Dim, maximum, minimum
from .arguments import argument_error, concretization_error, count_array, full_like
from .arithmetic import remainder
from .promotion import asarray_of, broadcast, same_size, type_text

_FAR: Final = 1 << 62


@dataclass(slots=True, eq=False)
class Item:
    """One entry of an index: `kind` is int, slice, new, scalar (a traced integer), array, mask or gap."""

    kind: str
    value: Any = None
    axis: int | None = None

    @property
    def is_advanced(self) -> bool:
        """Whether NumPy counts the entry among the advanced indices when an array is among them."""
        return self.kind in ("int", "scalar", "array")


class Bounds(NamedTuple):
    """A slice of one axis: counted from the front, and which way it is turned."""

    start: Any
    limit: Any
    stride: int
    flip_before: bool
    flip_after: bool

    @property
    def length(self) -> Any:
        """How many elements it takes."""
        span = self.limit - self.start
        return span if self.stride == 1 else (span + (self.stride - 1)) // self.stride


class OutOfBounds(NamedTuple):
    """What positions outside an axis mean, for reading and writing alike.

    A negative position counts from the end where `wraps_negative` says so. What is outside then is moved to
    the nearest end (`clip`), taken modulo the size (`wrap`), left out (`fill`, `drop`), or an error where it
    is known while tracing (None, `promise_in_bounds`).
    """

    mode: str | None = None
    wraps_negative: bool = True

    @property
    def is_checked(self) -> bool:
        """Whether known positions must lie inside."""
        return self.mode in (None, "promise_in_bounds")

    def positions(self, position: Any, size: Any) -> Any:
        """Positions counted from the front; those outside stay outside, unless they wrap."""
        if self.mode == "wrap":
            value = _as_int64(asarray_of(position))
            return remainder(value, broadcast(count_array(size, INT64), value.shape))
        value = asarray_of(position)
        return wrapped(value, size) if self.wraps_negative else _as_int64(value)

    @property
    def gathers_with(self) -> str:
        """The mode of the gather op."""
        return "fill" if self.mode in ("fill", "drop") else "clip"

    @property
    def scatters_with(self) -> str:
        """The mode of the scatter op."""
        return "clip" if self.mode == "clip" else "drop"


BY_DEFAULT: Final = OutOfBounds()
MODES: Final = (None, "drop", "fill", "clip", "wrap", "promise_in_bounds")


def out_of_bounds(mode: Any, wraps_negative: bool = True) -> OutOfBounds:
    """The `mode` that a user gave, checked: its name, or JAX's enumeration of the same names."""
    name = getattr(mode, "name", mode)
    name = {"fill_or_drop": "fill"}.get(name.lower(), name.lower()) if isinstance(name, str) else name
    if name not in MODES:
        raise argument_error(f"mode is {mode!r}, expected one of {', '.join(str(m) for m in MODES)}")
    return OutOfBounds(name, wraps_negative)


def parse(x: Any, index: Any, outside: OutOfBounds = BY_DEFAULT) -> list[Item]:
    """The items of `index`, full slices added for the axes that it does not mention."""
    entries = list(index) if isinstance(index, tuple) else [index]
    items = [item for entry in entries for item in _item(entry)]
    ellipses = [k for k, item in enumerate(items) if item.kind == "ellipsis"]
    if len(ellipses) > 1:
        raise _indexing_error("an index can have only one ellipsis ('...')")
    used = sum(_axes_used(item) for item in items)
    if used > x.ndim:
        raise IndexBoundsError(
            f"too many indices: {type_text(x)} has {x.ndim} dimensions, the index names {used}",
            where=user_location_text(),
        )
    rest = [Item("slice", slice(None)) for _ in range(x.ndim - used)]
    if ellipses and not rest:
        rest = [Item("gap")]  # an ellipsis of no axes still keeps the array indices around it apart
    place = ellipses[0] if ellipses else len(items)
    items[place : place + 1 if ellipses else place] = rest
    axis, bound = 0, []
    for item in items:
        if item.kind in ("new", "gap"):
            bound.append(item)
            continue
        item.axis = axis
        if item.kind in ("mask", "array") and item.value.dtype == BOOL:
            _check_mask(x, item, axis)
            bound += [item] if item.kind == "mask" else _from_mask(item, axis)
        else:
            bound.append(_checked(x, item, axis, outside))
        axis += _axes_used(item)
    return bound


def _item(entry: Any) -> list[Item]:
    if entry is None:
        return [Item("new")]
    if entry is Ellipsis:
        return [Item("ellipsis")]
    if isinstance(entry, slice):
        return [Item("slice", entry)]
    if isinstance(entry, (bool, np.bool_)):
        return [Item("array", np.asarray(entry))]
    if isinstance(entry, (int, np.integer)):
        return [Item("int", operator.index(entry))]
    if isinstance(entry, Dim):
        return [Item("int", entry)]
    if isinstance(entry, (float, str, complex)):
        raise _indexing_error(
            f"an index must be an integer, a slice, None, '...' or an integer or boolean array, got {entry!r}"
        )
    value = np.asarray(entry) if isinstance(entry, list) and not entry else asarray_of(entry)
    if isinstance(value, np.ndarray) or (isinstance(value, Array) and isinstance(entry, (list, tuple))):
        value = np.asarray(value)
        value = value.astype(int) if value.size == 0 and value.dtype != BOOL else value
    if isinstance(value, Array):
        value = value.numpy()
    if value.dtype not in INTEGERS and value.dtype != BOOL:
        raise _indexing_error(f"an index array must be of integers or booleans, got {type_text(value)}")
    if isinstance(value, Tracer):
        return [Item("mask" if value.dtype == BOOL else "array" if value.ndim else "scalar", value)]
    if value.ndim == 0 and value.dtype != BOOL:
        return [Item("int", int(value))]
    return [Item("array", value)]


def _indexing_error(message: str, hint: str | None = None) -> IndexingError:
    return IndexingError(message, where=user_location_text(), hint=hint)


def known_masks(index: Any) -> tuple[Any, ...]:
    """The entries of an index, traced masks as NumPy arrays where they have elements: outside `jit`."""
    entries = index if isinstance(index, tuple) else (index,)
    return tuple(_known_mask(e) if isinstance(e, Tracer) and e.dtype == BOOL else e for e in entries)


def _known_mask(mask: Tracer) -> Any:
    known = known_value(mask)
    return mask if known is None else known


def _axes_used(item: Item) -> int:
    if item.kind in ("new", "ellipsis"):
        return 0
    return int(item.value.ndim) if item.kind in ("mask", "array") and item.value.dtype == BOOL else 1


def _checked(x: Any, item: Item, axis: int, outside: OutOfBounds) -> Item:
    """The item; a known integer outside the axis is an error, or a position that `outside` is asked of.

    In programs written for JAX it is what a traced integer is: clamped by reads, dropped by writes.
    """
    size = x.shape[axis]
    if item.kind != "int" or not isinstance(item.value, int) or not isinstance(size, int):
        return item
    if (-size if outside.wraps_negative else 0) <= item.value < size:
        return item
    if outside.is_checked and (size == 0 or not follows_jax()):
        raise IndexBoundsError(
            f"index {item.value} is out of bounds for axis {axis} of {type_text(x)}",
            where=user_location_text(),
        )
    if outside.mode == "wrap":
        return Item("int", item.value % size, axis) if size else item
    return Item("scalar", Array(np.asarray(max(-_FAR, min(item.value, _FAR)))), axis)


def _check_mask(x: Any, item: Item, axis: int) -> None:
    for offset, n in enumerate(item.value.shape):
        size = x.shape[axis + offset]
        if isinstance(n, int) and isinstance(size, int) and n not in (size, 0):  # an empty mask is false
            raise IndexBoundsError(
                f"a boolean index of shape {tuple(item.value.shape)} does not fit {type_text(x)}: axis "
                f"{axis + offset} has size {size}",
                where=user_location_text(),
            )


def _from_mask(item: Item, axis: int) -> list[Item]:
    """The positions of a known mask; a 0-d one indexes no axis and has one position or none."""
    if item.value.ndim == 0:
        return [Item("array", np.zeros((int(item.value),), np.int64), None)]
    return [Item("array", rows, axis + k) for k, rows in enumerate(item.value.nonzero())]


# -- slices ------------------------------------------------------------------------------------


def is_full(item: Item) -> bool:
    """Whether a slice takes everything, in order."""
    s = item.value
    return s.start is None and s.stop is None and (s.step is None or s.step == 1)


def bounds(x: Any, item: Item) -> Bounds:
    """Where the slice or integer of an item lies on its axis."""
    assert item.axis is not None
    size = x.shape[item.axis]
    if item.kind == "int":
        start = item.value if isinstance(item.value, Dim) or item.value >= 0 else size + item.value
        return Bounds(start, start + 1, 1, False, False)
    start, stop, step = (_bound(v) for v in (item.value.start, item.value.stop, item.value.step))
    step = 1 if step is None else step
    if isinstance(step, Dim):
        raise concretization_error(f"a slice's step must be known while tracing, got {step}")
    if step == 0:
        raise argument_error("a slice's step must be a nonzero integer, got 0")
    if all(v is None or isinstance(v, int) for v in (start, stop)) and isinstance(size, int):
        return _static_bounds(slice(start, stop, step), size)
    if step < 0:  # the axis is turned around first, and so are the bounds
        start = None if start is None else _from_the_end(start, size)
        stop = None if stop is None else _from_the_end(stop, size)
    low = 0 if start is None else _clamped(start, size, step < 0)
    high = size if stop is None else _clamped(stop, size, step < 0)
    if not (isinstance(low, int) and low == 0):
        high = maximum(low, high) if not same_size(high, size) else high
    return Bounds(low, high, abs(step), step < 0, False)


def _static_bounds(s: slice, size: int) -> Bounds:
    taken = range(*s.indices(size))
    if not taken:
        return Bounds(0, 0, 1, False, False)
    first, last = min(taken[0], taken[-1]), max(taken[0], taken[-1])
    # A longer step than the axis takes one element, as this one does, and may be more than 64 bits.
    return Bounds(first, last + 1, min(abs(taken.step), size), False, taken.step < 0)


def _from_the_end(position: Any, size: Any) -> Any:
    """The position in the turned axis: -1 becomes 0, 0 becomes size - 1."""
    if isinstance(position, int) and position < 0:
        return -position - 1
    return size - 1 - position


def _clamped(position: Any, size: Any, turned: bool) -> Any:
    """A bound moved into `[0, size]`; a negative one counts from the end unless it is turned already."""
    if isinstance(position, int) and position < 0 and not turned:
        return maximum(size + position, 0)
    return maximum(minimum(position, size), 0) if turned else minimum(position, size)


def _bound(value: Any) -> Any:
    if value is None or isinstance(value, Dim):
        return value
    if isinstance(value, Tracer) and known_value(value) is None:
        raise UnknownIndexError(
            f"a slice bound must be known while tracing, got the traced {type_text(value)}",
            where=user_location_text(),
            hint="use adze.lax.dynamic_slice for a window of fixed size, or a mask with adze.numpy.where",
        )
    try:
        return operator.index(value)
    except TypeError:
        raise _indexing_error(f"a slice bound must be an integer or None, got {value!r}") from None


# -- integer positions -------------------------------------------------------------------------


def wrapped(position: Any, size: Any) -> Any:
    """Positions with negative ones counted from the end; out-of-range ones stay out of range."""
    if isinstance(position, np.ndarray):
        position = Array(position)
    if position.dtype not in SIGNED:
        return _as_int64(position)
    if position.dtype.itemsize < 4:
        position = ops.convert(position, dtype=INT32)
    if isinstance(position, Array) and isinstance(size, int):
        known = position.numpy()
        known = np.where(known < 0, known + known.dtype.type(size), known)
        return Array(np.clip(known, -1, size).astype(INT32) if size <= np.iinfo(INT32).max else known)
    negative = ops.compare(position, full_like(position, 0), direction="LT")
    length = broadcast(count_array(size, position.dtype), position.shape)
    return ops.select(negative, ops.add(position, length), position)


def _as_int64(position: Any) -> Any:
    """Positions as int64; unsigned ones beyond its range stay outside every axis."""
    if position.dtype == np.uint64:
        position = ops.min(position, full_like(position, _FAR))
    return position if position.dtype == INT64 else ops.convert(position, dtype=INT64)


def require_no_mask(x: Any, items: list[Item]) -> None:
    """Raise the error for a traced mask: its number of true elements is not known."""
    for item in items:
        if item.kind == "mask":
            raise UnknownIndexError(
                f"x[mask] with a traced mask {type_text(item.value)} has a shape that depends on values",
                where=user_location_text(),
                hint="use adze.numpy.where(mask, x, other), x.at[mask].set(value), or "
                "x[adze.numpy.nonzero(mask, size=...)]",
            )

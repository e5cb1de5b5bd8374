"""`ds(start, size)`: a slice of a known size whose start may be a traced number, for indices.

Input: an array and an index with such slices. Output: for a read the window that they name and the rest of
the index; for an update an index of positions. Idea: each is a slice where its start is known.
"""

from __future__ import annotations

from typing import Any

from ....dialects.dataclass import dataclass
from ....dialects.types import INT32, INT64
from ... import tree
from ...tracing.interpreter import ops, wide_of
from .arguments import argument_error, count_array, integer
from .creation import arange
from .promotion import asarray_of, type_text


@dataclass(slots=True)
class Slice:
    """`size` elements from `start` on, each `stride`-th one."""

    start: Any
    size: Any
    stride: int = 1

    @property
    def is_known(self) -> bool:
        """Whether the start is a Python integer."""
        return isinstance(self.start, int)

    @property
    def span(self) -> int:
        """How many elements of the axis the first and the last one enclose."""
        return max(0, (self.size - 1) * self.stride + 1)

    def as_slice(self) -> slice:
        """The same where the start is known."""
        return slice(self.start, self.start + self.span, self.stride)


def _flatten(x: Slice) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    static = x.start if x.is_known else None
    return (None if x.is_known else x.start,), (static, x.size, x.stride)


def _unflatten(static: tuple[Any, ...], children: Any) -> Slice:
    (start,), (known, size, stride) = children, static
    return Slice(start if known is None else known, size, stride)


tree.register(Slice, _flatten, _unflatten)


def ds(start: Any, size: Any = None, stride: int | None = None) -> slice | Slice:
    """The slice of `size` elements from `start` on, for an index: `x[ds(i, 2)]` is `x[i:i+2]`, also where `i`
    is a traced integer. `ds(n)` takes the first `n`, `ds(None)` all.

    Where a traced start is negative, or the window sticks out, reads count from the end and move the window
    inside the array, and updates leave it out, as in JAX. Raises `ArgumentError` for a known start that is
    negative, a window beyond the axis, or a stride below 1.
    """
    if start is None:
        return slice(None)
    if size is None:
        start, size = 0, start
    size = integer("ds", size, "the size")
    stride = 1 if stride is None else integer("ds", stride, "the stride")
    if stride < 1 or size < 0 or (isinstance(start, int) and start < 0):
        raise argument_error(
            f"ds: start {start}, size {size} and stride {stride}: expected 0, 0 and 1 at least"
        )
    return Slice(start, size, stride)


def has_sized(index: Any) -> bool:
    """Whether an index has such a slice."""
    return type(index) is Slice or (type(index) is tuple and any(type(e) is Slice for e in index))


def window(value: Any, index: Any) -> tuple[Any, tuple[Any, ...]]:
    """The part of an array that the slices of an index name, and an index of that part."""
    entries = list(index) if isinstance(index, tuple) else [index]
    for k, entry in enumerate(entries):
        if type(entry) is not Slice:
            continue
        axis = _axis(value, entries, k)
        size, first = value.shape[axis], entry.start if entry.is_known else 0
        if isinstance(size, int) and first + entry.span > size:
            raise argument_error(
                f"ds: the slice ends at {first + entry.span}, beyond axis {axis} of {type_text(value)}"
            )
        if entry.is_known:
            entries[k] = entry.as_slice()
            continue
        starts = [ops.full(0, (), INT32)] * value.ndim
        starts[axis] = _wrapped(_start(entry), size)
        sizes = (*value.shape[:axis], entry.span, *value.shape[axis + 1 :])
        value = ops.dynamic_slice(wide_of(value), *starts, slice_sizes=sizes)
        entries[k] = slice(None, None, entry.stride)
    return value, tuple(entries)


def positions(value: Any, index: Any) -> tuple[Any, ...]:
    """An index of an update in which at most one slice has a start that is not known: its positions."""
    entries = list(index) if isinstance(index, tuple) else [index]
    moving = [k for k, e in enumerate(entries) if type(e) is Slice and not e.is_known]
    others = [e for k, e in enumerate(entries) if k not in moving]
    if len(moving) > 1 or (moving and not all(_is_basic(e) for e in others)):
        raise argument_error(
            "x.at[...] takes one slice of a traced start, beside slices that are known",
            "write lax.dynamic_update_slice",
        )
    for k, entry in enumerate(entries):
        if type(entry) is Slice:
            whole = entry.is_known
            entries[k] = entry.as_slice() if whole else _taken(entry, value.shape[_axis(value, entries, k)])
    return tuple(entries)


def _is_basic(entry: Any) -> bool:
    return entry is None or entry is Ellipsis or isinstance(entry, (slice, Slice))


def _taken(entry: Slice, size: Any) -> Any:
    """The positions of a slice, beyond the axis where it sticks out."""
    start = _start(entry)
    last = count_array(size, start.dtype)
    is_inside = (start >= 0) & (start + entry.span <= last)
    return ops.select(is_inside, start, last) + arange(entry.size, dtype=start.dtype) * entry.stride


def _start(entry: Slice) -> Any:
    start = asarray_of(entry.start)
    if start.ndim or start.dtype.kind not in "iu":
        raise argument_error(f"ds: the start must be an integer, got {type_text(start)}")
    if start.dtype.kind == "i" and start.dtype.itemsize >= 4:
        return start
    return ops.convert(start, dtype=INT64 if start.dtype.itemsize >= 4 else INT32)


def _axis(value: Any, entries: list[Any], k: int) -> int:
    """The axis of entry `k`: counted from the end behind an ellipsis."""
    if any(e is Ellipsis for e in entries[:k]):
        return int(value.ndim) - sum(map(_axes, entries[k:]))
    return sum(map(_axes, entries[:k]))


def _axes(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    is_mask = getattr(getattr(entry, "dtype", None), "kind", "") == "b"
    return int(entry.ndim) if is_mask else 1


def _wrapped(start: Any, size: Any) -> Any:
    return ops.select(start < 0, start + count_array(size, start.dtype), start)

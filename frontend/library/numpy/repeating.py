"""Elements and arrays several times over: `repeat`, `tile`, `resize`.

Input: arrays and counts. Output: longer arrays, as broadcasts where every count is the same, else as gathers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tracing.interpreter import ops
from ...tracing.sizes import product
from .arguments import (
    argument_error,
    concrete,
    dtype_error,
    integer,
    normalize_axis,
    shape_error,
    shape_of,
    static_size,
)
from .arithmetic import minimum
from .creation import arange
from .cumulative import cumsum, part
from .promotion import asarray_of, broadcast, type_text
from .reshaping import ravel
from .searching import places_among
from .taking import take


def repeat(a: Any, repeats: Any, axis: Any = None, *, total_repeat_length: int | None = None) -> Any:
    """Each element along `axis` (of the flat array when None) repeated.

    Counts must be concrete, or `total_repeat_length` says how long the result is. It ends there where the
    counts make it longer, and goes on with the last element where they make it shorter.
    """
    value = asarray_of(a)
    if axis is None:
        value, axis = ravel(value), 0
    place = normalize_axis("repeat", axis, value.ndim)
    if total_repeat_length is not None:
        total = integer("repeat", total_repeat_length, "total_repeat_length")
        return _repeated_to(value, asarray_of(repeats), place, total)
    counts = concrete("repeat", repeats, "repeats")
    if counts.size and counts.dtype.kind not in "iub":
        raise dtype_error(f"repeat: repeats must be integers, got {counts.dtype.name}")
    if counts.size and counts.min() < 0:
        raise argument_error(f"repeat: repeats must not be negative, got {counts.tolist()}")
    if counts.size == 1:
        return _repeated_evenly(value, int(counts.reshape(())), place)
    size = static_size("repeat", value.shape[place], f"axis {place}")
    if counts.shape != (size,):
        raise shape_error(
            f"repeat: expected one count or {size} of them for {type_text(value)}, got {counts.size}"
        )
    return take(value, np.repeat(np.arange(size), counts), axis=place)


def _repeated_to(value: Any, repeats: Any, axis: int, total: int) -> Any:
    """As many elements as `total`: place k holds the first element whose block ends behind it."""
    size = static_size("repeat", value.shape[axis], f"axis {axis}")
    if total < 0:
        raise argument_error(f"repeat: total_repeat_length is {total}, expected no negative length")
    if size == 0 and total:
        raise shape_error(
            f"repeat: axis {axis} of {type_text(value)} has no element to repeat to a length of {total}"
        )
    if repeats.ndim > 1 or (repeats.ndim == 1 and repeats.shape[0] not in (1, size)):
        raise shape_error(
            f"repeat: expected one count or {size} of them for {type_text(value)}, got {type_text(repeats)}"
        )
    ends = cumsum(broadcast(repeats, (size,)))
    chosen = places_among(ends, arange(total), side="right")
    return take(value, minimum(chosen, size - 1), axis=axis)


def _repeated_evenly(value: Any, count: int, axis: int) -> Any:
    shape = value.shape
    spread = (*shape[: axis + 1], count, *shape[axis + 1 :])
    dimensions = tuple(a for a in range(len(spread)) if a != axis + 1)
    result = ops.broadcast_in_dim(value, shape=spread, dimensions=dimensions)
    return ops.reshape(result, shape=(*shape[:axis], shape[axis] * count, *shape[axis + 1 :]))


def tile(A: Any, reps: Any) -> Any:
    """The whole array repeated along each axis."""
    value = asarray_of(A)
    counts = [integer("tile", n, "a count") for n in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    if any(n < 0 for n in counts):
        raise argument_error(f"tile: the counts are {reps!r}, expected none below 0")
    rank = max(value.ndim, len(counts))
    counts = [1] * (rank - len(counts)) + counts
    shape = (1,) * (rank - value.ndim) + tuple(value.shape)
    spread = tuple(n for pair in zip(counts, shape, strict=True) for n in pair)
    dimensions = tuple(2 * a + 1 for a in range(rank - value.ndim, rank))
    result = ops.broadcast_in_dim(value, shape=spread, dimensions=dimensions)
    return ops.reshape(result, shape=tuple(n * c for n, c in zip(shape, counts, strict=True)))


def resize(a: Any, new_shape: Any) -> Any:
    """The flat elements, repeated as often as needed, under another shape."""
    value, wanted = ravel(asarray_of(a)), shape_of("resize", new_shape)
    total = static_size("resize", product(wanted), "the new size")
    have = static_size("resize", value.shape[0], "the old size")
    if have == 0 or total == 0:
        return broadcast(ops.convert(asarray_of(0), dtype=value.dtype), wanted)
    return ops.reshape(part(tile(value, -(-total // have)), 0, 0, total), shape=wanted)

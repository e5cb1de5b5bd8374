"""Padding by values that are computed: ramps, statistics of the edges, odd reflections, a user's function.

Input: a value, a table of widths (one pair an axis) and the table of what the mode is told. Output: the
padded value; axes are padded one after the other, as in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects.types import FLOAT64, INEXACT
from ...tracing.interpreter import ops
from ...tracing.sizes import minimum
from .arguments import shape_error, static_size
from .arithmetic import add, divide, multiply, subtract
from .array_queries import apply_along_axis
from .cumulative import part
from .promotion import asarray_of, broadcast, convert, type_text
from .quantiles import median
from .reductions import max as max_of
from .reductions import mean
from .reductions import min as min_of
from .rounding import floor
from .rounding import round as rounded

STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": max_of,
    "minimum": min_of,
    "mean": mean,
    "median": median,
}


def _padded_axes(widths: Any) -> list[int]:
    return [axis for axis, pair in enumerate(widths) if any(pair)]


def linear_ramp(value: Any, widths: Any, ends: Any) -> Any:
    """Lines from the edges to `ends`, which they reach in the outermost elements."""
    for axis in _padded_axes(widths):
        size = value.shape[axis]
        if isinstance(size, int) and size == 0:
            raise shape_error(f"pad: mode linear_ramp needs elements along axis {axis} of {type_text(value)}")
        sides = [part(value, axis, 0, 1), part(value, axis, size - 1, size)]
        blocks = [
            _ramp(edge, ends[axis, side], axis, int(widths[axis, side]), side)
            for side, edge in enumerate(sides)
        ]
        value = _joined(value, blocks, axis)
    return value


def _ramp(edge: Any, end: Any, axis: int, width: int, side: int) -> Any:
    steps = np.arange(width - 1, -1, -1) if side else np.arange(width)  # 0 in the outermost element
    shape = [width if a == axis else 1 for a in range(edge.ndim)]
    dtype = edge.dtype
    carried = convert(edge, dtype if dtype in INEXACT else FLOAT64)
    far = convert(asarray_of(end), carried.dtype)
    step = divide(subtract(carried, far), convert(asarray_of(np.float64(max(width, 1))), carried.dtype))
    line = add(far, multiply(step, convert(asarray_of(steps.reshape(shape)), carried.dtype)))
    return convert(line if dtype in INEXACT else floor(line), dtype)


def statistics(value: Any, widths: Any, mode: str, lengths: Any) -> Any:
    """A statistic of the elements near each edge (`lengths` of them; all where None)."""
    for axis in _padded_axes(widths):
        size = value.shape[axis]
        blocks = []
        for side in (0, 1):
            count = size if lengths is None else minimum(int(lengths[axis, side]), size)
            if isinstance(count, int) and count < 1:
                raise shape_error(f"pad: mode {mode} needs elements along axis {axis} of {type_text(value)}")
            inside = part(value, axis, 0, count) if side == 0 else part(value, axis, size - count, size)
            is_rounded = value.dtype not in INEXACT and mode not in ("maximum", "minimum")
            inside = convert(inside, FLOAT64) if is_rounded else inside
            found = STATISTICS[mode](inside, axis=axis, keepdims=True)
            found = rounded(found) if is_rounded else found
            shape = tuple(int(widths[axis, side]) if a == axis else n for a, n in enumerate(value.shape))
            blocks.append(broadcast(convert(found, value.dtype), shape))
        value = _joined(value, blocks, axis)
    return value


def odd_reflection(value: Any, widths: Any, mode: str) -> Any:
    """Twice the edge less the reflected elements; a reflection longer than the array is reflected again."""
    skipped = 1 if mode == "reflect" else 0
    for axis in range(value.ndim):
        if not widths[axis].any():
            continue
        period = static_size("pad", value.shape[axis], f"axis {axis} in mode {mode}") - skipped
        if period + skipped < 1:
            raise shape_error(f"pad: mode {mode} needs elements along axis {axis} of {type_text(value)}")
        if period < 1:  # a single element is its own reflection
            total = tuple(1 + int(widths[axis].sum()) if a == axis else n for a, n in enumerate(value.shape))
            value = broadcast(value, total)
            continue
        for side in (0, 1):
            missing = int(widths[axis, side])
            while missing:
                count = min(period, missing)
                value = _odd_step(value, axis, count, skipped, side)
                missing -= count
    return value


def _odd_step(value: Any, axis: int, count: int, skipped: int, side: int) -> Any:
    size = value.shape[axis]
    low = skipped if side == 0 else size - skipped - count
    edge = part(value, axis, 0, 1) if side == 0 else part(value, axis, size - 1, size)
    mirrored = ops.reverse(part(value, axis, low, low + count), axes=(axis,))
    block = subtract(broadcast(add(edge, edge), mirrored.shape), mirrored)
    return ops.concatenate(*((block, value) if side == 0 else (value, block)), axis=axis)


def by_function(value: Any, widths: Any, function: Callable[..., Any], keywords: dict[str, Any]) -> Any:
    """`function(vector, pair of widths, axis, keywords)` of each vector of the zero-padded array; it returns
    the vector, since arrays are immutable."""
    for axis in range(value.ndim):
        pair = (int(widths[axis, 0]), int(widths[axis, 1]))
        value = apply_along_axis(
            lambda v, pair=pair, axis=axis: function(v, pair, axis, keywords), axis, value
        )
    return value


def _joined(value: Any, blocks: list[Any], axis: int) -> Any:
    before, after = blocks
    parts = [p for p in (before, value, after) if p is value or p.shape[axis] != 0]
    return ops.concatenate(*parts, axis=axis) if len(parts) > 1 else value

"""Padding: values put around an array, constant or taken from its own edges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...tracing.interpreter import ops
from .arguments import argument_error, scalar, shape_error
from .arithmetic import add, maximum, minimum, multiply, remainder, subtract
from .cumulative import part
from .padding_modes import STATISTICS, by_function, linear_ramp, odd_reflection, statistics
from .promotion import asarray_of, broadcast, convert, type_text
from .taking import take

MODES = (
    "constant",
    "edge",
    "reflect",
    "symmetric",
    "wrap",
    "empty",
    "linear_ramp",
    *STATISTICS,
)
_KEYWORDS = {
    "constant": {"constant_values"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "linear_ramp": {"end_values"},
    **{name: {"stat_length"} for name in STATISTICS},
}


def pad(array: Any, pad_width: Any, mode: str | Callable[..., Any] = "constant", **kwargs: Any) -> Any:
    """`array` with `pad_width` elements around it: one number, one pair, or a pair for each axis.

    Modes: constant (`constant_values`), edge, reflect and symmetric (`reflect_type` even or odd), wrap, empty
    (zeros), linear_ramp (`end_values`), maximum, minimum, mean and median (`stat_length` elements at each
    edge); or a function of a vector, its pair of widths, the axis and the keywords, that returns the vector.
    Raises `ArgumentError` for other modes, keywords of other modes and negative widths.
    """
    value = asarray_of(array)
    widths = _pairs("pad_width", pad_width, value.ndim)
    if widths.dtype.kind not in "iu" and not all(isinstance(n, int) for n in widths.flat):
        raise argument_error(f"pad: pad_width must be integers, got {pad_width!r}")
    if widths.size and widths.min() < 0:
        raise argument_error(f"pad: pad_width must not be negative, got {pad_width!r}")
    if callable(mode):
        return by_function(_constant(value, widths, 0), widths, mode, kwargs)
    if mode not in MODES:
        raise argument_error(f"pad: mode is {mode!r}, expected a function or one of {', '.join(MODES)}")
    unknown = sorted(kwargs.keys() - _KEYWORDS.get(mode, set()))
    if unknown:
        raise argument_error(f"pad: mode {mode} does not take {', '.join(unknown)}")
    if mode in ("constant", "empty"):
        return _constant(value, widths, kwargs.get("constant_values", 0))
    if mode == "edge":
        return _edge(value, widths)
    if mode == "linear_ramp":
        return linear_ramp(value, widths, _pairs("end_values", kwargs.get("end_values", 0), value.ndim))
    if mode in STATISTICS:
        lengths = kwargs.get("stat_length")
        return statistics(
            value, widths, mode, None if lengths is None else _pairs("stat_length", lengths, value.ndim)
        )
    kind = kwargs.get("reflect_type", "even")
    if kind not in ("even", "odd"):
        raise argument_error(f"pad: reflect_type is {kind!r}, expected 'even' or 'odd'")
    if kind == "odd":
        return odd_reflection(value, widths, mode)
    return _from_inside(value, widths, mode)


def _pairs(name: str, widths: Any, rank: int) -> Any:
    if isinstance(widths, dict):
        pairs = np.zeros((rank, 2), np.int64)
        for axis, width in widths.items():
            pairs[axis] = width
        return pairs
    table = np.asarray(widths)
    if table.shape == (1,):
        table = table.reshape(())
    if table.ndim == 1 and table.shape != (2,):
        table = table.reshape(-1, 1)
    try:
        return np.broadcast_to(table, (rank, 2))
    except ValueError:
        raise shape_error(
            f"pad: {name} {widths!r} must be a number, a pair, or one pair for each of {rank} axes"
        ) from None


def _constant(value: Any, widths: Any, constants: Any) -> Any:
    low, high = (tuple(int(w) for w in widths[:, side]) for side in (0, 1))
    interior = (0,) * value.ndim
    if not isinstance(constants, (tuple, list, np.ndarray)) or np.ndim(constants) == 0:
        fill = (
            convert(constants, value.dtype)
            if type(constants) in (bool, int, float, complex)
            else convert(asarray_of(constants), value.dtype)
        )
        return ops.pad(value, fill, low=low, high=high, interior=interior)
    table = _pairs("constant_values", constants, value.ndim)
    for axis in range(value.ndim):
        for side, width in enumerate(widths[axis]):
            if width:
                shape = tuple(int(width) if a == axis else n for a, n in enumerate(value.shape))
                block = broadcast(scalar(table[axis, side], value.dtype), shape)
                value = ops.concatenate(*((block, value) if side == 0 else (value, block)), axis=axis)
    return value


def _edge(value: Any, widths: Any) -> Any:
    for axis in range(value.ndim):
        size = value.shape[axis]
        before, after = (int(w) for w in widths[axis])
        if before + after == 0:
            continue
        if isinstance(size, int) and size == 0:
            raise shape_error(f"pad: mode edge needs elements along axis {axis} of {type_text(value)}")
        first, last = part(value, axis, 0, 1), part(value, axis, size - 1, size)
        parts = [_spread(first, axis, before)] if before else []
        parts.append(value)
        parts += [_spread(last, axis, after)] if after else []
        value = ops.concatenate(*parts, axis=axis) if len(parts) > 1 else value
    return value


def _spread(edge: Any, axis: int, count: int) -> Any:
    return broadcast(edge, tuple(count if a == axis else n for a, n in enumerate(edge.shape)))


def _from_inside(value: Any, widths: Any, mode: str) -> Any:
    for axis in range(value.ndim):
        before, after = (int(w) for w in widths[axis])
        if before + after == 0:
            continue
        size = value.shape[axis]
        if not isinstance(size, int):
            value = _around(value, axis, before, after, mode)
            continue
        if size == 0:
            raise shape_error(f"pad: mode {mode} needs elements along axis {axis} of {type_text(value)}")
        value = _joined(value, axis, before, after, size, mode)
    return value


def _around(value: Any, axis: int, before: int, after: int, mode: str) -> Any:
    """The same along an axis of a named size: what is put around it is gathered by computed positions."""
    size = value.shape[axis]
    count = convert(asarray_of(size), np.dtype(np.int64))
    places = [asarray_of(np.arange(-before, 0)), add(asarray_of(np.arange(after)), count)]
    front, back = (
        take(value, _source(convert(place, np.dtype(np.int64)), count, mode), axis=axis, mode="clip")
        for place in places
    )
    parts = ([front] if before else []) + [value] + ([back] if after else [])
    return ops.concatenate(*parts, axis=axis)


def _source(place: Any, count: Any, mode: str) -> Any:
    """Which of `count` elements stands at places outside of them."""
    if mode == "wrap":
        return remainder(place, count)
    # A row of elements there and back: with `reflect` the first and the last one stand in it once.
    once = 1 if mode == "reflect" else 0
    period = subtract(multiply(count, 2), 2 * once)
    there = remainder(place, maximum(period, 1))
    return minimum(there, subtract(period, add(there, 1 - once)))


def _joined(value: Any, axis: int, before: int, after: int, size: int, mode: str) -> Any:
    """Slices suffice where the padding is at most the array; else the source positions are gathered."""
    positions = np.pad(np.arange(size), (before, after), mode=mode)  # type: ignore[call-overload]
    inner = size if mode != "reflect" else size - 1
    if max(before, after) > inner:
        return take(value, positions, axis=axis)
    step = 1 if mode == "reflect" else 0
    if mode == "wrap":
        front, back = part(value, axis, size - before, size), part(value, axis, 0, after)
    else:
        front = ops.reverse(part(value, axis, step, step + before), axes=(axis,))
        back = ops.reverse(part(value, axis, size - step - after, size - step), axes=(axis,))
    parts = ([front] if before else []) + [value] + ([back] if after else [])
    return ops.concatenate(*parts, axis=axis)

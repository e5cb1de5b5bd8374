"""Pools over windows of spatial axes, whole or in part; unpooling; regions of interest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....library import numpy as xp
from ....library.lax.first_extrema import for_windows
from ....tracing.interpreter import as_value, ops
from ...errors import ModelUnsupportedError
from ..calls import Call, known
from .windows import Window, window_of


def max_pool(call: Call, x: Any) -> Any:
    window, counts = _window(call, x)
    lowest: Any = -np.inf if x.dtype.kind == "f" or x.dtype.name == "bfloat16" else np.iinfo(x.dtype).min
    result = _combined(x, window, counts, lowest, xp.maximum)
    if len([name for name in call.node.outputs if name]) < 2:
        return result
    return [result, _positions(call, x, window, counts, lowest, result)]


def _positions(call: Call, x: Any, window: Window, counts: Any, lowest: Any, result: Any) -> Any:
    """For each maximum the number of its element: the first one, rows first unless `storage_order` is 1."""
    spatial = x.shape[2:]
    inner = np.arange(int(np.prod(spatial)), dtype=np.int64)
    inner = inner.reshape(spatial[::-1]).T if call.flag("storage_order") else inner.reshape(spatial)
    numbers = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(*x.shape[:2], *(1,) * len(spatial))
    places = as_value(numbers * inner.size + inner)
    best = None
    for part, place in zip(
        _parts(x, window, counts, lowest), _parts(places, window, counts, -1), strict=True
    ):
        found = xp.where((part == result) & (place >= 0), place, np.iinfo(np.int64).max)
        best = found if best is None else xp.minimum(best, found)
    return best


def average_pool(call: Call, x: Any) -> Any:
    window, counts = _window(call, x)
    total = _combined(x, window, counts, 0, xp.add)
    ones = np.ones((1, 1, *x.shape[2:]), dtype=np.float32)
    if call.flag("count_include_pad"):
        # Padding counts, and what is beyond it where the last window is cut does not.
        ones = np.pad(ones, [(0, 0), (0, 0), *window.pads], constant_values=1)
        window = Window(window.sizes, window.strides, window.dilations, ((0, 0),) * len(window.sizes))
    number = _combined(as_value(ones), window, counts, 0, xp.add)
    return total / number.astype(x.dtype)


def lp_pool(call: Call, x: Any) -> Any:
    window, counts = _window(call, x)
    p = call.integer("p", 2)
    total = _combined(xp.abs(x) ** p, window, counts, 0, xp.add)
    return total ** (1.0 / p)


def _window(call: Call, x: Any) -> tuple[Window, list[Any]]:
    """The window, and how many places it has on each axis."""
    window = window_of(call, x.shape[2:], call.ints("kernel_shape"))
    ceil = call.flag("ceil_mode") and call.text("auto_pad", "NOTSET") == "NOTSET"
    counts = []
    for n, (low, high), reach, step in zip(
        x.shape[2:], window.pads, window.reaches, window.strides, strict=True
    ):
        span = n + (low + high - reach)
        count = -(-span // step) + 1 if ceil else span // step + 1
        if ceil and (count - 1) * step >= n + low:  # a window must begin within the array or its low padding
            count -= 1
        counts.append(count)
    return window, counts


def _parts(x: Any, window: Window, counts: list[Any], fill: Any) -> list[Any]:
    """For each element of the window the array of what it sees at all places."""
    last = [
        (count - 1) * step + reach
        for count, step, reach in zip(counts, window.strides, window.reaches, strict=True)
    ]
    widths = [
        (low, max(high, end - n - low) if isinstance(n, int) else high)
        for (low, high), end, n in zip(window.pads, last, x.shape[2:], strict=True)
    ]
    if any(low or high for low, high in widths):
        x = ops.pad(
            x,
            as_value(fill, x.dtype),
            low=(0, 0, *(low for low, _ in widths)),
            high=(0, 0, *(high for _, high in widths)),
            interior=(0,) * x.ndim,
        )
    parts = []
    for at in np.ndindex(*window.sizes):
        begins = [a * d for a, d in zip(at, window.dilations, strict=True)]
        ends = [b + (c - 1) * s + 1 for b, c, s in zip(begins, counts, window.strides, strict=True)]
        parts.append(
            ops.slice(x, start=(0, 0, *begins), limit=(*x.shape[:2], *ends), strides=(1, 1, *window.strides))
        )
    return parts


def _combined(
    x: Any, window: Window, counts: list[Any], fill: Any, combine: Callable[[Any, Any], Any]
) -> Any:
    result: Any = None
    combine = for_windows(combine, x.dtype)
    for part in _parts(x, window, counts, fill):
        result = part if result is None else combine(result, part)
    return result


def spatial(x: Any) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


def global_average_pool(x: Any) -> Any:
    return xp.mean(x, axis=spatial(x), keepdims=True)


def global_max_pool(x: Any) -> Any:
    return xp.max(x, axis=spatial(x), keepdims=True)


def global_lp_pool(call: Call, x: Any) -> Any:
    p = call.integer("p", 2)
    return xp.sum(xp.abs(x) ** p, axis=spatial(x), keepdims=True) ** (1.0 / p)


def max_unpool(call: Call, x: Any, places: Any, output_shape: Any = None) -> Any:
    """Zeros with the elements of `x` at their places in the array that was pooled."""
    rank = x.ndim - 2
    strides, pads = call.ints("strides", (1,) * rank), call.ints("pads", (0,) * (2 * rank))
    sizes = call.ints("kernel_shape")
    inner = [
        (n - 1) * s + k - low - high
        for n, s, k, low, high in zip(x.shape[2:], strides, sizes, pads[:rank], pads[rank:], strict=True)
    ]
    here = (*x.shape[:2], *inner)
    shape = here if output_shape is None else tuple(known(output_shape, "output_shape"))
    if not all(isinstance(n, int) for n in (*shape, *here)):
        raise ModelUnsupportedError("its sizes are dynamic")
    flat = xp.zeros(int(np.prod(here)), dtype=x.dtype)
    result = xp.reshape(flat.at[xp.reshape(places, (-1,))].set(xp.reshape(x, (-1,))), here)
    if shape == here:
        return result
    at = xp.unravel_index(xp.reshape(places, (-1,)), here)
    return xp.zeros(shape, dtype=x.dtype).at[tuple(at)].set(xp.reshape(x, (-1,)))

"""Ops that make and rearrange arrays: constants, broadcasts, reshapes, slices, padding; static and dynamic.

Input: an application. Output: its result. A dynamic form takes its shape from an operand of sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...tracing.interpreter import ops
from .application import Application, Counted, Rule, sizes_in
from .program import constant_of


def _constant(app: Application) -> Any:
    value = constant_of(app.op)
    if value is None:
        raise app.error("its elements cannot be read")
    return value


def _iota(app: Application) -> Any:
    return Counted(app.static_shape(), app.attribute("iota_dimension"), app.dtype)


def _dynamic_iota(app: Application) -> Any:
    return Counted(app.sizes(0), app.attribute("iota_dimension"), app.dtype)


def _broadcast_in_dim(app: Application) -> Any:
    value, dimensions = app.inputs[0], app.ints("broadcast_dimensions", ())
    if isinstance(value, np.ndarray) and value.size == 1:  # stays known while tracing
        return np.broadcast_to(value.reshape(()), app.static_shape())
    return ops.broadcast_in_dim(app.array(), shape=app.static_shape(), dimensions=dimensions)


def _dynamic_broadcast_in_dim(app: Application) -> Any:
    dimensions = app.ints("broadcast_dimensions", ())
    return ops.broadcast_in_dim(app.array(), shape=app.sizes(1), dimensions=dimensions)


def _broadcast(app: Application) -> Any:
    x, sizes = app.array(), app.ints("broadcast_sizes")
    dimensions = tuple(range(len(sizes), len(sizes) + x.ndim))
    return ops.broadcast_in_dim(x, shape=(*sizes, *x.shape), dimensions=dimensions)


def _reshape(app: Application) -> Any:
    return ops.reshape(app.array(), shape=app.static_shape())


def _dynamic_reshape(app: Application) -> Any:
    return ops.reshape(app.array(), shape=app.sizes(1))


def _transpose(app: Application) -> Any:
    return ops.transpose(app.array(), permutation=app.ints("permutation"))


def _slice(app: Application) -> Any:
    starts, limits = app.ints("start_indices"), app.ints("limit_indices")
    return ops.slice(app.array(), start=starts, limit=limits, strides=app.ints("strides"))


def _real_dynamic_slice(app: Application) -> Any:
    strides = app.sizes(3)
    if not all(isinstance(n, int) and n > 0 for n in strides):
        raise app.error(f"the strides {strides} must be positive integers that are known while tracing")
    window = _window(app) if all(n == 1 for n in strides) else None
    if window is not None:
        start = app.array(1)
        starts = [ops.slice(start, start=(i,), limit=(i + 1,), strides=(1,)) for i in range(len(window))]
        return ops.dynamic_slice(app.array(), *(ops.reshape(n, shape=()) for n in starts), slice_sizes=window)
    return ops.slice(app.array(), start=app.sizes(1), limit=app.sizes(2), strides=strides)


def _window(app: Application) -> tuple[Any, ...] | None:
    """The shape of a slice from a start that is computed of elements, to that start and the shape."""
    added = app.operands_of("stablehlo.add", 2)
    if added is None or sizes_in(app.inputs[1]) is not None:
        return None
    return next((sizes_in(b) for a, b in (added, added[::-1]) if a is app.inputs[1]), None)


def _pad(app: Application) -> Any:
    x, value = app.arrays
    low, high = app.ints("edge_padding_low"), app.ints("edge_padding_high")
    return padded(app, x, value, low, high, app.ints("interior_padding"))


def _dynamic_pad(app: Application) -> Any:
    low, high, interior = (app.sizes(i) for i in (2, 3, 4))
    if not all(isinstance(n, int) for n in interior):
        raise app.error("how much padding is between elements must be known while tracing")
    return padded(app, app.array(0), app.array(1), low, high, interior)


def padded(
    app: Application, x: Any, value: Any, low: Sequence[Any], high: Sequence[Any], interior: Sequence[int]
) -> Any:
    """`ops.pad`."""
    return ops.pad(x, value, low=tuple(low), high=tuple(high), interior=tuple(interior))


def _concatenate(app: Application) -> Any:
    return ops.concatenate(*app.arrays, axis=app.attribute("dimension"))


def _reverse(app: Application) -> Any:
    return ops.reverse(app.array(), axes=app.ints("dimensions"))


def _dynamic_slice(app: Application) -> Any:
    return ops.dynamic_slice(app.array(), *app.arrays[1:], slice_sizes=app.ints("slice_sizes"))


def _dynamic_update_slice(app: Application) -> Any:
    x, update = app.array(0), app.array(1)
    return ops.dynamic_update_slice(x, update, *app.arrays[2:])


def _set_dimension_size(app: Application) -> Any:
    size = app.sizes(1)[0]
    axis = app.attribute("dimension")
    have = app.array().shape[axis]
    if isinstance(size, int) and size == have:
        return app.array()
    raise app.error(
        f"axis {axis} of size {have} would have the size {size} at run time",
        "adze has no bounded sizes: export the program with symbolic dimensions instead",
    )


RULES: Final[dict[str, Rule]] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "chlo.constant": _constant,
    "stablehlo.dynamic_broadcast_in_dim": _dynamic_broadcast_in_dim,
    "stablehlo.dynamic_iota": _dynamic_iota,
    "stablehlo.dynamic_pad": _dynamic_pad,
    "stablehlo.dynamic_reshape": _dynamic_reshape,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.iota": _iota,
    "stablehlo.pad": _pad,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.set_dimension_size": _set_dimension_size,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}

"""`gather`, `scatter` and their dynamic forms.

Input: an application. Output: its results.

Idea: adze's ops have the index vectors in the last axis, and know five ways in which an update meets what is
there. Any other region is applied update by update, element by element, in a loop: in the order of the
updates, as the specification allows.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, COMPLEX, INT64, storage
from ...control.while_loops import fori_loop
from ...library import numpy as xp
from ...tracing.interpreter import ops
from .application import Application, Rule, as_array
from .computations import logical, single_op
from .program import Region

_KINDS: Final = {"add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "second": "set"}


def _indices(app: Application, index: int, vector_axis: int) -> Any:
    """The indices with their vectors in the last axis."""
    indices = app.array(index)
    if indices.dtype.kind == "u":
        indices = ops.convert(indices, dtype=INT64)
    if vector_axis == indices.ndim:
        return ops.reshape(indices, shape=(*indices.shape, 1))
    if vector_axis == indices.ndim - 1:
        return indices
    others = [a for a in range(indices.ndim) if a != vector_axis]
    return ops.transpose(indices, permutation=(*others, vector_axis))


def _without(axes: tuple[int, ...], removed: int) -> tuple[int, ...]:
    """Axes of the indices, as they are once the vectors' axis is the last."""
    return tuple(a - 1 if a > removed else a for a in axes)


def _gather(app: Application) -> Any:
    return _gathered(app, app.ints("slice_sizes"))


def _dynamic_gather(app: Application) -> Any:
    return _gathered(app, app.sizes(2))


def _gathered(app: Application, slice_sizes: tuple[Any, ...]) -> Any:
    numbers = app.record("dimension_numbers")
    vector_axis = numbers.get("index_vector_dim", 0)
    x = app.array()
    return ops.gather(
        x,
        _indices(app, 1, vector_axis),
        offset_dims=numbers.get("offset_dims", ()),
        collapsed_slice_dims=numbers.get("collapsed_slice_dims", ()),
        start_index_map=numbers.get("start_index_map", ()),
        operand_batching_dims=numbers.get("operand_batching_dims", ()),
        start_indices_batching_dims=_without(numbers.get("start_indices_batching_dims", ()), vector_axis),
        slice_sizes=slice_sizes,
        mode="clip",
        fill_value=storage(np.zeros((), x.dtype)),
    )


def _scatter(app: Application) -> Any:
    count = (len(app.inputs) - 1) // 2
    xs, updates = app.arrays[:count], app.arrays[count + 1 :]
    numbers = app.record("scatter_dimension_numbers")
    vector_axis = numbers.get("index_vector_dim", 0)
    indices = _indices(app, count, vector_axis)
    region = app.op.regions[0]
    kind = single_op(region) if count == 1 else None
    kind = logical(kind, xs[0].dtype == BOOL) if kind else None
    whole = _are_single_elements(updates[0], numbers, xs[0])
    if kind in _KINDS and whole and (xs[0].dtype not in COMPLEX or kind in ("add", "multiply", "second")):
        return ops.scatter(
            xs[0],
            indices,
            updates[0],
            kind=_KINDS[kind],
            update_window_dims=numbers.get("update_window_dims", ()),
            inserted_window_dims=numbers.get("inserted_window_dims", ()),
            scatter_dims_to_operand_dims=numbers.get("scatter_dims_to_operand_dims", ()),
            operand_batching_dims=numbers.get("input_batching_dims", ()),
            scatter_indices_batching_dims=_without(
                numbers.get("scatter_indices_batching_dims", ()), vector_axis
            ),
            mode="drop",
            unique_indices=bool(app.attribute("unique_indices", False)),
            indices_are_sorted=bool(app.attribute("indices_are_sorted", False)),
        )
    return _one_by_one(app, region, xs, indices, updates, numbers, vector_axis)


def _are_single_elements(updates: Any, numbers: dict[str, Any], x: Any) -> bool:
    """Whether windows leave the array as a whole or not at all.

    adze drops a window that sticks out, StableHLO the elements outside: the same where a window has one
    element along each axis that the indices move it along.
    """
    inserted = (*numbers.get("inserted_window_dims", ()), *numbers.get("input_batching_dims", ()))
    kept = [a for a in range(x.ndim) if a not in inserted]
    sizes = dict(zip(kept, (updates.shape[a] for a in numbers.get("update_window_dims", ())), strict=True))
    moved = numbers.get("scatter_dims_to_operand_dims", ())
    return all(isinstance(sizes.get(a, 1), int) and sizes.get(a, 1) == 1 for a in moved) or _XLA_DROPS_WINDOWS


_XLA_DROPS_WINDOWS: Final = True
"""XLA, whose programs these are, drops a window that sticks out as a whole, as adze does."""


def _one_by_one(
    app: Application,
    region: Region,
    xs: list[Any],
    indices: Any,
    updates: list[Any],
    numbers: dict[str, Any],
    vector_axis: int,
) -> Any:
    shape = tuple(updates[0].shape)
    if not all(isinstance(n, int) for n in (*shape, *xs[0].shape)):
        raise app.error("this region needs sizes that are known while tracing")
    places = _places(xs[0], indices, shape, numbers, vector_axis)
    flat = [xp.ravel(u) for u in updates]
    sizes = np.array(xs[0].shape, np.int64)

    def step(k: Any, state: list[Any]) -> list[Any]:
        place = [places[a][k] for a in range(xs[0].ndim)]
        is_inside: Any = xp.asarray(np.array(True))
        for position, n in zip(place, sizes.tolist(), strict=True):
            is_inside = is_inside & (position >= 0) & (position < n)
        have = [ops.reshape(ops.dynamic_slice(x, *place, slice_sizes=(1,) * x.ndim), shape=()) for x in state]
        new = [as_array(v) for v in app.run(region, [*have, *(u[k] for u in flat)])]
        return [
            ops.dynamic_update_slice(x, ops.reshape(ops.select(is_inside, n, h), shape=(1,) * x.ndim), *place)
            for x, n, h in zip(state, new, have, strict=True)
        ]

    return fori_loop(0, math.prod(shape), step, list(xs)) if xs[0].size and math.prod(shape) else xs


def _places(
    x: Any, indices: Any, shape: tuple[int, ...], numbers: dict[str, Any], vector_axis: int
) -> list[Any]:
    """For each axis of `x` the position of every element of the updates along it, flat."""
    windows = numbers.get("update_window_dims", ())
    batch_axes = [a for a in range(len(shape)) if a not in windows]
    batching = numbers.get("input_batching_dims", ())
    of_indices = _without(numbers.get("scatter_indices_batching_dims", ()), vector_axis)
    inserted = (*numbers.get("inserted_window_dims", ()), *batching)
    kept = [a for a in range(x.ndim) if a not in inserted]
    result = []
    for axis in range(x.ndim):
        position = ops.broadcast_in_dim(xp.asarray(np.int64(0)), shape=shape, dimensions=())
        moved = numbers.get("scatter_dims_to_operand_dims", ())
        if axis in moved:
            component = ops.convert(indices, dtype=INT64)[..., moved.index(axis)]
            position = ops.broadcast_in_dim(component, shape=shape, dimensions=tuple(batch_axes))
        if axis in batching:
            along = batch_axes[of_indices[batching.index(axis)]]
            position = position + ops.iota(shape=shape, axis=along, dtype=INT64)
        if axis in kept:
            position = position + ops.iota(shape=shape, axis=windows[kept.index(axis)], dtype=INT64)
        result.append(xp.ravel(position))
    return result


def _index_select(app: Application) -> Any:
    """`torch_index_select`: elements along an axis, for each index, batch by batch."""
    x, indices = app.arrays
    axis, batch = app.attribute("dim"), app.attribute("batch_dims", 0)
    take: Any = lambda a, i: xp.take(a, i, axis=axis - batch)  # noqa: E731
    from ...transforms.vmap import vmap

    for _ in range(batch):
        take = vmap(take)
    return take(x, indices)


RULES: Final[dict[str, Rule]] = {
    "stablehlo.dynamic_gather": _dynamic_gather,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.torch_index_select": _index_select,
}

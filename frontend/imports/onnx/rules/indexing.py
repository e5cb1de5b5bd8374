"""Indexing: gathers, scatters, one-hot, masks; negative indices count from the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ...errors import ModelError, ModelUnsupportedError
from ..calls import Call, axis_of, constant, elements, has_elements, known_int, possible


def from_front(indices: Any, n: Any) -> Any:
    """Indices that count from the front; where they are known, one that is out of range is a mistake."""
    if has_elements(indices) and isinstance(n, int):
        array = np.asarray(indices)
        if array.size and not (-n <= array.min() and array.max() < n):
            raise ModelError(
                f"an index is out of range for an axis of {n} elements: "
                f"{int(array.min())} to {int(array.max())}"
            )
        return constant(np.where(array < 0, array + n, array))
    return xp.where(indices < 0, indices + n, indices)


def gather(call: Call, x: Any, indices: Any) -> Any:
    axis = axis_of(call.integer("axis", 0), x.ndim)
    return xp.take(x, from_front(indices, x.shape[axis]), axis=axis)


def gather_elements(call: Call, x: Any, indices: Any) -> Any:
    axis = axis_of(call.integer("axis", 0), x.ndim)
    index = list(np.indices(indices.shape, sparse=True)) if _is_static(indices) else None
    if index is None:
        return xp.take_along_axis(x, from_front(indices, x.shape[axis]), axis=axis)
    index[axis] = from_front(indices, x.shape[axis])
    return x[tuple(index)]


def gather_nd(call: Call, x: Any, indices: Any) -> Any:
    batch, depth = call.integer("batch_dims", 0), indices.shape[-1]
    where = [from_front(indices[..., i], x.shape[batch + i]) for i in range(depth)]
    leading = [
        xp.reshape(xp.arange(n), [-1 if j == i else 1 for j in range(indices.ndim - 1)])
        for i, n in enumerate(x.shape[:batch])
    ]
    return x[(*leading, *where)]


_KINDS = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}


def scatter_elements(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    axis = axis_of(call.integer("axis", 0), x.ndim)
    kind = call.choice("reduction", "none", tuple(_KINDS))
    where: list[Any] = [xp.asarray(i) for i in np.indices(_static(indices), sparse=True)]
    where[axis] = from_front(indices, x.shape[axis])
    return getattr(x.at[tuple(where)], _KINDS[kind])(updates)


def scatter_nd(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    kind = call.choice("reduction", "none", tuple(_KINDS))
    where = tuple(from_front(indices[..., i], x.shape[i]) for i in range(indices.shape[-1]))
    return getattr(x.at[where], _KINDS[kind])(updates)


def tensor_scatter(call: Call, past: Any, update: Any, start: Any = None) -> Any:
    """A cache with an update at a position of each batch, linearly or around the end."""
    axis = axis_of(call.integer("axis", -2), past.ndim)
    mode = call.choice("mode", "linear", ("linear", "circular"))
    count = update.shape[axis]
    begin = xp.zeros(past.shape[0], dtype=np.int64) if start is None else start
    cache, new = xp.moveaxis(past, axis, 1), xp.moveaxis(update, axis, 1)
    at = begin[:, None] + xp.arange(count)[None, :]
    if mode == "circular":
        at = at % cache.shape[1]
    result = cache.at[xp.arange(past.shape[0])[:, None], at].set(new)
    return xp.moveaxis(result, 1, axis)


def one_hot(call: Call, indices: Any, depth: Any, values: Any) -> Any:
    count = int(known_int(depth, "depth"))
    places = indices.astype(np.int64)
    places = xp.where(places < 0, places + count, places)
    axis = axis_of(call.integer("axis", -1), indices.ndim + 1)
    possible([count, *indices.shape])
    spread = xp.expand_dims(places, axis)
    classes = xp.reshape(xp.arange(count), [-1 if i == axis else 1 for i in range(spread.ndim)])
    return xp.where(spread == classes, values[1], values[0])


def compress(call: Call, x: Any, condition: Any) -> Any:
    kept = np.flatnonzero(elements(condition, "condition"))
    if not call.has("axis"):
        return xp.take(xp.reshape(x, (-1,)), constant(kept))
    return xp.take(x, constant(kept), axis=axis_of(call.integer("axis"), x.ndim))


def non_zero(call: Call, x: Any) -> Any:
    array = elements(x, "X")
    return constant(np.array(np.nonzero(array if array.ndim else array[None]), np.int64))


def unique(call: Call, x: Any) -> Any:
    array = elements(x, "X")
    axis = call.get("axis")
    values, first, inverse, counts = np.unique(array, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not call.flag("sorted", True):
        order = np.argsort(first)
        values = np.take(values, order, axis=0 if axis is None else axis)
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    return [constant(values), *(constant(v.astype(np.int64)) for v in (first, inverse, counts))]


def array_feature_extractor(call: Call, x: Any, indices: Any) -> Any:
    return xp.take(x if x.ndim > 1 else x[None], xp.reshape(indices, (-1,)), axis=-1)


def _is_static(x: Any) -> bool:
    return all(isinstance(n, int) for n in x.shape)


def _static(x: Any) -> tuple[int, ...]:
    if not _is_static(x):
        raise ModelUnsupportedError(f"its indices have dynamic dimensions: {list(x.shape)}")
    return tuple(x.shape)

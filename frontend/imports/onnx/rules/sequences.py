"""Sequences and optional values: Python lists and None while a model runs; never results of loops of adze."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ...errors import ModelError
from ..calls import Call, axis_of, constant, elements, known, known_int


def construct(call: Call, *values: Any) -> Any:
    return [list(values)]


def empty(call: Call) -> Any:
    return [[]]


def at(call: Call, items: Any, position: Any) -> Any:
    return [items[_position(items, position, len(items))]]


def insert(call: Call, items: Any, value: Any, position: Any = None) -> Any:
    place = len(items) if position is None else _position(items, position, len(items) + 1)
    return [[*items[:place], value, *items[place:]]]


def erase(call: Call, items: Any, position: Any = None) -> Any:
    place = len(items) - 1 if position is None else _position(items, position, len(items))
    return [[*items[:place], *items[place + 1 :]]]


def _position(items: Any, position: Any, count: int) -> int:
    place = int(known_int(position, "position"))
    if not -len(items) <= place < count:
        raise ModelError(f"position {place} is out of range for a sequence of {len(items)}")
    return place + len(items) if place < 0 else place


def length(call: Call, items: Any) -> Any:
    return constant(np.int64(len(items)))


def concat_from(call: Call, items: Any) -> Any:
    if call.flag("new_axis"):
        return xp.stack(items, axis=call.integer("axis"))
    return xp.concat(items, axis=call.integer("axis"))


def split_to(call: Call, x: Any, lengths: Any = None) -> Any:
    axis = axis_of(call.integer("axis", 0), x.ndim)
    n = x.shape[axis]
    if lengths is None:
        sizes = [1] * n
    elif lengths.ndim == 0:
        each = int(known_int(lengths, "split"))
        sizes = [min(each, n - i) for i in range(0, n, each)]
    else:
        sizes = known(lengths, "split")
    parts = xp.split(x, [int(end) for end in np.cumsum(sizes)[:-1]], axis=axis)
    if lengths is None and not call.flag("keepdims", True):
        parts = [xp.squeeze(part, axis=axis) for part in parts]
    return [parts]


def optional(call: Call, value: Any = None) -> Any:
    return [value]


def get_element(call: Call, value: Any) -> Any:
    if value is None:
        raise ModelError("its optional input is empty")
    return [value]


def has_element(call: Call, value: Any = None) -> Any:
    return constant(np.bool_(value is not None))


def mapped(call: Call, items: Any, *others: Any) -> Any:
    body = call.get("body")
    rows = [
        call.run(body, [item, *(o[i] if isinstance(o, list) else o for o in others)])
        for i, item in enumerate(items)
    ]
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in body.outputs]


def non_max_suppression(
    call: Call, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None
) -> Any:
    """The boxes of highest scores that overlap no better one by more than a limit: computed at once."""
    corners, values = elements(boxes, "boxes"), elements(scores, "scores")
    limit = 0 if most is None else int(known_int(most, "max_output_boxes_per_class"))
    bound = 0.0 if overlap is None else elements(overlap, "iou_threshold").item()
    threshold = -np.inf if least is None else elements(least, "score_threshold").item()
    if call.flag("center_point_box"):
        centre, half = corners[..., :2], corners[..., 2:] / 2
        corners = np.concatenate([centre - half, centre + half], -1)
    low, high = np.minimum(corners[..., :2], corners[..., 2:]), np.maximum(corners[..., :2], corners[..., 2:])
    chosen = [
        (batch, kind, box)
        for batch, kind in np.ndindex(*values.shape[:2])
        for box in _kept(low[batch], high[batch], values[batch, kind], limit, bound, threshold)
    ]
    return constant(np.array(chosen, np.int64).reshape(-1, 3))


def _kept(low: Any, high: Any, scores: Any, limit: int, bound: float, threshold: float) -> list[int]:
    kept: list[int] = []
    area = (high - low).prod(-1)
    for i in np.argsort(-scores, kind="stable"):
        if len(kept) >= limit or not scores[i] > threshold:
            break
        both = np.maximum(np.minimum(high[i], high[kept]) - np.maximum(low[i], low[kept]), 0).prod(-1)
        union = area[i] + area[kept] - both
        if not (both > bound * union).any():
            kept.append(int(i))
    return kept

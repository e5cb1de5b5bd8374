"""Reductions of the rows of an array by the number of their segment, under the names of `jax.ops`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import numpy as xp
from .lax.indexing import GatherScatterMode
from .numpy.arguments import concrete, shape_error, size, type_error
from .numpy.promotion import asarray_of, type_text


def _segmented(
    function: str, data: Any, segment_ids: Any, num_segments: Any, identity: Any, update: str, mode: Any
) -> Any:
    value, ids = asarray_of(data), asarray_of(segment_ids)
    if ids.dtype.kind not in "iu":
        raise type_error(f"{function}: segment_ids are {type_text(ids)}, expected integers")
    if tuple(value.shape[: ids.ndim]) != tuple(ids.shape):
        raise shape_error(f"{function}: segment_ids {type_text(ids)} do not fit data {type_text(value)}")
    if num_segments is None:
        known = concrete(function, segment_ids, "segment_ids (or num_segments, which states the count)")
        num_segments = int(known.max()) + 1 if known.size else 0
    count = size(function, num_segments)
    start = xp.full((count, *value.shape[ids.ndim :]), identity, dtype=value.dtype)
    ids = ids.astype(np.int32) if ids.dtype.itemsize < 4 else ids  # the count may not fit in fewer bits
    # A negative number names no segment, or the first one where numbers are clipped.
    is_clipped = GatherScatterMode.from_any(mode) is GatherScatterMode.CLIP
    places = xp.maximum(ids, 0) if is_clipped else xp.where(ids < 0, count, ids)
    return getattr(start.at[places], update)(value, mode="clip" if is_clipped else "drop")


def _least(dtype: np.dtype) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return False if dtype.kind == "b" else -np.inf


def _greatest(dtype: np.dtype) -> Any:
    if dtype.kind in "iu":
        return np.iinfo(dtype).max
    return True if dtype.kind == "b" else np.inf


def segment_sum(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Any:
    """The sum of the rows of `data` of each segment, 0 of none; numbers beyond `num_segments` are dropped.

    `num_segments` may be a dynamic dimension; it is the greatest number plus one if it is not stated, which
    needs known `segment_ids`.
    """
    return _segmented("segment_sum", data, segment_ids, num_segments, 0, "add", mode)


def segment_prod(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Any:
    """The product of the rows of `data` of each segment, 1 of none; otherwise as `segment_sum`."""
    return _segmented("segment_prod", data, segment_ids, num_segments, 1, "mul", mode)


def segment_max(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Any:
    """The greatest row of `data` of each segment, the least number of the dtype of none."""
    least = _least(asarray_of(data).dtype)
    return _segmented("segment_max", data, segment_ids, num_segments, least, "max", mode)


def segment_min(
    data: Any,
    segment_ids: Any,
    num_segments: Any = None,
    indices_are_sorted: bool = False,
    unique_indices: bool = False,
    bucket_size: int | None = None,
    mode: Any = None,
) -> Any:
    """The least row of `data` of each segment, the greatest number of the dtype of none."""
    greatest = _greatest(asarray_of(data).dtype)
    return _segmented("segment_min", data, segment_ids, num_segments, greatest, "min", mode)

"""Gathers and convolutions of sparse arrays, under the names of `jax.experimental.sparse`.

Input: sparse arrays and the attributes of `lax.gather` or `lax.conv_general_dilated`. Output: sparse arrays.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy as xp
from ..numpy.promotion import asarray_of
from . import layout, movement
from .bcoo import BCOO
from .layout import checked_sparse
from .storage import CoordinateStorage, masked, refused


def bcoo_gather(
    operand: BCOO,
    start_indices: Any,
    dimension_numbers: Any,
    slice_sizes: Sequence[int],
    *,
    unique_indices: bool = False,
    indices_are_sorted: bool = False,
    mode: Any = None,
    fill_value: Any = None,
) -> BCOO:
    """As `lax.gather` with starts that lie inside: one slice for each of them, joined by batch dimensions."""
    checked_sparse("bcoo_gather", operand)
    if mode is not None and "promise" not in str(mode).lower():
        raise refused(f"bcoo_gather with mode {mode}")
    starts = asarray_of(start_indices)
    flat = starts.reshape((-1, starts.shape[-1]))
    taken = []
    for k in range(flat.shape[0]):
        full: list[Any] = [np.int32(0)] * operand.ndim
        for i, axis in enumerate(dimension_numbers.start_index_map):
            full[axis] = flat[k, i]
        cut = movement.dynamic_slice(operand, full, slice_sizes)
        cut = movement.squeeze(cut, dimension_numbers.collapsed_slice_dims)
        cut = layout.update_layout(cut, n_batch=0, on_inefficient=None)
        taken.append(movement.broadcast_in_dim(cut, (1, *cut.shape), range(1, cut.ndim + 1)))
    joined = movement.concatenate([layout.update_layout(m, n_batch=0) for m in taken], 0)
    batch = tuple(starts.shape[:-1])
    result = movement.reshape(joined, (*batch, *joined.shape[1:]))
    offsets = list(dimension_numbers.offset_dims)
    rest = [d for d in range(result.ndim) if d not in offsets]
    return movement.transpose(result, list(np.argsort([*rest, *offsets])))


def bcoo_conv_general_dilated(
    lhs: Any,
    rhs: Any,
    *,
    window_strides: Sequence[int],
    padding: Any,
    lhs_dilation: Any = None,
    rhs_dilation: Any = None,
    dimension_numbers: Any = None,
    feature_group_count: int = 1,
    batch_group_count: int = 1,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> BCOO:
    """A convolution in one dimension, of one channel and one batch, where an operand or both are sparse."""
    is_plain = all(d is None or tuple(d) == (1,) for d in (lhs_dilation, rhs_dilation))
    if lhs.ndim != 3 or tuple(window_strides) != (1,) or not is_plain or dimension_numbers is not None:
        raise refused("a sparse convolution that is not one-dimensional, or has strides or dilations")
    if feature_group_count != 1 or batch_group_count != 1 or {*lhs.shape[:2], *rhs.shape[:2]} != {1}:
        raise refused("a sparse convolution of several channels or batches")
    (ld, li), (rd, ri) = _line(lhs), _line(rhs)
    size, window = lhs.shape[2], rhs.shape[2]
    before, after = _padding(padding, size, window)
    data = (ld[:, None] * rd[None, :]).reshape(-1)
    places = (li[:, None] + (before - ri[None, :])).reshape(-1)
    width = max(0, size + before + after - window + 1)
    inside = (places >= 0) & (places < width)
    data = xp.where(inside, data, xp.zeros((), data.dtype))
    indices = xp.where(inside, places, width).astype(np.int32)
    count = int(data.shape[0])
    return BCOO((data.reshape((1, 1, count)), indices.reshape((1, 1, count, 1))), shape=(1, 1, width))


def _line(mat: Any) -> tuple[Any, Any]:
    if not isinstance(mat, CoordinateStorage):
        value = asarray_of(mat)
        return value.reshape(-1), xp.asarray(np.arange(value.shape[2]))
    flat = layout.update_layout(movement.squeeze(layout.update_layout(mat, n_batch=0, n_dense=0), (0, 1)))
    data, indices = masked(flat)
    return data, indices[:, 0].astype(int)


def _padding(padding: Any, size: int, window: int) -> tuple[int, int]:
    if isinstance(padding, str):
        total = {"VALID": 0, "SAME": max(window - 1, 0)}[padding.upper()]
        return total // 2, total - total // 2
    (pair,) = padding
    return operator.index(pair[0]), operator.index(pair[1])

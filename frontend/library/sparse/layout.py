"""From dense to sparse and back, the order of entries, and which dimensions are batch, sparse or dense.

Input and output: sparse arrays of `storage.py`, or their data and indices. Idea: entries are sorted by all
their coordinates at once, padding last; equal neighbours are then one segment each.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError, ConcretizationError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..lax.ordering import sort
from ..numpy.arguments import concrete
from ..numpy.promotion import asarray_of
from .storage import (
    CoordinateStorage,
    SparseEfficiencyError,
    SparseEfficiencyWarning,
    along_dense,
    batch_positions,
    columns,
    full_batch,
    masked,
    mistaken,
    places,
    valid,
)

Mat = TypeVar("Mat", bound=CoordinateStorage)


def from_dense(value: Any, nse: int | None, n_batch: int, n_dense: int, index_dtype: Any) -> tuple[Any, Any]:
    """The data and indices of the nonzero entries of an array, in row-major order, padded to `nse`."""
    value = asarray_of(value)
    n_sparse = value.ndim - n_batch - n_dense
    if n_sparse < 0 or n_batch < 0 or n_dense < 0:
        raise mistaken(f"n_batch={n_batch} and n_dense={n_dense} do not fit {value.ndim} dimensions")
    nonzero = value != 0
    if n_dense:
        nonzero = xp.any(nonzero, axis=tuple(range(value.ndim - n_dense, value.ndim)))
    batch, shape = tuple(value.shape[:n_batch]), tuple(value.shape[n_batch : n_batch + n_sparse])
    flat = nonzero.reshape((*batch, math.prod(shape)))
    if nse is None:
        counts = concrete("fromdense", xp.sum(flat, axis=-1, dtype=np.int64), "nse, the count of entries,")
        nse = int(counts.max()) if counts.size else 0
    nse = operator.index(nse)
    positions = _positions_of(flat, nse)
    indices = _unraveled(positions, shape, index_dtype)
    return extract(indices, value), indices


def _positions_of(flat: Any, nse: int) -> Any:
    """The positions of `nse` true elements along the last axis; the size where there are fewer."""
    batch, size = tuple(flat.shape[:-1]), int(flat.shape[-1])
    rank = xp.cumsum(flat, axis=-1, dtype=np.int64) - 1
    target = xp.where(flat, rank, nse)
    start = xp.full((*batch, nse), size, dtype=np.int64)
    values = xp.broadcast_to(np.arange(size), (*batch, size))
    return start.at[(*batch_positions(batch), target)].set(values, mode="drop")


def _unraveled(positions: Any, shape: Sequence[int], dtype: Any) -> Any:
    if not shape:
        # The one element of an array without sparse dimensions has no coordinates.
        return xp.zeros((*positions.shape, 0), dtype=dtype)
    inside = positions < math.prod(shape)
    parts, rest = [], positions
    for size in reversed(shape):
        parts.append(xp.where(inside, rest % max(size, 1), size))
        rest = rest // max(size, 1)
    return xp.stack(parts[::-1], axis=-1).astype(dtype)


def extract(indices: Any, value: Any) -> Any:
    """The elements of a dense array at coordinates, 0 for padding: shape (batch..., nse, dense...)."""
    n_batch, n_sparse = indices.ndim - 2, int(indices.shape[-1])
    batch = tuple(value.shape[:n_batch])
    if tuple(indices.shape[:n_batch]) != batch:
        indices = xp.broadcast_to(indices, (*batch, *indices.shape[n_batch:]))
    if not n_sparse:
        wide = value.reshape((*batch, 1, *value.shape[n_batch:]))
        shape = (*batch, int(indices.shape[-2]), *value.shape[n_batch:])
        if shape[n_batch] <= 1:
            return wide[(*(slice(None),) * n_batch, slice(0, shape[n_batch]))]
        first = np.arange(shape[n_batch]).reshape((-1, *(1,) * (value.ndim - n_batch))) == 0
        return xp.where(first, xp.broadcast_to(wide, shape), xp.zeros((), value.dtype))
    return value.at[places(batch, indices)].get(mode="fill", fill_value=0)


def to_dense(mat: CoordinateStorage) -> Any:
    """The dense array; entries with the same coordinates are added."""
    data, indices = masked(mat)
    if not mat.n_sparse:
        return xp.sum(data, axis=mat.n_batch, dtype=data.dtype)
    zeros = xp.zeros(mat.shape, dtype=data.dtype)
    where = places(mat.batch_shape, indices)
    return zeros.at[where].max(data, mode="drop") if data.dtype == bool else _added(zeros, where, data)


def _added(start: Any, where: tuple[Any, ...], values: Any) -> Any:
    return start.at[where].add(values, mode="drop")


def _order(mat: CoordinateStorage) -> tuple[Any, Any]:
    """Indices in lexicographic order, padding last, and the positions of the entries in that order."""
    _, indices = full_batch(mat)
    shape = np.asarray(mat.sparse_shape, dtype=np.int64).astype(np.dtype(indices.dtype))
    keys = xp.where(valid(indices, mat.sparse_shape)[..., None], indices, shape)
    count = xp.broadcast_to(np.arange(mat.nse), tuple(indices.shape[:-1]))
    *parts, order = sort((*columns(keys), count), dimension=-1, num_keys=mat.n_sparse)
    return xp.stack(parts, axis=-1).astype(indices.dtype), order


def _reordered(mat: CoordinateStorage, order: Any) -> Any:
    data, _ = masked(mat)
    return data[(*batch_positions(mat.batch_shape), order)]


def sort_indices(mat: Mat) -> Mat:
    """The entries in lexicographic order of their coordinates."""
    if not mat.n_sparse or mat.nse == 0:
        return mat
    indices, order = _order(mat)
    return mat.of(_reordered(mat, order), indices, indices_sorted=True, unique_indices=mat.unique_indices)


def sum_duplicates(mat: Mat, nse: int | None = None) -> Mat:
    """Entries with the same coordinates as one, in lexicographic order.

    Without `nse` the count of entries is the greatest of all batches, or stays where that is not known.
    """
    flags: dict[str, Any] = {"indices_sorted": True, "unique_indices": True}
    if not mat.n_sparse:
        data, indices = full_batch(mat)
        summed = xp.sum(data, axis=mat.n_batch, keepdims=True, dtype=data.dtype)
        wide = 1 if nse is None else operator.index(nse)
        result = mat.of(
            summed, indices[..., :1, :] if mat.nse else xp.zeros((*mat.batch_shape, 1, 0), indices.dtype)
        )
        return set_nse(result, wide)
    if mat.nse == 0:
        return set_nse(mat, 0 if nse is None else operator.index(nse))
    indices, order = _order(mat)
    is_new = xp.any(indices[..., 1:, :] != indices[..., :-1, :], axis=-1)
    first = xp.zeros((*mat.batch_shape, 1), dtype=np.int64)
    segment = xp.concatenate([first, xp.cumsum(is_new, axis=-1, dtype=np.int64)], axis=-1)
    if nse is None:
        nse = _count_of(segment, valid(indices, mat.sparse_shape), mat.nse)
    nse = operator.index(nse)
    where = (*batch_positions(mat.batch_shape), segment)
    data = _reordered(mat, order)
    start = xp.zeros((*mat.batch_shape, nse, *mat.dense_shape), dtype=data.dtype)
    padding = np.asarray(mat.sparse_shape, dtype=np.int64).astype(np.dtype(indices.dtype))
    outside = xp.broadcast_to(padding, (*mat.batch_shape, nse, mat.n_sparse))
    return mat.of(
        _added(start, where, data), xp.asarray(outside).at[where].set(indices, mode="drop"), **flags
    )


def _count_of(segment: Any, inside: Any, nse: int) -> int:
    """The greatest count of segments with a coordinate inside; `nse` where only a program knows it."""
    counts = xp.max(xp.where(inside, segment + 1, 0), axis=-1)
    try:
        known = concrete("sum_duplicates", counts, "nse")
    except ConcretizationError:
        return nse
    return int(known.max()) if known.size else 0


def eliminate_zeros(mat: Mat, nse: int | None = None) -> Mat:
    """As `sum_duplicates`, without the entries that are zero."""
    data, indices = full_batch(mat)
    is_zero = xp.all(data == 0, axis=tuple(range(mat.n_batch + 1, data.ndim))) if mat.n_dense else data == 0
    outside = np.asarray(mat.sparse_shape, dtype=np.int64).astype(np.dtype(indices.dtype))
    moved = xp.where(is_zero[..., None], outside, indices) if mat.n_sparse else indices
    return sum_duplicates(mat.of(data, moved), nse)


def set_nse(mat: Mat, nse: int) -> Mat:
    """The array with so many entries: the first ones, or padding behind them."""
    data, indices = full_batch(mat)
    n = mat.n_batch
    flags: dict[str, Any] = {"indices_sorted": mat.indices_sorted, "unique_indices": mat.unique_indices}
    if nse <= mat.nse:
        head = (*(slice(None),) * n, slice(0, nse))
        return mat.of(data[head], indices[head], **flags)
    more = nse - mat.nse
    zeros = xp.zeros((*mat.batch_shape, more, *mat.dense_shape), dtype=data.dtype)
    outside = np.asarray(mat.sparse_shape, dtype=np.int64).astype(np.dtype(indices.dtype))
    padding = xp.broadcast_to(outside, (*mat.batch_shape, more, mat.n_sparse))
    return mat.of(
        xp.concatenate([data, zeros], axis=n),
        xp.concatenate([indices, xp.asarray(padding)], axis=n),
        **flags,
    )


def update_layout(
    mat: Mat, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> Mat:
    """The same array with other numbers of batch and dense dimensions."""
    batch = mat.n_batch if n_batch is None else operator.index(n_batch)
    dense = mat.n_dense if n_dense is None else operator.index(n_dense)
    if on_inefficient not in ("error", "warn", None):
        raise ArgumentError(
            f"on_inefficient is {on_inefficient!r}, expected 'error', 'warn' or None",
            where=user_location_text(),
        )
    if batch < 0 or dense < 0 or batch + dense > mat.ndim:
        raise mistaken(f"n_batch={batch} and n_dense={dense} do not fit {mat.ndim} dimensions")
    grown = [mat.shape[mat.n_batch : batch], mat.shape[mat.ndim - dense : mat.ndim - mat.n_dense]]
    if any(size > 1 for part in grown for size in part):
        _inefficient(mat, batch, dense, on_inefficient)
    if dense < mat.n_dense:
        mat = _dense_to_sparse(mat, mat.n_dense - dense)
    if batch < mat.n_batch:
        mat = _batch_to_sparse(mat, mat.n_batch - batch)
    if dense > mat.n_dense:
        mat = _sparse_to_dense(mat, dense - mat.n_dense)
    return _sparse_to_batch(mat, batch - mat.n_batch) if batch > mat.n_batch else mat


def _inefficient(mat: CoordinateStorage, batch: int, dense: int, mode: str | None) -> None:
    text = f"n_batch={batch} and n_dense={dense} store very many zeros of {mat!r}"
    if mode == "error":
        raise SparseEfficiencyError(
            text, where=user_location_text(), hint="pass on_inefficient='warn' or None to allow it"
        )
    if mode == "warn":
        warnings.warn(text, SparseEfficiencyWarning, stacklevel=4)


def _dense_to_sparse(mat: Mat, count: int) -> Mat:
    """The first `count` dense dimensions become the last sparse ones."""
    data, indices = full_batch(mat)
    n, sizes = mat.n_batch, mat.dense_shape[:count]
    grids = np.meshgrid(*(np.arange(s) for s in sizes), indexing="ij")
    inner = np.stack([g.ravel() for g in grids], axis=-1).astype(np.dtype(indices.dtype))
    total = math.prod(sizes)
    shape = (*mat.batch_shape, mat.nse, total)
    left = xp.broadcast_to(indices[..., :, None, :], (*shape, mat.n_sparse))
    both = xp.concatenate([left, xp.broadcast_to(inner, (*shape, count))], axis=-1)
    nse = mat.nse * total
    return mat.of(
        data.reshape((*mat.batch_shape, nse, *data.shape[n + 1 + count :])),
        both.reshape((*mat.batch_shape, nse, mat.n_sparse + count)),
    )


def _batch_to_sparse(mat: Mat, count: int) -> Mat:
    """The last `count` batch dimensions become the first sparse ones."""
    data, indices = full_batch(mat)
    keep, sizes = mat.batch_shape[: mat.n_batch - count], mat.batch_shape[mat.n_batch - count :]
    grids = np.meshgrid(*(np.arange(s) for s in sizes), np.arange(mat.nse), indexing="ij")
    outer = np.stack(grids[:-1], axis=-1).astype(np.dtype(indices.dtype))
    both = xp.concatenate([xp.broadcast_to(outer, (*indices.shape[:-1], count)), indices], axis=-1)
    inside = valid(indices, mat.sparse_shape)
    outside = np.asarray((*sizes, *mat.sparse_shape), dtype=np.int64).astype(np.dtype(indices.dtype))
    both = xp.where(inside[..., None], both, outside)
    nse = math.prod(sizes) * mat.nse
    return mat.of(
        data.reshape((*keep, nse, *mat.dense_shape)), both.reshape((*keep, nse, mat.n_sparse + count))
    )


def _sparse_to_dense(mat: Mat, count: int) -> Mat:
    """The last `count` sparse dimensions become the first dense ones: each entry stores a whole block."""
    data, indices = masked(mat)
    kept = mat.n_sparse - count
    sizes = mat.sparse_shape[kept:]
    start = xp.zeros((*mat.batch_shape, mat.nse, *sizes, *mat.dense_shape), dtype=data.dtype)
    inner = columns(indices[..., kept:])
    where = (*batch_positions((*mat.batch_shape, mat.nse), trailing=0), *inner)
    blocks = start.at[where].add(data, mode="drop")
    inside = valid(indices, mat.sparse_shape)
    outside = np.asarray(mat.sparse_shape[:kept], dtype=np.int64).astype(np.dtype(indices.dtype))
    return mat.of(blocks, xp.where(inside[..., None], indices[..., :kept], outside))


def _sparse_to_batch(mat: Mat, count: int) -> Mat:
    """The first `count` sparse dimensions become the last batch ones: each batch has as many entries."""
    data, indices = masked(mat)
    sizes, nse = mat.sparse_shape[:count], mat.nse
    start = xp.zeros((*mat.batch_shape, *sizes, nse, *mat.dense_shape), dtype=data.dtype)
    where = (
        *batch_positions(mat.batch_shape),
        *columns(indices[..., :count]),
        np.arange(nse).reshape((*(1,) * mat.n_batch, nse)),
    )
    inner = indices[..., count:].reshape((*mat.batch_shape, *(1,) * count, nse, mat.n_sparse - count))
    return mat.of(
        start.at[where].add(data, mode="drop"),
        xp.broadcast_to(inner, (*mat.batch_shape, *sizes, nse, mat.n_sparse - count)),
    )


def checked_sparse(function: str, mat: Any) -> CoordinateStorage:
    """`mat`, which must be a sparse array by coordinates."""
    if not isinstance(mat, CoordinateStorage):
        raise ArgumentTypeError(
            f"{function}: expected a BCOO array, got {type(mat).__name__}", where=user_location_text()
        )
    return mat


__all__ = [
    "along_dense",
    "checked_sparse",
    "eliminate_zeros",
    "extract",
    "from_dense",
    "set_nse",
    "sort_indices",
    "sum_duplicates",
    "to_dense",
    "update_layout",
]

"""Sparse arrays moved: transposed, broadcast, reshaped, reversed, sliced, joined.

Input and output: sparse arrays of `storage.py`. Idea: batch and dense dimensions move as those of dense
arrays do, sparse ones by their coordinates; an entry that leaves the result becomes padding.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ...errors import IndexBoundsError
from .. import numpy as xp
from ..numpy.promotion import asarray_of
from .layout import set_nse, sum_duplicates, update_layout
from .storage import CoordinateStorage, along_dense, columns, full_batch, masked, mistaken, refused, valid

Mat = TypeVar("Mat", bound=CoordinateStorage)


def split(mat: CoordinateStorage, values: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What belongs to batch, sparse and dense dimensions of a list with an element for each."""
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    return list(values[:n]), list(values[n:m]), list(values[m:])


def axes_of(mat: CoordinateStorage, axes: Any) -> list[int]:
    """Axes as a sorted list of non-negative numbers."""
    if axes is None:
        return list(range(mat.ndim))
    given = [axes] if isinstance(axes, (int, np.integer)) else list(axes)
    result = []
    for axis in given:
        if not -mat.ndim <= axis < mat.ndim:
            raise mistaken(f"axis {axis} of a sparse array of {mat.ndim} dimensions")
        result.append(int(axis) % mat.ndim)
    return sorted(set(result))


def transpose(mat: Mat, permutation: Sequence[int]) -> Mat:
    """The dimensions in another order; batch, sparse and dense ones stay among themselves."""
    order = [operator.index(p) for p in permutation]
    if sorted(order) != list(range(mat.ndim)):
        raise mistaken(f"{tuple(order)} is no permutation of {mat.ndim} dimensions")
    batch, sparse, dense = split(mat, order)
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    if sorted(batch) != list(range(n)) or sorted(sparse) != list(range(n, m)):
        raise refused(
            f"transpose{tuple(order)} of a sparse array, which mixes batch, sparse and dense dimensions",
            hint="change which dimensions are which first, by update_layout",
        )
    data = xp.transpose(mat.data, (*batch, n, *(d - mat.n_sparse + 1 for d in dense)))
    indices = xp.transpose(mat.indices, (*batch, n, n + 1))
    moved = [s - n for s in sparse]
    is_same = moved == list(range(mat.n_sparse))
    if not is_same:
        indices = indices[..., np.asarray(moved)]
    return mat.of(
        data,
        indices,
        [mat.shape[i] for i in order],
        indices_sorted=mat.indices_sorted and is_same,
        unique_indices=mat.unique_indices,
    )


def broadcast_in_dim(mat: Mat, shape: Sequence[int], broadcast_dimensions: Sequence[int]) -> Mat:
    """As `lax.broadcast_in_dim`: new leading dimensions are batch ones."""
    shape = tuple(operator.index(s) for s in shape)
    dims = [operator.index(d) for d in broadcast_dimensions]
    if len(dims) != mat.ndim or sorted(set(dims)) != dims or any(not 0 <= d < len(shape) for d in dims):
        raise mistaken(f"broadcast_dimensions {tuple(dims)} do not fit {mat!r} and {shape}")
    if any(mat.shape[i] not in (1, shape[d]) for i, d in enumerate(dims)):
        raise mistaken(f"{mat!r} does not broadcast to {shape} along {tuple(dims)}")
    batch_dims, sparse_dims, dense_dims = split(mat, dims)
    n_batch = min(dims[mat.n_batch :], default=len(shape))
    n_dense = len(shape) - min(dense_dims) if dense_dims else 0
    n_sparse = len(shape) - n_batch - n_dense
    if math.prod(mat.sparse_shape) != math.prod(shape[n_batch : n_batch + n_sparse]):
        raise refused("a broadcast of a sparse array along sparse dimensions of sizes other than 1")
    unit_data = [1] * (len(shape) + 1 - n_sparse)
    for i, d in enumerate(batch_dims):
        unit_data[d] = mat.data.shape[i]
    unit_data[n_batch] = mat.nse
    for i, d in enumerate(dense_dims):
        unit_data[d + 1 - n_sparse] = mat.data.shape[mat.n_batch + 1 + i]
    data = xp.broadcast_to(
        mat.data.reshape(unit_data), (*shape[:n_batch], mat.nse, *shape[n_batch + n_sparse :])
    )
    unit_indices = [1] * n_batch
    for i, d in enumerate(batch_dims):
        unit_indices[d] = mat.indices.shape[i]
    indices = xp.broadcast_to(
        mat.indices.reshape((*unit_indices, mat.nse, mat.n_sparse)), (*shape[:n_batch], mat.nse, mat.n_sparse)
    )
    if n_sparse != mat.n_sparse:
        zero = xp.zeros(tuple(indices.shape[:-1]), dtype=indices.dtype)
        place = {d - n_batch: i for i, d in enumerate(sparse_dims)}
        parts = [indices[..., place[k]] if k in place else zero for k in range(n_sparse)]
        indices = xp.stack(parts, axis=-1) if parts else xp.zeros((*indices.shape[:-1], 0), indices.dtype)
    return mat.of(data, indices, shape)


def reshape(mat: Mat, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None) -> Mat:
    """As `lax.reshape`, where batch, sparse and dense dimensions do not mix."""
    if dimensions is not None:
        mat = transpose(mat, dimensions)
    sizes = tuple(operator.index(s) for s in new_sizes)
    if -1 in sizes:
        rest = -math.prod(sizes)
        sizes = tuple(mat.size // max(rest, 1) if s == -1 else s for s in sizes)
    if math.prod(sizes) != mat.size:
        raise mistaken(f"{mat!r} of {mat.size} elements does not reshape to {sizes}")
    first = _prefix(sizes, math.prod(mat.batch_shape), mat.n_batch == 0)
    second = _prefix(sizes[first:], math.prod(mat.sparse_shape), mat.n_sparse == 0, not mat.n_dense)
    batch, sparse, dense = sizes[:first], sizes[first : first + second], sizes[first + second :]
    data, indices = full_batch(mat)
    inside = valid(indices, mat.sparse_shape)
    flat: Any = 0
    for column, size in zip(columns(indices), mat.sparse_shape, strict=True):
        flat = flat * size + column.astype(int)
    parts = []
    for size in reversed(sparse):
        parts.append(xp.where(inside, flat % max(size, 1), size))
        flat = flat // max(size, 1)
    new = (
        xp.stack(parts[::-1], axis=-1).astype(indices.dtype)
        if parts
        else xp.zeros((*mat.batch_shape, mat.nse, 0), indices.dtype)
    )
    if not sparse and mat.n_sparse:
        data, _ = masked(mat)
    return mat.of(data.reshape((*batch, mat.nse, *dense)), new.reshape((*batch, mat.nse, len(sparse))), sizes)


def _prefix(sizes: Sequence[int], product: int, is_none: bool, takes_all: bool = False) -> int:
    """How many of the leading sizes multiply to `product`."""
    if is_none:
        return 0
    if takes_all and math.prod(sizes) == product:
        return len(sizes)
    for count in range(len(sizes), -1, -1) if product == 1 else range(len(sizes) + 1):
        head = math.prod(sizes[:count])
        if head == product:
            while product != 1 and count < len(sizes) and sizes[count] == 1:
                count += 1
            return count
    raise mistaken(
        f"a sparse array whose batch, sparse or dense dimensions of product {product} mix in {tuple(sizes)}"
    )


def reverse(mat: Mat, dimensions: Sequence[int]) -> Mat:
    """As `lax.rev`."""
    axes = axes_of(mat, dimensions)
    data, indices = full_batch(mat)
    batch = [a for a in axes if a < mat.n_batch]
    dense = [a - mat.n_sparse + 1 for a in axes if a >= mat.n_batch + mat.n_sparse]
    if batch:
        indices = xp.flip(indices, axis=tuple(batch))
    if batch or dense:
        data = xp.flip(data, axis=(*batch, *dense))
    inside = valid(indices, mat.sparse_shape)
    parts = []
    for i, (column, size) in enumerate(zip(columns(indices), mat.sparse_shape, strict=True)):
        is_turned = i + mat.n_batch in axes
        parts.append(xp.where(inside, size - 1 - column if is_turned else column, size))
    new = xp.stack(parts, axis=-1).astype(indices.dtype) if parts else indices
    return mat.of(data, new, unique_indices=mat.unique_indices)


def squeeze(mat: Mat, dimensions: Sequence[int]) -> Mat:
    """Without dimensions of size 1."""
    axes = axes_of(mat, dimensions)
    if any(mat.shape[a] != 1 for a in axes):
        raise mistaken(f"squeeze: axes {tuple(axes)} of {mat!r} are not all of size 1")
    batch = [a for a in axes if a < mat.n_batch]
    dense = [a - mat.n_sparse + 1 for a in axes if a >= mat.n_batch + mat.n_sparse]
    kept = [i for i in range(mat.n_sparse) if i + mat.n_batch not in axes]
    data, indices = masked(mat)
    taken = indices[..., np.asarray(kept, dtype=np.int64)] if kept else indices[..., :0]
    if batch:
        taken = xp.squeeze(taken, axis=tuple(batch))
    if batch or dense:
        data = xp.squeeze(data, axis=(*batch, *dense))
    if len(kept) != mat.n_sparse and kept:
        gone = [i for i in range(mat.n_sparse) if i not in kept]
        inside = xp.all(indices[..., np.asarray(gone)] == 0, axis=-1)
        if batch:
            inside = xp.squeeze(inside, axis=tuple(batch))
        outside = np.asarray([mat.sparse_shape[i] for i in kept]).astype(np.dtype(taken.dtype))
        taken = xp.where(inside[..., None], taken, outside)
    return mat.of(
        data,
        taken,
        [s for i, s in enumerate(mat.shape) if i not in axes],
        indices_sorted=mat.indices_sorted,
        unique_indices=mat.unique_indices,
    )


def slice_(
    mat: Mat, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int] | None = None
) -> Mat:
    """As `lax.slice`."""
    starts = [operator.index(i) for i in start_indices]
    limits = [operator.index(i) for i in limit_indices]
    steps = [1] * mat.ndim if strides is None else [operator.index(i) for i in strides]
    if not len(starts) == len(limits) == len(steps) == mat.ndim:
        raise mistaken(f"slice: {mat!r} needs {mat.ndim} starts, limits and strides")
    if any(s <= 0 for s in steps) or any(
        not 0 <= a <= b <= size for a, b, size in zip(starts, limits, mat.shape, strict=True)
    ):
        raise mistaken(f"slice: starts {starts}, limits {limits} and strides {steps} do not fit {mat.shape}")
    cuts = [slice(a, b, s) for a, b, s in zip(starts, limits, steps, strict=True)]
    batch, sparse, dense = split(mat, cuts)
    data, indices = full_batch(mat)
    data, indices = data[(*batch, slice(None), *dense)], indices[tuple(batch)]
    shape = [len(range(cut.start, cut.stop, cut.step)) for cut in cuts]
    if not sparse:
        return mat.of(data, indices, shape)
    offset = np.asarray([cut.start for cut in sparse], dtype=np.int64)
    stop = np.asarray([cut.stop for cut in sparse], dtype=np.int64)
    step = np.asarray([cut.step for cut in sparse], dtype=np.int64)
    wide = indices.astype(int)
    inside = xp.all((wide >= offset) & (wide < stop) & ((wide - offset) % step == 0), axis=-1)
    new = (wide - offset) // step
    return _kept(mat, data, new, inside, shape)


def _kept(mat: Mat, data: Any, indices: Any, inside: Any, shape: Sequence[int]) -> Mat:
    """Entries inside, at their new coordinates; the others are padding, and no more than the result holds."""
    sparse = shape[mat.n_batch : mat.n_batch + mat.n_sparse]
    outside = np.asarray(sparse, dtype=np.int64)
    new = xp.where(inside[..., None], indices, outside).astype(mat.indices.dtype)
    data = xp.where(along_dense(inside, mat.n_dense), data, xp.zeros((), data.dtype))
    result = mat.of(data, new, shape, unique_indices=mat.unique_indices)
    if mat.nse > math.prod(sparse):
        return sum_duplicates(result, nse=math.prod(sparse))
    return result


def dynamic_slice(mat: Mat, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> Mat:
    """As `lax.dynamic_slice`: starts are clamped so that the slice lies inside."""
    sizes = [operator.index(s) for s in slice_sizes]
    starts = [asarray_of(s) for s in start_indices]
    if not len(starts) == len(sizes) == mat.ndim or any(
        not 0 <= s <= full for s, full in zip(sizes, mat.shape, strict=True)
    ):
        raise mistaken(f"dynamic_slice: sizes {sizes} do not fit {mat.shape}")
    clamped = []
    for start, size, full in zip(starts, sizes, mat.shape, strict=True):
        if start.dtype.kind not in "iu" or start.ndim:
            raise mistaken("dynamic_slice: starts are integers of shape ()")
        clamped.append(xp.clip(start.astype(int), 0, full - size))
    batch, sparse, dense = split(mat, clamped)
    data, indices = full_batch(mat)
    for axis, start in enumerate(batch):
        data = xp.take(data, start + np.arange(sizes[axis]), axis=axis)
        indices = xp.take(indices, start + np.arange(sizes[axis]), axis=axis)
    for axis, start in enumerate(dense):
        size = sizes[mat.n_batch + mat.n_sparse + axis]
        data = xp.take(data, start + np.arange(size), axis=mat.n_batch + 1 + axis)
    if not sparse:
        return mat.of(data, indices, sizes)
    new = indices.astype(int) - xp.stack(sparse)
    limits = np.asarray(sizes[mat.n_batch : mat.n_batch + mat.n_sparse], dtype=np.int64)
    inside = xp.all((new >= 0) & (new < limits), axis=-1) & valid(indices, mat.sparse_shape)
    return _kept(mat, data, new, inside, sizes)


def concatenate(operands: Sequence[Mat], dimension: int) -> Mat:
    """As `lax.concatenate`, along a batch or sparse dimension."""
    mats = list(operands)
    axis = operator.index(dimension)
    first = mats[0]
    if any(m.ndim != first.ndim or m.n_dense != first.n_dense for m in mats) or not 0 <= axis < first.ndim:
        raise mistaken(f"concatenate: {mats} along {axis}")
    if any(
        m.shape[:axis] + m.shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :] for m in mats
    ):
        raise mistaken(f"concatenate: shapes {[m.shape for m in mats]} differ beside axis {axis}")
    if len({m.n_batch for m in mats}) > 1:
        mats = _same_batch(mats)
    first = mats[0]
    shape = list(first.shape)
    shape[axis] = sum(m.shape[axis] for m in mats)
    if axis >= first.n_batch + first.n_sparse:
        raise refused("concatenation of sparse arrays along dense dimensions")
    if axis < first.n_batch:
        nse = max(m.nse for m in mats)
        buffers = [full_batch(set_nse(m, nse)) for m in mats]
        data = xp.concatenate([d for d, _ in buffers], axis=axis)
        return first.of(data, xp.concatenate([i for _, i in buffers], axis=axis), shape)
    offset, parts, values = 0, [], []
    outside = np.asarray(shape[first.n_batch : first.n_batch + first.n_sparse], dtype=np.int64)
    for mat in mats:
        data, indices = masked(mat)
        moved = indices.astype(int) + np.eye(first.n_sparse, dtype=np.int64)[axis - first.n_batch] * offset
        parts.append(xp.where(valid(indices, mat.sparse_shape)[..., None], moved, outside))
        values.append(data)
        offset += mat.shape[axis]
    indices = xp.concatenate(parts, axis=first.n_batch).astype(first.indices.dtype)
    return first.of(xp.concatenate(values, axis=first.n_batch), indices, shape)


def _same_batch(mats: list[Mat]) -> list[Mat]:
    """`x[None]` has a batch dimension that the others may lack: arrays with the same number of them."""
    counts = {m.n_batch for m in mats}
    if max(counts) == 1 and all(m.shape[0] == 1 for m in mats if m.n_batch == 0):
        return [update_layout(m, n_batch=1) for m in mats]
    if max(counts) == 1 and all(m.shape[0] == 1 for m in mats if m.n_batch == 1):
        return [update_layout(m, n_batch=0) for m in mats]
    raise mistaken(f"concatenate: sparse arrays with different batch dimensions, {sorted(counts)}")


def get_item(mat: Mat, index: Any) -> Mat:
    """`mat[index]` for integers (known or traced), slices, None and `...`."""
    items = list(index) if isinstance(index, tuple) else [index]
    if any(item is Ellipsis for item in items):
        at = next(i for i, item in enumerate(items) if item is Ellipsis)
        count = sum(item is not None and item is not Ellipsis for item in items)
        items[at : at + 1] = [slice(None)] * (mat.ndim - count)
    items += [slice(None)] * (mat.ndim - sum(item is not None for item in items))
    used = [item for item in items if item is not None]
    if len(used) != mat.ndim:
        raise mistaken(f"{len(used)} indices for a sparse array of {mat.ndim} dimensions")
    mat, reversed_axes = _cut(mat, used)
    gone = [axis for axis, item in enumerate(used) if not isinstance(item, slice)]
    if reversed_axes:
        mat = reverse(mat, reversed_axes)
    result = squeeze(mat, gone) if gone else mat
    new = []
    for item in items:
        if item is None or isinstance(item, slice):
            new.append(item is None)
    if not any(new):
        return result
    sizes = iter(result.shape)
    shape = [1 if is_new else next(sizes) for is_new in new]
    return broadcast_in_dim(result, shape, [i for i, is_new in enumerate(new) if not is_new])


def _cut(mat: Mat, used: Sequence[Any]) -> tuple[Mat, list[int]]:
    """The slice, where an integer leaves an axis of size 1, and the axes that are still to be reversed."""
    starts: list[Any] = []
    limits: list[Any] = []
    strides, backwards = [], []
    is_known = True
    for axis, (item, size) in enumerate(zip(used, mat.shape, strict=True)):
        if isinstance(item, slice):
            span = range(*item.indices(size))
            if span.step < 0:
                backwards.append(axis)
                span = span[::-1]
            starts.append(span.start if len(span) else 0)
            limits.append(span[-1] + 1 if len(span) else 0)
            strides.append(span.step)
            continue
        position, known = _position(item, size, axis)
        is_known = is_known and known
        starts.append(position)
        limits.append(position + 1 if known else None)
        strides.append(1)
    if is_known:
        return slice_(mat, starts, limits, strides), backwards
    sizes = [1 if b is None else b - a for a, b in zip(starts, limits, strict=True)]
    if any(s != 1 for s in strides):
        raise refused("an index of a sparse array with both a traced integer and a step")
    return dynamic_slice(mat, starts, sizes), backwards


def _position(item: Any, size: int, axis: int) -> tuple[Any, bool]:
    """An integer index as one that is not negative, and whether Python knows it."""
    if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
        if not -size <= item < size:
            raise IndexBoundsError(f"index {item} is out of bounds for axis {axis} of size {size}")
        return int(item) % size, True
    value = asarray_of(item)
    if value.ndim or value.dtype.kind not in "iu":
        raise refused(
            f"a sparse array indexed by {type(item).__name__}",
            hint="use integers, slices, None or bcoo_gather",
        )
    return xp.where(value < 0, value + size, value), False

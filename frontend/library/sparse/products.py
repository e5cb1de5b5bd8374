"""Products and sums of sparse arrays.

Input: sparse arrays of `storage.py` and dense arrays. Output: dense arrays for sparse times dense, else
sparse ones. Idea: an entry of the sparse operand takes the row of the dense one that its contracted
coordinates name, and adds the product to the place that its other coordinates name; of two sparse operands,
each pair of entries is one candidate.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from .. import numpy as xp
from ..lax.contractions import dot_general as dense_dot_general
from ..numpy.promotion import asarray_of
from .layout import extract, sum_duplicates, update_layout
from .movement import axes_of, transpose
from .storage import (
    CoordinateStorage,
    along_dense,
    batch_positions,
    columns,
    full_batch,
    masked,
    mistaken,
    refused,
    valid,
)

Mat = TypeVar("Mat", bound=CoordinateStorage)
DimensionNumbers = tuple[tuple[Sequence[int], Sequence[int]], tuple[Sequence[int], Sequence[int]]]


def dot_general(
    lhs: Any, rhs: Any, dimension_numbers: DimensionNumbers, preferred_element_type: Any = None
) -> Any:
    """As `lax.dot_general` where one operand or both are sparse."""
    (lc, rc), (lb, rb) = dimension_numbers
    lc, rc, lb, rb = ([int(i) for i in part] for part in (lc, rc, lb, rb))
    left, right = isinstance(lhs, CoordinateStorage), isinstance(rhs, CoordinateStorage)
    if not left:
        lhs = asarray_of(lhs)
    if not right:
        rhs = asarray_of(rhs)
    if (
        len(lc) != len(rc)
        or len(lb) != len(rb)
        or any(lhs.shape[i] != rhs.shape[j] for i, j in zip([*lc, *lb], [*rc, *rb], strict=True))
    ):
        raise mistaken(f"dot_general: {tuple(lhs.shape)} and {tuple(rhs.shape)} by {dimension_numbers}")
    if left and right:
        result = _sparse_sparse(lhs, rhs, lc, rc, lb, rb)
        return result.with_data(_preferred(result.data, preferred_element_type))
    if left:
        return _preferred(_sparse_dense(lhs, rhs, lc, rc, lb, rb), preferred_element_type)
    if right:
        swapped = _sparse_dense(rhs, lhs, rc, lc, rb, lb)
        batch, free = len(lb), rhs.ndim - len(rb) - len(rc)
        order = [*range(batch), *range(batch + free, swapped.ndim), *range(batch, batch + free)]
        return _preferred(xp.transpose(swapped, order), preferred_element_type)
    numbers = ((tuple(lc), tuple(rc)), (tuple(lb), tuple(rb)))
    return dense_dot_general(lhs, rhs, numbers, preferred_element_type=preferred_element_type)


def _preferred(value: Any, dtype: Any) -> Any:
    return value if dtype is None else value.astype(dtype)


def _sparse_dense(
    lhs: CoordinateStorage, rhs: Any, lc: list[int], rc: list[int], lb: list[int], rb: list[int]
) -> Any:
    n, m = lhs.n_batch, lhs.n_batch + lhs.n_sparse
    if any(i >= n for i in lb):
        raise refused(
            "dot_general whose batch dimensions are not batch dimensions of the sparse operand",
            hint="change which dimensions are which first, by update_layout(n_batch=...)",
        )
    dtype = xp.result_type(lhs.dtype, rhs.dtype)
    data, indices = masked(lhs)
    partner = dict(zip([*lc, *lb], [*rc, *rb], strict=True))
    letters = iter(string.ascii_letters)
    label = {i: next(letters) for i in range(lhs.ndim) if i < n or i >= m}
    entry = next(letters)
    free_rhs = [j for j in range(rhs.ndim) if j not in rc and j not in rb]
    rhs_label = {j: next(letters) for j in free_rhs}
    rows, row_text = _rows(lhs, rhs, indices, partner, label, entry, rhs_label)
    free_sparse = [i for i in range(n, m) if i not in lc]
    batch = [i for i in range(n) if i not in lc or free_sparse]
    dense = [i for i in range(m, lhs.ndim) if i not in lc]
    out = [label[i] for i in batch] + [entry] * bool(free_sparse)
    out += [label[i] for i in dense] + [rhs_label[j] for j in free_rhs]
    data_text = "".join([*(label[i] for i in range(n)), entry, *(label[i] for i in range(m, lhs.ndim))])
    products = xp.einsum(f"{data_text},{row_text}->{''.join(out)}", data.astype(dtype), rows.astype(dtype))
    products = products.astype(dtype)
    kept = [i for i in range(n) if i not in lc]
    if free_sparse:
        products = _placed(lhs, rhs, products, indices, kept, free_sparse, dense, free_rhs)
    order = [kept.index(i) for i in lb] + [k for k, i in enumerate(kept) if i not in lb]
    return xp.transpose(products, (*order, *range(len(kept), products.ndim)))


def _rows(
    lhs: CoordinateStorage,
    rhs: Any,
    indices: Any,
    partner: dict[int, int],
    label: dict[int, str],
    entry: str,
    rhs_label: dict[int, str],
) -> tuple[Any, str]:
    """The part of `rhs` that each entry multiplies, with the labels of its axes."""
    n, m = lhs.n_batch, lhs.n_batch + lhs.n_sparse
    sparse = [i for i in range(n, m) if i in partner]
    plain = {partner[i]: label[i] for i in partner if not n <= i < m} | rhs_label
    if not sparse:
        return rhs, "".join(plain[j] for j in range(rhs.ndim))
    batch = [i for i in range(n) if i in partner]
    rest = [j for j in range(rhs.ndim) if j not in [partner[i] for i in (*batch, *sparse)]]
    moved = xp.transpose(rhs, [*(partner[i] for i in (*batch, *sparse)), *rest])
    grid = batch_positions(lhs.batch_shape)
    where = (*(grid[i] for i in batch), *(indices[..., i - n] for i in sparse))
    rows = moved.at[where].get(mode="fill", fill_value=0)
    text = "".join([*(label[i] for i in range(n)), entry, *(plain[j] for j in rest)])
    return rows, text


def _placed(
    lhs: CoordinateStorage,
    rhs: Any,
    products: Any,
    indices: Any,
    kept: list[int],
    free_sparse: list[int],
    dense: list[int],
    free_rhs: list[int],
) -> Any:
    """The sum of the products of all entries at the coordinates that are not contracted."""
    shape = [lhs.shape[i] for i in (*kept, *free_sparse, *dense)] + [rhs.shape[j] for j in free_rhs]
    grid = batch_positions(lhs.batch_shape)
    where = (*(grid[i] for i in kept), *(indices[..., i - lhs.n_batch] for i in free_sparse))
    start = xp.zeros(tuple(shape), dtype=products.dtype)
    return start.at[where].add(products, mode="drop")


def _sparse_sparse(lhs: Mat, rhs: Mat, lc: list[int], rc: list[int], lb: list[int], rb: list[int]) -> Mat:
    if lhs.n_dense or rhs.n_dense:
        raise refused("dot_general of two sparse arrays with dense dimensions")
    if any(i >= lhs.n_batch for i in lb) or any(j >= rhs.n_batch for j in rb):
        raise refused(
            "dot_general of two sparse arrays whose batch dimensions are not those of their layout",
            hint="change which dimensions are which first, by update_layout(n_batch=...)",
        )
    lhs, lc, free_l = _batch_first(lhs, lb, lc)
    rhs, rc, free_r = _batch_first(rhs, rb, rc)
    count = len(lb)
    (ld, li), (rd, ri) = masked(lhs), masked(rhs)
    same = valid(li, lhs.sparse_shape)[..., :, None] & valid(ri, rhs.sparse_shape)[..., None, :]
    for i, j in zip(lc, rc, strict=True):
        same = same & (li[..., :, None, i - count] == ri[..., None, :, j - count])
    dtype = xp.result_type(ld.dtype, rd.dtype)
    pairs = ld[..., :, None].astype(dtype) * rd[..., None, :].astype(dtype)
    pairs = xp.where(same, pairs, xp.zeros((), dtype))
    shape = [*lhs.batch_shape, *(lhs.shape[i] for i in free_l), *(rhs.shape[j] for j in free_r)]
    sizes = (*pairs.shape, 1)
    parts = [
        *(xp.broadcast_to(li[..., :, None, i - count], pairs.shape) for i in free_l),
        *(xp.broadcast_to(ri[..., None, :, j - count], pairs.shape) for j in free_r),
    ]
    free = len(free_l) + len(free_r)
    outside = np.asarray(shape[count:], dtype=np.int64)
    if free:
        stacked = xp.stack([p.astype(int) for p in parts], axis=-1)
        indices = xp.where(same[..., None], stacked, outside).astype(li.dtype)
    else:
        indices = xp.zeros((*sizes[:-1], 0), dtype=li.dtype)
    nse = lhs.nse * rhs.nse
    result = lhs.of(
        pairs.reshape((*lhs.batch_shape, nse)), indices.reshape((*lhs.batch_shape, nse, free)), shape
    )
    most = (lhs.nse if free_l else 1) * (rhs.nse if free_r else 1)
    return sum_duplicates(result, nse=min(most, math.prod(shape[count:])))


def _batch_first(mat: Mat, batch: list[int], contracted: list[int]) -> tuple[Mat, list[int], list[int]]:
    """`mat` with just these batch dimensions, in this order, and its contracted and free dimensions then."""
    order = [*batch, *(i for i in range(mat.ndim) if i not in batch)]
    moved = update_layout(transpose(mat, order), n_batch=len(batch))
    places = [order.index(i) for i in contracted]
    return moved, places, [i for i in range(len(batch), mat.ndim) if i not in places]


def matmul(lhs: Any, rhs: Any) -> Any:
    """`lhs @ rhs` for one or two sparse operands, with the dimensions of `numpy.matmul`."""
    if lhs.ndim == 0 or rhs.ndim == 0:
        raise mistaken(f"matmul of shapes {tuple(lhs.shape)} and {tuple(rhs.shape)}")
    contracting = ((lhs.ndim - 1,), (max(rhs.ndim - 2, 0),))
    if rhs.ndim <= 2:
        return dot_general(lhs, rhs, (contracting, ((), ())))
    if lhs.ndim <= 2:
        # (k) @ (..., k, n) and (m, k) @ (..., k, n): the free dimensions of lhs end up in front of the last.
        result = dot_general(lhs, rhs, (contracting, ((), ())))
        order = [*range(lhs.ndim - 1, result.ndim - 1), *range(lhs.ndim - 1), result.ndim - 1]
        return result.transpose(order)
    count = lhs.ndim - 2
    if lhs.ndim != rhs.ndim or tuple(lhs.shape[:-2]) != tuple(rhs.shape[:-2]):
        raise refused(f"matmul of sparse arrays broadcast from {tuple(lhs.shape)} and {tuple(rhs.shape)}")
    batch = tuple(range(count))
    return dot_general(lhs, rhs, (contracting, (batch, batch)))


def multiply_dense(mat: CoordinateStorage, value: Any) -> Any:
    """The data of `mat * value`, where `value` broadcasts to the shape of `mat`."""
    value = asarray_of(value)
    if value.ndim == 0:
        return mat.data * value
    if value.ndim > mat.ndim or any(
        v not in (1, s) for v, s in zip(value.shape[::-1], mat.shape[::-1], strict=False)
    ):
        raise refused(
            f"a product of a sparse array {mat.shape} and a dense one {tuple(value.shape)} of a larger shape"
        )
    full = value.reshape((*(1,) * (mat.ndim - value.ndim), *value.shape))
    data, indices = masked(mat)
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    if not mat.n_sparse:
        return data * full.reshape((*full.shape[:n], 1, *full.shape[n:]))
    grid = [*batch_positions(mat.batch_shape), *columns(indices)]
    where = tuple(
        np.zeros((1,) * (n + 1), np.int64) if full.shape[i] == 1 and mat.shape[i] != 1 else grid[i]
        for i in range(m)
    )
    return data * full.at[where].get(mode="fill", fill_value=0)


def multiply_sparse(lhs: Mat, rhs: Mat) -> Mat:
    """The product element by element of two sparse arrays, whose shapes broadcast."""
    if lhs.ndim != rhs.ndim:
        raise refused(f"a product of sparse arrays of {lhs.ndim} and {rhs.ndim} dimensions")
    if lhs.n_dense != rhs.n_dense:
        raise refused("a product of sparse arrays with different numbers of dense dimensions")
    count = min(lhs.n_batch, rhs.n_batch)
    shape = np.broadcast_shapes(lhs.shape, rhs.shape)
    lhs, rhs = update_layout(lhs, n_batch=count), update_layout(rhs, n_batch=count)
    (ld, li), (rd, ri) = masked(lhs), masked(rhs)
    if shape[:count] != lhs.batch_shape or shape[:count] != rhs.batch_shape:
        ld, li = (xp.broadcast_to(x, (*shape[:count], *x.shape[count:])) for x in (ld, li))
        rd, ri = (xp.broadcast_to(x, (*shape[:count], *x.shape[count:])) for x in (rd, ri))
    same = valid(li, lhs.sparse_shape)[..., :, None] & valid(ri, rhs.sparse_shape)[..., None, :]
    parts = []
    for k, (a, b) in enumerate(zip(lhs.sparse_shape, rhs.sparse_shape, strict=True)):
        left, right = li[..., :, None, k], ri[..., None, :, k]
        if a == b:
            same = same & (left == right)
        parts.append(xp.broadcast_to(right if a == 1 and b != 1 else left, same.shape))
    dense = lhs.n_dense
    unit = (slice(None),) * dense
    pairs = ld[(..., slice(None), None, *unit)] * rd[(..., None, slice(None), *unit)]
    pairs = xp.where(along_dense(same, dense), pairs, xp.zeros((), pairs.dtype))
    nse = lhs.nse * rhs.nse
    outside = np.asarray(shape[count : count + lhs.n_sparse], dtype=np.int64)
    stacked = (
        xp.stack([p.astype(int) for p in parts], axis=-1) if parts else xp.zeros((*same.shape, 0), np.int64)
    )
    indices = xp.where(same[..., None], stacked, outside).astype(li.dtype)
    result = lhs.of(
        pairs.reshape((*shape[:count], nse, *pairs.shape[count + 2 :])),
        indices.reshape((*shape[:count], nse, lhs.n_sparse)),
        shape,
    )
    if lhs.unique_indices and rhs.unique_indices and lhs.sparse_shape == rhs.sparse_shape:
        return sum_duplicates(result, nse=min(lhs.nse, rhs.nse))
    return result


def reduce_sum(mat: Mat, axes: Any) -> Mat:
    """The sum along axes, as a sparse array."""
    gone = axes_of(mat, axes)
    n, m = mat.n_batch, mat.n_batch + mat.n_sparse
    data, indices = masked(mat)
    dense = tuple(a - mat.n_sparse + 1 for a in gone if a >= m)
    if dense:
        data = xp.sum(data, axis=dense, dtype=data.dtype)
    shape = [s for i, s in enumerate(mat.shape) if i not in gone]
    kept = [i for i in range(mat.n_sparse) if i + n not in gone]
    inside = valid(indices, mat.sparse_shape)
    if kept:
        outside = np.asarray([mat.sparse_shape[i] for i in kept]).astype(np.dtype(indices.dtype))
        indices = xp.where(inside[..., None], indices[..., np.asarray(kept)], outside)
    else:
        indices = indices[..., :0]
    summed = [a for a in gone if a < n]
    batch = [a for a in range(n) if a not in gone]
    nse = mat.nse * math.prod(mat.shape[a] for a in summed)
    size = [mat.shape[a] for a in batch]
    data = xp.transpose(data, (*batch, *summed, *range(n, data.ndim)))
    indices = xp.transpose(indices, (*batch, *summed, n, n + 1))
    return mat.of(
        data.reshape((*size, nse, *data.shape[n + 1 :])), indices.reshape((*size, nse, len(kept))), shape
    )


def add(lhs: Mat, rhs: Mat) -> Mat:
    """The sum of two sparse arrays of one shape: the entries of both."""
    if lhs.shape != rhs.shape:
        raise refused(f"a sum of sparse arrays of shapes {lhs.shape} and {rhs.shape}")
    dtype = xp.result_type(lhs.dtype, rhs.dtype)
    if lhs.indices is rhs.indices:
        return lhs.with_data(lhs.data.astype(dtype) + rhs.data.astype(dtype))
    if lhs.n_batch != rhs.n_batch or lhs.n_dense != rhs.n_dense:
        raise refused("a sum of sparse arrays with different batch or dense dimensions")
    (ld, li), (rd, ri) = full_batch(lhs), full_batch(rhs)
    data = xp.concatenate([ld.astype(dtype), rd.astype(dtype)], axis=lhs.n_batch)
    return lhs.of(data, xp.concatenate([li, ri.astype(li.dtype)], axis=lhs.n_batch))


def sampled(a: Any, b: Any, indices: Any, dimension_numbers: DimensionNumbers) -> Any:
    """The elements of `dot_general(a, b)` at coordinates: only these are computed."""
    a, b, indices = asarray_of(a), asarray_of(b), asarray_of(indices)
    (ac, bc), (ab, bb) = dimension_numbers
    n_batch = indices.ndim - 2
    free_a = [i for i in range(a.ndim) if i not in ac and i not in ab]
    free_b = [j for j in range(b.ndim) if j not in bc and j not in bb]
    if len(ab) != n_batch or len(free_a) + len(free_b) != indices.shape[-1]:
        whole = dense_dot_general(a, b, dimension_numbers)
        return extract(indices, whole)
    grid = batch_positions([a.shape[i] for i in ab])
    parts = columns(indices)
    left = xp.transpose(a, [*ab, *free_a, *ac]).at[(*grid, *parts[: len(free_a)])]
    right = xp.transpose(b, [*bb, *free_b, *bc]).at[(*grid, *parts[len(free_a) :])]
    rows = left.get(mode="fill", fill_value=0) if (ab or free_a) else xp.transpose(a, ac)[None]
    lines = right.get(mode="fill", fill_value=0) if (bb or free_b) else xp.transpose(b, bc)[None]
    count = len(ac)
    total = rows * lines
    return (
        xp.sum(total, axis=tuple(range(total.ndim - count, total.ndim)), dtype=total.dtype)
        if count
        else total
    )

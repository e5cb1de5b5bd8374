"""Sparse arrays from nothing: empty ones, identities, random ones; and `todense` of anything.

Input: shapes and dtypes. Output: sparse arrays of the format that is named.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..random.choice import choice
from ..random.keys import split
from ..random.uniform import uniform
from .bcoo import BCOO
from .lists import COO, CSC, CSR
from .rows import BCSR
from .storage import JAXSparse, mistaken

_FORMATS: dict[str, Any] = {"bcoo": BCOO, "bcsr": BCSR, "coo": COO, "csr": CSR, "csc": CSC}


def _format(name: str) -> Any:
    if name not in _FORMATS:
        raise ArgumentError(
            f"sparse_format is {name!r}, expected one of {sorted(_FORMATS)}", where=user_location_text()
        )
    return _FORMATS[name]


def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    nse: int = 0,
    n_batch: int = 0,
    n_dense: int = 0,
) -> Any:
    """A sparse array of zeros: without entries, or with `nse` of padding."""
    cls = _format(sparse_format)
    sizes = tuple(operator.index(s) for s in shape)
    count = len(sizes) - n_batch - n_dense
    if count < 0 or min(n_batch, n_dense, nse) < 0:
        raise mistaken(f"empty: {sizes} with n_batch={n_batch}, n_dense={n_dense}, nse={nse}")
    batch, sparse = sizes[:n_batch], sizes[n_batch : n_batch + count]
    data = xp.zeros((*batch, nse, *sizes[n_batch + count :]), dtype=dtype)
    outside = np.broadcast_to(np.asarray(sparse, dtype=index_dtype), (*batch, nse, count))
    mat = BCOO((data, xp.asarray(outside)), shape=sizes, indices_sorted=True, unique_indices=True)
    return _converted(mat, cls)


def _converted(mat: BCOO, cls: Any) -> Any:
    if cls is BCOO:
        return mat
    if cls is BCSR:
        return BCSR.from_bcoo(mat)
    if cls is COO:
        return COO((mat.data, mat.indices[:, 0], mat.indices[:, 1]), shape=mat.shape, rows_sorted=True)
    if cls is CSC:
        return _converted(mat.T, CSR).T
    rows = BCSR.from_bcoo(mat)
    return CSR((rows.data, rows.indices, rows.indptr), shape=mat.shape)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    *,
    n_batch: int = 0,
    n_dense: int = 0,
) -> Any:
    """The matrix of N rows and M columns with ones on its k-th diagonal."""
    cls = _format(sparse_format)
    columns = N if M is None else M
    if n_batch or n_dense:
        dense = xp.eye(N, columns, k=k, dtype=dtype)
        return _converted(
            BCOO.fromdense(dense, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype), cls
        )
    count = max(0, min(N, columns - k) if k >= 0 else min(N + k, columns))
    rows = np.arange(count) + max(-k, 0)
    indices = np.stack([rows, np.arange(count) + max(k, 0)], axis=-1).astype(index_dtype)
    mat = BCOO(
        (xp.ones(count, dtype=dtype), xp.asarray(indices)),
        shape=(N, columns),
        indices_sorted=True,
        unique_indices=True,
    )
    return _converted(mat, cls)


def random_bcoo(
    key: Any,
    shape: Sequence[int],
    *,
    dtype: Any = np.float32,
    indices_dtype: Any = None,
    nse: float = 0.2,
    n_batch: int = 0,
    n_dense: int = 0,
    unique_indices: bool = True,
    sorted_indices: bool = False,
    generator: Callable[..., Any] = uniform,
    **kwds: Any,
) -> BCOO:
    """A sparse array of `nse` random entries (or that share of the elements) at random places."""
    sizes = tuple(operator.index(s) for s in shape)
    count = len(sizes) - n_batch - n_dense
    if count < 0 or n_batch < 0 or n_dense < 0:
        raise mistaken(f"random_bcoo: {sizes} with n_batch={n_batch}, n_dense={n_dense}")
    batch, sparse, dense = sizes[:n_batch], sizes[n_batch : n_batch + count], sizes[n_batch + count :]
    total = math.prod(sparse)
    if not 0 <= nse < total:
        raise mistaken(f"random_bcoo: nse={nse}, expected 0 <= nse < {total}")
    entries = math.ceil(nse * total) if 0 < nse < 1 else operator.index(int(nse))
    index_dtype = np.dtype(np.int32 if indices_dtype is None else indices_dtype)
    keys = split(key, math.prod(batch) + 1)
    data = generator(keys[0], shape=(*batch, entries, *dense), dtype=dtype, **kwds)
    lists = []
    for one in range(math.prod(batch)):
        flat = choice(keys[one + 1], total, shape=(entries,), replace=not unique_indices)
        lists.append(xp.stack([*xp.unravel_index(flat, sparse)], axis=-1) if sparse else flat[:, None][:, :0])
    stacked = xp.stack(lists).astype(index_dtype) if lists else xp.zeros((0, entries, count), index_dtype)
    mat = BCOO((data, stacked.reshape((*batch, entries, count))), shape=sizes, unique_indices=unique_indices)
    return mat.sort_indices() if sorted_indices else mat


def todense(arr: Any) -> Any:
    """A sparse array as a dense one; a dense one as it is."""
    return arr.todense() if isinstance(arr, JAXSparse) else arr

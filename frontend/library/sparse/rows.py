"""Sparse arrays by rows: `BCSR` and its functions.

Input and output: as in `bcoo.py`. Idea: each is another storage of the same entries; what it computes is
computed by `BCOO`, whose coordinates follow from the pointers of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from ... import tree
from .. import numpy as xp
from ..numpy.promotion import asarray_of
from . import layout, movement, products
from .bcoo import BCOO
from .storage import (
    JAXSparse,
    Layout,
    batch_positions,
    check_batch_axis,
    full_batch,
    mistaken,
    refused,
    resized,
)


def row_numbers(indptr: Any, nse: int) -> Any:
    """The row of each entry by the pointers of rows; entries behind the last one have the number of rows."""
    batch = tuple(indptr.shape[:-1])
    ends = xp.zeros((*batch, nse + 1), dtype=np.int64)
    ends = ends.at[(*batch_positions(batch), indptr[..., 1:])].add(1, mode="drop")
    return xp.cumsum(ends, axis=-1, dtype=np.int64)[..., :nse]


def row_pointers(rows: Any, count: int) -> Any:
    """Where the entries of each row begin, from sorted numbers of rows."""
    batch = tuple(rows.shape[:-1])
    counts = xp.zeros((*batch, count), dtype=np.int64).at[(*batch_positions(batch), rows)].add(1, mode="drop")
    first = xp.zeros((*batch, 1), dtype=np.int64)
    return xp.concatenate([first, xp.cumsum(counts, axis=-1, dtype=np.int64)], axis=-1)


class ByCoordinates(JAXSparse):
    """What matrices compute by way of `BCOO`."""

    data: Any

    def to_bcoo(self) -> BCOO:
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    def todense(self) -> Any:
        """The dense array."""
        return self.to_bcoo().todense()

    def __matmul__(self, other: Any) -> Any:
        return self.to_bcoo() @ (other.to_bcoo() if isinstance(other, ByCoordinates) else other)

    def __rmatmul__(self, other: Any) -> Any:
        return other @ self.to_bcoo()

    def _rebuilt(self, data: Any) -> Self:
        raise NotImplementedError

    def __neg__(self) -> Self:
        return self._rebuilt(-self.data)

    def __pos__(self) -> Self:
        return self

    def __mul__(self, other: Any) -> Self:
        if np.ndim(other):
            raise refused(f"a product of {type(self).__name__} and an array", hint="use BCOO")
        return self._rebuilt(self.data * other)

    __rmul__ = __mul__


class BCSR(ByCoordinates):
    """A sparse array by rows: `BCSR((data, indices, indptr), shape=...)`, of two sparse dimensions.

    `indices` (batch..., nse) are the columns of the entries, `indptr` (batch..., rows + 1) says where each
    row begins.
    """

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data, self.indices, self.indptr = (asarray_of(x) for x in args)
        super().__init__(args, shape=shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        n = self.n_batch
        if self.ndim < n + 2 or self.indptr.ndim != n + 1 or self.indptr.shape[-1] != self.shape[n] + 1:
            raise mistaken(
                f"BCSR: indices {tuple(self.indices.shape)} and indptr {tuple(self.indptr.shape)} do not fit "
                f"the shape {self.shape}"
            )

    _layout: Layout

    @property
    def n_batch(self) -> int:
        return int(self.indices.ndim) - 1

    @property
    def n_sparse(self) -> int:
        return 2

    @property
    def n_dense(self) -> int:
        return self.ndim - self.n_batch - 2

    @property
    def nse(self) -> int:
        return int(self.indices.shape[-1])

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> Self:
        """The nonzero elements of an array."""
        return cls.from_bcoo(
            BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)
        )

    @classmethod
    def from_bcoo(cls, arr: BCOO) -> Self:
        """The same entries, sorted."""
        if arr.n_sparse != 2:
            raise refused(f"BCSR of {arr.n_sparse} sparse dimensions")
        mat = arr.with_full_batch() if arr.indices_sorted else layout.sort_indices(arr)
        data, indices = full_batch(mat)
        rows = xp.where(indices[..., 1] < mat.sparse_shape[1], indices[..., 0], mat.sparse_shape[0])
        indptr = row_pointers(rows, mat.sparse_shape[0]).astype(indices.dtype)
        return cls(
            (data, indices[..., 1], indptr),
            shape=arr.shape,
            indices_sorted=True,
            unique_indices=arr.unique_indices,
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> Self:
        """A matrix of `scipy.sparse`."""
        return cls.from_bcoo(
            BCOO.from_scipy_sparse(mat, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch)
        )

    def to_bcoo(self) -> BCOO:
        """The same entries by coordinates."""
        indptr, indices = self.indptr, self.indices
        batch = self.shape[: self.n_batch]
        indptr = xp.broadcast_to(indptr, (*batch, *indptr.shape[-1:]))
        indices = xp.broadcast_to(indices, (*batch, self.nse))
        rows = row_numbers(indptr, self.nse)
        both = xp.stack([rows.astype(indices.dtype), indices], axis=-1)
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return BCOO((self.data, both), shape=self.shape, **flags)

    def sliced_along(self, axes: Sequence[int | None]) -> Self:
        """The same array with all batch dimensions in full, one of which is mapped."""
        return self._with_full_batch() if check_batch_axis(axes, self.n_batch, self.n_batch) else self

    def stacked_along(self, axes: Sequence[int | None]) -> Self:
        """The same array with all batch dimensions in full, before, between or after which one is added."""
        return self._with_full_batch() if check_batch_axis(axes, self.n_batch + 1, self.n_batch) else self

    def _with_full_batch(self) -> Self:
        n, batch = self.n_batch, self.shape[: self.n_batch]
        children = (self.data, self.indices, self.indptr)
        full = [
            x if tuple(x.shape[:n]) == batch else xp.broadcast_to(x, (*batch, *x.shape[n:])) for x in children
        ]
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return type(self)((full[0], full[1], full[2]), shape=self.shape, **flags)

    def _rebuilt(self, data: Any) -> Self:
        flags = {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}
        return type(self)((data, self.indices, self.indptr), shape=self.shape, **flags)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> Self:
        """Entries with the same coordinates as one."""
        return self.from_bcoo(self.to_bcoo().sum_duplicates(nse, remove_zeros))

    def sum(self, axis: Any = None) -> Any:
        """The sum along axes, as `BCOO`."""
        return self.to_bcoo().sum(axis)

    def transpose(self, axes: Sequence[int] | None = None) -> Self:
        """The dimensions in another order."""
        return self.from_bcoo(layout.sort_indices(self.to_bcoo().transpose(axes)))

    def __getitem__(self, index: Any) -> Any:
        return self.to_bcoo()[index]

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        children = (self.data, self.indices, self.indptr)
        if not hasattr(self.indices, "ndim"):  # placeholders
            return children, self._layout
        n = self.n_batch
        batches = tuple(self.data.shape[:n]), tuple(self.indices.shape[:n])
        return children, Layout(self.shape, n, self.indices_sorted, self.unique_indices, self.nse, *batches)

    @classmethod
    def tree_unflatten(cls, layout: Layout, children: Iterable[Any]) -> Self:
        """Children of any kind; arrays with fewer or more batch dimensions change the shape."""
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        self._layout, n = layout, layout.n_batch
        self.indices_sorted, self.unique_indices = layout.indices_sorted, layout.unique_indices
        self.shape = layout.shape
        if not hasattr(self.indices, "ndim"):
            return self
        if self.indices.ndim < 1:
            raise mistaken("an axis of a BCSR array was mapped that is no batch dimension")
        if self.n_batch == n:
            self.shape = resized(self.data, self.indices, layout)
        else:
            self.shape = (*self.indices.shape[:-1], *layout.shape[n:])
        return self


tree.register(BCSR, lambda mat: mat.tree_flatten(), BCSR.tree_unflatten)


def bcsr_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> BCSR:
    """The nonzero elements of an array, by rows."""
    return BCSR.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcsr_todense(mat: BCSR) -> Any:
    """The dense array."""
    return mat.todense()


def bcsr_extract(indices: Any, indptr: Any, mat: Any) -> Any:
    """The elements of a dense array at the coordinates of rows."""
    indices, indptr, value = asarray_of(indices), asarray_of(indptr), asarray_of(mat)
    rows = row_numbers(indptr, int(indices.shape[-1]))
    return layout.extract(xp.stack([rows.astype(indices.dtype), indices], axis=-1), value)


def bcsr_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """As `lax.dot_general`."""
    left, right = (x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs))
    return products.dot_general(left, right, dimension_numbers, preferred_element_type)


def bcsr_broadcast_in_dim(
    mat: BCSR, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCSR:
    """As `lax.broadcast_in_dim`."""
    return BCSR.from_bcoo(movement.broadcast_in_dim(mat.to_bcoo(), shape, broadcast_dimensions))


def bcsr_concatenate(operands: Sequence[BCSR], *, dimension: int) -> BCSR:
    """As `lax.concatenate`, along a batch or sparse dimension."""
    joined = movement.concatenate([m.to_bcoo() for m in operands], dimension)
    return BCSR.from_bcoo(joined)


def bcsr_sum_duplicates(mat: BCSR, nse: int | None = None) -> BCSR:
    """Entries with the same coordinates as one."""
    return mat.sum_duplicates(nse, remove_zeros=False)

"""Sparse matrices by rows or by lists: `BCSR`, `CSR`, `CSC`, `COO`, and their functions.

Input and output: as in `bcoo.py`. Idea: each is another storage of the same entries; what it computes is computed
by `BCOO`, whose coordinates follow from the pointers of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ... import tree
from .. import numpy as xp
from ..numpy.promotion import asarray_of
from . import layout, movement, products
from .bcoo import BCOO
from .storage import JAXSparse, batch_positions, full_batch, mistaken, refused


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


class _ByOthers(JAXSparse):
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
        return self.to_bcoo() @ (other.to_bcoo() if isinstance(other, _ByOthers) else other)

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


class BCSR(_ByOthers):
    """A sparse array by rows: `BCSR((data, indices, indptr), shape=...)`, of two sparse dimensions.

    `indices` (batch..., nse) are the columns of the entries, `indptr` (batch..., rows + 1) says where each row begins.
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
        cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32, n_dense: int = 0, n_batch: int = 0
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
        n = getattr(self.indices, "ndim", 1) - 1
        return (self.data, self.indices, self.indptr), (
            self.shape,
            n,
            self.indices_sorted,
            self.unique_indices,
        )

    @classmethod
    def tree_unflatten(cls, static: Any, children: Sequence[Any]) -> Self:
        """Children of any kind; arrays with fewer or more batch dimensions change the shape."""
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        shape, n, self.indices_sorted, self.unique_indices = static
        self.shape = shape
        if hasattr(self.indices, "ndim") and self.indices.ndim - 1 != n:
            if self.indices.ndim < 1:
                raise mistaken("an axis of a BCSR array was mapped that is no batch dimension")
            self.shape = (*self.indices.shape[:-1], *shape[n:])
        return self


class COO(_ByOthers):
    """A sparse matrix by lists: `COO((data, row, col), shape=...)`."""

    def __init__(
        self,
        args: tuple[Any, Any, Any],
        *,
        shape: Sequence[int],
        rows_sorted: bool = False,
        cols_sorted: bool = False,
    ) -> None:
        self.data, self.row, self.col = (asarray_of(x) for x in args)
        super().__init__(args, shape=shape)
        self.rows_sorted, self.cols_sorted = rows_sorted, cols_sorted

    @property
    def nse(self) -> int:
        return int(self.data.shape[0])

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Self:
        """The nonzero elements of a matrix."""
        mat = BCOO.fromdense(mat, nse=nse, index_dtype=index_dtype)
        return cls((mat.data, mat.indices[:, 0], mat.indices[:, 1]), shape=mat.shape, rows_sorted=True)

    def to_bcoo(self) -> BCOO:
        """The same entries as `BCOO`."""
        return BCOO((self.data, xp.stack([self.row, self.col], axis=-1)), shape=self.shape)

    def _rebuilt(self, data: Any) -> Self:
        flags = {"rows_sorted": self.rows_sorted, "cols_sorted": self.cols_sorted}
        return type(self)((data, self.row, self.col), shape=self.shape, **flags)

    def transpose(self, axes: Sequence[int] | None = None) -> Self:
        """Rows and columns exchanged."""
        _no_axes(axes)
        return type(self)(
            (self.data, self.col, self.row),
            shape=self.shape[::-1],
            rows_sorted=self.cols_sorted,
            cols_sorted=self.rows_sorted,
        )

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        return (self.data, self.row, self.col), (self.shape, self.rows_sorted, self.cols_sorted)

    @classmethod
    def tree_unflatten(cls, static: Any, children: Sequence[Any]) -> Self:
        self = object.__new__(cls)
        self.data, self.row, self.col = children
        self.shape, self.rows_sorted, self.cols_sorted = static
        return self


def _no_axes(axes: Any) -> None:
    if axes is not None:
        raise refused("transpose(axes) of a sparse matrix: it has two dimensions")


class CSR(_ByOthers):
    """A sparse matrix by rows: `CSR((data, indices, indptr), shape=...)`."""

    def __init__(self, args: tuple[Any, Any, Any], *, shape: Sequence[int]) -> None:
        self.data, self.indices, self.indptr = (asarray_of(x) for x in args)
        super().__init__(args, shape=shape)

    @property
    def nse(self) -> int:
        return int(self.data.shape[0])

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Self:
        """The nonzero elements of a matrix."""
        rows = BCSR.fromdense(mat, nse=nse, index_dtype=index_dtype)
        return cls((rows.data, rows.indices, rows.indptr), shape=rows.shape)

    def to_bcoo(self) -> BCOO:
        """The same entries as `BCOO`."""
        return BCSR((self.data, self.indices, self.indptr), shape=self.shape).to_bcoo()

    def _rebuilt(self, data: Any) -> Self:
        return type(self)((data, self.indices, self.indptr), shape=self.shape)

    def transpose(self, axes: Sequence[int] | None = None) -> CSC:
        """Rows and columns exchanged: the same arrays by columns."""
        _no_axes(axes)
        return CSC((self.data, self.indices, self.indptr), shape=self.shape[::-1])

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        return (self.data, self.indices, self.indptr), self.shape

    @classmethod
    def tree_unflatten(cls, static: Any, children: Sequence[Any]) -> Self:
        self = object.__new__(cls)
        self.data, self.indices, self.indptr = children
        self.shape = static
        return self


class CSC(CSR):
    """A sparse matrix by columns: `CSC((data, indices, indptr), shape=...)`."""

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> Self:
        """The nonzero elements of a matrix."""
        rows = CSR.fromdense(xp.transpose(asarray_of(mat)), nse=nse, index_dtype=index_dtype)
        return cls((rows.data, rows.indices, rows.indptr), shape=rows.shape[::-1])

    def to_bcoo(self) -> BCOO:
        """The same entries as `BCOO`."""
        rows = BCSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])
        return movement.transpose(rows.to_bcoo(), (1, 0))

    def transpose(self, axes: Sequence[int] | None = None) -> CSR:  # type: ignore[override]
        """Rows and columns exchanged: the same arrays by rows."""
        _no_axes(axes)
        return CSR((self.data, self.indices, self.indptr), shape=self.shape[::-1])


for _cls in (BCSR, COO, CSR, CSC):
    tree.register(_cls, lambda mat: mat.tree_flatten(), _cls.tree_unflatten)


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
    pair = [x.to_bcoo() if isinstance(x, BCSR) else x for x in (lhs, rhs)]
    return products.dot_general(*pair, dimension_numbers, preferred_element_type)


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


def coo_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> COO:
    """The nonzero elements of a matrix."""
    return COO.fromdense(mat, nse=nse, index_dtype=index_dtype)


def coo_todense(mat: COO) -> Any:
    """The dense matrix."""
    return mat.todense()


def coo_matvec(mat: COO, v: Any, transpose: bool = False) -> Any:
    """`mat @ v`, or `mat.T @ v`."""
    return (mat.T if transpose else mat) @ v


def coo_matmat(mat: COO, B: Any, *, transpose: bool = False) -> Any:
    """`mat @ B`, or `mat.T @ B`."""
    return (mat.T if transpose else mat) @ B


def csr_fromdense(mat: Any, *, nse: int | None = None, index_dtype: Any = np.int32) -> CSR:
    """The nonzero elements of a matrix, by rows."""
    return CSR.fromdense(mat, nse=nse, index_dtype=index_dtype)


def csr_todense(mat: CSR) -> Any:
    """The dense matrix."""
    return mat.todense()


def csr_matvec(mat: CSR, v: Any, transpose: bool = False) -> Any:
    """`mat @ v`, or `mat.T @ v`."""
    return (mat.T if transpose else mat) @ v


def csr_matmat(mat: CSR, B: Any, *, transpose: bool = False) -> Any:
    """`mat @ B`, or `mat.T @ B`."""
    return (mat.T if transpose else mat) @ B

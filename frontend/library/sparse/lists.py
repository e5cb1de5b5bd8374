"""Sparse matrices by lists of coordinates or of rows or columns: `COO`, `CSR`, `CSC`, and their functions.

Input and output: as in `bcoo.py`. Idea: as in `rows.py`, of two dimensions and without batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np

from ... import tree
from .. import numpy as xp
from ..numpy.promotion import asarray_of
from . import movement
from .bcoo import BCOO
from .rows import BCSR, ByCoordinates
from .storage import refused


class COO(ByCoordinates):
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
    def tree_unflatten(cls, static: Any, children: Iterable[Any]) -> Self:
        self = object.__new__(cls)
        self.data, self.row, self.col = children
        self.shape, self.rows_sorted, self.cols_sorted = static
        return self


def _no_axes(axes: Any) -> None:
    if axes is not None:
        raise refused("transpose(axes) of a sparse matrix: it has two dimensions")


class CSR(ByCoordinates):
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
    def tree_unflatten(cls, static: Any, children: Iterable[Any]) -> Self:
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


for _cls in (COO, CSR, CSC):
    tree.register(_cls, lambda mat: mat.tree_flatten(), _cls.tree_unflatten)


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

"""`BCOO`: sparse arrays by coordinates with operators, and the `bcoo_*` functions of
`jax.experimental.sparse`.

Input: sparse and dense arrays. Output: the same. Idea: the class is the storage of `storage.py` with the
functions of `layout.py`, `movement.py` and `products.py` as methods; a function that maps 0 to 0 is applied
to the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from ... import tree
from .. import numpy as xp
from ..numpy.promotion import asarray_of
from . import layout, movement, products
from .layout import checked_sparse
from .storage import CoordinateStorage, JAXSparse, mistaken, refused

_IN_RESULT = "is not zero where the sparse array is; write x.todense() first"


class BCOO(CoordinateStorage):
    """A sparse array: `BCOO((data, indices), shape=...)`.

    `data` has the shape (batch..., nse, dense...), `indices` (batch..., nse, sparse dimensions); `nse` is the
    number of entries of a batch. Entries with the same coordinates are added; one with a coordinate outside
    the shape is padding. Works in `jit`, `vmap` over batch dimensions, and is differentiated by its data.
    Raises `ShapeError` for arrays that do not fit together.
    """

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
        """The nonzero elements of an array; `nse` must be stated while tracing."""
        mat = asarray_of(mat)
        buffers = layout.from_dense(mat, nse, n_batch, n_dense, index_dtype)
        return cls(buffers, shape=mat.shape, indices_sorted=True, unique_indices=True)

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> Self:
        """A matrix of `scipy.sparse`."""
        if n_dense or n_batch:
            raise refused("from_scipy_sparse with batch or dense dimensions")
        entries = mat.tocoo()
        indices = np.stack([entries.row, entries.col], axis=-1).astype(index_dtype or np.int32)
        return cls((xp.asarray(entries.data), xp.asarray(indices)), shape=mat.shape)

    def todense(self) -> Any:
        """The dense array."""
        return layout.to_dense(self)

    def sort_indices(self) -> Self:
        """The entries in lexicographic order."""
        return layout.sort_indices(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> Self:
        """Entries with the same coordinates as one, and without those that are 0."""
        return (layout.eliminate_zeros if remove_zeros else layout.sum_duplicates)(self, nse)

    def update_layout(
        self, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
    ) -> Self:
        """Other numbers of batch and dense dimensions; `SparseEfficiencyError` where that stores zeros."""
        return layout.update_layout(self, n_batch, n_dense, on_inefficient)

    def transpose(self, axes: Sequence[int] | None = None) -> Self:
        """The dimensions in another order, reversed by default."""
        return movement.transpose(self, range(self.ndim)[::-1] if axes is None else axes)

    def reshape(self, *shape: Any, order: str = "C") -> Self:
        """Another shape, in which batch, sparse and dense dimensions do not mix."""
        if order != "C":
            raise refused("reshape of a sparse array in an order other than 'C'")
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, np.integer)) else shape
        return movement.reshape(self, sizes)

    def astype(self, dtype: Any) -> Self:
        """The array in another dtype."""
        is_linear = xp.issubdtype(dtype, np.inexact)
        return self.zero_preserving(lambda data: data.astype(dtype), is_linear=is_linear)

    def sum(self, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> Any:
        """The sum along axes: sparse, or a dense scalar along all of them."""
        axes = movement.axes_of(self, axis)
        wide = xp.sum(np.zeros(1, self.dtype)).dtype if dtype is None else dtype  # as a dense sum has
        mat = self if wide == self.dtype else self.astype(wide)
        result = products.reduce_sum(mat, axes)
        if keepdims:
            kept = [i for i in range(self.ndim) if i not in axes]
            shape = [1 if i in axes else s for i, s in enumerate(self.shape)]
            return movement.broadcast_in_dim(result, shape, kept) if kept else result.todense().reshape(shape)
        return result if result.ndim else result.todense()

    def zero_preserving(self, function: Callable[[Any], Any], is_linear: bool = False) -> Self:
        """`function`, which maps 0 to 0, of each element; duplicates are added first unless it is linear."""
        unique = is_linear or self.unique_indices
        mat = self if unique else layout.sum_duplicates(self, nse=self.nse)
        return mat.with_data(function(mat.data))

    def __neg__(self) -> Self:
        return self.with_data(-self.data)

    def __pos__(self) -> Self:
        return self

    def __abs__(self) -> Self:
        return self.zero_preserving(xp.abs)

    def __add__(self, other: Any) -> Any:
        if isinstance(other, CoordinateStorage):
            return products.add(self, other)
        other = _dense(other)
        if other is NotImplemented:
            return other
        if tuple(np.broadcast_shapes(tuple(other.shape), self.shape)) != tuple(other.shape):
            raise refused(
                f"the sum of a sparse array {self.shape} and a dense one {tuple(other.shape)}: it is dense",
                hint="write x.todense() to allow that",
            )
        return self.todense() + other

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, CoordinateStorage):
            if self.indices is other.indices and self.unique_indices:
                return self.with_data(self.data * other.data)
            return products.multiply_sparse(self, other)
        other = _dense(other)
        return (
            other
            if other is NotImplemented
            else self.with_full_batch().with_data(products.multiply_dense(self.with_full_batch(), other))
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, JAXSparse):
            raise refused(f"a quotient by a sparse array: it {_IN_RESULT}")
        other = _dense(other)
        return other if other is NotImplemented else self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        raise refused(f"a quotient by a sparse array: it {_IN_RESULT}")

    def __pow__(self, other: Any) -> Any:
        if not isinstance(other, (int, np.integer)) or isinstance(other, bool) or other <= 0:
            raise refused(
                f"a sparse array to a power that is no positive Python integer: it may be what {_IN_RESULT}"
            )
        return self.zero_preserving(lambda data: data ** int(other), is_linear=other == 1)

    def __rpow__(self, other: Any) -> Any:
        raise refused(f"a power by a sparse array: it {_IN_RESULT}")

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, CoordinateStorage):
            return _scalar(products.matmul(self, other))
        other = _dense(other)
        return other if other is NotImplemented else products.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        other = _dense(other)
        return other if other is NotImplemented else products.matmul(other, self)

    def __getitem__(self, index: Any) -> Any:
        return _scalar(movement.get_item(self, index))

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self.shape[0])])

    def _compare(self, other: Any) -> Any:
        raise refused(f"a comparison with a sparse array: it {_IN_RESULT}")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare


tree.register(BCOO, lambda mat: mat.tree_flatten(), BCOO.tree_unflatten)


def _scalar(mat: Any) -> Any:
    return mat if mat.ndim else mat.todense()


def _dense(value: Any) -> Any:
    """A dense operand as an array, `NotImplemented` for what is none."""
    if isinstance(value, JAXSparse) or value is None or isinstance(value, str):
        return NotImplemented
    return asarray_of(value)


def bcoo_fromdense(
    mat: Any, *, nse: int | None = None, n_batch: int = 0, n_dense: int = 0, index_dtype: Any = np.int32
) -> BCOO:
    """The nonzero elements of an array; `nse`, their number a batch, must be stated while tracing."""
    return BCOO.fromdense(mat, nse=nse, n_batch=n_batch, n_dense=n_dense, index_dtype=index_dtype)


def bcoo_todense(mat: BCOO) -> Any:
    """The dense array; entries with the same coordinates are added."""
    return checked_sparse("bcoo_todense", mat).todense()


def bcoo_extract(sparr: BCOO, arr: Any, *, assume_unique: bool | None = None) -> BCOO:
    """The elements of a dense array at the coordinates of a sparse one; a duplicate gets 0 unless they are
    assumed to be unique."""
    checked_sparse("bcoo_extract", sparr)
    value = asarray_of(arr)
    if tuple(value.shape) != sparr.shape:
        raise mistaken(f"bcoo_extract: shapes {sparr.shape} and {tuple(value.shape)} differ")
    data = layout.extract(sparr.indices, value)
    if not (sparr.unique_indices if assume_unique is None else assume_unique):
        same = xp.all(sparr.indices[..., :, None, :] == sparr.indices[..., None, :, :], axis=-1)
        earlier = np.tril(np.ones((sparr.nse, sparr.nse), bool), -1)
        is_first = ~xp.any(same & earlier, axis=-1)
        data = xp.where(layout.along_dense(is_first, sparr.n_dense), data, xp.zeros((), data.dtype))
    return sparr.with_data(data)


def bcoo_transpose(mat: BCOO, *, permutation: Sequence[int]) -> BCOO:
    """The dimensions in another order; batch, sparse and dense ones stay among themselves."""
    checked_sparse("bcoo_transpose", mat)
    return movement.transpose(mat, permutation)


def bcoo_broadcast_in_dim(
    mat: BCOO, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> BCOO:
    """As `lax.broadcast_in_dim`; new leading dimensions are batch ones."""
    checked_sparse("bcoo_broadcast_in_dim", mat)
    return movement.broadcast_in_dim(mat, shape, broadcast_dimensions)


def bcoo_concatenate(operands: Sequence[BCOO], *, dimension: int) -> BCOO:
    """As `lax.concatenate`, along a batch or sparse dimension."""
    return movement.concatenate([_bcoo("bcoo_concatenate", m) for m in operands], dimension)


def _bcoo(function: str, mat: Any) -> Any:
    checked_sparse(function, mat)
    return mat


def bcoo_reshape(
    mat: BCOO, *, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None, sharding: Any = None
) -> BCOO:
    """As `lax.reshape`; batch, sparse and dense dimensions do not mix."""
    return movement.reshape(_bcoo("bcoo_reshape", mat), new_sizes, dimensions)


def bcoo_rev(operand: BCOO, dimensions: Sequence[int]) -> BCOO:
    """As `lax.rev`."""
    return movement.reverse(_bcoo("bcoo_rev", operand), dimensions)


def bcoo_squeeze(arr: BCOO, *, dimensions: Sequence[int]) -> BCOO:
    """Without dimensions of size 1."""
    return movement.squeeze(_bcoo("bcoo_squeeze", arr), dimensions)


def bcoo_slice(
    mat: BCOO,
    *,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> BCOO:
    """As `lax.slice`."""
    return movement.slice_(_bcoo("bcoo_slice", mat), start_indices, limit_indices, strides)


def bcoo_dynamic_slice(mat: BCOO, start_indices: Sequence[Any], slice_sizes: Sequence[int]) -> BCOO:
    """As `lax.dynamic_slice`."""
    return movement.dynamic_slice(_bcoo("bcoo_dynamic_slice", mat), start_indices, slice_sizes)


def bcoo_reduce_sum(mat: BCOO, *, axes: Sequence[int]) -> BCOO:
    """The sum along axes, as a sparse array."""
    return products.reduce_sum(_bcoo("bcoo_reduce_sum", mat), axes)


def bcoo_multiply_sparse(lhs: BCOO, rhs: BCOO) -> BCOO:
    """The product of two sparse arrays, element by element."""
    return products.multiply_sparse(_bcoo("bcoo_multiply_sparse", lhs), _bcoo("bcoo_multiply_sparse", rhs))


def bcoo_multiply_dense(sp_mat: BCOO, v: Any) -> Any:
    """The data of the product of a sparse array and a dense one that broadcasts to its shape."""
    return products.multiply_dense(_bcoo("bcoo_multiply_dense", sp_mat), v)


def bcoo_sort_indices(mat: BCOO) -> BCOO:
    """The entries in lexicographic order of their coordinates, padding last."""
    return layout.sort_indices(_bcoo("bcoo_sort_indices", mat))


def bcoo_sum_duplicates(mat: BCOO, nse: int | None = None) -> BCOO:
    """Entries with the same coordinates as one; `nse` of them, or their number where it is known."""
    return layout.sum_duplicates(_bcoo("bcoo_sum_duplicates", mat), nse)


def bcoo_eliminate_zeros(mat: BCOO, nse: int | None = None) -> BCOO:
    """As `bcoo_sum_duplicates`, without entries that are 0."""
    return layout.eliminate_zeros(_bcoo("bcoo_eliminate_zeros", mat), nse)


def bcoo_update_layout(
    mat: BCOO, *, n_batch: int | None = None, n_dense: int | None = None, on_inefficient: str | None = "error"
) -> BCOO:
    """Other numbers of batch and dense dimensions; `SparseEfficiencyError` where that stores zeros."""
    return layout.update_layout(_bcoo("bcoo_update_layout", mat), n_batch, n_dense, on_inefficient)


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Any:
    """As `lax.dot_general`: dense where one operand is sparse, sparse where both are."""
    return products.dot_general(lhs, rhs, dimension_numbers, preferred_element_type)


def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Any:
    """The elements of `lax.dot_general(A, B)` at coordinates, which alone are computed."""
    return products.sampled(A, B, indices, dimension_numbers)

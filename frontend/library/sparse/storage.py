"""How sparse arrays are stored: coordinates and values (`CoordinateStorage`), with their errors and checks.

Input: arrays `data` of shape (batch..., nse, dense...) and `indices` of shape (batch..., nse, sparse
dimensions). Output: a node of trees whose children are those two arrays. Idea: an entry with a coordinate
outside the shape is padding and counts as zero; batch dimensions are those of the arrays, so that `vmap`
takes them away and adds them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Self

import numpy as np

from ....dialects.dataclass import dataclass
from ...errors import ArgumentError, ArgumentTypeError, ShapeError, UnsupportedError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..numpy.promotion import asarray_of


class SparseEfficiencyError(ArgumentError):
    """A layout that would store very many zeros."""


class SparseEfficiencyWarning(UserWarning):
    """A layout that stores very many zeros."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A layout that cuSPARSE has no kernel for; never emitted here, where no program calls cuSPARSE."""


def refused(what: str, hint: str | None = None) -> UnsupportedError:
    """What sparse arrays cannot do, with the line that asked for it."""
    return UnsupportedError(what, where=user_location_text(), hint=hint)


def mistaken(what: str) -> ShapeError:
    """Shapes or axes that do not fit."""
    return ShapeError(what, where=user_location_text())


class JAXSparse:
    """The base class of sparse arrays: what they have in common."""

    __array_priority__ = 100
    __array_ufunc__ = None  # NumPy's arrays leave operators to this class
    __hash__ = None  # type: ignore[assignment]

    shape: tuple[int, ...]

    def __init__(self, args: Sequence[Any], *, shape: Sequence[int]) -> None:
        self.shape = tuple(int(s) for s in shape)

    @property
    def dtype(self) -> Any:
        raise NotImplementedError

    @property
    def nse(self) -> int:
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        return self.transpose()

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        try:
            return f"{type(self).__name__}({self.dtype}{list(self.shape)}, nse={self.nse})"
        except Exception:  # made of placeholders, as trees may be
            return f"{type(self).__name__}(<invalid>)"

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        raise NotImplementedError

    def transpose(self, axes: Sequence[int] | None = None) -> Any:
        raise NotImplementedError

    def todense(self) -> Any:
        raise NotImplementedError

    def sliced_along(self, axes: Sequence[int | None]) -> Self:
        """What `vmap` and `scan` take slices of, along one axis of each child: here of none."""
        if any(axis is not None for axis in axes):
            raise refused(
                f"vmap or scan over slices of {type(self).__name__}: it has no batch dimensions",
                hint="use BCOO with n_batch=1, or in_axes=None",
            )
        return self

    def stacked_along(self, axes: Sequence[int | None]) -> Self:
        """What `vmap` and `scan` stack results of, along one axis of each child: here of none."""
        if any(axis is not None for axis in axes):
            raise refused(
                f"vmap or scan that stacks {type(self).__name__}: it has no batch dimensions",
                hint="return BCOO",
            )
        return self

    def block_until_ready(self) -> Self:
        for child in self.tree_flatten()[0]:
            getattr(child, "block_until_ready", lambda: None)()
        return self

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ArgumentTypeError(
            f"{self!r} is sparse and is not made dense silently",
            where=user_location_text(),
            hint="write x.todense(), or sparsify the function",
        )


@dataclass(frozen=True)
class Layout:
    """What trees keep of a sparse array beside its two arrays."""

    shape: tuple[int, ...]
    n_batch: int
    indices_sorted: bool
    unique_indices: bool
    nse: int = field(compare=False, default=0)
    data_batch: tuple[int, ...] = field(compare=False, default=())
    indices_batch: tuple[int, ...] = field(compare=False, default=())


def check_batch_axis(axes: Sequence[int | None], count: int, n_batch: int) -> bool:
    """Whether the children of a sparse array are mapped; raises unless it is by one of `count` axes."""
    if all(axis is None for axis in axes):
        return False
    axis = axes[0]
    if any(other != axis for other in axes) or axis is None or not 0 <= axis < count:
        shown = axis if len(set(axes)) == 1 else tuple(axes)
        raise mistaken(
            f"an axis of a sparse array of {n_batch} batch dimensions was mapped that is none of "
            f"them: {shown}"
        )
    return True


class CoordinateStorage(JAXSparse):
    """A sparse array by coordinates: what `BCOO` stores, without its operators."""

    data: Any
    indices: Any
    indices_sorted: bool
    unique_indices: bool
    _layout: Layout

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        data, indices = args
        self.data, self.indices = asarray_of(data), asarray_of(indices)
        super().__init__(args, shape=shape)
        self.indices_sorted, self.unique_indices = indices_sorted, unique_indices
        self._check()

    def _check(self) -> None:
        if self.indices.dtype.kind not in "iu":
            raise ArgumentTypeError(
                f"the indices of a sparse array are {self.indices.dtype}, expected integers",
                where=user_location_text(),
            )
        shapes = f"data {tuple(self.data.shape)}, indices {tuple(self.indices.shape)}, shape {self.shape}"
        if self.indices.ndim < 2 or self.n_dense < 0:
            raise mistaken(
                f"indices of shape (batch..., nse, sparse dimensions) do not fit the rest: {shapes}"
            )
        n, batch = self.n_batch, self.shape[: self.n_batch]
        for part in (self.data.shape[:n], self.indices.shape[:n]):
            if len(part) != n or any(a not in (1, b) for a, b in zip(part, batch, strict=True)):
                raise mistaken(f"the batch dimensions of a sparse array do not fit: {shapes}")
        if tuple(self.data.shape[n:]) != (self.nse, *self.shape[n + self.n_sparse :]):
            raise mistaken(
                f"data of shape (batch..., nse, dense dimensions...) do not fit the rest: {shapes}"
            )

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def n_batch(self) -> int:
        return int(self.indices.ndim) - 2

    @property
    def n_sparse(self) -> int:
        return int(self.indices.shape[-1])

    @property
    def n_dense(self) -> int:
        return self.ndim - self.n_batch - self.n_sparse

    @property
    def nse(self) -> int:
        return int(self.indices.shape[-2])

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.shape[: self.n_batch]

    @property
    def sparse_shape(self) -> tuple[int, ...]:
        return self.shape[self.n_batch : self.n_batch + self.n_sparse]

    @property
    def dense_shape(self) -> tuple[int, ...]:
        return self.shape[self.n_batch + self.n_sparse :]

    def of(self, data: Any, indices: Any, shape: Sequence[int] | None = None, **flags: bool) -> Self:
        """A sparse array of this class."""
        return type(self)((data, indices), shape=self.shape if shape is None else shape, **flags)

    def with_data(self, data: Any) -> Self:
        """The same coordinates with other values."""
        return self.of(
            data,
            self.indices,
            indices_sorted=self.indices_sorted,
            unique_indices=self.unique_indices,
        )

    def with_full_batch(self) -> Self:
        """The same array, of which neither data nor indices are broadcast along batch dimensions."""
        data, indices = full_batch(self)
        if data is self.data and indices is self.indices:
            return self
        return self.of(data, indices, indices_sorted=self.indices_sorted, unique_indices=self.unique_indices)

    def sliced_along(self, axes: Sequence[int | None]) -> Self:
        """The same array with all batch dimensions in full, one of which is mapped."""
        is_mapped = check_batch_axis(axes, self.n_batch, self.n_batch)
        return self.with_full_batch() if is_mapped else self

    def stacked_along(self, axes: Sequence[int | None]) -> Self:
        """The same array with all batch dimensions in full, before, between or after which one is added."""
        is_mapped = check_batch_axis(axes, self.n_batch + 1, self.n_batch)
        return self.with_full_batch() if is_mapped else self

    def tree_flatten(self) -> tuple[tuple[Any, ...], Layout]:
        if not hasattr(self.indices, "ndim") or self.indices.ndim < 2:
            # Placeholders: the arrays that come back later are compared with what they stand for.
            return (self.data, self.indices), self._layout
        n_batch, nse = self.indices.ndim - 2, self.indices.shape[-2]
        return (self.data, self.indices), Layout(
            self.shape,
            n_batch,
            self.indices_sorted,
            self.unique_indices,
            nse,
            tuple(self.data.shape[:n_batch]),
            tuple(self.indices.shape[:n_batch]),
        )

    @classmethod
    def tree_unflatten(cls, layout: Layout, children: Iterable[Any]) -> Self:
        """Children of any kind; arrays with fewer or more batch dimensions change the shape."""
        self = object.__new__(cls)
        self.data, self.indices = children
        self.shape, self._layout = layout.shape, layout
        self.indices_sorted, self.unique_indices = layout.indices_sorted, layout.unique_indices
        if hasattr(self.indices, "ndim") and hasattr(self.data, "shape"):
            self.shape = _shape_now(self.data, self.indices, layout)
        return self


def _shape_now(data: Any, indices: Any, layout: Layout) -> tuple[int, ...]:
    n_batch = indices.ndim - 2
    if n_batch == -2 and data.ndim == 0:
        return layout.shape  # a tree of numbers in place of arrays, such as norms
    if n_batch == layout.n_batch:
        return resized(data, indices, layout)
    if n_batch < 0 or indices.shape[-2] != layout.nse:
        raise mistaken(
            f"an axis of a sparse array of {layout.n_batch} batch dimensions was mapped that is none of them"
        )
    batch = np.broadcast_shapes(tuple(data.shape[:n_batch]), tuple(indices.shape[:n_batch]))
    return (*batch, *layout.shape[layout.n_batch :])


def resized(data: Any, indices: Any, layout: Layout) -> tuple[int, ...]:
    """The shape, whose batch dimensions follow children that were cut or joined along them."""
    n = layout.n_batch
    now = tuple(data.shape[:n]), tuple(indices.shape[:n])
    before = layout.data_batch, layout.indices_batch
    if now == before or len(now[0]) != n:
        return layout.shape
    shape = list(layout.shape)
    for axis in range(n):
        sizes = now[0][axis], now[1][axis]
        if sizes != (before[0][axis], before[1][axis]):
            shape[axis] = sizes[0] if sizes[1] == 1 else sizes[1]
    return tuple(shape)


def full_batch(mat: CoordinateStorage) -> tuple[Any, Any]:
    """Data and indices, each with all batch dimensions in full."""
    n, batch = mat.n_batch, mat.batch_shape
    data, indices = mat.data, mat.indices
    if tuple(data.shape[:n]) != batch:
        data = xp.broadcast_to(data, (*batch, *data.shape[n:]))
    if tuple(indices.shape[:n]) != batch:
        indices = xp.broadcast_to(indices, (*batch, *indices.shape[n:]))
    return data, indices


def valid(indices: Any, sparse_shape: Sequence[int]) -> Any:
    """Of which entries all coordinates are inside: bool of shape (batch..., nse)."""
    if not sparse_shape:
        return xp.ones(tuple(indices.shape[:-1]), dtype=bool)
    limits = np.asarray(sparse_shape, dtype=np.int64).astype(np.dtype(indices.dtype))
    return xp.all((indices >= 0) & (indices < limits), axis=-1)


def along_dense(mask: Any, n_dense: int) -> Any:
    """A mask of entries with unit axes for the dense dimensions."""
    return mask.reshape((*mask.shape, *(1,) * n_dense)) if n_dense else mask


def masked(mat: CoordinateStorage) -> tuple[Any, Any]:
    """Full data with 0 for padding, and full indices."""
    data, indices = full_batch(mat)
    if not mat.n_sparse:
        return data, indices
    inside = along_dense(valid(indices, mat.sparse_shape), mat.n_dense)
    return xp.where(inside, data, xp.zeros((), data.dtype)), indices


def batch_positions(batch: Sequence[int], trailing: int = 1) -> list[Any]:
    """An index array for each batch dimension, of shape (1, ..., size, ..., 1) with `trailing` more units."""
    count = len(batch)
    return [
        np.arange(size).reshape((*(1,) * axis, size, *(1,) * (count - axis - 1 + trailing)))
        for axis, size in enumerate(batch)
    ]


def columns(indices: Any) -> list[Any]:
    """The coordinates of entries, an array for each sparse dimension."""
    return [indices[..., i] for i in range(indices.shape[-1])]


def places(batch: Sequence[int], indices: Any) -> tuple[Any, ...]:
    """The index of each entry in an array of (batch..., sparse...) dimensions."""
    return (*batch_positions(batch), *columns(indices))

"""Arrays with a diagonal: identities, triangles, diagonals taken and made, Vandermonde, grids."""

from __future__ import annotations

import math
import operator
from itertools import accumulate
from typing import Any, Final

import numpy as np

from ....dialects.types import BOOL, FLOAT32, INT32, INT64, storage
from ...tracing.array import Array
from ...tracing.default_dtypes import integral
from ...tracing.interpreter import ops
from ...tracing.sizes import minimum
from .arguments import (
    argument_error,
    count_of,
    dtype_of,
    full_like,
    integer,
    normalize_axes,
    possible,
    refuse_out,
    require_rank,
    scalar,
    shape_error,
    shape_of,
    size,
    static_size,
)
from .arithmetic import power
from .creation import arange
from .joining import stack
from .promotion import asarray_of, broadcast, broadcast_shapes, convert, same_size, type_text
from .reductions import sum as sum_of
from .reshaping import ravel, reshape

PRODUCTS: Final = 8  # columns of a Vandermonde matrix that are products of those before


def _beside(rows: Any, columns: Any, k: int, direction: str) -> Any:
    """A mask of `column - row <direction> k`; beyond int32 all diagonals are equally far away."""
    far = np.iinfo(INT32).max
    diagonal = max(-far, min(_diagonal_number(k), far))
    shape = (rows, columns)
    row = ops.iota(shape=shape, axis=0, dtype=INT32)
    column = ops.iota(shape=shape, axis=1, dtype=INT32)
    return ops.compare(ops.sub(column, row), full_like(row, diagonal), direction=direction)


def _diagonal_number(k: Any) -> int:
    try:
        return operator.index(k)
    except TypeError:
        raise argument_error(f"the diagonal k must be an integer, got {k!r}") from None


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = FLOAT32, *, device: Any = None) -> Any:
    """Ones on the diagonal `k` of an `[N, M]` matrix (`M = N` by default), zeros elsewhere."""
    rows, columns = shape_of("eye", (N, N if M is None else M))
    mask = _beside(rows, columns, k, "EQ")
    return convert(mask, FLOAT32 if dtype is None else dtype_of("eye", dtype))


def identity(n: Any, dtype: Any = FLOAT32) -> Any:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = FLOAT32) -> Any:
    """Ones at and below the diagonal `k`, zeros above."""
    rows, columns = shape_of("tri", (N, N if M is None else M))
    return convert(_beside(rows, columns, k, "LE"), dtype_of("tri", dtype))


def tril(m: Any, k: int = 0) -> Any:
    """The lower triangle of the last two axes, zeros above the diagonal `k`."""
    return _triangle("tril", m, k, "LE")


def triu(m: Any, k: int = 0) -> Any:
    """The upper triangle of the last two axes, zeros below the diagonal `k`."""
    return _triangle("triu", m, k, "GE")


def _triangle(function: str, x: Any, k: int, direction: str) -> Any:
    value = asarray_of(x)
    if value.ndim == 1:  # as NumPy: a vector is each row of a square
        value = broadcast(value, (value.shape[0], value.shape[0]))
    require_rank(function, value, 2)
    rows, columns = value.shape[-2:]
    mask = broadcast(_beside(rows, columns, k, direction), value.shape)
    return ops.select(mask, value, full_like(value, 0))


def _triangle_indices(function: str, n: Any, k: Any, m: Any, keep: Any) -> tuple[Any, Any]:
    shape = [static_size(function, side, "a side") for side in shape_of(function, (n, n if m is None else m))]
    rows, columns = keep(np.ones(shape, bool), integer(function, k, "the diagonal k")).nonzero()
    return arange_of(rows), arange_of(columns)


def arange_of(indices: np.ndarray) -> Any:
    """A concrete index array as an array of adze."""
    return asarray_of(indices.astype(np.int64))


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Rows and columns of the lower triangle."""
    return _triangle_indices("tril_indices", n, k, m, np.tril)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Any, Any]:
    """Rows and columns of the upper triangle."""
    return _triangle_indices("triu_indices", n, k, m, np.triu)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Rows and columns of the lower triangle of a matrix of static shape."""
    rows, columns = _static_matrix("tril_indices_from", arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Any, Any]:
    """Rows and columns of the upper triangle of a matrix of static shape."""
    rows, columns = _static_matrix("triu_indices_from", arr)
    return triu_indices(rows, k, columns)


def _static_matrix(function: str, arr: Any) -> tuple[int, int]:
    value = asarray_of(arr)
    if value.ndim != 2 or not _static(*value.shape):
        raise shape_error(f"{function}: expected a matrix of static shape, got {type_text(value)}")
    rows, columns = value.shape
    return rows, columns


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonal of two axes, as a new last axis."""
    value = asarray_of(a)
    require_rank("diagonal", value, 2)
    first, second = normalize_axes("diagonal", (axis1, axis2), value.ndim)
    rest = tuple(number for number in range(value.ndim) if number not in (first, second))
    moved = ops.transpose(value, permutation=(*rest, first, second))
    rows, columns = moved.shape[-2:]
    if _static(rows, columns):
        length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    elif offset:
        return diagonal(moved[..., max(-offset, 0) :, max(offset, 0) :], 0, -2, -1)
    else:
        length = minimum(rows, columns)
    if not _static(length) and same_size(rows, columns):  # one kernel: nothing but rows makes the places
        leading = tuple(range(len(rest) + 1))
        return ops.gather(
            moved,
            ops.iota(shape=(*moved.shape[:-1], 1), axis=len(rest), dtype=INT64),
            offset_dims=(),
            collapsed_slice_dims=(len(leading),),
            start_index_map=(len(leading),),
            operand_batching_dims=leading,
            start_indices_batching_dims=leading,
            slice_sizes=(1,) * moved.ndim,
            mode="promise_in_bounds",
            fill_value=_zero_bits(moved.dtype),
        )
    if _static(length) and length == 0:
        return ops.reshape(moved[..., :0, :0], shape=(*moved.shape[:-2], 0))
    places = INT32 if _static(rows, columns) and max(rows, columns) <= np.iinfo(INT32).max else INT64
    row = ops.iota(shape=(length, 2), axis=0, dtype=places)
    if _static(length):
        row = ops.add(row, Array(_corner(length, offset).astype(places)))
    return ops.gather(
        moved,
        row,
        offset_dims=tuple(range(len(rest))),
        collapsed_slice_dims=(len(rest), len(rest) + 1),
        start_index_map=(len(rest), len(rest) + 1),
        operand_batching_dims=(),
        start_indices_batching_dims=(),
        slice_sizes=(*moved.shape[:-2], 1, 1),
        mode="promise_in_bounds",
        fill_value=_zero_bits(moved.dtype),
    )


def _static(*sizes: Any) -> bool:
    return all(isinstance(n, int) for n in sizes)


def _corner(length: int, offset: int) -> np.ndarray:
    return np.broadcast_to(np.array([max(-offset, 0), max(offset, 0)], np.int64), (length, 2))


def _zero_bits(dtype: np.dtype) -> np.ndarray:
    return storage(np.zeros((), dtype))


def diag(v: Any, k: int = 0) -> Any:
    """Of a vector the matrix with it on diagonal `k`; of a matrix its diagonal `k`."""
    value, k = asarray_of(v), integer("diag", k, "the diagonal k")
    if value.ndim == 2:
        return diagonal(value, offset=k)
    if value.ndim != 1:
        raise argument_error(f"diag: expected a vector or a matrix, got {type_text(value)}")
    n = value.shape[0]
    shift = k if k >= 0 else -k
    padded = value
    if shift:
        low, high = (0, shift) if k < 0 else (shift, 0)
        padded = ops.pad(value, scalar(0, value.dtype), low=(low,), high=(high,), interior=(0,))
    side = n + shift
    spread = ops.broadcast_in_dim(padded, shape=(side, side), dimensions=(1,))
    return ops.select(_beside(side, side, k, "EQ"), spread, full_like(spread, 0))


def diagflat(v: Any, k: int = 0) -> Any:
    """The matrix with the elements of `v` on diagonal `k`."""
    value = asarray_of(v)
    return diag(ops.reshape(value, shape=(count_of(value.shape, range(value.ndim)),)), k)


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The indices of the main diagonal of an array of `ndim` axes."""
    return (arange(n),) * ndim


def fill_diagonal(a: Any, val: Any, wrap: bool = False, *, inplace: bool = False) -> Any:
    """`a` with its main diagonal replaced by `val`, whose elements are taken in turn: a new array.

    With `wrap` the diagonal of a tall matrix begins again below each square, after a row that is left out.
    Of an array of more than two axes, which must be equal, `a[i, i, ..., i]`.
    """
    value = asarray_of(a)
    require_rank("fill_diagonal", value, 2)
    if inplace:
        raise argument_error("fill_diagonal: arrays of adze do not change", "use the array that it returns")
    if not _static(*value.shape):
        raise argument_error(f"fill_diagonal: the axes of {type_text(value)} must have static sizes")
    shape = value.shape
    if value.ndim > 2 and len(set(shape)) > 1:
        raise argument_error(
            f"fill_diagonal: the axes of an array of more than two must be equal, got {type_text(value)}"
        )
    step = sum(math.prod(shape[k:]) for k in range(1, len(shape) + 1))
    end = math.prod(shape) if wrap or value.ndim > 2 else shape[1] * min(shape)
    places = np.arange(0, end, step) if step else np.arange(0)
    values = ravel(asarray_of(val))
    if values.shape[0] == 0 or not len(places):
        return value
    chosen = values[np.arange(len(places)) % values.shape[0]]
    return reshape(reshape(value, -1).at[places].set(chosen.astype(value.dtype)), shape)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """The sum along a diagonal of two axes."""
    refuse_out("trace", out)
    return sum_of(diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of a vector as columns, falling unless `increasing`."""
    value = asarray_of(x)
    if value.ndim != 1:
        raise argument_error(f"vander: expected a vector, got {type_text(value)}")
    columns = value.shape[0] if N is None else possible("vander", size("vander", N), INT64)
    if value.dtype == BOOL:
        value = convert(value, integral())
    if isinstance(columns, int) and 0 < columns <= PRODUCTS:
        powers = [full_like(value, 1), *accumulate([value] * (columns - 1), ops.mul)]
        return stack(powers if increasing else powers[::-1], axis=-1)
    exponents = np.arange(columns) if increasing else np.arange(columns)[::-1]
    base = ops.reshape(value, shape=(value.shape[0], 1))
    return power(base, convert(asarray_of(exponents.copy()), base.dtype))


def meshgrid(*arrays: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True) -> list[Any]:
    """Coordinate arrays of the grid that vectors span; `indexing` is `xy` (NumPy's default) or `ij`."""
    if indexing not in ("xy", "ij"):
        raise argument_error(f"meshgrid: indexing is {indexing!r}, expected 'xy' or 'ij'")
    values = [asarray_of(a) for a in arrays]
    grids = []
    for axis, value in enumerate(values):
        n = count_of(value.shape, range(value.ndim))
        place = 1 - axis if indexing == "xy" and axis < 2 and len(values) > 1 else axis
        grids.append(ops.reshape(value, shape=tuple(n if a == place else 1 for a in range(len(values)))))
    if sparse:
        return grids
    shape = broadcast_shapes(*(g.shape for g in grids))
    return [broadcast(g, shape) for g in grids]

"""`adze.numpy.linalg`: products, norms and diagonals; factorizations come with their primitives."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects.types import COMPLEX
from ..interpreter import ops
from ..promotion import asarray_of, type_text
from . import matrices
from .arithmetic import absolute, multiply, power, sqrt
from .axes import argument_error, float_value, normalize_axes, require_rank, shape_error
from .einsum import einsum
from .products import cross as _cross
from .products import matmul, tensordot, vecdot
from .products import outer as _outer
from .reductions import count_nonzero
from .reductions import max as max_of
from .reductions import min as min_of
from .reductions import sum as sum_of
from .reshaping import matrix_transpose, ravel
from .rounding import imag, real


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """The diagonal of the last two axes."""
    return matrices.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """The sum of the diagonal of the last two axes."""
    return matrices.trace(x, offset, -2, -1, dtype)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """The cross product of vectors of 3 along `axis`."""
    return _cross(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> Any:
    """The products of all pairs of elements of two vectors."""
    x, y = asarray_of(x1), asarray_of(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise shape_error(f"outer: expected two vectors, got {type_text(x)} and {type_text(y)}")
    return _outer(x, y)


def _squares(value: Any) -> Any:
    if value.dtype in COMPLEX:
        parts = real(value), imag(value)
        return ops.add(*(multiply(p, p) for p in parts))
    return multiply(value, value)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The `ord`-norm over `axis`: any number, infinities included; 0 counts nonzero elements."""
    value = float_value(x)
    if ord == 2:
        return sqrt(sum_of(_squares(value), axis=axis, keepdims=keepdims))
    magnitude = absolute(value)
    if ord == np.inf:
        return max_of(magnitude, axis=axis, keepdims=keepdims)
    if ord == -np.inf:
        return min_of(magnitude, axis=axis, keepdims=keepdims)
    if ord == 0:
        return ops.convert(count_nonzero(value, axis=axis, keepdims=keepdims), dtype=magnitude.dtype)
    if ord == 1:
        return sum_of(magnitude, axis=axis, keepdims=keepdims)
    return power(sum_of(power(magnitude, float(ord)), axis=axis, keepdims=keepdims), 1.0 / ord)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the last two axes: fro, 1, -1, inf or -inf."""
    value = float_value(x)
    require_rank("matrix_norm", value, 2)
    return _matrix_norm(value, (value.ndim - 2, value.ndim - 1), ord, keepdims)


def _matrix_norm(value: Any, axes: Sequence[int], ord: Any, keepdims: bool) -> Any:
    if ord in ("fro", None):
        return sqrt(sum_of(_squares(value), axis=tuple(axes), keepdims=keepdims))
    if ord not in (1, -1, np.inf, -np.inf):
        raise argument_error(
            f"norm: the matrix norm {ord!r} needs a singular value decomposition, which adze does not have",
            "use 'fro', 1, -1, inf or -inf",
        )
    row, column = axes
    inner, outside = (row, column) if ord in (1, -1) else (column, row)
    sums = sum_of(absolute(value), axis=inner, keepdims=True)
    extremum = max_of if ord > 0 else min_of
    result = extremum(sums, axis=outside, keepdims=True)
    kept = tuple(n for a, n in enumerate(result.shape) if a not in axes)
    return result if keepdims else ops.reshape(result, shape=kept)


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """NumPy's norm: of vectors over one axis, of matrices over two, of everything by default."""
    value = float_value(x)
    if axis is None and ord is None:
        result = vector_norm(ravel(value))
        return ops.reshape(result, shape=(1,) * value.ndim) if keepdims else result
    axes = normalize_axes("norm", axis, value.ndim)
    if len(axes) == 1:
        return vector_norm(value, axis=axes, keepdims=keepdims, ord=2 if ord is None else ord)
    if len(axes) == 2:
        return _matrix_norm(value, axes, ord, keepdims)
    raise shape_error(f"norm: expected one axis or two, got {axis} for {type_text(value)}")


def matrix_power(x: Any, n: int, /) -> Any:
    """The product of `n` copies of square matrices; n must not be negative."""
    value = asarray_of(x)
    require_rank("matrix_power", value, 2)
    if n < 0:
        raise argument_error("matrix_power: a negative power needs an inverse, which adze does not have yet")
    if n == 0:
        unit = matrices.eye(value.shape[-1], dtype=value.dtype)
        return ops.broadcast_in_dim(unit, shape=value.shape, dimensions=(value.ndim - 2, value.ndim - 1))
    result: Any = None
    while n:
        if n & 1:
            result = value if result is None else matmul(result, value)
        n >>= 1
        value = matmul(value, value) if n else value
    return result


def multi_dot(arrays: Sequence[Any]) -> Any:
    """The product of several matrices in the order that costs least."""
    values = [asarray_of(a) for a in arrays]
    if len(values) < 2:
        raise argument_error("multi_dot: need at least two arrays")
    letters = string.ascii_letters
    terms = [letters[k : k + 2] for k in range(len(values))]
    terms[0] = terms[0][-values[0].ndim :]
    terms[-1] = terms[-1][: values[-1].ndim]
    result = (terms[0][0] if values[0].ndim == 2 else "") + (terms[-1][-1] if values[-1].ndim == 2 else "")
    return einsum(f"{','.join(terms)}->{result}", *values)


__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

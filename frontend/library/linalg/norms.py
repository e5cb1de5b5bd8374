"""Norms of vectors and of matrices, under NumPy's names and with its choices of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...tracing.interpreter import ops
from .. import numpy as xp
from ..numpy.arguments import argument_error, float_value, normalize_axes, require_rank, shape_error
from ..numpy.arithmetic import root_of_squares
from ..numpy.promotion import type_text
from .matrix_arguments import matrix, squares
from .svd import singular_values


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """The `ord`-norm over `axis`: any number, infinities included; 0 counts nonzero elements.

    Its slope at zero is 0, as that of `abs`.
    """
    return _vector_norm("vector_norm", float_value(x), axis, keepdims, ord)


def _vector_norm(function: str, value: Any, axis: Any, keepdims: bool, ord: Any) -> Any:
    if isinstance(ord, str) or not np.isscalar(ord):
        raise argument_error(f"{function}: the order is {ord!r}, expected a number for vectors")
    if ord == 2:
        return root_of_squares(xp.sum(squares(value), axis=axis, keepdims=keepdims))
    magnitude = xp.abs(value)
    if ord == np.inf:
        return _largest(magnitude, axis, keepdims)
    if ord == -np.inf:
        return xp.min(magnitude, axis=axis, keepdims=keepdims)
    if ord == 0:
        return xp.astype(xp.count_nonzero(value, axis=axis, keepdims=keepdims), magnitude.dtype)
    if ord == 1:
        return xp.sum(magnitude, axis=axis, keepdims=keepdims)
    number: Any = ord
    order = float(number)
    total = xp.sum(xp.power(magnitude, order), axis=axis, keepdims=keepdims)
    if order <= 0:
        return xp.power(total, 1.0 / order)
    has_length = total != 0
    return xp.where(has_length, xp.power(xp.where(has_length, total, 1.0), 1.0 / order), 0.0)


def _largest(x: Any, axis: Any, keepdims: bool) -> Any:
    """The largest of numbers from 0, which is 0 where there are none."""
    is_empty = any(isinstance(n, int) and n == 0 for n in x.shape)
    return (xp.sum if is_empty else xp.max)(x, axis=axis, keepdims=keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """The norm of the last two axes: 'fro', 'nuc' (the sum of singular values), 1, -1, 2, -2, inf or -inf."""
    value = float_value(x)
    require_rank("matrix_norm", value, 2)
    return _matrix_norm("matrix_norm", value, (value.ndim - 2, value.ndim - 1), ord, keepdims)


def _matrix_norm(function: str, value: Any, axes: Sequence[int], ord: Any, keepdims: bool) -> Any:
    if ord is None or ord == "fro":
        return root_of_squares(xp.sum(squares(value), axis=tuple(axes), keepdims=keepdims))
    if ord in ("nuc", 2, -2):
        s = singular_values(matrix(function, xp.moveaxis(value, tuple(axes), (-2, -1)), named=True))
        result = (
            xp.sum(s, axis=-1) if ord == "nuc" else _largest(s, -1, False) if ord == 2 else xp.min(s, axis=-1)
        )
        return xp.expand_dims(result, tuple(axes)) if keepdims else result
    if ord not in (1, -1, np.inf, -np.inf):
        raise argument_error(
            f"{function}: the order is {ord!r}, expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices"
        )
    row, column = axes
    inner, outside = (row, column) if ord in (1, -1) else (column, row)
    sums = xp.sum(xp.abs(value), axis=inner, keepdims=True)
    result = _largest(sums, outside, True) if ord > 0 else xp.min(sums, axis=outside, keepdims=True)
    return result if keepdims else xp.squeeze(result, tuple(axes))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """NumPy's norm: of vectors over one axis, of matrices over two, of everything by default."""
    value = float_value(x)
    if axis is None and ord is None:
        result = vector_norm(xp.ravel(value))
        return ops.reshape(result, shape=(1,) * value.ndim) if keepdims else result
    axes = normalize_axes("norm", axis, value.ndim)
    if len(axes) == 1:
        return _vector_norm("norm", value, axes, keepdims, 2 if ord is None else ord)
    if len(axes) == 2:
        return _matrix_norm("norm", value, axes, ord, keepdims)
    raise shape_error(f"norm: expected one axis or two, got {axis} for {type_text(value)}")

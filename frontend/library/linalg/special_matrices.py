"""Matrices of a fixed pattern, under SciPy's names: Toeplitz, Hankel, circulant, companion, Hilbert, blocks.

Input: vectors (leading axes are batches where SciPy has them), or a size. Output: one gather or one fill.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tracing.default_dtypes import complex_floating, floating, floating_of
from .. import numpy as xp
from ..numpy.arguments import argument_error, count_of, shape_error, static_size
from ..numpy.arguments import size as size_of
from ..numpy.promotion import asarray_of, convert, promote, type_text
from .matrix_arguments import zeros


def _vector(function: str, x: Any) -> tuple[Any, int]:
    """A vector and its static length; arrays of other ranks are taken element by element, as in SciPy."""
    value = asarray_of(x)
    value = xp.reshape(value, (count_of(value.shape, range(value.ndim)),))
    return value, static_size(function, value.shape[0], "the length")


def toeplitz(c: Any, r: Any = None) -> Any:
    """The matrix of constant diagonals with first column `c` and first row `r` (`conj(c)` where None)."""
    column, rows = _vector("toeplitz", c)
    if r is None:
        row, columns = xp.conj(column), rows
    else:
        row, columns = _vector("toeplitz", r)
        column, row = promote(column, row)
    # Element (i, j) is that of the diagonal j - i: the row reversed without its first, then the column.
    diagonals = xp.concatenate([row[1:][::-1], column]) if columns > 1 else column
    places = np.arange(rows)[:, None] - np.arange(columns)[None, :] + max(columns - 1, 0)
    return _taken(diagonals, places)


def hankel(c: Any, r: Any = None) -> Any:
    """The matrix of constant antidiagonals with first column `c` and last row `r` (zeros where None)."""
    column, rows = _vector("hankel", c)
    row, columns = (xp.zeros_like(column), rows) if r is None else _vector("hankel", r)
    column, row = promote(column, row)
    places = np.arange(rows)[:, None] + np.arange(columns)[None, :]
    return _taken(xp.concatenate([column, row[1:]]) if columns else column, places)


def circulant(c: Any) -> Any:
    """The matrix with first column `c`, each further column the one before it turned down by one."""
    column, n = _vector("circulant", c)
    return _taken(column, (np.arange(n)[:, None] - np.arange(n)[None, :]) % max(n, 1))


def _taken(x: Any, places: np.ndarray) -> Any:
    if places.size == 0:
        return zeros(places.shape, x.dtype)
    return xp.take(x, places)


def companion(a: Any) -> Any:
    """The companion matrix of the polynomial with coefficients `a`, highest degree first."""
    coefficients, n = _vector("companion", a)
    value = (
        coefficients
        if coefficients.dtype.kind in "fc"
        else convert(coefficients, floating_of(coefficients.dtype))
    )
    if n < 2:
        raise shape_error(f"companion: expected at least two coefficients, got {type_text(value)}")
    first = xp.expand_dims(-value[1:] / value[0], 0)
    return xp.concatenate([first, xp.eye(n - 2, n - 1, dtype=value.dtype)], axis=0)


def hilbert(n: int) -> Any:
    """The matrix of ``1 / (i + j + 1)``, in the default dtype."""
    count = size_of("hilbert", n)
    places = xp.arange(count, dtype=floating())
    return 1 / (xp.expand_dims(places, -1) + places + 1)


def block_diag(*arrs: Any) -> Any:
    """The matrices along a diagonal, zeros elsewhere; vectors count as rows."""
    blocks = [xp.atleast_2d(a) for a in arrs] or [xp.zeros((1, 0), dtype=floating())]
    blocks = list(promote(*blocks))
    for block in blocks:
        if block.ndim != 2:
            raise argument_error(f"block_diag: expected matrices or vectors, got {type_text(block)}")
    widths = [block.shape[1] for block in blocks]
    rows = []
    for k, block in enumerate(blocks):
        height = block.shape[0]
        before, after = sum(widths[:k]), sum(widths[k + 1 :])
        parts = [zeros((height, before), block.dtype), block, zeros((height, after), block.dtype)]
        rows.append(xp.concatenate(parts, axis=1))
    return xp.concatenate(rows, axis=0)


def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Any:
    """The matrix of the Fourier transform, complex64 by default, over `n` ('n') or its root ('sqrtn')."""
    if scale not in (None, "n", "sqrtn"):
        raise argument_error(f"dft: scale is {scale!r}, expected None, 'sqrtn' or 'n'")
    count = size_of("dft", n)
    order = np.arange(count, dtype=np.int64)
    turns = np.outer(order, order) % max(count, 1) / max(count, 1)
    matrix = np.exp(-2j * np.pi * turns)
    matrix = matrix / {None: 1.0, "n": count, "sqrtn": np.sqrt(count)}[scale]
    return xp.asarray(matrix.astype(complex_floating() if dtype is None else dtype))

"""Matrices of numbers that are counted or compared: Hadamard, Helmert, Pascal, Fiedler, Leslie, convolutions.

Input: a size, or vectors of static length. Output: matrices under SciPy's names; those of a size alone are of
the default dtype (`hadamard` of integers, `pascal` float32, as in JAX).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....dialects.types import FLOAT32
from ...tracing.default_dtypes import floating
from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from ..numpy.arguments import integer as integer_of
from ..numpy.promotion import asarray_of, promote, type_text
from .matrix_arguments import zeros
from .special_matrices import toeplitz


def _size(function: str, n: Any) -> int:
    count = integer_of(function, n, "n")
    if count < 0:
        raise argument_error(f"{function}: n is {count}, expected a size that is not negative")
    return count


def _floats(values: Any) -> Any:
    return xp.asarray(np.asarray(values, np.float64).astype(floating()))


def _vector(function: str, x: Any, least: int) -> Any:
    value = asarray_of(x)
    if value.ndim < 1 or not isinstance(value.shape[-1], int) or value.shape[-1] < least:
        raise shape_error(
            f"{function}: expected vectors of at least {least} elements, got {type_text(value)}"
        )
    return value


def hadamard(n: int, dtype: Any = np.int64) -> Any:
    """The matrix of 1 and -1 whose rows are orthogonal, by Sylvester's construction; `n` is a power of 2."""
    count = _size("hadamard", n)
    if count < 1 or count & (count - 1):
        raise argument_error(f"hadamard: n is {count}, expected a power of 2")
    result = np.ones((1, 1))
    while result.shape[0] < count:
        result = np.block([[result, result], [result, -result]])
    return xp.asarray(result.astype(dtype))


def helmert(n: int, full: bool = False) -> Any:
    """The orthogonal contrasts of `n` numbers as rows; with `full`, below the row of their mean."""
    count = _size("helmert", n)
    matrix = np.tril(np.ones((count, count)), -1) - np.diag(np.arange(count))
    matrix[:1] = 1
    order = np.arange(count)
    lengths = order * (order + 1.0)
    lengths[:1] = count
    matrix = matrix / np.sqrt(lengths)[:, None]
    return _floats(matrix if full else matrix[1:])


def pascal(n: int, kind: str | None = None) -> Any:
    """Pascal's triangle as a matrix: `symmetric` (None), `lower` or `upper`."""
    count = _size("pascal", n)
    matrix = _of_kind("pascal", _triangle(count), kind, inverse=False)
    return xp.asarray(matrix.astype(FLOAT32))


def invpascal(n: int, kind: str | None = None) -> Any:
    """The inverse of `pascal`."""
    count = _size("invpascal", n)
    signs = (-1.0) ** np.add.outer(np.arange(count), np.arange(count))
    return _floats(_of_kind("invpascal", signs * _triangle(count), kind, inverse=True))


def _triangle(n: int) -> np.ndarray:
    return np.array([[float(math.comb(i, j)) for j in range(n)] for i in range(n)]).reshape(n, n)


def _of_kind(function: str, lower: np.ndarray, kind: str | None, *, inverse: bool) -> np.ndarray:
    if kind not in (None, "symmetric", "lower", "upper"):
        raise argument_error(f"{function}: kind is {kind!r}, expected 'symmetric', 'lower' or 'upper'")
    if kind == "lower":
        return lower
    if kind == "upper":
        return lower.T
    return lower.T @ lower if inverse else lower @ lower.T


def invhilbert(n: int) -> Any:
    """The inverse of the Hilbert matrix, whose elements are integers."""
    count = _size("invhilbert", n)

    def element(i: int, j: int) -> float:
        s = i + j
        product = (s + 1) * math.comb(count + i, count - j - 1) * math.comb(count + j, count - i - 1)
        return float((-1) ** s * product * math.comb(s, i) ** 2)

    return _floats(
        np.array([[element(i, j) for j in range(count)] for i in range(count)]).reshape(count, count)
    )


def fiedler(a: Any) -> Any:
    """The distances ``|a_i - a_j|`` of all pairs of elements, `[..., n, n]`."""
    value = _vector("fiedler", a, 0)
    return xp.abs(value[..., :, None] - value[..., None, :])


def fiedler_companion(a: Any) -> Any:
    """The pentadiagonal companion matrix of a polynomial, the highest coefficient first (Fiedler 2003)."""
    value = _vector("fiedler_companion", a, 2)
    value = value if value.dtype.kind in "fc" else xp.astype(value, FLOAT32)
    n = value.shape[-1] - 1
    scaled = value / value[..., :1]
    if n == 1:
        return -scaled[..., 1:, None]
    # Entries that are 1, and where each coefficient, negated, stands.
    fixed = np.zeros((n, n))
    fixed[range(3, n, 2), range(1, n - 2, 2)] = 1
    fixed[range(0, n - 2, 2), range(2, n, 2)] = 1
    fixed[1, 0] = 1
    taken = np.zeros((n + 1, n, n))
    taken[1, 0, 0] = 1
    taken[range(3, n + 1, 2), range(2, n, 2), range(1, n - 1, 2)] = 1
    taken[range(2, n + 1, 2), range(0, n - 1, 2), range(1, n, 2)] = 1
    negated = xp.tensordot(scaled, xp.asarray(taken.astype(value.dtype)), 1)
    return xp.asarray(fixed.astype(value.dtype)) - negated


def leslie(f: Any, s: Any) -> Any:
    """The matrix of growth with fecundities `f` in its first row and survivals `s` below its diagonal."""
    births, lives = promote(_vector("leslie", f, 1), _vector("leslie", s, 0))
    n = births.shape[-1]
    if lives.shape[-1] != n - 1:
        raise shape_error(f"leslie: expected {n - 1} survivals for {n} fecundities, got {type_text(lives)}")
    below = xp.eye(n, n - 1, k=-1, dtype=births.dtype) * lives[..., None, :]
    rest = xp.concatenate([below, zeros((*below.shape[:-1], 1), births.dtype)], axis=-1)
    is_first = xp.arange(n)[:, None] == 0
    return xp.where(is_first, births[..., None, :], rest)


def convolution_matrix(a: Any, n: int, mode: str = "full") -> Any:
    """The matrix whose product with a vector of `n` elements is its convolution with `a`; `mode` as there."""
    value = _vector("convolution_matrix", a, 1)
    count, m = _size("convolution_matrix", n), value.shape[-1]
    if value.ndim != 1 or count < 1:
        raise shape_error(f"convolution_matrix: expected a vector and n above 0, got {type_text(value)}")
    if mode not in ("full", "same", "valid"):
        raise argument_error(f"convolution_matrix: mode is {mode!r}, expected full, same or valid")
    first = xp.concatenate([value, zeros((count - 1,), value.dtype)])
    row = xp.concatenate([value[:1], zeros((count - 1,), value.dtype)])
    whole = toeplitz(first, row)
    if mode == "same":
        low = (min(count, m) - 1) // 2
        return whole[low : low + max(count, m)]
    if mode == "valid":
        low = min(count, m) - 1
        return whole[low : low + max(count, m) - min(count, m) + 1]
    return whole

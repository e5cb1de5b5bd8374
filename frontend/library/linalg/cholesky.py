"""Cholesky factors, and systems solved with them.

Blocks of up to `BLOCK` columns are factored column by column (outer products), larger matrices as halves with
a triangular solve and a product between them: n^3/3 operations. The derivative is Murray's (2016,
Differentiation of the Cholesky decomposition, eq. 8 to 10), a triangular solve from both sides.
"""

from __future__ import annotations

from typing import Any

from ...control.scans import scan
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.promotion import promote
from ..routines import routine
from .matrix_arguments import (
    adjoint,
    conjugate,
    diagonal,
    entry,
    inexact,
    is_block,
    is_complex,
    is_empty,
    outer,
    positions,
    real_part,
    row,
    square,
    system,
    zeros,
)
from .triangular import halved, solve_lower, solve_upper


def cholesky(a: Any, *, upper: bool = False, symmetrize_input: bool = True) -> Any:
    """The lower triangular `l` with ``a = l @ l^H`` (with `upper` its adjoint), diagonal positive.

    `a` counts as ``(a + a^H) / 2``; without `symmetrize_input` only its lower triangle is read, which is what
    NumPy does. Where a matrix is not positive definite the triangle is NaN: a compiled program raises no
    exception for a value.
    """
    value = square("cholesky", a, named=True)
    value = symmetrized(value) if symmetrize_input else from_lower(value)
    factor = _factor(value)
    return adjoint(factor) if upper else factor


def symmetrized(a: Any) -> Any:
    """The Hermitian part."""
    return (a + adjoint(a)) / 2


def from_lower(a: Any) -> Any:
    """The Hermitian matrix whose lower triangle is that of `a`."""
    lower = xp.tril(a, -1)
    middle = xp.triu(xp.tril(a))
    if is_complex(a):
        middle = xp.astype(real_part(middle), a.dtype)
    return lower + adjoint(lower) + middle


@custom_jvp
def _factor(a: Any) -> Any:
    return routine("cholesky", _composed, a)


def _composed(a: Any) -> Any:
    factor = _blocked(a)
    pivots = real_part(diagonal(factor))
    is_good = xp.all(pivots > 0, axis=-1, keepdims=True)
    return xp.where(xp.expand_dims(is_good, -1), factor, xp.tril(xp.full_like(factor, float("nan"))))


# a = l l^H: dl = l phi(l^-1 da l^-H), phi the lower triangle with half of the diagonal.
@_factor.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    factor = _factor(a)
    left = solve_lower(factor, da, False)
    middle = adjoint(solve_lower(factor, adjoint(left), False))
    return factor, xp.matmul(factor, halves(middle))


def halves(x: Any) -> Any:
    """The lower triangle, the diagonal counted half."""
    return xp.tril(x, -1) + xp.triu(xp.tril(x)) / 2


def _blocked(a: Any) -> Any:
    n = a.shape[-1]
    if is_empty(n):
        return a
    if is_block(n):
        return _columns(a)
    half = halved(n)
    first = _blocked(a[..., :half, :half])
    # panel @ first^H = a21
    panel = adjoint(solve_lower(first, adjoint(a[..., half:, :half]), False))
    second = _blocked(a[..., half:, half:] - xp.matmul(panel, adjoint(panel)))
    right = zeros((*a.shape[:-2], half, n - half), a.dtype)
    top = xp.concatenate([first, right], axis=-1)
    return xp.concatenate([top, xp.concatenate([panel, second], axis=-1)], axis=-2)


def _columns(a: Any) -> Any:
    rows = positions(a.shape[-1])

    def step(rest: Any, k: Any) -> Any:
        pivot_row = conjugate(row(rest, k))
        root = xp.sqrt(real_part(entry(pivot_row, k)))
        scaled = pivot_row / xp.astype(root, pivot_row.dtype)
        factor_column = xp.where(rows == k, xp.astype(root, pivot_row.dtype), scaled)
        factor_column = xp.where(rows >= k, factor_column, xp.zeros_like(factor_column))
        return rest - outer(factor_column, conjugate(factor_column)), factor_column

    _, columns = scan(step, a, rows)
    return xp.moveaxis(columns, 0, -1)


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """SciPy's pair of a Cholesky factor and whether it is the lower one."""
    del overwrite_a, check_finite
    return cholesky(a, upper=not lower), lower


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """`x` with ``a @ x = b``, given what `cho_factor` returns of `a`."""
    del overwrite_b, check_finite
    factor, lower = c_and_lower
    factor, right = promote(factor, b)
    factor, right = square("cho_solve", factor, named=True), inexact("cho_solve", right)
    is_vector = right.ndim == 1
    factor, right = system("cho_solve", factor, right, is_vector=is_vector)
    lower_factor = factor if lower else adjoint(factor)
    x = solve_upper(adjoint(lower_factor), solve_lower(lower_factor, right, False), False)
    return xp.squeeze(x, -1) if is_vector else x

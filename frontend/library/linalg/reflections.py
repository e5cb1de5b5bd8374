"""Products of Householder reflections, and what `jax.lax.linalg` has of general eigenproblems.

Input: LAPACK's packed form: the vectors of the reflections below the diagonal (their first elements are 1 and
not stored), and their factors. Output: unitary matrices, or products with them.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import promote, type_text
from .eig import eig as _eig
from .lu import inv
from .matrix_arguments import adjoint, is_complex, matrix, square
from .qr import compact
from .real_schur import real_schur_form
from .schur import each_matrix, reduced_to_hessenberg
from .schur_forms import schur_form


class EigImplementation(enum.Enum):
    """Who computes eigenvalues in JAX; in adze there is one way."""

    CUSOLVER = "cusolver"
    MAGMA = "magma"
    LAPACK = "lapack"


class EighImplementation(enum.Enum):
    """How JAX computes eigenvalues of Hermitian matrices; in adze there is one way."""

    QR = "qr"
    JACOBI = "jacobi"
    QDWH = "qdwh"


class SvdAlgorithm(enum.Enum):
    """How JAX computes singular values; in adze there is one way."""

    DEFAULT = "default"
    QR = "qr"
    JACOBI = "jacobi"
    POLAR = "polar"


def _factors(function: str, a: Any, taus: Any) -> tuple[Any, Any]:
    """The vectors of the reflections as columns, and `t` with ``I - v t v^H`` their product."""
    value, factors = promote(matrix(function, a), xp.asarray(taus))
    count = factors.shape[-1] if factors.ndim else 0
    rows, columns = value.shape[-2:]
    if factors.ndim != value.ndim - 1 or count > min(rows, columns):
        raise shape_error(
            f"{function}: {type_text(factors)} are no factors of the reflections in {type_text(value)}"
        )
    v = xp.tril(value[..., :count], -1) + xp.eye(rows, count, dtype=value.dtype)
    return v, compact(v, xp.moveaxis(factors, -1, 0)[..., None])


def householder_product(a: Any, taus: Any) -> Any:
    """The first columns, as many as `a` has, of the product of its reflections."""
    v, t = _factors("householder_product", a, taus)
    rows, columns = a.shape[-2:]
    if not t.shape[-1]:
        return xp.zeros((*v.shape[:-1], columns), dtype=v.dtype) + xp.eye(rows, columns, dtype=v.dtype)
    one = xp.eye(rows, columns, dtype=v.dtype)
    return one - xp.matmul(v, xp.matmul(t, adjoint(v[..., :columns, :])))


def ormqr(a: Any, taus: Any, c: Any, *, left: bool = True, transpose: bool = False) -> Any:
    """``q @ c``, or ``c @ q`` without `left`, of the product `q` of the reflections in `a`; with `transpose`,
    of its adjoint."""
    v, t = _factors("ormqr", a, taus)
    other = xp.asarray(c)
    t = adjoint(t) if transpose else t
    if left:
        return other - xp.matmul(v, xp.matmul(t, xp.matmul(adjoint(v), other)))
    return other - xp.matmul(xp.matmul(xp.matmul(other, v), t), adjoint(v))


def hessenberg(a: Any) -> tuple[Any, Any]:
    """The Hessenberg form of square matrices in LAPACK's packed form, with the factors of its reflections,
    whose vectors stand below the first subdiagonal."""
    value = square("hessenberg", a)
    n = value.shape[-1]
    if n < 2:
        return value, xp.zeros((*value.shape[:-2], max(n - 1, 0)), dtype=value.dtype)
    if n == 2:
        return value, xp.zeros((*value.shape[:-2], 1), dtype=value.dtype)

    def packed(a: Any) -> tuple[Any, Any]:
        h, v, taus = reduced_to_hessenberg(a)
        below = xp.pad(v, ((0, 0), (0, n - v.shape[-1])))
        return xp.triu(h, -1) + xp.tril(below, -2), xp.pad(taus, (0, n - 1 - taus.shape[-1]))

    return each_matrix(packed, value)


def schur(
    x: Any,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Any]:
    """The Schur form and its vectors; that of real matrices is real, with blocks of two rows for pairs of
    complex eigenvalues.

    Without `compute_schur_vectors` the form alone. Eigenvalues are not sorted.
    """
    if sort_eig_vals or select_callable is not None:
        raise argument_error("schur: sorting eigenvalues is not implemented")
    value = square("schur", x)
    t, z = schur_form(value) if is_complex(value) else real_schur_form(value)
    return [t, z] if compute_schur_vectors else [t]


def eig(
    x: Any,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Any]:
    """Eigenvalues, then left and right eigenvectors as columns where they are asked for.

    Left ones satisfy ``u^H a = w u^H``. Derivatives of vectors are there without `enable_eigvec_derivs`;
    `implementation` and `use_magma` are hints.
    """
    del enable_eigvec_derivs, implementation, use_magma
    w, v = _eig(x)
    results = [w]
    if compute_left_eigenvectors:
        u = adjoint(inv(v)) if v.shape[-1] else v
        length = xp.sqrt(xp.sum(xp.abs(u) ** 2, axis=-2, keepdims=True))
        results.append(u / xp.astype(length, u.dtype))
    if compute_right_eigenvectors:
        results.append(v)
    return results

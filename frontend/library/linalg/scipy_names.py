"""Factorizations and solvers under SciPy's calling conventions; those that differ from NumPy's only.

`overwrite_*`, `check_finite` and the choice of a LAPACK driver are accepted and have no effect: arrays are
never changed, and no exception can report the value of an element.
"""

from __future__ import annotations

from typing import Any

from ...transforms.differentiation import jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import promote, type_text
from .cholesky import cholesky as _cholesky
from .cholesky import from_lower
from .determinants import det as _det
from .eigh import eigh as _eigh
from .eigh import eigvalsh
from .lu import inv as _inv
from .lu import solve as _solve
from .matrix_arguments import adjoint, inexact, matrix, square, system, zeros
from .matrix_functions import expm
from .qr import pivoted
from .qr import qr as _qr
from .svd import singular_values
from .svd import svd as _svd
from .triangular import solve_lower, solve_upper

_ASSUMPTIONS = ("gen", "sym", "her", "pos")


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The upper factor of ``a = r^H @ r``, with `lower` the lower one; only that triangle of `a` is read."""
    del overwrite_a, check_finite
    value = square("cholesky", a, named=True)
    factor = _cholesky(value if lower else adjoint(value), symmetrize_input=False)
    return factor if lower else adjoint(factor)


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The determinant of each matrix."""
    del overwrite_a, check_finite
    return _det(a)


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The inverse of each matrix."""
    del overwrite_a, check_finite
    return _inv(a)


def solve(
    a: Any,
    b: Any,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Any:
    """`x` with ``a @ x = b``; `assume_a` is 'gen', 'sym', 'her' or 'pos' (by Cholesky).

    For all but 'gen' only the triangle that `lower` names is read.
    """
    del overwrite_a, overwrite_b, debug, check_finite
    if assume_a not in _ASSUMPTIONS:
        expected = ", ".join(map(repr, _ASSUMPTIONS))
        raise argument_error(f"solve: assume_a is {assume_a!r}, expected one of {expected}")
    if assume_a == "gen":
        return _solve(a, b)
    value, right = promote(square("solve", a, named=True), inexact("solve", b))
    if assume_a == "sym":
        triangle = xp.tril(value) if lower else xp.matrix_transpose(xp.triu(value))
        return _solve(triangle + xp.matrix_transpose(xp.tril(triangle, -1)), right)
    value = value if lower else adjoint(value)
    if assume_a == "her":
        return _solve(from_lower(value), right)
    is_vector = right.ndim == 1
    value, right = system("solve", value, right, is_vector=is_vector)
    factor = _cholesky(value, symmetrize_input=False)
    x = solve_upper(adjoint(factor), solve_lower(factor, right, False), False)
    return xp.squeeze(x, -1) if is_vector else x


def eigh(
    a: Any,
    b: Any = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues in ascending order and eigenvectors of a Hermitian matrix, of which one triangle is read.

    With a positive definite `b` those of ``a @ v = w * b @ v`` (`type` 1), with ``v^H @ b @ v`` the identity.
    """
    del overwrite_a, overwrite_b, turbo, check_finite
    if eigvals is not None or type != 1:
        raise argument_error("eigh: all eigenvalues of problems of type 1 are computed; slice the results")
    triangle = "L" if lower else "U"
    if b is None:
        return eigvalsh(a, triangle) if eigvals_only else tuple(_eigh(a, triangle))
    left, right = promote(square("eigh", a, named=True), square("eigh", b, named=True))
    if left.shape[-1] != right.shape[-1]:
        raise shape_error(f"eigh: {type_text(left)} and {type_text(right)} are matrices of different sizes")
    if not lower:
        left, right = adjoint(left), adjoint(right)
    factor = _cholesky(right, symmetrize_input=False)
    half = solve_lower(factor, from_lower(left), False)
    middle = solve_lower(factor, adjoint(half), False)
    if eigvals_only:
        return eigvalsh(middle)
    w, v = _eigh(middle)
    return w, solve_upper(adjoint(factor), v, False)


def eigh_tridiagonal(
    d: Any,
    e: Any,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[int, int] | None = None,
    tol: float | None = None,
    *,
    key: Any = None,
) -> Any:
    """`eigh` of the real matrix with diagonal `d` and off-diagonals `e`: all eigenvalues (`select` 'a'), or
    those with the numbers from the first to the last of `select_range` ('i').

    All are computed, to rounding, without random numbers: `tol` and `key` are hints.
    """
    del tol, key
    if select not in ("a", "i"):
        raise argument_error(f"eigh_tridiagonal: select is {select!r}, expected 'a' or 'i'")
    if select == "i" and (select_range is None or select_range[0] > select_range[1]):
        raise argument_error(
            f"eigh_tridiagonal: select_range is {select_range}, expected the first and the last"
        )
    first, last = select_range if select == "i" and select_range is not None else (0, None)
    chosen = slice(first, None if last is None else last + 1)
    middle, beside = promote(inexact("eigh_tridiagonal", d), inexact("eigh_tridiagonal", e))
    if middle.ndim != 1 or beside.shape != (max(middle.shape[0] - 1, 0),):
        raise shape_error(
            f"eigh_tridiagonal: {type_text(middle)} and {type_text(beside)} are no diagonal and off-diagonal"
        )
    a = xp.diag(middle) + xp.diag(beside, -1)
    if eigvals_only:
        return eigvalsh(a, "L")[chosen]
    w, v = _eigh(a, "L")
    return w[chosen], v[:, chosen]


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """``a = (u * s) @ vh`` as a tuple; `s` alone without `compute_uv`."""
    del overwrite_a, check_finite, lapack_driver
    if not compute_uv:
        return singular_values(matrix("svd", a, named=True))
    return tuple(_svd(a, full_matrices))


def qr(
    a: Any,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> Any:
    """``a = q @ r``, `mode` 'full', 'economic' or 'r' (a tuple of `r` alone).

    With `pivoting` ``a[:, p] = q @ r``, where the diagonal of `r` falls in magnitude, and `p` comes last.
    """
    del overwrite_a, lwork, check_finite
    if mode not in ("full", "economic", "r"):
        raise argument_error(f"qr: mode is {mode!r}, expected 'full', 'economic' or 'r'")
    value = matrix("qr", a, named=True)
    order: tuple[Any, ...] = ()
    if pivoting:
        value, p = pivoted(value)
        order = (p,)
    if mode == "r":
        r: Any = _qr(value, "r")
        missing = value.shape[-2] - r.shape[-2]
        return (xp.concatenate([r, zeros((*r.shape[:-2], missing, r.shape[-1]), r.dtype)], axis=-2), *order)
    return (*_qr(value, "complete" if mode == "full" else "reduced"), *order)


def polar(
    a: Any,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Any, Any]:
    """``a = u @ p`` (`side` 'right') or ``p @ u``, `u` with orthonormal columns or rows, `p` semidefinite.

    By singular values, whatever `method` ('qdwh' or 'svd') says; `eps` and `max_iterations` are of the other.
    """
    del eps, max_iterations
    if side not in ("right", "left"):
        raise argument_error(f"polar: side is {side!r}, expected 'right' or 'left'")
    if method not in ("qdwh", "svd"):
        raise argument_error(f"polar: method is {method!r}, expected 'qdwh' or 'svd'")
    w, s, vh = _svd(a, full_matrices=False)
    u = xp.matmul(w, vh)
    outer = adjoint(vh) if side == "right" else w
    scaled = outer * xp.expand_dims(xp.astype(s, outer.dtype), -2)
    return u, xp.matmul(scaled, adjoint(outer))


def expm_frechet(A: Any, E: Any, *, method: str | None = None, compute_expm: bool = True) -> Any:
    """The exponential of `A` and its derivative in the direction `E`, or that alone."""
    del method
    a, e = promote(square("expm_frechet", A), square("expm_frechet", E))
    if a.shape != e.shape:
        raise shape_error(f"expm_frechet: {type_text(a)} and {type_text(e)} differ in shape")
    value, derivative = jvp(expm, (a,), (e,))
    return (value, derivative) if compute_expm else derivative

"""What follows from Schur forms: roots and functions of matrices, Sylvester's equation; SciPy's names.

Input: square matrices, batches as leading axes where SciPy has them. Output: matrices.

Idea: the triangular factor is a system for each column, whose coefficients are the columns before it (Björck
and Hammarling 1983 for the root, Bartels and Stewart 1972 for Sylvester's equation, Parlett 1976 for general
functions). Real matrices have complex factors; results of real systems are real again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...control.scans import scan
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import broadcast, broadcast_shapes, promote, type_text
from .matrix_arguments import (
    adjoint,
    column,
    diagonal,
    entry,
    epsilon,
    is_complex,
    matrix,
    positions,
    square,
    unit,
    unknown_zeros,
)
from .qr import qr
from .real_schur import real_schur_form
from .schur import each_matrix, hessenberg_form
from .schur_forms import schur_form
from .triangular import solve_upper


def schur(a: Any, output: str = "real") -> tuple[Any, Any]:
    """The Schur form `t` and the unitary `z` with ``z t z^H = a``.

    `t` is upper triangular; that of a real matrix, unless `output` is `"complex"`, is real, with pairs of
    complex eigenvalues in blocks of two rows. No derivatives are meant: iterations are differentiated.
    """
    value = square("schur", a)
    if output not in ("real", "complex"):
        raise argument_error(f"schur: output is {output!r}, expected 'real' or 'complex'")
    return real_schur_form(value) if output == "real" and not is_complex(value) else schur_form(value)


def rsf2csf(T: Any, Z: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """The complex Schur form of the matrix ``Z T Z^T``, whose real one is `T` and `Z`."""
    del check_finite
    t, q = schur_form(square("rsf2csf", T))
    return t, xp.matmul(xp.astype(square("rsf2csf", Z), q.dtype), q)


def hessenberg(a: Any, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """The Hessenberg form `h`, zero below its first subdiagonal; with `calc_q`, and `q`: ``q h q^H = a``."""
    del overwrite_a, check_finite
    h, q = each_matrix(hessenberg_form, square("hessenberg", a))
    return (h, q) if calc_q else h


def sqrtm(A: Any, blocksize: int = 1) -> Any:
    """The principal square root of square matrices, complex; NaN or infinite where there is none.

    Differentiable where it is unique: its derivative solves Sylvester's equation. `blocksize` is a hint.
    """
    del blocksize
    return _root(square("sqrtm", A))


@custom_jvp
def _root(a: Any) -> Any:
    t, z = schur_form(a)
    if a.shape[-1] == 0:
        return t
    t = t if a.dtype.kind == "c" else each_matrix(_with_real_eigenvalues, t)
    return xp.matmul(xp.matmul(z, each_matrix(_triangular_root, t)), adjoint(z))


def _with_real_eigenvalues(t: Any) -> Any:
    """The Schur form of a real matrix, with eigenvalues real that are so but for rounding: the sign of what
    rounding leaves would choose between the two roots of a negative one."""
    n, eigenvalues = t.shape[-1], xp.diagonal(t)
    noise = 10 * n * np.finfo(t.dtype).eps * xp.max(xp.abs(t))
    imaginary = xp.where(xp.abs(xp.imag(eigenvalues)) <= noise, 1j * xp.imag(eigenvalues), 0)
    return t - xp.diag(imaginary)


@_root.defjvp
def _root_rule(primals: Any, tangents: Any) -> Any:
    root = _root(*primals)
    return root, _sylvester(root, root, xp.astype(tangents[0], root.dtype))


def _by_columns(t: Any, step: Callable[[Any, Any, Any], tuple[Any, Any, Any]]) -> Any:
    """A triangular matrix by its columns: `step(done, j, rows above)` returns the diagonal element, and the
    triangular system and right-hand side of what stands above it."""
    n = t.shape[-1]
    row = positions(n)

    def grow(done: Any, j: Any) -> Any:
        is_above = row < j
        own, system, right = step(done, j, is_above)
        keeps = is_above[:, None] & is_above[None, :]
        system = xp.where(keeps, xp.triu(system), unit(n, t.dtype))
        above = solve_upper(system, xp.where(is_above, right, 0)[:, None], False)[:, 0]
        new = xp.where(is_above, above, xp.where(row == j, own, 0))
        return xp.where(row[None, :] == j, new[:, None], done), None

    return scan(grow, unknown_zeros(t, t.dtype), row)[0]


def _triangular_root(t: Any) -> Any:
    n = t.shape[-1]
    roots = xp.sqrt(diagonal(t))

    def step(done: Any, j: Any, _: Any) -> tuple[Any, Any, Any]:
        own = entry(roots, j)
        system = done + own * unit(n, t.dtype)
        # Both roots are zero: so must be what is divided by them.
        is_zero = diagonal(system) == 0
        return own, system + unit(n, t.dtype) * xp.astype(is_zero, t.dtype), column(t, j)

    return _by_columns(t, step)


def funm(A: Any, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """`func`, of complex numbers, of a square matrix, complex; with `disp=False`, and an error estimate.

    By Parlett's recurrence, which loses digits where eigenvalues are close, and is NaN where they coincide
    and the matrix is not diagonalizable.
    """
    value = square("funm", A)
    if value.ndim != 2:
        raise shape_error(f"funm: expected a matrix, got {type_text(value)}")
    t, z = schur_form(value)
    n = t.shape[-1]
    if n == 0:
        return t if disp else (t, xp.zeros((), dtype=t.real.dtype))
    of_values = xp.asarray(func(diagonal(t)))

    def step(done: Any, j: Any, is_above: Any) -> tuple[Any, Any, Any]:
        own, right = entry(of_values, j), column(t, j)
        above = xp.where(is_above, right, 0)
        system = t - entry(diagonal(t), j) * unit(n, t.dtype)
        is_zero = diagonal(system) == 0
        known = xp.matmul(done, above[:, None])[:, 0] - above * own
        return own, system + unit(n, t.dtype) * xp.astype(is_zero, t.dtype), known

    result = _by_columns(t, step)
    # What couples equal values, directly or by a third, is 0 / 0: a derivative of `func` is needed.
    reach = xp.abs(xp.triu(t, 1))
    coupling = reach + xp.matmul(reach, reach)
    limit = epsilon(t.dtype) ** 0.5 * xp.max(xp.abs(t), initial=0)
    is_equal = diagonal(t)[:, None] == diagonal(t)[None, :]
    result = xp.where(is_equal & (coupling > limit), np.nan, result)
    result = xp.matmul(xp.matmul(z, result), adjoint(z))
    if disp:
        return result
    gaps = xp.abs(diagonal(t)[:, None] - diagonal(t)[None, :]) + xp.where(
        unit(n, t.real.dtype) == 1, xp.inf, 0
    )
    eps = epsilon(t.dtype)
    size = xp.max(xp.sum(xp.abs(xp.triu(t, 1)), axis=0), initial=0)
    error = xp.minimum(1, xp.maximum(eps, eps / xp.min(gaps, initial=xp.inf) * size))
    return result, error


def solve_sylvester(A: Any, B: Any, C: Any, *, method: str = "schur", tol: float = 1e-8) -> Any:
    """`X` with ``A X + X B = C``; infinite or NaN where eigenvalues of `A` and `-B` coincide.

    `method` is `schur` or `eigen`, and both use Schur forms; `tol` is a hint. Differentiable in all three.
    """
    del tol
    if method not in ("schur", "eigen"):
        raise argument_error(f"solve_sylvester: method is {method!r}, expected 'schur' or 'eigen'")
    a, b, c = promote(
        square("solve_sylvester", A), square("solve_sylvester", B), matrix("solve_sylvester", C)
    )
    if c.shape[-2:] != (a.shape[-1], b.shape[-1]):
        raise shape_error(
            f"solve_sylvester: {type_text(c)} does not fit {type_text(a)} and {type_text(b)}: expected "
            f"{a.shape[-1]} by {b.shape[-1]}"
        )
    shared = broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2])
    return _sylvester(*(broadcast(x, (*shared, *x.shape[-2:])) for x in (a, b, c)))


@custom_jvp
def _sylvester(a: Any, b: Any, c: Any) -> Any:
    return _sylvester_solved(a, b, c)


@_sylvester.defjvp
def _sylvester_rule(primals: Any, tangents: Any) -> Any:
    (a, b, c), (da, db, dc) = primals, tangents
    x = _sylvester(a, b, c)
    return x, _sylvester_solved(a, b, dc - xp.matmul(da, x) - xp.matmul(x, db))


def _sylvester_solved(a: Any, b: Any, c: Any) -> Any:
    if 0 in c.shape:
        return c
    left, z = schur_form(a)
    right, q = schur_form(b)
    rotated = xp.matmul(adjoint(z), xp.matmul(xp.astype(c, z.dtype), q))
    x = xp.matmul(z, xp.matmul(each_matrix(_triangular_sylvester, left, right, rotated), adjoint(q)))
    return x if is_complex(c) else xp.real(x)


def _triangular_sylvester(a: Any, b: Any, c: Any) -> Any:
    rows, columns = c.shape
    place = positions(columns)

    def grow(done: Any, j: Any) -> Any:
        known = xp.where(place < j, column(b, j), 0)
        right = column(c, j) - xp.matmul(done, known[:, None])[:, 0]
        own = entry(diagonal(b), j)
        new = solve_upper(a + own * unit(rows, a.dtype), right[:, None], False)
        return xp.where(place[None, :] == j, new, done), None

    # Zeros that do not follow from `c`, of which the result is a linear function.
    start = xp.zeros(c.shape, dtype=c.dtype) + unknown_zeros(a[:1, :1], c.dtype)
    return scan(grow, start, place)[0]


def qr_multiply(
    a: Any,
    c: Any,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Any, Any]:
    """``c @ q`` (`mode` right) or ``q @ c`` (left), and `r`, of the factors of `a`; with `conjugate`, of the
    conjugated `q`. There is no pivoting. A vector `c` counts as a row (right) or a column."""
    del overwrite_a, overwrite_c
    if pivoting:
        raise argument_error("qr_multiply: pivoting is not implemented")
    if mode not in ("left", "right"):
        raise argument_error(f"qr_multiply: mode is {mode!r}, expected 'left' or 'right'")
    value, other = promote(matrix("qr_multiply", a), xp.asarray(c))
    is_vector = other.ndim == 1
    rows, columns = value.shape[-2:]
    if is_vector:
        other = other[None, :] if mode == "right" else other[:, None]
    q, r = qr(value, "reduced")
    if mode == "left" and other.shape[-2] == rows and rows > columns:
        q = qr(value, "complete")[0]
    if (mode == "right" and other.shape[-1] != rows) or (mode == "left" and other.shape[-2] != q.shape[-1]):
        raise shape_error(f"qr_multiply: {type_text(other)} does not fit the factors of {type_text(value)}")
    q = xp.conj(q) if conjugate and is_complex(q) else q
    product = xp.matmul(other, q) if mode == "right" else xp.matmul(q, other)
    return (xp.ravel(product) if is_vector else product), r

"""`adze.lax.linalg`: factorizations under the calling conventions of `jax.lax.linalg`.

Results are plain tuples in JAX's order (`eigh` returns vectors first). Choices of an implementation are not
there: each function has one.
"""

from __future__ import annotations

from typing import Any

from ...errors import UnsupportedError
from ...tracing.locations import user_location_text
from .. import numpy as xp
from ..linalg.cholesky import cholesky as _cholesky
from ..linalg.eigh import eigh as _eigh
from ..linalg.lu import factor, permutation
from ..linalg.matrix_arguments import inexact, is_complex, is_empty, matrix, square
from ..linalg.qr import pivoted
from ..linalg.qr import qr as _qr
from ..linalg.svd import singular_values
from ..linalg.svd import svd as _svd
from ..linalg.triangular import triangular_solve as triangular_solve
from ..linalg.tridiagonal_systems import solve_tridiagonal
from ..numpy.arguments import argument_error, shape_error
from ..numpy.promotion import broadcast, broadcast_shapes, promote, same_size, type_text


def cholesky(x: Any, *, symmetrize_input: bool = True) -> Any:
    """The lower triangular `l` with ``x = l @ l^H``; NaN where `x` is not positive definite."""
    return _cholesky(x, symmetrize_input=symmetrize_input)


def cholesky_update(r_matrix: Any, w_vector: Any) -> Any:
    """The upper factor of ``r^T @ r + w w^T``, given the upper factor `r` (real)."""
    r, w = promote(square("cholesky_update", r_matrix), xp.asarray(w_vector))
    if w.ndim != r.ndim - 1 or w.shape[-1] != r.shape[-1] or is_complex(r):
        raise shape_error(
            f"cholesky_update: {type_text(r)} and {type_text(w)} are no real matrix and vector of one size"
        )
    factor = _qr(xp.concatenate([xp.triu(r), xp.expand_dims(w, -2)], axis=-2), "r")
    signs = xp.where(xp.diagonal(factor, 0, -2, -1) < 0, -1.0, 1.0)
    return factor * xp.expand_dims(signs, -1)


def eigh(
    x: Any,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: Any = None,
) -> tuple[Any, Any]:
    """Eigenvectors as columns, and eigenvalues in ascending order; `subset_by_index` is a range of them."""
    del sort_eigenvalues
    value = square("eigh", x, named=True)
    w, v = _eigh(value) if symmetrize_input else _eigh(value, "L" if lower else "U")
    if subset_by_index is not None:
        start, end = subset_by_index
        if not 0 <= start <= end <= w.shape[-1]:
            raise argument_error(
                f"eigh: subset_by_index is {subset_by_index}, expected a range within 0 to {w.shape[-1]}"
            )
        w, v = w[..., start:end], v[..., start:end]
    return v, w


def lu(x: Any) -> tuple[Any, Any, Any]:
    """The packed factors, the pivots and the permutation: ``x[permutation] = l @ u``; both are int32."""
    return factor(matrix("lu", x, named=True))


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Any:
    """The permutation of so many rows that exchanges row `k` with row ``pivots[k]`` for each `k` in turn."""
    return permutation(xp.asarray(pivots), permutation_size)


def qr(
    x: Any, *, pivoting: bool = False, full_matrices: bool = True, use_magma: bool | None = None
) -> tuple[Any, ...]:
    """``x = q @ r``; `q` is square with `full_matrices`. With `pivoting` ``x[:, p] = q @ r``, and `p` too."""
    mode = "complete" if full_matrices else "reduced"
    if not pivoting:
        return tuple(_qr(x, mode))
    ordered, p = pivoted(x)
    return (*_qr(ordered, mode), p)


def svd(
    x: Any,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: Any = None,
) -> Any:
    """``x = (u * s) @ vh`` as a tuple, or `s` alone; `subset_by_index` is a range of `s`."""
    value = matrix("svd", x, named=True)
    if subset_by_index is not None and full_matrices and compute_uv:
        raise argument_error("svd: subset_by_index needs full_matrices=False")
    if not compute_uv:
        s = singular_values(value)
        return s if subset_by_index is None else s[..., slice(*subset_by_index)]
    u, s, vh = _svd(value, full_matrices)
    if subset_by_index is None:
        return u, s, vh
    part = slice(*subset_by_index)
    return u[..., part], s[..., part], vh[..., part, :]


def symmetric_product(
    a_matrix: Any, c_matrix: Any, *, alpha: float = 1.0, beta: float = 0.0, symmetrize_output: bool = False
) -> Any:
    """``alpha * a @ a^T + beta * c``."""
    del symmetrize_output
    a, c = promote(matrix("symmetric_product", a_matrix), square("symmetric_product", c_matrix))
    if tuple(c.shape) != (*a.shape[:-1], a.shape[-2]):
        raise shape_error(f"symmetric_product: {type_text(a)} and {type_text(c)} do not fit")
    return alpha * xp.matmul(a, xp.matrix_transpose(a)) + beta * c


def tridiagonal_solve(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool = False) -> Any:
    """`x` of the systems with diagonals `dl`, `d`, `du` of one length and right-hand sides `[..., n, m]`.

    As in JAX ``dl[0]`` and ``du[-1]`` are not used. By elimination with partial pivoting, a row a step, which
    moves no pivot away from zero: `perturb_singular` raises `UnsupportedError`.
    """
    if perturb_singular:
        raise UnsupportedError(
            "tridiagonal_solve: perturb_singular is not supported",
            where=user_location_text(),
            hint="add a small multiple of the largest element to the diagonal",
        )
    below, middle, above, right = promote(*(inexact("tridiagonal_solve", v) for v in (dl, d, du, b)))
    if not below.shape == middle.shape == above.shape or middle.ndim == 0:
        raise shape_error(
            f"tridiagonal_solve: the diagonals {type_text(below)}, {type_text(middle)} and "
            f"{type_text(above)} differ in shape"
        )
    *batch, n = middle.shape
    if right.ndim < 2 or not same_size(right.shape[-2], n):
        raise shape_error(
            f"tridiagonal_solve: {type_text(right)} does not fit diagonals of {n} elements: expected {n} rows"
        )
    shared = broadcast_shapes(tuple(batch), right.shape[:-2])
    right = broadcast(right, (*shared, *right.shape[-2:]))
    if is_empty(*right.shape):
        return right
    return solve_tridiagonal(*(broadcast(x, (*shared, n)) for x in (below, middle, above)), right)

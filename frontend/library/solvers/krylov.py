"""Linear systems by Krylov methods, under the names of `scipy.sparse.linalg`: `cg`, `bicgstab`, `gmres`.

Input: a matrix or a linear function of trees, a right-hand side. Output: the solution and None (of `gmres` a
number), which stands for SciPy's `info`. Derivatives are those of the system, by `custom_linear_solve`, not
of the iterations.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dialects.types import INEXACT
from ... import tree
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...tracing.default_dtypes import floating_of
from ...transforms.custom_linear_solve import custom_linear_solve
from .. import numpy as xp
from ..linalg.matrix_arguments import adjoint, diagonal, inexact
from ..linalg.qr import qr
from ..linalg.triangular import solve_triangular
from ..numpy.arguments import argument_error, shape_error, type_error
from ..numpy.promotion import asarray_of, type_text
from ..ravel_tree import ravel_pytree

Operator = Callable[[Any], Any]


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve `A x = b` for a Hermitian positive definite `A` by conjugate gradients (Hestenes and Stiefel).

    `A` and the preconditioner `M`, an approximate inverse of it, are matrices or linear functions of trees
    like `b`. Stops when the residual's norm is at most `max(tol * norm(b), atol)`, or after `maxiter`
    iterations (10 times the size of `b` when None). Raises `ShapeError` where `x0` or `A` do not fit `b`.
    """
    return _solved("cg", _cg, A, b, x0, tol, atol, maxiter, M, is_symmetric=True)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
) -> tuple[Any, None]:
    """Solve `A x = b` by stabilized biconjugate gradients (van der Vorst 1992), called as `cg`."""
    return _solved("bicgstab", _bicgstab, A, b, x0, tol, atol, maxiter, M)


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Any = None,
    solve_method: str = "batched",
) -> tuple[Any, Any]:
    """Solve `A x = b` by generalized minimal residuals (Saad and Schultz 1986), restarted each `restart`
    iterations.

    Arguments as those of `cg`; `maxiter` counts restarts. The second result is 0, and -1 where there is no
    solution: it is NaN then. `solve_method` is `batched` or `incremental`, and
    both solve the least-squares problem of a restart at its end.
    """
    if solve_method not in ("batched", "incremental"):
        raise argument_error(f"gmres: solve_method is {solve_method!r}, expected 'batched' or 'incremental'")

    def method(a: Operator, m: Operator, b: Any, x: Any, limit: Any, most: int) -> Any:
        inexact("gmres", b)
        return _gmres(a, m, b, x, limit, most, min(restart, b.shape[0]))

    x, _ = _solved("gmres", method, A, b, x0, tol, atol, maxiter, M)
    is_solved = functools.reduce(operator.and_, [xp.all(leaf == leaf) for leaf in tree.leaves(x)])
    return x, xp.where(is_solved, 0, -1)


def _solved(
    name: str,
    method: Callable[..., Any],
    A: Any,
    b: Any,
    x0: Any,
    tol: Any,
    atol: Any,
    maxiter: int | None,
    M: Any,
    *,
    is_symmetric: bool = False,
) -> tuple[Any, None]:
    b = tree.map(asarray_of, b)
    start = tree.map(xp.zeros_like, b) if x0 is None else tree.map(asarray_of, x0)
    if tree.structure(start) != tree.structure(b):
        raise shape_error(f"{name}: x0 and b are different trees")
    for left, right in zip(tree.leaves(start), tree.leaves(b), strict=True):
        if left.shape != right.shape:
            raise shape_error(f"{name}: x0 {type_text(left)} and b {type_text(right)} differ in shape")
    multiply_by = _function(name, A, "A")
    dtype = _dtype(ravel_pytree(b)[0], multiply_by(b))
    b = tree.map(lambda leaf: xp.astype(leaf, dtype), b)
    first = xp.astype(ravel_pytree(start)[0], dtype)
    flat, unravel = ravel_pytree(b)
    inverse = (lambda x: x) if M is None else _flattened(_function(name, M, "M"), unravel)
    most = 10 * flat.shape[0] if maxiter is None else maxiter

    def solve(matvec: Operator, right: Any) -> Any:
        vector, back = ravel_pytree(right)
        limit = xp.maximum(tol * _norm(vector), atol)
        multiply = _flattened(matvec, back)
        x = method(multiply, inverse, vector, first, limit, most)
        # The loops end at once where norms are NaN or overflow: the start is no solution then.
        is_sound = xp.isfinite(_norm(vector)) & xp.isfinite(_norm(vector - multiply(first)))
        return back(xp.where(is_sound, x, np.nan))

    x = custom_linear_solve(multiply_by, b, solve, None if is_symmetric else solve, symmetric=is_symmetric)
    return x, None


def _function(name: str, A: Any, what: str) -> Operator:
    """A matrix, or what has `@`, as the function that multiplies by it."""
    if callable(A) and not hasattr(A, "__matmul__"):
        return A
    if not hasattr(A, "__matmul__"):
        raise type_error(f"{name}: {what} must be a matrix or a linear function, got {A!r}")
    shape = getattr(A, "shape", None)
    if shape is not None and (len(shape) != 2 or shape[0] != shape[1]):
        raise shape_error(f"{name}: {what} must be a square matrix, got one of shape {tuple(shape)}")
    matrix = asarray_of(A) if isinstance(A, np.ndarray) else A
    return lambda x: matrix @ x


def _flattened(function: Operator, unravel: Callable[[Any], Any]) -> Operator:
    return lambda x: xp.astype(ravel_pytree(function(unravel(x)))[0], x.dtype)


def _dtype(b: Any, product: Any) -> np.dtype:
    dtype = xp.result_type(b, *tree.leaves(product))
    return dtype if dtype in INEXACT else floating_of(dtype)


def _dot(x: Any, y: Any) -> Any:
    return xp.vdot(x, y)


def _norm(x: Any) -> Any:
    return xp.sqrt(xp.sum(xp.real(x) ** 2 + xp.imag(x) ** 2 if x.dtype.kind == "c" else x * x))


def _cg(a: Operator, m: Operator, b: Any, x: Any, limit: Any, most: int) -> Any:
    def is_left(state: Any) -> Any:
        _, r, _, _, k = state
        return (_norm(r) > limit) & (k < most)

    def step(state: Any) -> Any:
        x, r, gamma, p, k = state
        product = a(p)
        alpha = gamma / xp.real(_dot(p, product))
        x, r = x + alpha * p, r - alpha * product
        z = m(r)
        after = xp.real(_dot(r, z))
        return x, r, after, z + (after / gamma) * p, k + 1

    r = b - a(x)
    z = m(r)
    return while_loop(is_left, step, (x, r, xp.real(_dot(r, z)), z, np.int32(0)))[0]


def _bicgstab(a: Operator, m: Operator, b: Any, x: Any, limit: Any, most: int) -> Any:
    first = b - a(x)

    def is_left(state: Any) -> Any:
        _, r, *_, is_broken, k = state
        return (_norm(r) > limit) & (k < most) & ~is_broken

    def step(state: Any) -> Any:
        x, r, p, q, rho, alpha, omega, _, k = state
        rho_after = _dot(first, r)
        beta = rho_after / rho * alpha / omega
        p_after = r + beta * (p - omega * q)
        p_hat = m(p_after)
        q_after = a(p_hat)
        alpha_after = rho_after / _dot(first, q_after)
        s = r - alpha_after * q_after
        is_early = _norm(s) <= limit
        s_hat = m(s)
        t = a(s_hat)
        omega_after = _dot(t, s) / _dot(t, t)
        x_after = x + alpha_after * p_hat + xp.where(is_early, 0, omega_after) * s_hat
        r_after = xp.where(is_early, s, s - omega_after * t)
        # Broken down: keep what was reached, as no further iteration is defined.
        is_broken = (rho_after == 0) | ~xp.isfinite(_norm(r_after))
        kept = [
            xp.where(is_broken, old, new)
            for old, new in zip((x, r, p_after, q), (x_after, r_after, p_after, q_after), strict=True)
        ]
        return (*kept, rho_after, alpha_after, omega_after, is_broken, k + 1)

    one = xp.ones((), dtype=b.dtype)
    zero = xp.zeros_like(b)
    state = (x, first, zero, zero, one, one, one, np.bool_(False), np.int32(0))
    return while_loop(is_left, step, state)[0]


def _gmres(a: Operator, m: Operator, b: Any, x: Any, limit: Any, most: int, restart: int) -> Any:
    def is_left(state: Any) -> Any:
        _, size, k = state
        return (size > limit) & (k < most)

    def step(state: Any) -> Any:
        x, _, k = state
        x = _restarted(a, m, b, x, restart)
        return x, _norm(b - a(x)), k + 1

    return while_loop(is_left, step, (x, _norm(b - a(x)), np.int32(0)))[0]


def _restarted(a: Operator, m: Operator, b: Any, x: Any, count: int) -> Any:
    """One restart: the best correction in the Krylov space of `count` vectors (Arnoldi, orthogonalized twice,
    and least squares by the QR factors of the Hessenberg matrix)."""
    residual = m(b - a(x))
    size = _norm(residual)
    safe = xp.where(size > 0, size, 1)
    basis = xp.zeros((count + 1, b.shape[0]), dtype=b.dtype).at[0].set(residual / xp.astype(safe, b.dtype))

    def grow(basis: Any, k: Any) -> Any:
        v = m(a(basis[k]))
        before = _norm(v)
        first = xp.matmul(xp.conj(basis), v)
        v = v - xp.matmul(first, basis)
        second = xp.matmul(xp.conj(basis), v)
        v = v - xp.matmul(second, basis)
        after = _norm(v)
        # A vector inside the space already ends it: what is left is rounding.
        is_new = after > 8 * float(np.finfo(b.dtype).eps) * before
        unit = xp.where(is_new, v / xp.astype(xp.where(is_new, after, 1), b.dtype), xp.zeros_like(v))
        column = (first + second).at[k + 1].set(xp.astype(xp.where(is_new, after, 0), b.dtype))
        return basis.at[k + 1].set(unit), column

    basis, columns = scan(grow, basis, np.arange(count, dtype=np.int32))
    h = xp.matrix_transpose(columns)
    right = xp.zeros(count + 1, dtype=b.dtype).at[0].set(xp.astype(size, b.dtype))
    q, r = qr(h)
    # Columns beyond the end of the space are zero, and so are their vectors: any coefficient will do.
    is_beyond = diagonal(r) == 0
    r = r + xp.eye(count, dtype=r.dtype) * xp.astype(is_beyond, r.dtype)
    y = solve_triangular(r, xp.matmul(adjoint(q), right))
    return x + xp.matmul(y, basis[:count])

"""`cholesky`, `triangular_solve`, and the LAPACK calls that JAX exports for CPUs, as adze's linear algebra.

Input: an application. Output: its results; of a LAPACK call also `info`, which is 0: adze's factorizations
return NaN where LAPACK reports a failure.

Idea: a QR factorization stays in two steps, reflectors and their product, since programs use both.
"""

from __future__ import annotations

from typing import Any, Final

from ....dialects.types import INT32
from ...control.while_loops import fori_loop
from ...library import numpy as xp
from ...library.lax import linalg
from ...library.lax.linalg import triangular_solve
from ...library.linalg.matrix_arguments import adjoint, conjugate
from ...tracing.interpreter import as_value, ops
from .application import Application, Rule
from .lapack import batched, info, letter, reflect_column


def _cholesky(app: Application) -> Any:
    return _factor(app.array(), bool(app.attribute("lower", False)))


def _factor(a: Any, lower: bool) -> Any:
    return (
        linalg.cholesky(a, symmetrize_input=False)
        if lower
        else adjoint(linalg.cholesky(adjoint(a), symmetrize_input=False))
    )


def _triangular_solve(app: Application) -> Any:
    a, b = app.arrays
    transpose = app.attribute("transpose_a")
    return triangular_solve(
        a,
        b,
        left_side=bool(app.attribute("left_side")),
        lower=bool(app.attribute("lower")),
        transpose_a=transpose in ("TRANSPOSE", "ADJOINT"),
        conjugate_a=transpose == "ADJOINT",
        unit_diagonal=bool(app.attribute("unit_diagonal")),
    )


def _potrf(app: Application) -> Any:
    return [_factor(app.array(), letter(app, "uplo") == "L"), info(app)]


def _getrf(app: Application) -> Any:
    packed, pivots, _ = linalg.lu(app.array())
    return [packed, ops.add(pivots, ops.full_like(pivots, 1)), info(app)]


def _trsm(app: Application) -> Any:
    a, b = app.arrays
    trans = letter(app, "trans_x")
    return triangular_solve(
        a,
        b,
        left_side=letter(app, "side") == "L",
        lower=letter(app, "uplo") == "L",
        transpose_a=trans in ("T", "C"),
        conjugate_a=trans == "C",
        unit_diagonal=letter(app, "diag") == "U",
    )


def _syevd(app: Application) -> Any:
    is_lower = letter(app, "uplo") == "L"
    vectors, values = linalg.eigh(app.array(), lower=is_lower, symmetrize_input=False)
    return [vectors, values, info(app)]


def _gesdd(app: Application) -> Any:
    a, mode = app.array(), letter(app, "mode")
    if mode == "N":
        values = linalg.svd(a, compute_uv=False)
        unused = [xp.zeros(t.static_shape, t.dtype) if t.is_static else None for t in app.result_types]
        return [a, values, unused[2], unused[3], info(app)]
    u, values, vh = linalg.svd(a, full_matrices=mode == "A")
    return [a, values, u, vh, info(app)]


def _geqrf(app: Application) -> Any:
    a = app.array()
    results = list(batched(_reflected, a.ndim - 2)(a))
    return [*results, info(app)] if len(app.op.results) == 3 else results


def _orgqr(app: Application) -> Any:
    a, taus = app.arrays
    q = batched(_product, a.ndim - 2)(a, taus)
    return [q, info(app)] if len(app.op.results) == 2 else q


def _reflected(a: Any) -> tuple[Any, Any]:
    """Householder's reflectors below the diagonal, `r` above, and their factors `tau`: LAPACK's `geqrf`."""
    rows, columns = a.shape
    count = min(rows, columns)
    factor = ops.iota(shape=(count,), axis=0, dtype=INT32)

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        r, tau = reflect_column(state[0], k)
        return r, xp.where(factor == k, tau, state[1])

    if not count:
        return a, xp.zeros((0,), a.dtype)
    start = (a, xp.zeros((count,), a.dtype))
    return fori_loop(0, count, lambda k, s: tuple(as_value(v, a.dtype) for v in step(k, s)), start)


def _product(a: Any, taus: Any) -> Any:
    """The first columns of the product of reflectors: LAPACK's `orgqr`, `ungqr`."""
    rows, columns = a.shape
    count = taus.shape[0]
    row = ops.iota(shape=(rows,), axis=0, dtype=INT32)

    def step(i: Any, q: Any) -> Any:
        k = count - 1 - i
        v = xp.where(row > k, a[:, k], xp.where(row == k, 1, 0).astype(a.dtype))
        return as_value(q - taus[k] * v[:, None] * (conjugate(v) @ q)[None, :], a.dtype)

    return (
        fori_loop(0, count, step, xp.eye(rows, columns, dtype=a.dtype))
        if count
        else xp.eye(rows, columns, dtype=a.dtype)
    )


def _gtsv(app: Application) -> Any:
    below, middle, above, right = app.arrays
    x = linalg.tridiagonal_solve(below, middle, above, right)
    return [below, middle, above, x, info(app)]


_REAL: Final = {
    "geqrf": _geqrf,
    "gesdd": _gesdd,
    "gesvd": _gesdd,
    "getrf": _getrf,
    "gtsv": _gtsv,
    "potrf": _potrf,
}

CALLS: Final[dict[str, Rule]] = {
    **{f"lapack_{letter}{name}_ffi": rule for letter in "sdcz" for name, rule in _REAL.items()},
    **{f"lapack_{letter}trsm_ffi": _trsm for letter in "sdcz"},
    **{f"lapack_{letter}orgqr_ffi": _orgqr for letter in "sd"},
    **{f"lapack_{letter}ungqr_ffi": _orgqr for letter in "cz"},
    **{f"lapack_{letter}syevd_ffi": _syevd for letter in "sd"},
    **{f"lapack_{letter}heevd_ffi": _syevd for letter in "cz"},
}
"""The custom calls of JAX on CPUs, by the name of their target."""

RULES: Final[dict[str, Rule]] = {
    "stablehlo.cholesky": _cholesky,
    "stablehlo.triangular_solve": _triangular_solve,
}

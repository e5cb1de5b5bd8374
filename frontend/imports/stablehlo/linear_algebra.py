"""`cholesky`, `triangular_solve`, and the LAPACK calls that JAX exports for CPUs, as adze's linear algebra.

Input: an application. Output: its results; of a LAPACK call also `info`, which is 0: adze's factorizations
return NaN where LAPACK reports a failure.

Idea: a QR factorization stays in two steps, reflectors and their product, since programs use both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ....dialects.types import INT32
from ...control.while_loops import fori_loop
from ...library import numpy as xp
from ...library.lax import linalg
from ...library.lax.linalg import triangular_solve
from ...library.linalg.matrix_arguments import adjoint, conjugate, is_complex, real_part, squares
from ...tracing.interpreter import as_value, ops
from ...transforms.vmap import vmap
from .application import Application, Rule


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


def _letter(app: Application, name: str) -> str:
    """An argument of LAPACK, one letter."""
    config = app.attribute("mhlo.backend_config")
    value = config.get(name) if isinstance(config, dict) else None
    if not isinstance(value, int) or not 0 < value < 128:
        raise app.error(f"its argument {name} is {value!r}, expected a letter of LAPACK")
    return chr(value)


def _info(app: Application) -> Any:
    return xp.zeros(app.result_types[-1].static_shape, INT32)


def _potrf(app: Application) -> Any:
    return [_factor(app.array(), _letter(app, "uplo") == "L"), _info(app)]


def _getrf(app: Application) -> Any:
    packed, pivots, _ = linalg.lu(app.array())
    return [packed, ops.add(pivots, ops.full_like(pivots, 1)), _info(app)]


def _trsm(app: Application) -> Any:
    a, b = app.arrays
    trans = _letter(app, "trans_x")
    return triangular_solve(
        a,
        b,
        left_side=_letter(app, "side") == "L",
        lower=_letter(app, "uplo") == "L",
        transpose_a=trans in ("T", "C"),
        conjugate_a=trans == "C",
        unit_diagonal=_letter(app, "diag") == "U",
    )


def _syevd(app: Application) -> Any:
    is_lower = _letter(app, "uplo") == "L"
    vectors, values = linalg.eigh(app.array(), lower=is_lower, symmetrize_input=False)
    return [vectors, values, _info(app)]


def _gesdd(app: Application) -> Any:
    a, mode = app.array(), _letter(app, "mode")
    if mode == "N":
        values = linalg.svd(a, compute_uv=False)
        unused = [xp.zeros(t.static_shape, t.dtype) for t in app.result_types]
        return [a, values, unused[2], unused[3], _info(app)]
    u, values, vh = linalg.svd(a, full_matrices=mode == "A")
    return [a, values, u, vh, _info(app)]


def _geqrf(app: Application) -> Any:
    a = app.array()
    results = list(_batched(_reflected, a.ndim - 2)(a))
    return [*results, _info(app)] if len(app.op.results) == 3 else results


def _orgqr(app: Application) -> Any:
    a, taus = app.arrays
    q = _batched(_product, a.ndim - 2)(a, taus)
    return [q, _info(app)] if len(app.op.results) == 2 else q


def _batched(function: Callable[..., Any], axes: int) -> Callable[..., Any]:
    for _ in range(axes):
        function = vmap(function)
    return function


def _reflected(a: Any) -> tuple[Any, Any]:
    """Householder's reflectors below the diagonal, `r` above, and their factors `tau`: LAPACK's `geqrf`."""
    rows, columns = a.shape
    row = ops.iota(shape=(rows,), axis=0, dtype=INT32)
    column = ops.iota(shape=(columns,), axis=0, dtype=INT32)
    count = min(rows, columns)

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        r, taus = state
        x = r[:, k]
        below = row > k
        alpha = x[k]
        rest = xp.sum(xp.where(below, squares(x), 0))
        is_done = rest == 0
        if is_complex(a):
            is_done = is_done & (xp.imag(alpha) == 0)
        size = xp.sqrt(xp.where(is_done, 1, rest + squares(alpha)))
        beta = xp.where(real_part(alpha) >= 0, -size, size)
        tau = xp.where(is_done, 0, (beta - alpha) / beta)
        scale = xp.where(is_done, 1, alpha - beta)
        v = xp.where(below, x / scale, xp.where(row == k, 1, 0).astype(a.dtype))
        change = conjugate(tau) * v[:, None] * (conjugate(v) @ r)[None, :]
        later = column >= k
        r = xp.where(later[None, :], r - change, r)
        r = xp.where(below[:, None] & (column == k)[None, :] & ~is_done, v[:, None], r)
        return r, xp.where(ops.iota(shape=(count,), axis=0, dtype=INT32) == k, tau, taus)

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
    return [below, middle, above, x, _info(app)]


_REAL: Final = {"geqrf": _geqrf, "gesdd": _gesdd, "getrf": _getrf, "gtsv": _gtsv, "potrf": _potrf}

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

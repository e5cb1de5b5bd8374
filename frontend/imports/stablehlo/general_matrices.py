"""LAPACK's calls for general matrices: eigenvalues, Schur and Hessenberg forms, QR with pivots.

Input: an application of a custom call, as JAX exports it for CPUs. Output: its results, with `info` 0, as in
`linear_algebra.py`.

Idea: eigenvalues are in the order of adze's Schur form; LAPACK promises none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....dialects.types import INT32
from ...control.while_loops import fori_loop
from ...library import numpy as xp
from ...library.linalg import real_schur, reflections, schur_forms, tridiagonal
from ...library.linalg.eig import eigvals
from ...library.linalg.matrix_arguments import adjoint, diagonal, is_complex, squares
from ...tracing.interpreter import as_value, ops
from .application import Application, Rule, known_array
from .lapack import batched, info, letter, reflect_column


def _geev(app: Application) -> Any:
    """`[values, left, right]`; the values of real matrices in two parts."""
    a = app.array()
    wants_left, wants_right = (letter(app, f"compute_{side}") == "V" for side in ("left", "right"))
    if not wants_left and not wants_right:
        values, vectors = eigvals(a), []
    else:
        values, *vectors = reflections.eig(
            a, compute_left_eigenvectors=wants_left, compute_right_eigenvectors=wants_right
        )
    types = app.result_types[-3:-1]
    computed = iter(vectors)
    pair = [
        next(computed) if wanted else xp.zeros(t.static_shape, t.dtype)
        for wanted, t in zip((wants_left, wants_right), types, strict=True)
    ]
    parts = [values] if is_complex(a) else [xp.real(values), xp.imag(values)]
    return [*parts, *pair, info(app)]


def _gees(app: Application) -> Any:
    """`[t, z, values, how many were selected]`; the values of real matrices in two parts."""
    a = app.array()
    if letter(app, "sort") != "N":
        raise app.error("sorted eigenvalues are not supported")
    t, z = schur_forms.schur_form(a) if is_complex(a) else real_schur.real_schur_form(a)
    values = [diagonal(t)] if is_complex(a) else real_schur.values_of(t)
    selected = xp.zeros(app.result_types[-2].static_shape, INT32)
    vectors = z if letter(app, "mode") == "V" else xp.zeros_like(a)
    return [t, vectors, *values, selected, info(app)]


def _gehrd(app: Application) -> Any:
    a = app.array()
    config = app.record("mhlo.backend_config")
    if (config.get("low"), config.get("high")) != (1, a.shape[-1]):
        raise app.error("the Hessenberg form of a part of a matrix is not supported")
    packed, taus = reflections.hessenberg(a)
    return [packed, taus, info(app)]


def _sytrd(app: Application) -> Any:
    """`[packed, diagonal, below the diagonal, factors]` of one triangle of Hermitian matrices.

    The upper triangle is the lower one of the matrix with its rows and columns in the opposite order.
    """
    a = app.array()
    if letter(app, "uplo") == "L":
        return _reduced_lower(app, a)
    packed, *vectors, failed = _reduced_lower(app, xp.flip(a, (-2, -1)))
    return [xp.flip(packed, (-2, -1)), *(xp.flip(v, -1) for v in vectors), failed]


def _reduced_lower(app: Application, a: Any) -> list[Any]:
    n = a.shape[-1]
    if n < 2:
        empty = (xp.zeros(t.static_shape, t.dtype) for t in app.result_types[2:])
        return [a, xp.real(diagonal(a)), *empty]
    middle = xp.astype(xp.real(diagonal(a)), a.dtype)[..., None] * xp.eye(n, dtype=a.dtype)
    below = xp.tril(a, -1)
    d, e, v, t = tridiagonal.reduced(below + middle + adjoint(below))
    on = xp.astype(d, a.dtype)[..., None] * xp.eye(n, dtype=a.dtype)
    under = xp.pad(xp.astype(e, a.dtype), [(0, 0)] * (a.ndim - 2) + [(0, 1)])[..., None, :]
    packed = on + under * xp.eye(n, k=-1, dtype=a.dtype) + xp.triu(a, 1)
    vectors = xp.pad(xp.tril(v, -2), [(0, 0)] * (a.ndim - 1) + [(0, 1)])
    return [packed + vectors, d, e, diagonal(t), info(app)]


def _geqp3(app: Application) -> Any:
    """`[packed, pivots, factors]`: the column of the largest rest is next. All columns must be free."""
    a = app.array()
    pivots = known_array(app.inputs[1])
    if pivots is None or pivots.any():
        raise app.error("columns that keep their place are not supported", "pass zeros as pivots")
    results = list(batched(_pivoted, a.ndim - 2)(a))
    return [*results, info(app)] if len(app.op.results) == 4 else results


def _pivoted(a: Any) -> tuple[Any, Any, Any]:
    rows, columns = a.shape
    count = min(rows, columns)
    row = ops.iota(shape=(rows,), axis=0, dtype=INT32)
    place = ops.iota(shape=(columns,), axis=0, dtype=INT32)
    factor = ops.iota(shape=(count,), axis=0, dtype=INT32)
    if not count:
        return a, place + np.int32(1), xp.zeros((0,), a.dtype)

    def step(k: Any, state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        r, order, taus = state
        rests = xp.sum(xp.where((row >= k)[:, None], squares(r), 0), axis=0)
        best = xp.argmax(xp.where(place >= k, rests, -1)).astype(INT32)
        swap = xp.where(place == k, best, xp.where(place == best, as_value(k, INT32), place))
        r, tau = reflect_column(r[:, swap], k)
        return r, order[swap], xp.where(factor == k, tau, taus)

    start = (a, place + np.int32(1), xp.zeros((count,), a.dtype))
    types = (a.dtype, INT32, a.dtype)

    def typed(k: Any, state: tuple[Any, Any, Any]) -> tuple[Any, ...]:
        return tuple(as_value(v, t) for v, t in zip(step(k, state), types, strict=True))

    results: tuple[Any, Any, Any] = fori_loop(0, count, typed, start)
    return results


_ANY: Final[dict[str, Callable[..., Any]]] = {
    "gees": _gees,
    "geev": _geev,
    "gehrd": _gehrd,
    "geqp3": _geqp3,
}

CALLS: Final[dict[str, Rule]] = {
    **{f"lapack_{kind}{name}_ffi": rule for kind in "sdcz" for name, rule in _ANY.items()},
    **{f"lapack_{kind}_ffi": _sytrd for kind in ("ssytrd", "dsytrd", "chetrd", "zhetrd")},
}
"""The custom calls of JAX on CPUs, by the name of their target."""

"""Eigenvalues and eigenvectors of Hermitian matrices: tridiagonal form, leaves by rotations, then merges.

Matrices up to `ROTATED` are rotated by the cyclic Jacobi method, which needs no deflation and no shapes that
depend on data: a sweep is `n` rounds of ``n / 2`` rotations each, and 6 to 10 sweeps reach rounding errors.
Larger ones go through `tridiagonal.py`, O(n^3) operations most of which are products.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....dialects.types import INT32
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error
from ..routines import routine
from .cholesky import from_lower, symmetrized
from .matrix_arguments import (
    adjoint,
    conjugate,
    diagonal,
    epsilon,
    is_complex,
    is_empty,
    is_less,
    is_named,
    over,
    phase,
    positions,
    real_dtype,
    real_part,
    square,
    squares,
    unit,
    unknown_zeros,
)
from .rotations import Round, repeated_sweeps, sorted_by
from .tridiagonal import conquered, reduced

# The largest matrix that is rotated as a whole: twice as slow at this size as dividing it, but compiled in
# half the time (3 s instead of 6). At 64 dividing is 3 times as fast, at 128 6 times.
ROTATED = 32
MANY = np.iinfo(np.int32).max  # beyond all positions


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


def eigh(a: Any, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues in ascending order and orthonormal eigenvectors: ``a @ v = v * w``.

    `a` counts as ``(a + a^H) / 2``; with `UPLO` only its lower ('L') or upper ('U') triangle is read, as in
    NumPy. The first component of a vector that is not negligible is real, as LAPACK's, and positive, where
    LAPACK has either sign. Derivatives of vectors have no component along them, as JAX's. They are not finite
    where eigenvalues coincide; those of the eigenvalues are then one of several.
    """
    value = _hermitian("eigh", a, UPLO, symmetrize_input)
    return EighResult(*_eigh(value))


def eigvalsh(a: Any, UPLO: str | None = None, *, symmetrize_input: bool = True) -> Any:
    """The eigenvalues that `eigh` returns, without the vectors.

    Second derivatives are NaN where two are equal: how these part depends on the direction.
    """
    return _eigenvalues(_hermitian("eigvalsh", a, UPLO, symmetrize_input))


def _hermitian(function: str, a: Any, uplo: str | None, symmetrize: bool) -> Any:
    if uplo is not None and uplo not in ("L", "U", "l", "u"):
        raise argument_error(f"{function}: UPLO is {uplo!r}, expected 'L' or 'U'")
    value = square(function, a, named=True)
    if uplo is None and symmetrize:
        return symmetrized(value)
    return from_lower(adjoint(value) if uplo in ("U", "u") else value)


@custom_jvp
def _eigh(a: Any) -> Any:
    return tuple(_decomposed(a, with_vectors=True))


# With m = v^H da v: dw = diag(m), dv = v (f * m), f_ij = 1 / (w_j - w_i) off the diagonal (Giles 2008, 3.1).
@_eigh.defjvp
def _eigh_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = _eigh(a)
    middle = xp.matmul(adjoint(v), xp.matmul(da, v))
    same = xp.asarray(unit(a.shape[-1], w.dtype))
    gaps = xp.expand_dims(w, -2) - xp.expand_dims(w, -1) + same
    turned = middle * xp.astype((1 - same) / gaps, a.dtype)
    return (w, v), (real_part(diagonal(middle)), xp.matmul(v, turned))


@custom_jvp
def _eigenvalues(a: Any) -> Any:
    return _decomposed(a, with_vectors=False)[0]


@_eigenvalues.defjvp
def _eigenvalues_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = _eigh(a)
    return w, real_part(diagonal(xp.matmul(adjoint(v), xp.matmul(da, v))))


def _decomposed(a: Any, *, with_vectors: bool) -> tuple[Any, ...]:
    """Sorted eigenvalues, and vectors."""
    n, batch = a.shape[-1], a.shape[:-2]
    if is_empty(n, *batch):
        return xp.zeros((*batch, n), dtype=real_dtype(a.dtype)), a
    largest = xp.max(xp.abs(a), axis=(-2, -1), keepdims=True)
    scale = xp.where(largest > 0, largest, xp.ones_like(largest))
    a = over(a, scale)
    if with_vectors:
        values, *vectors = routine("eigh", lambda a: _composed(a, with_vectors=True), a)
    else:
        (values,) = (routine("eigvalsh", lambda a: _composed(a, with_vectors=False)[0], a),)
        vectors = []
    # NaN or infinity anywhere makes all vectors NaN: rotations stop before their first sweep.
    nothing = xp.astype(0 * largest, a.dtype)
    return (values * xp.squeeze(largest, -1), *(_turned(v) + nothing for v in vectors))


def _turned(v: Any) -> Any:
    """Each column times the phase that makes its first component real and positive.

    The phase of a component that is as small as rounding errors is arbitrary, so the first that is larger
    than the root of `eps` counts. Every column of norm 1 has one.
    """
    rows = xp.expand_dims(positions(v.shape[-2]), -1)
    is_negligible = squares(v) <= epsilon(v.dtype)
    first = xp.min(xp.where(is_negligible, MANY, rows), axis=-2, keepdims=True)
    head = xp.sum(xp.where(rows == first, v, xp.zeros_like(v)), axis=-2, keepdims=True, dtype=v.dtype)
    return v * conjugate(phase(head))


def _composed(a: Any, *, with_vectors: bool) -> tuple[Any, ...]:
    """The same for a matrix whose elements are at most 1."""
    if is_named(a.shape[-1]) or a.shape[-1] <= ROTATED:
        values, *vectors = _rotated(a, with_vectors=with_vectors)
    else:
        d, e, v, t = reduced(a)
        values, q = conquered(d, e, lambda x: _rotated(x, with_vectors=True))
        # NaN anywhere makes all values so.
        values = values + 0 * xp.sum(d, axis=-1, keepdims=True)
        vectors = []
        if with_vectors:
            q = xp.astype(q, a.dtype)
            vectors = [q - xp.matmul(v, xp.matmul(t, xp.matmul(adjoint(v), q)))]
    return (values, *vectors)


def _rotated(a: Any, *, with_vectors: bool) -> tuple[Any, ...]:
    """The same for small matrices, by Jacobi's method."""
    # Gathered: IREE 3.13 refuses ("does not dominate this use") a maximum and a masked sum of one sum.
    weights = real_part(xp.diagonal(a, 0, -2, -1))
    vectors = [unit(a.shape[-1], a.dtype) + unknown_zeros(a, a.dtype)] if with_vectors else []
    if not is_less(a.shape[-1], 2):
        weights, *vectors = _swept(a, weights, *vectors)
    return sorted_by(weights, *vectors)


def _swept(a: Any, weights: Any, *vectors: Any) -> tuple[Any, ...]:
    n = a.shape[-1]
    least = epsilon(a.dtype) ** 2
    rows = xp.expand_dims(positions(n), -1)
    is_diagonal = rows == positions(n)

    def is_left(state: Any) -> Any:
        every = squares(state[0])
        outside = xp.sum(xp.where(is_diagonal, xp.zeros_like(every), every), axis=(-2, -1), dtype=every.dtype)
        total = xp.sum(every, axis=(-2, -1), dtype=every.dtype)
        return xp.any(outside > least * total)

    def step(t: Any, state: Any) -> Any:
        a, weights, *vectors = state
        pairs = Round(xp.astype(t, INT32), n)
        met = xp.expand_dims(pairs.partner, -1) == positions(n)
        products = xp.sum(xp.where(met, a, xp.zeros_like(a)), axis=-1, dtype=a.dtype)
        products = pairs.shared(products)
        cosine, sine, tangent = pairs.rotation(weights, products, True)
        size = xp.sqrt(squares(products)) if is_complex(a) else xp.abs(products)
        weights = weights - tangent * size
        a = pairs.columns_rotated(pairs.rows_rotated(a, cosine, sine), cosine, sine)
        cleared = xp.where(xp.logical_or(met, is_diagonal), xp.zeros_like(a), a)
        a = xp.where(is_diagonal, xp.expand_dims(xp.astype(weights, a.dtype), -1), cleared)
        return (a, weights, *(pairs.columns_rotated(v, cosine, sine) for v in vectors))

    return repeated_sweeps(n, is_left, step, (a, weights, *vectors))[1:]

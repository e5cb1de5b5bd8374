"""Eigenvalues and eigenvectors of Hermitian matrices, by the cyclic Jacobi method.

A sweep is `n` rounds of ``n / 2`` rotations each, O(n^3) operations; 6 to 10 sweeps reach rounding errors.
Jacobi needs no deflation and no data-dependent shapes. It finds small eigenvalues of graded matrices at least
as accurately as reduction to tridiagonal form does (Demmel and Veselic 1992).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...dialects.types import INT32
from .. import namespace as xp
from ..namespace.axes import argument_error
from ..transforms.custom_derivatives import custom_jvp
from .cholesky import from_lower, symmetrized
from .operands import (
    adjoint,
    diagonal,
    epsilon,
    is_complex,
    positions,
    real_dtype,
    real_part,
    square,
    squares,
    unit,
    unknown_zeros,
)
from .rotations import Round, repeated_sweeps, sorted_by


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


def eigh(a: Any, /, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues in ascending order and orthonormal eigenvectors: ``a @ v = v * w``.

    `a` counts as ``(a + a^H) / 2``; with `UPLO` only its lower ('L') or upper ('U') triangle is read, as in
    NumPy. Eigenvectors have no canonical sign or phase. Their derivative is not finite where eigenvalues
    coincide; that of the eigenvalues is then one of several.
    """
    value = _hermitian("eigh", a, UPLO, symmetrize_input)
    return EighResult(*_eigh(value))


def eigvalsh(a: Any, /, UPLO: str | None = None, *, symmetrize_input: bool = True) -> Any:
    """The eigenvalues that `eigh` gives, without the vectors."""
    return _eigenvalues(_hermitian("eigvalsh", a, UPLO, symmetrize_input))


def _hermitian(function: str, a: Any, uplo: str | None, symmetrize: bool) -> Any:
    if uplo is not None and uplo not in ("L", "U", "l", "u"):
        raise argument_error(f"{function}: UPLO is {uplo!r}, expected 'L' or 'U'")
    value = square(function, a)
    if uplo is None and symmetrize:
        return symmetrized(value)
    return from_lower(adjoint(value) if uplo in ("U", "u") else value)


@custom_jvp
def _eigh(a: Any) -> Any:
    return tuple(_jacobi(a, with_vectors=True))


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
    return _jacobi(a, with_vectors=False)[0]


@_eigenvalues.defjvp
def _eigenvalues_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = _eigh(a)
    return w, real_part(diagonal(xp.matmul(adjoint(v), xp.matmul(da, v))))


def _jacobi(a: Any, *, with_vectors: bool) -> tuple[Any, ...]:
    """Sorted eigenvalues, and vectors."""
    n, batch = a.shape[-1], a.shape[:-2]
    if n == 0:
        return xp.zeros((*batch, 0), dtype=real_dtype(a.dtype)), a
    scale = xp.max(xp.abs(a), axis=(-2, -1), keepdims=True)
    scale = xp.where(scale > 0, scale, xp.ones_like(scale))
    # Gathered: IREE 3.13 refuses ("does not dominate this use") a maximum and a masked sum of one sum.
    weights = real_part(xp.diagonal(a, 0, -2, -1)) / xp.squeeze(scale, -1)
    a = a / xp.astype(scale, a.dtype)
    vectors = (unit(n, a.dtype) + unknown_zeros(a, a.dtype),) if with_vectors else ()
    if n > 1:
        state = _swept(a, weights, *vectors)
        weights, vectors = state[0], state[1:]
    values = weights * xp.squeeze(scale, -1)
    return sorted_by(values, *vectors)


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

    def turn(t: Any, state: Any) -> Any:
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

    return repeated_sweeps(n, is_left, turn, (a, weights, *vectors))[1:]

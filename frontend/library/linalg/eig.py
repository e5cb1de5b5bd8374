"""Eigenvalues and eigenvectors of general square matrices, by their Schur form.

Input: square matrices. Output: complex values, in the order of the Schur form, and vectors of length 1 as
columns, whose largest component is positive.

Idea: vectors of the triangular factor solve triangular systems, all at once. The derivatives are those of
simple eigenvalues (Magnus 1985); where values coincide they are infinite or NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from .lu import solve
from .matrix_arguments import diagonal, epsilon, is_complex, positions, square, unit
from .schur import complex_of, schur_form
from .triangular import solve_upper


class EigResult(NamedTuple):
    """Values, and vectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


def eig(a: Any) -> EigResult:
    """The eigenvalues `[..., n]` and eigenvectors `[..., n, n]` of square matrices, both complex.

    ``a @ v[:, i] = w[i] * v[:, i]``. The order is that of the Schur form. Derivatives in forward and reverse
    mode, for matrices whose eigenvalues are simple; those of a vector leave its phase alone. Matrices with
    NaN or infinities result in NaN. Raises `ShapeError` unless the matrices are square.
    """
    return EigResult(*_eig(square("eig", a)))


def eigvals(a: Any) -> Any:
    """The eigenvalues of square matrices, complex: `eig` without its vectors."""
    return _values(square("eigvals", a))


@custom_jvp
def _eig(a: Any) -> Any:
    t, z = schur_form(a)
    return _cleaned(a, diagonal(t)), _vectors(t, z)


@_eig.defjvp
def _eig_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = _eig(a)
    moved = solve(v, xp.matmul(complex_of(da), v))
    gaps = xp.expand_dims(w, -2) - xp.expand_dims(w, -1)
    same = unit(w.shape[-1], w.real.dtype) == 1
    mixed = xp.where(same, xp.zeros_like(moved), moved / xp.where(same, xp.ones_like(gaps), gaps))
    dv = xp.matmul(v, mixed)
    along = xp.sum(xp.conj(v) * dv, axis=-2, keepdims=True)
    return (w, v), (diagonal(moved), dv - v * along)


@custom_jvp
def _values(a: Any) -> Any:
    return _cleaned(a, diagonal(schur_form(a)[0]))


@_values.defjvp
def _values_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    w, v = _eig(a)
    return w, diagonal(solve(v, xp.matmul(complex_of(da), v)))


def _cleaned(a: Any, w: Any) -> Any:
    """Values of real matrices without imaginary parts that are mere rounding."""
    if is_complex(a) or w.shape[-1] == 0:
        return w
    size = xp.max(xp.sum(xp.abs(a), axis=-1), axis=-1, keepdims=True)
    is_real = xp.abs(xp.imag(w)) <= 4 * a.shape[-1] * epsilon(a.dtype) * size
    return xp.where(is_real, ops.complex(xp.real(w), xp.zeros_like(xp.real(w))), w)


def _vectors(t: Any, z: Any) -> Any:
    """Column `i` solves ``(t - t_ii) y = 0`` with ``y_i = 1``: a triangular system of the rows above `i`."""
    n = t.shape[-1]
    if n == 0:
        return z
    w = diagonal(t)
    row = positions(n)
    size = xp.max(xp.abs(t), axis=(-2, -1))
    least = (epsilon(t.dtype) * size + float(np.finfo(t.dtype).tiny)).astype(w.real.dtype)
    # One system for each value, `[..., value, n, n]`: unit rows from `i` on, and gaps kept away from zero.
    shifted = t[..., None, :, :] - w[..., :, None, None] * unit(n, t.dtype)
    gap = diagonal(shifted)
    bound = least[..., None, None]
    gap = xp.where(xp.abs(gap) < bound, xp.astype(bound, t.dtype), gap)
    is_above = row[None, :] < row[:, None]
    pivot = xp.where(is_above, gap, xp.ones_like(gap))
    keeps = is_above[:, :, None] & is_above[:, None, :]
    upper = xp.where(keeps, xp.triu(shifted, 1), xp.zeros_like(shifted))
    system = upper + xp.expand_dims(pivot, -1) * unit(n, t.dtype)
    right = xp.where(is_above, -xp.matrix_transpose(t), xp.zeros_like(t))
    own = xp.where(row[None, :] == row[:, None], xp.ones_like(t), xp.zeros_like(t))
    y = xp.squeeze(solve_upper(system, xp.expand_dims(right + own, -1), False), -1)
    # Large components first made small, so that squares do not overflow.
    y = y / xp.astype(xp.max(xp.abs(y), axis=-1, keepdims=True), y.dtype)
    v = xp.matmul(z, xp.matrix_transpose(y))
    v = v / xp.astype(xp.sqrt(xp.sum(xp.abs(v) ** 2, axis=-2, keepdims=True)), v.dtype)
    place = xp.argmax(xp.abs(v), axis=-2, keepdims=True)
    largest = xp.take_along_axis(v, place, axis=-2)
    return v * (xp.conj(largest) / xp.astype(xp.abs(largest), v.dtype))

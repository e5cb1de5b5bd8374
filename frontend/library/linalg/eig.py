"""Eigenvalues and eigenvectors of general square matrices, by their Schur form.

Input: square matrices. Output: complex values, in the order of the Schur form, and vectors of length 1 as
columns, whose largest component is positive.

Idea: vectors of the triangular factor solve triangular systems, all at once. The derivatives are those of
simple eigenvalues (Magnus 1985); where values coincide they are infinite or NaN.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...control.scans import scan
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from .lu import solve
from .matrix_arguments import (
    column,
    diagonal,
    entry,
    epsilon,
    is_complex,
    positions,
    square,
    unit,
    unknown_zeros,
)
from .schur import complex_of
from .schur_forms import eigenvalues, scaled_schur_form


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
    t, z, scale = scaled_schur_form(a)
    return _cleaned(a, diagonal(t * scale)), _vectors(t, z)


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
    return _cleaned(a, eigenvalues(a))


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
    """Column `i` solves ``(t - t_ii) y = 0``: a triangular system of the rows above `i`. The elements of `t`
    are at most 1."""
    n = t.shape[-1]
    if n == 0:
        return z
    w = diagonal(t)
    row = positions(n)
    # The rows of a value's vector from its own one up; gaps are kept away from zero.
    least = epsilon(t.dtype) + float(np.finfo(t.dtype).tiny)
    rows = xp.matrix_transpose(t)

    def substitute(y: Any, j: Any) -> tuple[Any, None]:
        beyond = xp.expand_dims(xp.where(row > j, column(rows, j), 0), -1)
        gap = entry(w, j) - w
        gap = xp.where(xp.abs(gap) < least, least, gap)
        above = -xp.squeeze(xp.matmul(y, beyond), -1) / gap
        new = xp.where(row > j, above, xp.where(row == j, 1, 0))
        # What was large is made small, as products of close gaps would overflow.
        size = xp.astype(xp.maximum(xp.abs(new), 1), y.dtype)
        return xp.where(row == j, xp.expand_dims(new, -1), y) / xp.expand_dims(size, -1), None

    start = xp.zeros_like(t) + unknown_zeros(t, t.dtype)
    y = scan(substitute, start, positions(n)[::-1])[0]
    y = y / xp.astype(xp.max(xp.abs(y), axis=-1, keepdims=True), y.dtype)
    v = xp.matmul(z, xp.matrix_transpose(y))
    v = v / xp.astype(xp.sqrt(xp.sum(xp.abs(v) ** 2, axis=-2, keepdims=True)), v.dtype)
    place = xp.argmax(xp.abs(v), axis=-2, keepdims=True)
    largest = xp.take_along_axis(v, place, axis=-2)
    return v * (xp.conj(largest) / xp.astype(xp.abs(largest), v.dtype))

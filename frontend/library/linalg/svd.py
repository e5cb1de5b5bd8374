"""Singular values and vectors, by bidiagonal form or by one-sided Jacobi rotations.

Matrices of more than `ROTATED` rows and columns, of complex numbers, or of a named size, are a routine, whose
kernel makes them bidiagonal, those that are not square by QR factors before, and goes on by implicit QR.
Errors are those of LAPACK: small beside the largest singular value. Narrow real matrices, and all of them
where there is no kernel, are rotated: ``a = q r`` first, then the columns of ``r^H`` until all are orthogonal
(Hestenes 1958; Drmac and Veselic 2008, New fast and accurate Jacobi SVD algorithm, without its pivoting), so
that small singular values keep their digits. O(m n^2) for QR and O(n^3) a sweep, of which there are 6 to 10.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....dialects.types import INT32
from ...tracing.interpreter import ops
from ...tracing.sizes import minimum
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, count_array, shape_error
from ..numpy.promotion import same_size, type_text
from ..routines import routine
from .matrix_arguments import (
    adjoint,
    conjugate,
    diagonal,
    epsilon,
    is_complex,
    is_empty,
    is_less,
    is_named,
    matrix,
    over,
    phase,
    real_dtype,
    real_part,
    square,
    squares,
    unit,
)
from .qr import householder
from .rotations import Round, repeated_sweeps, sorted_by

ROTATED = 16  # real columns, up to which pairs of them are rotated


class SVDResult(NamedTuple):
    """Left vectors as columns, singular values in descending order, right vectors as conjugated rows."""

    U: Any
    S: Any
    Vh: Any


def svd(
    a: Any,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> SVDResult | Any:
    """``a = (u * s) @ vh`` with orthonormal `u` and `vh`; `s` alone without `compute_uv`.

    With `full_matrices` `u` and `vh` are square; only the reduced vectors have derivatives, and these are
    not finite where singular values coincide. `hermitian` is accepted, and the same method is used.
    `subset_by_index` is a range of `s` to be returned, with its vectors; it needs `full_matrices=False`.
    """
    if hermitian:
        square("svd", a, named=True)
    value = matrix("svd", a, named=True)
    start, end = _range_of(subset_by_index, full_matrices and compute_uv)
    if not compute_uv:
        return singular_values(value)[..., start:end]
    rows, columns = value.shape[-2:]
    if subset_by_index is not None:
        u, s, vh = _svd(value)
        return SVDResult(u[..., start:end], s[..., start:end], vh[..., start:end, :])
    if not full_matrices or same_size(rows, columns):
        return SVDResult(*_svd(value))
    if is_named(rows, columns):
        raise shape_error(
            f"svd: full_matrices of {type_text(value)}, whose sizes are named and differ",
            "give full_matrices=False, or trace with a static shape",
        )
    return SVDResult(*_full(value))


def _range_of(subset: tuple[int, int] | None, is_full: bool) -> tuple[int | None, int | None]:
    """The singular values that are asked for, as bounds of a slice."""
    if subset is None:
        return None, None
    if is_full:
        raise argument_error("svd: subset_by_index needs full_matrices=False")
    return subset


def svdvals(x: Any, /) -> Any:
    """The singular values of each matrix, in descending order."""
    return singular_values(matrix("svdvals", x, named=True))


@custom_jvp
def _svd(a: Any) -> Any:
    return decompose(a)


# With m = u^H da v: ds = re diag(m); du and dv follow from m scaled by 1 / (s_j^2 - s_i^2), and from what
# of da lies outside the spaces of u and v (Townsend 2016, Differentiating the singular value decomposition).
# For complex matrices the phase is fixed so that dv_j is orthogonal to v_j.
@_svd.defjvp
def _svd_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    u, s, vh = _svd(a)
    v = adjoint(vh)
    n = s.shape[-1]
    along = xp.matmul(adjoint(u), xp.matmul(da, v))
    ds = real_part(diagonal(along))
    column, row = xp.expand_dims(s, -2), xp.expand_dims(s, -1)
    same = unit(n, s.dtype)
    gaps = (column - row) * (column + row) + same
    scale = xp.astype((1 - same) / gaps, a.dtype)
    columns, rows = xp.astype(column, a.dtype), xp.astype(row, a.dtype)
    back = adjoint(along)
    turn_u = scale * (along * columns + rows * back)
    turn_v = scale * (rows * along + back * columns)
    positive = xp.where(s > 0, s, xp.ones_like(s))
    inverse = xp.astype(xp.where(s > 0, 1 / positive, xp.zeros_like(s)), a.dtype)
    if is_complex(a):
        imaginary = ops.imag(diagonal(along))
        turned = ops.complex(ops.zeros_like(imaginary), imaginary) * inverse
        turn_u = turn_u + xp.expand_dims(turned, -1) * xp.astype(same, a.dtype)
    du, dv = xp.matmul(u, turn_u), xp.matmul(v, turn_v)
    scaled = xp.expand_dims(inverse, -2)
    if not same_size(a.shape[-2], n):
        moved = xp.matmul(da, v)
        du = du + (moved - xp.matmul(u, xp.matmul(adjoint(u), moved))) * scaled
    if not same_size(a.shape[-1], n):
        moved = xp.matmul(adjoint(da), u)
        dv = dv + (moved - xp.matmul(v, xp.matmul(vh, moved))) * scaled
    return (u, s, vh), (du, ds, adjoint(dv))


def _full(a: Any) -> tuple[Any, Any, Any]:
    """The decomposition with square vectors: those beyond the rank of the shape complete a basis."""
    u, s, vh = _svd(a)
    if is_less(a.shape[-1], a.shape[-2]):
        u = xp.concatenate([u, _beyond(u)], axis=-1)
    else:
        vh = xp.concatenate([vh, adjoint(_beyond(adjoint(vh)))], axis=-2)
    return u, s, vh


@custom_jvp
def _beyond(q: Any) -> Any:
    """Orthonormal columns that complete those of `q` to a basis."""
    rows, columns = q.shape[-2:]
    return householder(q, rows)[0][..., columns:]


@_beyond.defjvp
def _beyond_rule(primals: Any, tangents: Any) -> Any:
    (q,), (dq,) = primals, tangents
    beyond = _beyond(q)
    (missing,) = ops.undefined_value(
        q,
        dq,
        message="svd: with full_matrices the vectors beyond the rank are arbitrary and have no derivative; "
        "give full_matrices=False",
        results=(ops.type_of(beyond),),
    )
    return beyond, missing


@custom_jvp
def singular_values(a: Any) -> Any:
    """The singular values in descending order; their derivative needs no gaps between them."""
    return _values(a)


@singular_values.defjvp
def _values_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    u, s, vh = _svd(a)
    return s, real_part(diagonal(xp.matmul(adjoint(u), xp.matmul(da, adjoint(vh)))))


def _values(a: Any) -> Any:
    rows, columns = a.shape[-2:]
    if is_empty(rows, columns):
        return xp.zeros((*a.shape[:-2], 0), dtype=real_dtype(a.dtype))
    if _is_reduced(a):
        name = "svdvals" if same_size(rows, columns) else "thin_svdvals"
        return routine(name, lambda a: _values_by_rotations(a) + _nothing(a), a)
    return _values_by_rotations(a)


def _values_by_rotations(a: Any) -> Any:
    if not is_named(*a.shape[-2:]) and is_less(*a.shape[-2:]):
        a = adjoint(a)
    _, r = householder(a, minimum(*a.shape[-2:]))
    return _rotated(adjoint(r))[0]


def decompose(a: Any) -> tuple[Any, Any, Any]:
    """Left vectors, values, and right vectors as rows."""
    rows, columns = a.shape[-2:]
    if _is_reduced(a):
        u, s, vh = routine("svd" if same_size(rows, columns) else "thin_svd", _spoilt, a)
        return u, s, vh
    if is_less(rows, columns) or is_empty(rows):
        u, s, vh = _by_rotations(adjoint(a))
        return adjoint(vh), s, adjoint(u)
    return _by_rotations(a)


def _is_reduced(a: Any) -> bool:
    """Whether a matrix becomes bidiagonal."""
    sizes = a.shape[-2:]
    if is_empty(*sizes):
        return False
    return is_named(*sizes) or min(sizes) > ROTATED or is_complex(a)


def _spoilt(a: Any) -> tuple[Any, Any, Any]:
    """The decomposition by rotations, NaN in all of a matrix that has one or an infinity, as of kernels."""
    if not is_named(*a.shape[-2:]) and is_less(*a.shape[-2:]):
        right, s, left = _by_rotations(adjoint(a))
        u, vh = adjoint(left), adjoint(right)
    else:
        u, s, vh = _by_rotations(a)
    nothing = _nothing(a)
    both = xp.astype(xp.expand_dims(nothing, -1), a.dtype)
    return u + both, s + nothing, vh + both


def _nothing(a: Any) -> Any:
    """Zero, or NaN for a matrix that has one or an infinity, `[..., 1]`."""
    return 0 * xp.max(xp.abs(a), axis=(-2, -1), keepdims=True)[..., 0]


def _by_rotations(a: Any) -> tuple[Any, Any, Any]:
    """The same of matrices with as many rows as columns or more, or of named sizes, by QR and rotations."""
    rows, columns = a.shape[-2:]
    width = minimum(rows, columns)  # `columns`, but where sizes are named
    q, r = householder(a, width)
    if is_empty(columns):
        return q, xp.zeros((*a.shape[:-2], 0), dtype=real_dtype(a.dtype)), r
    # Rotations z with r^H z = x s, x orthonormal, make a = q r = (q z) s x^H: they are applied to q at once.
    s, moved, u = _rotated(adjoint(r), q)
    vh = adjoint(_orthonormal(moved, s))
    if is_less(columns, 2):  # NaN of an only column, which no rotation spreads
        nothing = xp.astype(0 * xp.expand_dims(s, -1), a.dtype)
        u, vh = u + nothing, vh + nothing
    return u, s, vh


def _orthonormal(moved: Any, s: Any) -> Any:
    """The columns divided by their lengths `s`; where these vanish, columns that complete a basis."""
    positive = xp.where(s > 0, s, xp.ones_like(s))
    columns = over(moved, xp.expand_dims(positive, -2))
    q, r = householder(columns, columns.shape[-1])
    return q * xp.expand_dims(phase(diagonal(r)), -2)


def _rotated(x: Any, *others: Any) -> tuple[Any, ...]:
    """Lengths of the columns of ``x z`` in descending order, ``x z``, and each of the others times `z`."""
    n = x.shape[-1]
    largest = xp.max(xp.abs(x), axis=(-2, -1), keepdims=True)
    scale = xp.where(largest > 0, largest, xp.ones_like(largest))
    x = over(x, scale)
    if not is_less(n, 2):
        if others:
            x, *others = routine("jacobi", lambda x, y: tuple(_swept(x, y)), x, *others)
        else:
            x = routine("jacobi", lambda x: _swept(x)[0], x)
    lengths = xp.sqrt(xp.sum(squares(x), axis=-2, dtype=scale.dtype))
    s, x, *vectors = sorted_by(lengths, x, *others, descending=True)
    return (s * xp.squeeze(scale, -1), x * xp.astype(scale, x.dtype), *vectors)


def _swept(x: Any, *vectors: Any) -> tuple[Any, ...]:
    """The columns of `x` rotated until all are orthogonal, and vectors that are rotated with them."""
    n = x.shape[-1]
    real = real_dtype(x.dtype)
    count = count_array(n, INT32)
    tolerance = real.type(epsilon(x.dtype)) * xp.sqrt(xp.astype(count, real))
    # Columns so short that their squares lose digits are below every rounding error of the matrix.
    negligible = real.type(np.finfo(real).tiny / np.finfo(real).eps)

    def is_left(state: Any) -> Any:
        return xp.logical_not(xp.all(state[0] >= count))

    def step(t: Any, state: Any) -> Any:
        still, x, *turned = state
        pairs = Round(xp.astype(t, INT32), n)
        weights = xp.sum(squares(x), axis=-2, dtype=real)
        products = xp.sum(conjugate(x) * pairs.swapped(x), axis=-2, dtype=x.dtype)
        products = pairs.shared(products)
        size = xp.sqrt(squares(products)) if is_complex(x) else xp.abs(products)
        others = pairs.swapped(weights)
        is_needed = xp.logical_and(
            xp.minimum(weights, others) > negligible,
            size > tolerance * (xp.sqrt(weights) * xp.sqrt(others)),
        )
        is_needed = xp.logical_and(is_needed, xp.logical_not(pairs.is_alone))
        cosine, sine, _ = pairs.rotation(weights, products, is_needed)
        moved = (pairs.columns_rotated(y, cosine, sine) for y in (x, *turned))
        quiet = xp.where(xp.any(is_needed), xp.zeros_like(still), still + 1)
        return (quiet, *moved)

    # The first is the number of rounds since a pair was rotated.
    start = (xp.zeros((), dtype=INT32), x, *vectors)
    return repeated_sweeps(n, is_left, step, start)[1:]

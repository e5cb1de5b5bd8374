"""Hermitian matrices made real tridiagonal, and the eigenvectors of those by dividing and conquering.

Householder reflections from both sides (Golub and Van Loan, section 8.3.1), one column a step. A tridiagonal
matrix is two halves and a correction of rank one (Cuppen 1981): all pairs of a level are joined at once, the
roots of the secular equation by bisection and the vectors by the formula that keeps them orthogonal (Gu and
Eisenstat 1994, A stable and efficient algorithm for the rank-one modification of the symmetric eigenproblem).
Nothing is deflated: poles are kept apart, and weights from zero, by changes of the size of rounding errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import FLOAT32, FLOAT64, INT32
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...tracing.interpreter import ops
from .. import numpy as xp
from .lu import permuted
from .matrix_arguments import adjoint, column, conjugate, diagonal, entry, epsilon, positions, real_part
from .qr import compact, reflection
from .rotations import ranks

# The largest block that is left to rotations.
LEAF = 16
# Beside matrices of size 1: what is smaller is no eigenvalue and no coupling. Poles are `eps` of this apart
# at least and weights `eps^2`, and the product of both is a float of full accuracy.
NEGLIGIBLE = {FLOAT32: 1e-10, FLOAT64: 1e-140}


def reduced(a: Any) -> tuple[Any, Any, Any, Any]:
    """`d`, `e`, `v` and `t`: ``q^H a q`` has the diagonals `d` and `e` for ``q = I - v t v^H``."""
    n = a.shape[-1]
    rows = positions(n)

    def step(a: Any, k: Any) -> Any:
        current = column(a, k)
        tail = xp.where(rows > k + 1, current, xp.zeros_like(current))
        v, tau = reflection(tail, entry(current, k + 1), rows == k + 1)
        y = xp.squeeze(xp.matmul(a, xp.expand_dims(v, -1)), -1)
        inner = real_part(xp.sum(conjugate(v) * y, axis=-1, keepdims=True, dtype=a.dtype))
        half = xp.astype(real_part(conjugate(tau) * tau) * inner / 2, a.dtype)
        w = tau * y - half * v
        left, right = xp.expand_dims(v, -1), xp.expand_dims(w, -1)
        return a - left * adjoint(right) - right * adjoint(left), (v, tau)

    a, (vs, taus) = scan(step, a, positions(n - 1))
    v = xp.moveaxis(vs, 0, -1)
    return real_part(diagonal(a)), real_part(diagonal(a[..., 1:, :-1])), v, compact(v, taus)


def leaves_of(n: int) -> tuple[int, int]:
    """How many leaves, a power of two, and of which size: as large as `LEAF` allows, padding few rows."""
    count = 1
    while count * LEAF < n:
        count *= 2
    return count, -(-n // count)


def conquered(d: Any, e: Any, of_leaves: Any) -> tuple[Any, Any]:
    """Eigenvalues in ascending order and vectors; `of_leaves` returns those of a batch of small matrices."""
    n, dtype, batch = d.shape[-1], d.dtype, d.shape[:-1]
    count, size = leaves_of(n)
    scale = xp.max(xp.abs(d), axis=-1, keepdims=True) + 2 * xp.max(xp.abs(e), axis=-1, keepdims=True)
    scale = xp.where(scale > 0, scale, xp.ones_like(scale))
    missing = count * size - n
    if missing:  # eigenvalues beyond all others, which are cut off at the end
        d = xp.concatenate([d, scale * np.arange(2, 2 + missing).astype(dtype)], axis=-1)
        e = xp.concatenate([e, xp.zeros((*batch, missing), dtype=dtype)], axis=-1)
    e = xp.concatenate([e, xp.zeros((*batch, 1), dtype=dtype)], axis=-1)
    is_cut = np.arange(count * size) % size == size - 1
    cut = xp.abs(xp.where(is_cut, e, xp.zeros_like(e)))
    d = d - cut - xp.concatenate([cut[..., -1:], cut[..., :-1]], axis=-1)
    blocks = xp.reshape(d, (*batch, count, size))
    beside = xp.reshape(xp.where(is_cut, xp.zeros_like(e), e), (*batch, count, size))
    one = xp.eye(size, dtype=dtype)
    below = xp.expand_dims(beside, -2) * xp.eye(size, k=-1, dtype=dtype)
    w, q = of_leaves(xp.expand_dims(blocks, -1) * one + below + xp.matrix_transpose(below))
    while count > 1:
        cuts = xp.reshape(e, (*batch, count // 2, 2 * size))[..., size - 1 : size]
        w, q = _joined(w, q, cuts)
        count, size = count // 2, 2 * size
    return xp.squeeze(w, -2)[..., :n], xp.squeeze(q, -3)[..., :n, :n]


def _joined(w: Any, q: Any, cut: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of pairs of blocks `[..., 2k, m]` with the elements `cut` between them."""
    *batch, count, m = w.shape
    poles = xp.reshape(w, (*batch, count // 2, 2 * m))
    pairs = xp.reshape(q, (*batch, count // 2, 2, m, m))
    first, second = pairs[..., 0, :, :], pairs[..., 1, :, :]
    sign = _signs(cut < 0, w.dtype)
    z = xp.concatenate([first[..., -1, :], sign * second[..., 0, :]], axis=-1)
    rank = ranks(poles)
    moved = xp.expand_dims(rank, -1) == positions(2 * m)
    poles, z = (_moved(x, moved) for x in (poles, z))
    z = _signs(z < 0, z.dtype) * xp.maximum(xp.abs(z), epsilon(z.dtype))
    rho = xp.maximum(xp.abs(cut), NEGLIGIBLE[cut.dtype])
    values, vectors = _of_rank_one_change(_apart(poles), z, rho)
    vectors = permuted(vectors, rank)
    above, below = xp.matmul(first, vectors[..., :m, :]), xp.matmul(second, vectors[..., m:, :])
    return values, xp.concatenate([above, below], axis=-2)


def _moved(x: Any, moved: Any) -> Any:
    """`x` with element `i` in the place `j` where ``moved[i, j]``."""
    column_ = xp.expand_dims(x, -1)
    return xp.sum(xp.where(moved, column_, xp.zeros_like(column_)), axis=-2, dtype=x.dtype)


def _apart(x: Any) -> Any:
    """Ascending numbers, each at least the next float after the one before; tiny ones count as zero.

    Floats in the order of their size are integers in the order of their bits.
    """
    integer = _bits_of(x.dtype)
    base = np.asarray(NEGLIGIBLE[x.dtype], x.dtype).view(integer)
    size = xp.maximum(ops.bitcast_convert(xp.abs(x), dtype=integer) - base, 0)
    place = np.arange(x.shape[-1], dtype=integer)
    rank = xp.where(x < 0, -size, size) - place
    # The largest so far, of all by one reduction: few elements, and no scan to compile.
    is_before = place[:, None] <= place
    rank = xp.max(xp.where(is_before, xp.expand_dims(rank, -1), np.iinfo(integer).min), axis=-2) + place
    size = ops.bitcast_convert(xp.abs(rank) + base, dtype=x.dtype)
    return xp.where(rank == 0, xp.zeros_like(x), xp.where(rank < 0, -size, size))


def _signs(is_negative: Any, dtype: np.dtype) -> Any:
    return xp.where(is_negative, np.asarray(-1, dtype), np.asarray(1, dtype))


def _bits_of(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"int{8 * dtype.itemsize}")


def _of_rank_one_change(d: Any, z: Any, rho: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of ``diag(d) + rho z z^T``, for ascending `d` and `z` without zeros."""
    n = d.shape[-1]
    integer = _bits_of(d.dtype)
    squares = z * z
    reach = rho * xp.sum(squares, axis=-1, keepdims=True)
    gaps = xp.concatenate([d[..., 1:] - d[..., :-1], reach], axis=-1)
    weights = xp.expand_dims(rho, -1) * xp.expand_dims(squares, -1)
    last = positions(n) == n - 1

    def secular(distances: Any, shift: Any) -> Any:
        """``1 + rho sum_i z_i^2 / (d_i - x_j)``, where ``d_i - x_j = distances_ij - shift_j``."""
        terms = weights / (distances - xp.expand_dims(shift, -2))
        return 1 + xp.sum(terms, axis=-2, dtype=d.dtype)

    # A root lies between two poles (the last one beyond all); it is known by its distance from the nearer.
    from_left = xp.expand_dims(d, -1) - xp.expand_dims(d, -2)
    is_left = xp.logical_or(secular(from_left, gaps / 2) >= 0, last)
    side = -_signs(is_left, d.dtype)
    following = xp.concatenate([d[..., 1:], d[..., -1:]], axis=-1)
    origin = xp.where(is_left, d, following)
    distances = xp.expand_dims(d, -1) - xp.expand_dims(origin, -2)

    def halve(state: Any) -> Any:
        left, low, high = state
        middle = low + (high - low) // 2
        is_beyond = secular(distances, side * ops.bitcast_convert(middle, dtype=d.dtype)) * side < 0
        return left - 1, xp.where(is_beyond, middle, low), xp.where(is_beyond, high, middle)

    # Bisection of the bits finds a float of any size to its last digit, in as many turns as it has bits.
    high = ops.bitcast_convert(xp.where(last, gaps, gaps / 2), dtype=integer)
    # A while loop is not unrolled, which for so large a body would take seconds to compile.
    bits = xp.asarray(np.asarray(8 * d.dtype.itemsize - 1, INT32))
    *_, roots = while_loop(lambda state: state[0] > 0, halve, (bits, xp.zeros_like(high), high))
    shift = side * ops.bitcast_convert(roots, dtype=d.dtype)
    below = distances - xp.expand_dims(shift, -2)  # d_i - x_j
    ours = xp.expand_dims(d, -1)
    is_earlier = xp.expand_dims(positions(n), -1) > positions(n)
    others = xp.where(is_earlier, xp.expand_dims(d, -2), xp.expand_dims(following, -2)) - ours
    ratios = xp.where(last, -below, -below / xp.where(last, xp.ones_like(others), others))
    size = xp.sqrt(xp.abs(xp.prod(ratios, axis=-1, dtype=d.dtype)))
    vectors = xp.expand_dims(xp.where(z < 0, -size, size), -1) / below
    length = xp.sqrt(xp.sum(vectors * vectors, axis=-2, keepdims=True, dtype=d.dtype))
    return origin + shift, vectors / length

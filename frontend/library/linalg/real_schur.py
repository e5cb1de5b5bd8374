"""The Schur form of real square matrices: quasi-triangular, complex values in blocks of two rows.

Input: real matrices, batches as leading axes. Output: orthogonal factors and quasi-triangular ones, in the
form of LAPACK: a block of two rows has equal diagonal elements and others of opposite signs.

Idea: steps of Francis, two shifts at once, which chase reflections of three rows down the active block (Golub
and Van Loan 2013, section 7.5; exceptional shifts each tenth step), and then one rotation for each block that
is left, which splits it where its values are real (Bai and Demmel 1993, LAPACK's `lanv2`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...control.while_loops import fori_loop, while_loop
from ...tracing.interpreter import as_value, ops
from .. import numpy as xp
from .matrix_arguments import diagonal, epsilon, positions, square
from .schur import each_matrix, hessenberg_form

_STEPS_A_ROW = 30


class _State(NamedTuple):
    k: Any
    stuck: Any
    h: Any
    z: Any
    low: Any
    high: Any


class _Chase(NamedTuple):
    k: Any
    x: Any
    h: Any
    z: Any


def real_schur_form(a: Any) -> tuple[Any, Any]:
    """A quasi-triangular `t` and an orthogonal `z` with ``z t z^T = a``; NaN where it does not converge, and
    where an element is not finite."""
    value = square("schur", a)
    if value.shape[-1] == 0:
        return value, value
    size = xp.max(xp.abs(value), axis=(-2, -1), keepdims=True)
    is_sound = xp.isfinite(size)
    scale = xp.where((size > 0) & is_sound, size, 1)  # near 1 nothing overflows on the way
    t, z = each_matrix(_schur, xp.where(is_sound, value, 0) / scale)
    return xp.where(is_sound, t * scale, np.nan), xp.where(is_sound, z, np.nan)


def values_of(t: Any) -> tuple[Any, Any]:
    """Real and imaginary parts of the eigenvalues of a quasi-triangular matrix."""
    n = t.shape[-1]
    real = diagonal(t)
    if n < 2:
        return real, xp.zeros_like(real)
    above, below = diagonal(t[..., :-1, 1:]), diagonal(t[..., 1:, :-1])
    size = xp.where(below == 0, 0, xp.sqrt(xp.abs(above)) * xp.sqrt(xp.abs(below)))
    beside = [(0, 0)] * (t.ndim - 2)
    return real, xp.pad(size, [*beside, (0, 1)]) - xp.pad(size, [*beside, (1, 0)])


def _schur(a: Any) -> tuple[Any, Any]:
    n = a.shape[-1]
    h, z = hessenberg_form(a)
    if n == 1:
        return h, z
    zero = np.int32(0)
    # A row and a column of zeros: reflections of three rows fit at the end too.
    h, z = xp.pad(h, ((0, 1), (0, 1))), xp.pad(z, ((0, 0), (0, 1)))
    limit = _STEPS_A_ROW * n

    def is_left(s: _State) -> Any:
        return (s.high > 0) & (s.k < limit)

    def step(s: _State) -> _State:
        h, z = _chased(s)
        h, low, high = _deflated(xp.triu(h, -1))
        stuck = xp.where(high == s.high, s.stuck + 1, 0).astype(np.int32)
        return _State(s.k + 1, stuck, h, z, low, high)

    h, low, high = _deflated(h)
    s: _State = while_loop(is_left, step, _State(zero, zero, h, z, low, high))
    h, z = fori_loop(0, n - 1, _standardized, (s.h, s.z))
    is_reached = s.high == 0
    return xp.where(is_reached, h[:n, :n], np.nan), xp.where(is_reached, z[:, :n], np.nan)


def _deflated(h: Any) -> tuple[Any, Any, Any]:
    """`h` without its negligible subdiagonal elements, and the ends of the last block of three rows or more
    (0 and 0 when there is none)."""
    n = h.shape[-1]
    size = xp.abs(diagonal(h))
    near = size[:-1] + size[1:]
    near = xp.where(near == 0, xp.max(xp.abs(h)), near)
    below = xp.abs(diagonal(h[1:]))
    is_joined = xp.pad(~(below <= epsilon(size.dtype) * near), (1, 0))  # with the row before
    row = positions(n)
    is_subdiagonal = row[:, None] == row[None, :] + 1
    h = xp.where(is_subdiagonal & ~is_joined[:, None], xp.zeros_like(h), h)
    is_third = is_joined & xp.pad(is_joined[:-1], (1, 0))
    high = xp.max(xp.where(is_third, row, 0))
    low = xp.max(xp.where(~is_joined & (row <= high), row, 0))
    return h, low.astype(np.int32), high.astype(np.int32)


def _at(h: Any, i: Any, j: Any) -> Any:
    return xp.reshape(ops.dynamic_slice(h, i, j, slice_sizes=(1, 1)), ())


def _start(s: _State) -> Any:
    """Three elements of the first column of ``(h - s1)(h - s2)``, the shifts from the block's last rows."""
    h, first, last = s.h, s.low, s.high
    a, b = _at(h, last - 1, last - 1), _at(h, last - 1, last)
    c, d = _at(h, last, last - 1), _at(h, last, last)
    is_exceptional = (s.stuck > 0) & (s.stuck % 10 == 0)
    size = xp.abs(c) + xp.abs(_at(h, last - 1, last - 2))
    total = xp.where(is_exceptional, 1.5 * size, a + d)
    product = xp.where(is_exceptional, size * size, a * d - b * c)
    h00, h01 = _at(h, first, first), _at(h, first, first + 1)
    h10, h11 = _at(h, first + 1, first), _at(h, first + 1, first + 1)
    return xp.stack(
        [
            h00 * h00 + h01 * h10 - total * h00 + product,
            h10 * (h00 + h11 - total),
            h10 * _at(h, first + 2, first + 1),
        ]
    )


def _chased(s: _State) -> tuple[Any, Any]:
    """One step on the active block: a reflection of three rows for each of its rows but the last."""
    n, rows = s.h.shape[-1], s.z.shape[0]
    zero = ops.sub(s.low, s.low)

    def is_left(c: _Chase) -> Any:
        return c.k < s.high

    def reflect(c: _Chase) -> _Chase:
        size = xp.max(xp.abs(c.x))
        x = c.x / xp.where(size == 0, 1, size)
        length = xp.sqrt(xp.sum(x * x))
        head = x[0] + xp.where(x[0] < 0, -length, length)
        v = xp.where(positions(3) == 0, head, x)
        square_ = xp.sum(v * v)
        factor = xp.where(square_ == 0, 0, 2 / xp.where(square_ == 0, 1, square_))
        across = ops.dynamic_slice(c.h, c.k, zero, slice_sizes=(3, n))
        across = across - (factor * v)[:, None] * xp.sum(v[:, None] * across, axis=0)
        h = ops.dynamic_update_slice(c.h, across, c.k, zero)
        down = ops.dynamic_slice(h, zero, c.k, slice_sizes=(n, 3))
        down = down - xp.sum(down * v, axis=1)[:, None] * (factor * v)
        h = ops.dynamic_update_slice(h, down, zero, c.k)
        down = ops.dynamic_slice(c.z, zero, c.k, slice_sizes=(rows, 3))
        down = down - xp.sum(down * v, axis=1)[:, None] * (factor * v)
        z = ops.dynamic_update_slice(c.z, down, zero, c.k)
        third = xp.where(c.k + 3 <= s.high, _at(h, xp.minimum(c.k + 3, n - 1), c.k), 0)
        return _Chase(c.k + 1, xp.stack([_at(h, c.k + 1, c.k), _at(h, c.k + 2, c.k), third]), h, z)

    done: _Chase = while_loop(is_left, reflect, _Chase(s.low, _start(s), s.h, s.z))
    return done.h, done.z


def _standardized(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
    """The rows `k` and `k + 1` turned so that their block is triangular, or has equal diagonal elements."""
    h, z = state
    k = as_value(k, np.int32)
    n = h.shape[-1]
    zero = ops.sub(k, k)
    a, b, c, d = _at(h, k, k), _at(h, k, k + 1), _at(h, k + 1, k), _at(h, k + 1, k + 1)
    cosine, sine, is_real = _rotation(a, b, c, d)
    is_whole = c == 0
    cosine, sine = xp.where(is_whole, 1, cosine), xp.where(is_whole, 0, sine)
    turn = xp.stack([xp.stack([cosine, -sine]), xp.stack([sine, cosine])])
    across = ops.dynamic_slice(h, k, zero, slice_sizes=(2, n))
    h = ops.dynamic_update_slice(h, xp.matmul(xp.matrix_transpose(turn), across), k, zero)
    h = ops.dynamic_update_slice(
        h, xp.matmul(ops.dynamic_slice(h, zero, k, slice_sizes=(n, 2)), turn), zero, k
    )
    block = ops.dynamic_slice(h, k, k, slice_sizes=(2, 2))
    mean = (block[0, 0] + block[1, 1]) / 2
    below = xp.where(is_whole | is_real, 0, block[1, 0])
    is_equal = ~is_whole & ~is_real
    first, last = (xp.where(is_equal, mean, block[i, i]) for i in (0, 1))
    exact = xp.stack([xp.stack([first, block[0, 1]]), xp.stack([below, last])])
    h = ops.dynamic_update_slice(h, exact, k, k)
    columns = ops.dynamic_slice(z, zero, k, slice_sizes=(z.shape[0], 2))
    return h, ops.dynamic_update_slice(z, xp.matmul(columns, turn), zero, k)


def _rotation(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any, Any]:
    """Cosine and sine for a block with `c` not 0, and whether its eigenvalues are real."""

    def signed(size: Any, like: Any) -> Any:
        return xp.where(like < 0, -size, size)

    def safe(x: Any) -> Any:
        return xp.where(x == 0, 1, x)

    half = (a - d) / 2
    most = xp.maximum(xp.abs(b), xp.abs(c))
    least = xp.minimum(xp.abs(b), xp.abs(c)) * signed(1, b) * signed(1, c)
    scale = safe(xp.maximum(xp.abs(half), most))
    z = half / scale * half + most / scale * least
    is_apart = z >= 4 * epsilon(a.dtype)
    # Real values apart from each other: the eigenvector of one of them.
    value = half + signed(xp.sqrt(scale) * xp.sqrt(xp.where(is_apart, z, 1)), half)
    size = safe(xp.hypot(c, value))
    # Others: first equal diagonal elements, then a triangle where the values are real after all.
    total = b + c
    length = safe(xp.hypot(total, a - d))
    cosine = xp.sqrt((1 + xp.abs(total) / length) / 2)
    sine = -(half / (length * cosine)) * signed(1, total)
    upper = (b * cosine - a * sine) * cosine + (d * cosine - c * sine) * sine
    lower = (c * cosine - a * sine) * cosine + (d * cosine - b * sine) * sine
    is_split = ~is_apart & (signed(1, upper) * signed(1, lower) > 0) & (lower != 0)
    both = safe(xp.abs(upper + lower))
    cosine2, sine2 = xp.sqrt(xp.abs(upper) / both), signed(xp.sqrt(xp.abs(lower) / both), lower)
    cosine2, sine2 = xp.where(is_split, cosine2, 1), xp.where(is_split, sine2, 0)
    turned = cosine * cosine2 - sine * sine2, cosine * sine2 + sine * cosine2
    # Blocks that have the form already, and those that are lower triangles.
    is_equal = (a == d) & (signed(1, b) != signed(1, c))
    is_lower = b == 0
    cosine = xp.where(is_apart, value / size, turned[0])
    sine = xp.where(is_apart, c / size, turned[1])
    cosine = xp.where(is_lower, 0, xp.where(is_equal, 1, cosine))
    sine = xp.where(is_lower, 1, xp.where(is_equal, 0, sine))
    return cosine, sine, is_lower | (~is_equal & (is_apart | is_split | (lower == 0)))

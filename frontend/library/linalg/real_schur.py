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

from ...control.while_loops import while_loop
from ...tracing.interpreter import ops
from .. import numpy as xp
from ..routines import routine
from .matrix_arguments import diagonal, epsilon, positions, square
from .schur import complex_of, each_matrix, hessenberg_form

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
    t, z = scaled_real_schur_form(xp.where(is_sound, value, 0) / scale)
    return xp.where(is_sound, t * scale, np.nan), xp.where(is_sound, z, np.nan)


def scaled_real_schur_form(a: Any) -> tuple[Any, Any]:
    """The same of finite matrices whose elements are at most 1, none of them empty."""
    h, z = routine("real_schur", lambda a: each_matrix(_schur, a), a)
    if a.shape[-1] < 2:
        return h, z
    blocks = _Blocks.of(h)
    t = blocks.turned(blocks.turned(h, -1), -2)
    return blocks.into(t), blocks.turned(z, -1)


def complex_schur_form(a: Any) -> tuple[Any, Any]:
    """The complex form of such matrices: a triangular `t` and a unitary `z`."""
    t, z = scaled_real_schur_form(a)
    if a.shape[-1] < 2:
        return complex_of(t), complex_of(z)
    # A block ((a, b), (c, a)) has the eigenvectors (b, +-ir), r^2 = -b c.
    above, below = diagonal(t[..., :-1, 1:]), diagonal(t[..., 1:, :-1])
    size = xp.where(below == 0, 0, xp.sqrt(xp.abs(above)) * xp.sqrt(xp.abs(below)))
    length = xp.where(below == 0, 1, xp.hypot(above, size))
    cosine = xp.where(below == 0, 1, above / length)
    real, beside = _along(cosine, cosine, 1), _along(size / length, size / length, 0, joined=False)
    none = xp.zeros_like(real)
    turn = ops.complex(real, none), *(ops.complex(none, x) for x in beside)
    back = turn[0], -turn[1], -turn[2]
    t, z = _combined(_combined(complex_of(t), turn, -1), back, -2), _combined(complex_of(z), turn, -1)
    return xp.triu(t), z


def scaled_values(a: Any) -> tuple[Any, Any]:
    """Real and imaginary parts of the eigenvalues of such matrices, in the order of their forms."""
    h = routine("real_schur_blocks", lambda a: each_matrix(_schur, a)[0], a)
    if a.shape[-1] < 2:
        return values_of(h)
    blocks = _Blocks.of(h)
    return blocks.diagonal, _imaginary(blocks.above, blocks.below)


def values_of(t: Any) -> tuple[Any, Any]:
    """Real and imaginary parts of the eigenvalues of a quasi-triangular matrix."""
    real = diagonal(t)
    if t.shape[-1] < 2:
        return real, xp.zeros_like(real)
    return real, _imaginary(diagonal(t[..., :-1, 1:]), diagonal(t[..., 1:, :-1]))


def _imaginary(above: Any, below: Any) -> Any:
    size = xp.where(below == 0, 0, xp.sqrt(xp.abs(above)) * xp.sqrt(xp.abs(below)))
    beside = [(0, 0)] * (size.ndim - 1)
    return xp.pad(size, [*beside, (0, 1)]) - xp.pad(size, [*beside, (1, 0)])


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
    is_reached = s.high == 0
    return xp.where(is_reached, s.h[:n, :n], np.nan), xp.where(is_reached, s.z[:, :n], np.nan)


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


class _Blocks(NamedTuple):
    """The blocks on the diagonal, turned so that they are triangular, or have equal diagonal elements.

    `turn`: what a row or column is multiplied by, and the next and the one before it. `diagonal` `[..., n]`,
    `above` and `below` `[..., n - 1]` are the elements of the turned matrix.
    """

    turn: tuple[Any, Any, Any]
    diagonal: Any
    above: Any
    below: Any

    @classmethod
    def of(cls, h: Any) -> _Blocks:
        """Those of a quasi-triangular matrix of two rows or more: no row is in two of them."""
        middle = diagonal(h)
        a, d = middle[..., :-1], middle[..., 1:]
        b, c = diagonal(h[..., :-1, 1:]), diagonal(h[..., 1:, :-1])
        cosine, sine, is_real = _rotation(a, b, c, d)
        is_whole = c == 0
        cosine, sine = xp.where(is_whole, 1, cosine), xp.where(is_whole, 0, sine)
        top = cosine * a + sine * c, cosine * b + sine * d
        bottom = cosine * c - sine * a, cosine * d - sine * b
        first, above = top[0] * cosine + top[1] * sine, top[1] * cosine - top[0] * sine
        last = bottom[1] * cosine - bottom[0] * sine
        below = xp.where(is_whole | is_real, 0, bottom[0] * cosine + bottom[1] * sine)
        mean = (first + last) / 2
        first, last = (xp.where(is_whole | is_real, x, mean) for x in (first, last))
        is_first, is_second = (_padded(~is_whole, side, False) for side in (0, 1))
        middle = xp.where(is_first, _padded(first, 0, 0), xp.where(is_second, _padded(last, 1, 0), middle))
        turn = _along(cosine, cosine, 1), *_along(sine, -sine, 0, joined=False)
        return cls(turn, middle, xp.where(is_whole, b, above), below)

    def turned(self, x: Any, axis: int) -> Any:
        """The columns (axis -1) or rows (axis -2) of matrices, turned."""
        return _combined(x, self.turn, axis)

    def into(self, t: Any) -> Any:
        """The turned matrix with these elements."""
        row, column = positions(t.shape[-1])[:, None], positions(t.shape[-1])
        below = xp.expand_dims(_padded(self.below, 0, 0), -2)
        t = xp.where(row == column, xp.expand_dims(self.diagonal, -2), t)
        return xp.where(row == column + 1, below, t)


def _padded(x: Any, before: int, value: Any) -> Any:
    """`x` with one more element, at the end or before."""
    width = [*[(0, 0)] * (x.ndim - 1), (before, 1 - before)]
    return xp.pad(x, width, constant_values=value)


def _along(x: Any, y: Any, value: Any, *, joined: bool = True) -> Any:
    """For each row what it takes as the first of a pair, and as the second: the product, or both."""
    first, second = _padded(x, 0, value), _padded(y, 1, value)
    return first * second if joined else (first, second)


def _combined(x: Any, turn: tuple[Any, Any, Any], axis: int) -> Any:
    """Each column (or row) times its factor, and the next and the one before times theirs."""
    along = (xp.expand_dims(factor, -2 if axis == -1 else -1) for factor in turn)
    mine, following, before = along
    return mine * x + following * xp.roll(x, -1, axis) + before * xp.roll(x, 1, axis)


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

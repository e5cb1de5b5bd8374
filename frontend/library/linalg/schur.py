"""Hessenberg and Schur forms of square matrices.

Input: square matrices, batches as leading axes. Output: unitary factors, and Hessenberg or triangular ones.

Idea: Householder reflections make a matrix Hessenberg; implicit QR steps with Wilkinson's shift, chasing one
rotation down the active block, make its subdiagonal vanish from the end on (Golub and Van Loan 2013, sections
7.4 and 7.5; exceptional shifts each tenth step). All of it is one complex loop.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....dialects.types import COMPLEX64, COMPLEX128, FLOAT32
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...tracing.interpreter import ops
from ...transforms.vmap import vmap
from .. import numpy as xp
from .matrix_arguments import adjoint, column, conjugate, diagonal, entry, epsilon, positions, unit
from .qr import compact, reflection

_STEPS_A_ROW = 30


def complex_of(x: Any) -> Any:
    """`x` as complex numbers of its precision."""
    if x.dtype.kind == "c":
        return x
    return xp.astype(x, COMPLEX64 if x.dtype == FLOAT32 else COMPLEX128)


def each_matrix(function: Any, *xs: Any) -> Any:
    """`function` of matrices, mapped over leading axes that all of `xs` have."""
    for _ in range(xs[0].ndim - 2):
        function = vmap(function)
    return function(*xs)


def reduced_to_hessenberg(a: Any) -> tuple[Any, Any, Any]:
    """`h`, and the vectors (as columns) and factors of the reflections with ``q^H a q = h``."""
    n = a.shape[-1]
    rows = positions(n)

    def reflect(a: Any, k: Any) -> Any:
        current = column(a, k)
        tail = xp.where(rows > k + 1, current, xp.zeros_like(current))
        v, tau = reflection(tail, entry(current, k + 1), rows == k + 1)
        v = xp.where(rows > k, v, xp.zeros_like(v))
        along = xp.matmul(xp.expand_dims(conjugate(v), -2), a)
        a = a - xp.expand_dims(conjugate(tau) * v, -1) * along
        across = xp.matmul(a, xp.expand_dims(v, -1))
        a = a - across * xp.expand_dims(tau * conjugate(v), -2)
        return a, (v, tau)

    h, (vs, taus) = scan(reflect, a, positions(n)[: max(n - 2, 0)])
    return h, xp.moveaxis(vs, 0, -1), xp.moveaxis(taus, 0, -2)[..., 0]


def hessenberg_form(a: Any) -> tuple[Any, Any]:
    """`h`, zero below its first subdiagonal, and a unitary `q` with ``q h q^H = a``."""
    n = a.shape[-1]
    if n < 3:
        return a, xp.zeros_like(a) + unit(n, a.dtype)
    h, v, taus = reduced_to_hessenberg(a)
    t = compact(v, xp.moveaxis(taus, -1, 0)[..., None])
    q = unit(n, a.dtype) - xp.matmul(v, xp.matmul(t, adjoint(v)))
    return xp.triu(h, -1), q


class _State(NamedTuple):
    k: Any
    stuck: Any
    h: Any
    z: Any
    low: Any
    high: Any


def triangular_form(a: Any) -> tuple[Any, Any]:
    """The form and the unitary factor of one complex matrix whose elements are at most 1."""
    n = a.shape[-1]
    h, z = hessenberg_form(a)
    if n == 1:
        return h, z
    zero = np.int32(0)
    limit = _STEPS_A_ROW * n

    def is_left(s: _State) -> Any:
        return (s.high > 0) & (s.k < limit)

    def step(s: _State) -> _State:
        h, z = _chased(s)
        h, low, high = _deflated(h)
        stuck = xp.where(high == s.high, s.stuck + 1, 0).astype(np.int32)
        return _State(s.k + 1, stuck, h, z, low, high)

    h, low, high = _deflated(h)
    s: _State = while_loop(is_left, step, _State(zero, zero, h, z, low, high))
    is_reached = s.high == 0
    nan = xp.full_like(s.h, np.nan)
    return xp.where(is_reached, xp.triu(s.h), nan), xp.where(is_reached, s.z, nan)


def _deflated(h: Any) -> tuple[Any, Any, Any]:
    """`h` without its negligible subdiagonal elements, and the ends of the last block that is not triangular
    (0 and 0 when there is none)."""
    n = h.shape[-1]
    size = xp.abs(diagonal(h))
    near = size[:-1] + size[1:]
    scale = xp.max(xp.abs(h))
    near = xp.where(near == 0, scale, near)
    below = xp.abs(diagonal(h[1:]))
    is_left = ~(below <= epsilon(size.dtype) * near)
    kept = xp.pad(is_left, (1, 0))
    row = positions(n)
    is_subdiagonal = row[:, None] == row[None, :] + 1
    h = xp.where(is_subdiagonal & ~kept[:, None], xp.zeros_like(h), h)
    high = xp.max(xp.where(kept, row, 0))
    # The block begins after the last vanished element before its end.
    is_end = ~kept & (row <= high)
    low = xp.where(high > 0, xp.max(xp.where(is_end, row, 0)), 0)
    return h, low.astype(np.int32), high.astype(np.int32)


def _at(h: Any, i: Any, j: Any) -> Any:
    return xp.reshape(ops.dynamic_slice(h, i, j, slice_sizes=(1, 1)), ())


def _shift(s: _State) -> Any:
    """The eigenvalue of the block's last two rows that is nearer to the last element."""
    h, last = s.h, s.high
    a, b = _at(h, last - 1, last - 1), _at(h, last - 1, last)
    c, d = _at(h, last, last - 1), _at(h, last, last)
    half = (a - d) * 0.5
    root = xp.sqrt(half * half + b * c)
    # The larger of both signs, so that nothing cancels.
    same = xp.real(xp.conj(half) * root) >= 0
    below = half + xp.where(same, root, -root)
    is_zero = below == 0
    shift = d - xp.where(is_zero, 0, b * c / xp.where(is_zero, 1, below))
    exceptional = d + xp.abs(c)
    return xp.where((s.stuck > 0) & (s.stuck % 10 == 0), exceptional, shift)


def _chased(s: _State) -> tuple[Any, Any]:
    """One implicit QR step on the active block: a rotation for each of its rows but the last."""
    n = s.h.shape[-1]
    zero = ops.sub(s.low, s.low)
    first = _at(s.h, s.low, s.low) - _shift(s), _at(s.h, s.low + 1, s.low)

    def is_left(state: Any) -> Any:
        return state[0] < s.high

    def rotate(state: Any) -> Any:
        k, x, y, h, z = state
        size = xp.hypot(xp.abs(x), xp.abs(y))
        is_zero = size == 0
        safe = xp.where(is_zero, 1, size)
        cosine, sine = xp.where(is_zero, 1, x / safe), xp.where(is_zero, 0, y / safe)
        rows = ops.dynamic_slice(h, k, zero, slice_sizes=(2, n))
        left = xp.stack([xp.stack([xp.conj(cosine), xp.conj(sine)]), xp.stack([-sine, cosine])])
        h = ops.dynamic_update_slice(h, xp.matmul(left, rows), k, zero)
        right = adjoint(left)
        columns = ops.dynamic_slice(h, zero, k, slice_sizes=(n, 2))
        h = ops.dynamic_update_slice(h, xp.matmul(columns, right), zero, k)
        columns = ops.dynamic_slice(z, zero, k, slice_sizes=(n, 2))
        z = ops.dynamic_update_slice(z, xp.matmul(columns, right), zero, k)
        after = xp.minimum(k + 2, n - 1).astype(np.int32)
        return k + 1, _at(h, k + 1, k), xp.where(k + 2 <= s.high, _at(h, after, k), 0), h, z

    _, _, _, h, z = while_loop(is_left, rotate, (s.low, *first, s.h, s.z))
    return h, z

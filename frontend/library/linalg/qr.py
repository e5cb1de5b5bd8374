"""QR factors by Householder reflections, in the compact WY form.

Up to `BLOCK` columns are reflected one by one; wider matrices are split by columns and their reflections put
together as ``I - v t v^H`` (Elmroth and Gustavson 2000, Applying recursion to serial and parallel QR
factorization), so that most of the work is in products: 2 n^2 (m - n/3) operations. Signs are LAPACK's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...control.scans import scan
from ...tracing.function_scope import keep_dimensions
from ...tracing.interpreter import ops
from ...tracing.sizes import minimum
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error
from ..numpy.promotion import same_size
from ..routines import routine
from .matrix_arguments import (
    adjoint,
    column,
    conjugate,
    entry,
    is_block,
    is_complex,
    is_empty,
    is_less,
    is_named,
    matrix,
    over,
    positions,
    real_part,
    squares,
    unit,
    zeros,
)
from .triangular import halved, solve_lower, solve_upper

MODES = ("reduced", "complete", "r", "raw")


class QRResult(NamedTuple):
    """Orthonormal columns, and the upper triangle that combines them."""

    Q: Any
    R: Any


def qr(a: Any, mode: str = "reduced") -> QRResult | Any:
    """``a = q @ r`` with orthonormal columns in `q` and upper triangular `r`; mode `r` returns `r` alone.

    `complete` has a square `q`. `raw` returns `(h, tau)` as LAPACK's geqrf has them: `r` on and above the
    diagonal of `h` transposed, the reflections that `householder_product` and `ormqr` take below it. The
    derivative of `reduced` factors is a closed formula (Walter and Lehmann 2010) and needs columns of full
    rank; those of `complete` and `raw` ones follow the reflections.
    """
    if mode not in MODES:
        raise argument_error(f"qr: mode is {mode!r}, expected one of {', '.join(map(repr, MODES))}")
    value = matrix("qr", a, named=True)
    rows, columns = value.shape[-2:]
    if mode == "raw":
        return _raw(value)
    if mode == "complete" and is_named(rows, columns) and not same_size(rows, columns):
        return QRResult(*householder(value, rows))
    if mode == "complete" and is_less(columns, rows):
        return QRResult(*householder(value, rows))
    if is_less(rows, columns):  # the columns beyond a square follow from its factors
        q, r = _reduced(value[..., :rows])
        r = xp.concatenate([r, xp.matmul(adjoint(q), value[..., rows:])], axis=-1)
    else:
        q, r = _reduced(value)
    return r if mode == "r" else QRResult(q, r)


def pivots(a: Any) -> Any:
    """The order of columns, int32 `[..., columns]`, in which LAPACK's geqp3 factors `a`.

    Each step exchanges the column with the longest part orthogonal to those before it (the first of equal
    ones) to the front and takes its direction out of the others. The order has no derivative.
    """
    value = ops.stop_gradient(a)
    columns = value.shape[-1]
    places = positions(columns)
    order = xp.broadcast_to(xp.astype(places, np.int32), (*value.shape[:-2], columns))
    if is_empty(*value.shape[-2:]):
        return order
    largest = xp.max(xp.abs(value), axis=(-2, -1), keepdims=True)
    scale = xp.where(largest > 0, largest, xp.ones_like(largest))  # so that squares stay finite
    start = over(value, scale)

    def exchange(state: Any, k: Any) -> Any:
        rest, order = state
        lengths = xp.where(places >= k, xp.sum(squares(rest), axis=-2), -1.0)
        best = xp.argmax(lengths, axis=-1, keepdims=True)
        moved = xp.where(places == k, best, xp.where(places == best, k, places))
        rest = xp.take_along_axis(rest, xp.expand_dims(moved, -2), axis=-1)
        order = xp.take_along_axis(order, moved, axis=-1)
        chosen = column(rest, k)
        length = xp.sqrt(xp.sum(squares(chosen), axis=-1, keepdims=True))
        direction = over(chosen, xp.where(length > 0, length, xp.ones_like(length)))
        along = xp.matmul(xp.expand_dims(conjugate(direction), -2), rest)
        return (rest - xp.expand_dims(direction, -1) * along, order), None

    steps = positions(minimum(*value.shape[-2:]))
    return scan(exchange, (start, order), steps)[0][1]


def pivoted(a: Any) -> tuple[Any, Any]:
    """The columns of a matrix in the order of `pivots`, and that order."""
    value = matrix("qr", a)
    order = pivots(value)
    return xp.take_along_axis(value, xp.expand_dims(order, -2), axis=-1), order


def _raw(a: Any) -> tuple[Any, Any]:
    """The reflections of the first columns beside `r`, transposed as NumPy has it, and their factors."""
    rows, columns = a.shape[-2:]
    count = minimum(rows, columns)
    if is_empty(rows, columns):
        return xp.matrix_transpose(a), xp.zeros((*a.shape[:-2], count), dtype=a.dtype)
    v, t, r = _reflections(a[..., :count])
    packed = xp.triu(r) + xp.tril(v, -1)
    if is_less(rows, columns):
        rest = a[..., count:]
        rest = rest - xp.matmul(v, xp.matmul(adjoint(t), xp.matmul(adjoint(v), rest)))
        packed = xp.concatenate([packed, rest], axis=-1)
    return xp.matrix_transpose(packed), xp.diagonal(t, axis1=-2, axis2=-1)


@custom_jvp
def _reduced(a: Any) -> Any:
    return householder(a, minimum(*a.shape[-2:]))


# With m = q^H da r^-1: dr = (m - w) r, dq = da r^-1 - q (m - w), where w = tril(m, -1) - tril(m, -1)^H is
# skew and the diagonal of dr is kept real.
@_reduced.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    q, r = _reduced(a)
    if is_named(*a.shape[-2:]) and not same_size(*a.shape[-2:]):
        least = r.shape[-2]
        dq, _ = _changes(q, r[..., :least], da[..., :least])
        return (q, r), (dq, xp.triu(xp.matmul(adjoint(dq), a) + xp.matmul(adjoint(q), da)))
    return (q, r), _changes(q, r, da)


def _changes(q: Any, r: Any, da: Any) -> tuple[Any, Any]:
    """The changes of factors of matrices with at least as many rows as columns."""
    scaled = xp.matrix_transpose(solve_lower(xp.matrix_transpose(r), xp.matrix_transpose(da), False))
    middle = xp.matmul(adjoint(q), scaled)
    lower = xp.tril(middle, -1)
    skew = lower - adjoint(lower)
    if is_complex(q):
        diagonal = xp.triu(xp.tril(middle))
        skew = skew + diagonal - xp.astype(ops.real(diagonal), q.dtype)
    dq = scaled + xp.matmul(q, skew - middle)
    return dq, xp.matmul(middle - skew, r)


def householder(a: Any, width: Any) -> tuple[Any, Any]:
    """The first `width` columns of `q`, and as many rows of `r`."""
    rows, columns = a.shape[-2:]
    if is_empty(rows, columns):
        q = xp.zeros((*a.shape[:-2], rows, width), dtype=a.dtype) + xp.eye(rows, width, dtype=a.dtype)
        return q, a[..., :width, :]
    if is_named(rows, columns):
        return _of_named(a, width)
    if width == columns:
        return routine("qr", lambda a: _composed(a, columns), a)
    if width == rows:
        return routine("qr_complete", lambda a: _composed(a, rows), a)
    return _composed(a, width)


def _of_named(a: Any, width: Any) -> tuple[Any, Any]:
    """The same of matrices one of whose sizes shows at the call."""
    *batch, rows, columns = a.shape
    if same_size(width, columns):
        q, r = routine("qr", lambda a: _composed(a, a.shape[-1]), a)
    elif same_size(width, minimum(rows, columns)):
        q, r = routine("qr", lambda a: _composed(a, minimum(*a.shape[-2:])), a)
    elif same_size(width, rows):
        q, r = routine("qr_complete", lambda a: _composed(a, a.shape[-2]), a)
    else:
        q, r = _composed(a, width)
    return keep_dimensions(q, (*batch, rows, width)), keep_dimensions(r, (*batch, width, columns))


def _composed(a: Any, width: Any) -> tuple[Any, Any]:
    rows = a.shape[-2]
    v, t, r = _reflections(a)
    q = xp.eye(rows, width, dtype=a.dtype) - xp.matmul(v, xp.matmul(t, adjoint(v[..., :width, :])))
    return q, xp.triu(r)[..., :width, :]


def _reflections(a: Any) -> tuple[Any, Any, Any]:
    """`v`, `t` and `r` with ``(I - v t v^H)^H a = r``, for at least as many rows as columns."""
    columns = a.shape[-1]
    if is_named(a.shape[-2]) or is_block(columns):
        return _panel(a)
    half = halved(columns)
    v, t, r = _reflections(a[..., :half])
    rest = a[..., half:]
    rest = rest - xp.matmul(v, xp.matmul(adjoint(t), xp.matmul(adjoint(v), rest)))
    below, more_t, more_r = _reflections(rest[..., half:, :])
    batch = a.shape[:-2]
    more_v = xp.concatenate([zeros((*batch, half, columns - half), a.dtype), below], axis=-2)
    corner = -xp.matmul(t, xp.matmul(xp.matmul(adjoint(v), more_v), more_t))
    empty = zeros((*batch, columns - half, half), a.dtype)
    top = xp.concatenate([t, corner], axis=-1)
    right = xp.concatenate([rest[..., :half, :], more_r], axis=-2)
    return (
        xp.concatenate([v, more_v], axis=-1),
        xp.concatenate([top, xp.concatenate([empty, more_t], axis=-1)], axis=-2),
        xp.concatenate([r, right], axis=-1),
    )


def _panel(a: Any) -> tuple[Any, Any, Any]:
    rows, columns = positions(a.shape[-2]), positions(a.shape[-1])

    def reflect(a: Any, k: Any) -> Any:
        current = column(a, k)
        v, tau = reflection(xp.where(rows > k, current, xp.zeros_like(current)), entry(current, k), rows == k)
        along = xp.matmul(xp.expand_dims(conjugate(v), -2), a)
        return a - xp.expand_dims(conjugate(tau) * v, -1) * along, (v, tau)

    steps = columns if same_size(*a.shape[-2:]) else positions(minimum(*a.shape[-2:]))
    r, (vs, taus) = scan(reflect, a, steps)
    v = xp.moveaxis(vs, 0, -1)
    return v, compact(v, taus), r


def compact(v: Any, taus: Any) -> Any:
    """`t` with ``I - v t v^H`` the product of the reflections ``I - tau v v^H``, of the columns of `v`.

    With `u` the products of columns above the diagonal, ``t = (I + diag(tau) u)^-1 diag(tau)`` (Puglisi 1992,
    Modification of the Householder method based on the compact WY representation).
    """
    factors = xp.moveaxis(taus, 0, -2)
    products = xp.triu(xp.matmul(adjoint(v), v), 1)
    return solve_upper(factors * products, factors * unit(v.shape[-1], v.dtype), True)


def reflection(tail: Any, head: Any, is_head: Any) -> tuple[Any, Any]:
    """`v` and `tau` of the reflection that moves ``head, tail`` onto its first axis, as LAPACK's larfg."""
    longest = xp.max(xp.abs(tail), axis=-1, keepdims=True)
    is_flat = longest == 0
    largest = xp.maximum(longest, xp.abs(head))
    # Divided by the largest, so that neither squares nor quotients of the smallest floats lose digits.
    scale = xp.where(largest > 0, largest, xp.ones_like(largest))
    tail, head = over(tail, scale), over(head, scale)
    length = xp.sqrt(xp.sum(squares(tail), axis=-1, keepdims=True, dtype=largest.dtype))
    if is_complex(head):
        size = xp.hypot(xp.hypot(ops.real(head), ops.imag(head)), length)
        is_flat = xp.logical_and(is_flat, ops.imag(head) == 0)
    else:
        size = xp.hypot(head, length)
    # Where nothing is to be moved the reflection is the identity; 1 stands in for what is not used.
    size = xp.where(is_flat, xp.ones_like(size), size)
    end = xp.astype(xp.where(real_part(head) < 0, size, -size), head.dtype)
    tau = xp.where(is_flat, xp.zeros_like(head), (end - head) / end)
    away = xp.where(is_flat, xp.ones_like(head), head - end)
    v = xp.where(is_head, xp.ones_like(tail), tail / away)
    return v, tau

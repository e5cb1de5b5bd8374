"""Determinants by LU factors, of up to three rows by cofactors.

Their derivatives are cofactors, which singular matrices have too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....dialects.types import INT32
from ...control.branches import cond
from ...tracing.interpreter import ops
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import count_array
from ..numpy.promotion import broadcast
from .lu import factor, inv, parity, signed_pivots, solve_factored
from .matrix_arguments import (
    adjoint,
    diagonal,
    epsilon,
    is_complex,
    is_empty,
    is_named,
    phase,
    positions,
    real_part,
    square,
    unit,
)
from .svd import svd


def det(a: Any) -> Any:
    """The determinant of each matrix. It has all derivatives, at singular matrices too."""
    value = square("det", a, named=True)
    if is_empty(value.shape[-1]):
        return xp.ones(value.shape[:-2], dtype=value.dtype)
    return _det(value)


@custom_jvp
def _det(a: Any) -> Any:
    n = a.shape[-1]
    if not is_named(n) and n <= 3:
        first = [a[..., 0, k] * cofactor for k, cofactor in enumerate(_first_cofactors(a))]
        return sum(first[1:], first[0])
    return xp.prod(signed_pivots(a), axis=-1, dtype=a.dtype)


@custom_jvp
def _det_of_factors(a: Any) -> Any:
    """The same by the factors that the derivative needs as well."""
    n = a.shape[-1]
    if not is_named(n) and n <= 3:
        return _det(a)
    packed, pivots, _ = factor(a)
    return xp.prod(diagonal(packed), axis=-1, dtype=a.dtype) * parity(pivots, a.dtype)


# d det a = tr(adj(a) da) (Giles 2008, Collected matrix derivative results, section 2.2.4).
@_det.defjvp
@_det_of_factors.defjvp
def _det_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    return _det_of_factors(a), xp.sum(adjugate(a) * xp.matrix_transpose(da), axis=(-2, -1))


def adjugate(a: Any) -> Any:
    """``det(a) a^-1``, the transposed cofactors: polynomials, written out for up to three rows."""
    n = a.shape[-1]
    if is_named(n):
        return _adjugate(a)
    if n == 1:
        return xp.ones_like(a)
    if n > 3:
        return _adjugate(a)
    rows = [[a[..., i, j] for j in range(n)] for i in range(n)]
    if n == 2:
        (p, q), (r, s) = rows
        columns = [[s, -r], [-q, p]]
    else:
        columns = [_cross(rows[k - 2], rows[k - 1]) for k in range(3)]
    return xp.stack([xp.stack(c, axis=-1) for c in columns], axis=-1)


def _first_cofactors(a: Any) -> list[Any]:
    """Those of the first row of matrices of up to three rows."""
    n = a.shape[-1]
    if n == 1:
        return [xp.ones_like(a[..., 0, 0])]
    if n == 2:
        return [a[..., 1, 1], -a[..., 1, 0]]
    return _cross(*([a[..., i, j] for j in range(3)] for i in (1, 2)))


def _cross(x: list[Any], y: list[Any]) -> list[Any]:
    """The vector product, orthogonal to both."""
    return [x[k - 2] * y[k - 1] - x[k - 1] * y[k - 2] for k in range(3)]


@custom_jvp
def _adjugate(a: Any) -> Any:
    """By LU factors. A pivot of zero counts as one of rounding size: determinant and inverse then say the
    same of it, and their product is right to rounding.
    """
    packed, pivots, order = factor(a)
    n = a.shape[-1]
    pivot = diagonal(packed)
    size = _largest(a)
    least = xp.where(size > 0, size, xp.ones_like(size)) * size.dtype.type(epsilon(a.dtype))
    change = xp.where(pivot == 0, xp.astype(xp.expand_dims(least, -1), a.dtype), xp.zeros_like(pivot))
    one = unit(n, a.dtype)
    packed = packed + one * xp.expand_dims(change, -1)
    inverse = solve_factored(packed, order, broadcast(one, a.shape))
    determinant = xp.prod(pivot + change, axis=-1, dtype=a.dtype) * parity(pivots, a.dtype)
    return inverse * xp.expand_dims(determinant, (-2, -1))


def _largest(a: Any) -> Any:
    return xp.max(xp.abs(a), axis=(-2, -1))


@_adjugate.defjvp
def _adjugate_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    result = _adjugate(a)
    pivots = xp.min(xp.abs(diagonal(factor(a)[0])), axis=-1)
    limit = _largest(a) * pivots.dtype.type(epsilon(a.dtype) ** 0.25)
    is_singular = ops.stop_gradient(pivots <= limit)
    change = cond(xp.any(is_singular), _change_at_any, _change_by_inverse, is_singular, a, da, result)
    return result, change


def _change_at_any(is_singular: Any, a: Any, da: Any, result: Any) -> Any:
    mask = xp.expand_dims(is_singular, (-2, -1))
    change = _change_by_inverse(is_singular, a, da, result)
    return xp.where(mask, _change_by_svd(mask, a, da), change)


# adj = det(a) x with x = a^-1: d adj = tr(adj da) x - x da adj. Terms of the size of x^2 det(a) cancel, so
# that the matrix must be far from singular.
def _change_by_inverse(is_singular: Any, a: Any, da: Any, result: Any) -> Any:
    # No infinities in matrices that are not asked for: they would meet cotangents of zero.
    mask = xp.expand_dims(is_singular, (-2, -1))
    inverse = inv(xp.where(mask, unit(a.shape[-1], a.dtype), a))
    trace = xp.sum(result * xp.matrix_transpose(da), axis=(-2, -1), keepdims=True)
    return trace * inverse - xp.matmul(inverse, xp.matmul(da, result))


# With a = u s v^H and m = u^H da v, adj(a) = det(v^H) det(u) v adj(s) u^H, and d adj(s) at a diagonal s are
# products of all but two singular values: of the others with -m_ij beside the diagonal, and on it the sum
# over k != i of m_kk times the product without i and k. Nothing is divided.
def _change_by_svd(mask: Any, a: Any, da: Any) -> Any:
    n = a.shape[-1]
    falling = count_array(n, INT32) - positions(n)
    distinct = unit(n, a.dtype) * xp.astype(falling, a.dtype)  # whose factors have derivatives
    u, s, vh = svd(xp.where(mask, a, distinct), full_matrices=False)
    v = adjoint(vh)
    turned = xp.matmul(adjoint(u), xp.matmul(da, v))
    products = xp.astype(_products_without_two(s), a.dtype)
    traces = xp.matmul(products, xp.expand_dims(diagonal(turned), -1))
    one = unit(n, a.dtype)
    change = one * traces - products * turned
    sign = xp.expand_dims(_det(u) * _det(vh), (-2, -1))
    return sign * xp.matmul(v, xp.matmul(change, adjoint(u)))


def _products_without_two(s: Any) -> Any:
    """For `i != j` the product of all elements of `s` but `i` and `j`; zeros on the diagonal."""
    n = s.shape[-1]
    index = positions(n)
    row, column = xp.expand_dims(index, -1), xp.expand_dims(index, -2)
    before = _running(s)
    after = xp.flip(_running(xp.flip(s, axis=-1)), axis=-1)
    between = _running(xp.where(column > row, xp.expand_dims(s, -2), xp.ones_like(s[..., :1, None])))
    upper = xp.expand_dims(before, -1) * between * xp.expand_dims(after, -2)
    upper = xp.where(column > row, upper, xp.zeros_like(upper))
    return upper + xp.matrix_transpose(upper)


def _running(x: Any) -> Any:
    """The product of all elements before each one, along the last axis."""
    return xp.concatenate([xp.ones_like(x[..., :1]), xp.cumprod(x, axis=-1)[..., :-1]], axis=-1)


@custom_jvp
def _slogdet(a: Any) -> Any:
    return _of_pivots(signed_pivots(a))


@custom_jvp
def _slogdet_of_factors(a: Any) -> Any:
    """The same by the factors that the derivative needs as well."""
    packed, pivots, _ = factor(a)
    sign, logarithm = _of_pivots(diagonal(packed))
    return sign * parity(pivots, a.dtype), logarithm


def _of_pivots(pivots: Any) -> tuple[Any, Any]:
    """The sign of a product, and the logarithm of its magnitude."""
    size = xp.abs(pivots)
    units = xp.where(size == 0, pivots, phase(pivots))
    return xp.prod(units, axis=-1, dtype=pivots.dtype), xp.sum(xp.log(size), axis=-1)


@_slogdet.defjvp
@_slogdet_of_factors.defjvp
def _slogdet_rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    sign, logarithm = _slogdet_of_factors(a)
    change = xp.sum(inv(a) * xp.matrix_transpose(da), axis=(-2, -1))
    turned = ops.zeros_like(sign)
    if is_complex(a):  # the sign moves along the unit circle
        imaginary = ops.imag(change)
        turned = sign * ops.complex(ops.zeros_like(imaginary), imaginary)
    return (sign, logarithm), (turned, real_part(change))


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Any
    logabsdet: Any


def slogdet(a: Any, *, method: str | None = None) -> SlogdetResult:
    """The sign (a unit complex number for complex matrices) and the logarithm of ``|det a|``.

    `method` is a hint.
    """
    value = square("slogdet", a, named=True)
    if is_empty(value.shape[-1]):
        sign = xp.ones(value.shape[:-2], dtype=value.dtype)
        return SlogdetResult(sign, real_part(ops.zeros_like(sign)))
    return SlogdetResult(*_slogdet(value))

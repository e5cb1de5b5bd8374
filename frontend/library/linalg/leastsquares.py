"""Functions of singular values: pseudoinverse, least squares, rank, condition.

Input: matrices of any shape. Idea: singular values up to a tolerance relative to the largest count as zero
(defaults: NumPy's).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import INT32
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from ...tracing.sizes import maximum
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import argument_error, count_array, shape_error
from ..numpy.promotion import promote, same_size, type_text
from .eigh import eigvalsh
from .lu import inv
from .matrix_arguments import (
    adjoint,
    diagonal,
    epsilon,
    inexact,
    is_empty,
    is_less,
    is_named,
    matrix,
    real_part,
    square,
    squares,
)
from .norms import matrix_norm
from .svd import decompose, singular_values


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """The Moore-Penrose pseudoinverse.

    Singular values up to `rtol` (or `rcond`) of the largest count as zero; the default is
    ``max(m, n) * eps``. `hermitian` is accepted, and the same method is used.
    """
    value = square("pinv", a, named=True) if hermitian else matrix("pinv", a, named=True)
    if rcond is not None and rtol is not None:
        raise argument_error("pinv: rtol and rcond mean the same, give one of them")
    limit = _tolerance(value, rtol if rcond is None else rcond)
    return _pseudoinverse(value, limit)[0]


def _tolerance(a: Any, relative: Any) -> Any:
    """A relative tolerance as an array that broadcasts against batches."""
    real = real_part(a).dtype
    if relative is None and is_named(*a.shape[-2:]):
        return xp.astype(count_array(maximum(*a.shape[-2:]), INT32), real) * real.type(epsilon(a.dtype))
    if relative is None:
        return xp.asarray(np.asarray(max(a.shape[-2:]) * epsilon(a.dtype), real))
    return ops.stop_gradient(xp.asarray(relative, dtype=real))


@custom_jvp
def _pseudoinverse(a: Any, limit: Any) -> tuple[Any, Any]:
    """The pseudoinverse and the singular values, from one decomposition."""
    u, s, vh = decompose(a)
    if is_empty(s.shape[-1]):
        return xp.matmul(adjoint(vh), adjoint(u)), s
    is_kept = s > xp.expand_dims(limit, -1) * _largest(s)
    inverse = xp.where(is_kept, 1 / xp.where(is_kept, s, xp.ones_like(s)), xp.zeros_like(s))
    scaled = adjoint(vh) * xp.expand_dims(xp.astype(inverse, a.dtype), -2)
    return xp.matmul(scaled, adjoint(u)), s


# dp = -p da p + p p^H da^H (1 - a p) + (1 - p a) da^H p^H p at constant rank (Golub and Pereyra 1973).
@_pseudoinverse.defjvp
def _pseudoinverse_rule(primals: Any, tangents: Any) -> Any:
    (a, limit), (da, _) = primals, tangents
    p, s = _pseudoinverse(a, limit)
    ph, dah = adjoint(p), adjoint(da)
    middle = -xp.matmul(p, xp.matmul(da, p))
    left = xp.matmul(p, xp.matmul(ph, dah))
    left = left - xp.matmul(xp.matmul(left, a), p)
    right = xp.matmul(xp.matmul(dah, ph), p)
    right = right - xp.matmul(p, xp.matmul(a, right))
    u, _, vh = decompose(a)
    ds = real_part(diagonal(xp.matmul(adjoint(u), xp.matmul(da, adjoint(vh)))))
    return (p, s), (middle + left + right, ds)


def lstsq(
    a: Any, b: Any, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Any, Any, Any, Any]:
    """The `x` of least ``|b - a x|`` and least length, squared residuals, the rank and the singular values.

    As NumPy's, but for the residuals: they are there for any rank, because a rank is only known at run time.
    With ``rows <= columns`` they are empty, unless a named size hides that. In programs written for JAX they
    are there for all sizes, and with `numpy_resid`, of arrays that are known, as in NumPy. The derivative of
    `x` takes the rank to be constant.
    """
    is_vector = xp.asarray(b).ndim == 1
    left, right = promote(a, b)
    left, right = matrix("lstsq", left, named=True), inexact("lstsq", right)
    if left.ndim != 2 or right.ndim not in (1, 2) or not same_size(left.shape[0], right.shape[0]):
        raise shape_error(
            f"lstsq: expected a matrix and right-hand sides of as many rows, got {type_text(left)} and "
            f"{type_text(right)}",
            "map over batches with adze.vmap",
        )
    rows, columns = left.shape
    limit = _tolerance(left, None if rcond is None or rcond < 0 else rcond)
    inverse, s = _pseudoinverse(left, limit)
    x = xp.matmul(inverse, right)
    rank = xp.zeros((), dtype=int) if is_empty(s.shape[-1]) else xp.sum(s > limit * _largest(s))
    is_wide = same_size(rows, columns) or is_less(rows, columns)
    if (is_wide and (numpy_resid or not follows_jax())) or (numpy_resid and bool(rank < columns)):
        residuals = xp.zeros((0,), dtype=real_part(left).dtype)
    else:
        residuals = xp.sum(squares(right - xp.matmul(left, x)), axis=0, keepdims=is_vector)
    return x, residuals, xp.astype(rank, int), s


def _largest(s: Any) -> Any:
    """The first of descending numbers, with its axis; of a named count, which may be 0, the largest."""
    return xp.max(s, axis=-1, keepdims=True) if is_named(s.shape[-1]) else s[..., :1]


def matrix_rank(M: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """How many singular values exceed `tol`, or `rtol` of the largest (by default ``max(m, n) * eps``)."""
    value = inexact("matrix_rank", M)
    if value.ndim < 2:
        return xp.astype(xp.logical_not(xp.all(value == 0)), int)
    if tol is not None and rtol is not None:
        raise argument_error("matrix_rank: tol and rtol both give a tolerance, give one of them")
    if follows_jax():  # which takes either as it is
        tol = rtol if tol is None else tol
    value = matrix("matrix_rank", value, named=True)
    s = xp.abs(eigvalsh(value)) if hermitian else singular_values(value)
    if is_empty(s.shape[-1]):
        return xp.zeros(s.shape[:-1], dtype=int)
    if tol is not None:
        limit = xp.expand_dims(xp.asarray(tol, dtype=s.dtype), -1)
    else:
        limit = xp.expand_dims(_tolerance(value, rtol), -1) * xp.max(s, axis=-1, keepdims=True)
    return xp.sum(s > limit, axis=-1, dtype=int)


def cond(x: Any, p: Any = None) -> Any:
    """The condition number: the ratio of extreme singular values, or ``|x| |x^-1|`` in the norm `p`."""
    value = matrix("cond", x, named=True)
    if p is None or p in (2, -2):
        s = singular_values(value)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return matrix_norm(square("cond", value, named=True), ord=p) * matrix_norm(inv(value), ord=p)

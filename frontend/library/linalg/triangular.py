"""Triangular systems: substitution over columns, by blocks where matrices are large.

A matrix of up to `BLOCK` rows is solved by one loop over its columns, a larger one as two halves with a
matrix product between them (n^2 m operations in all, most of them in products).
"""

from __future__ import annotations

import functools
from typing import Any

from ...control.scans import scan
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import shape_error
from ..numpy.promotion import promote, type_text
from ..routines import linear_routine
from .matrix_arguments import (
    BLOCK,
    adjoint,
    conjugate,
    diagonal,
    inexact,
    is_block,
    is_empty,
    positions,
    row,
    square,
    system,
)


def triangular_solve(
    a: Any,
    b: Any,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Any:
    """`x` with ``op(a) @ x = b`` (`left_side`) or ``x @ op(a) = b``, for triangular `a`.

    `op` transposes and conjugates as asked. Only the triangle that `lower` names is read; with
    `unit_diagonal` the diagonal counts as ones. A zero on the diagonal yields infinities or NaN.
    """
    t = square("triangular_solve", a, named=True)
    right = inexact("triangular_solve", b)
    if right.ndim < 2:
        raise shape_error(
            f"triangular_solve: the right-hand side must have at least 2 dimensions, got {type_text(right)}"
        )
    if conjugate_a:
        t = conjugate(t)
    if transpose_a != (not left_side):  # x @ t = b is t.T @ x.T = b.T
        t, lower = xp.matrix_transpose(t), not lower
    if not left_side:
        right = xp.matrix_transpose(right)
    t, right = system("triangular_solve", t, right, is_vector=False)
    x = solve_lower(t, right, unit_diagonal) if lower else solve_upper(t, right, unit_diagonal)
    return x if left_side else xp.matrix_transpose(x)


def solve_triangular(
    a: Any,
    b: Any,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Any:
    """SciPy's `solve_triangular`: ``a @ x = b``, with `trans` of the transpose (1, 'T') or adjoint (2, 'C').

    `overwrite_b`, `debug` and `check_finite` are accepted and have no effect.
    """
    del overwrite_b, check_finite
    a, b = promote(a, b)
    t, right = square("solve_triangular", a, named=True), inexact("solve_triangular", b)
    is_vector = right.ndim == 1
    t, right = system("solve_triangular", t, right, is_vector=is_vector)
    if trans in (1, "T"):
        t, lower = xp.matrix_transpose(t), not lower
    elif trans in (2, "C"):
        t, lower = adjoint(t), not lower
    x = solve_lower(t, right, unit_diagonal) if lower else solve_upper(t, right, unit_diagonal)
    return xp.squeeze(x, -1) if is_vector else x


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def solve_lower(t: Any, b: Any, is_unit: bool) -> Any:
    """``inverse(t) @ b`` for the lower triangle `t`."""
    return _solve(t, b, True, is_unit)


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def solve_upper(t: Any, b: Any, is_unit: bool) -> Any:
    """``inverse(t) @ b`` for the upper triangle `t`."""
    return _solve(t, b, False, is_unit)


# t x = b, so dt x + t dx = db.
@solve_lower.defjvp
def _lower_rule(is_unit: bool, primals: Any, tangents: Any) -> Any:
    (t, b), (dt, db) = primals, tangents
    x = solve_lower(t, b, is_unit)
    return x, solve_lower(t, db - xp.matmul(xp.tril(dt, -1 if is_unit else 0), x), is_unit)


@solve_upper.defjvp
def _upper_rule(is_unit: bool, primals: Any, tangents: Any) -> Any:
    (t, b), (dt, db) = primals, tangents
    x = solve_upper(t, b, is_unit)
    return x, solve_upper(t, db - xp.matmul(xp.triu(dt, 1 if is_unit else 0), x), is_unit)


def _solve(t: Any, b: Any, lower: bool, is_unit: bool) -> Any:
    """The system as a routine, whose transpose is the system of the transposed triangle."""
    name = f"solve_{'lower' if lower else 'upper'}{'_unit' if is_unit else ''}"

    def transposed(t: Any, b: Any) -> Any:
        return _composed(xp.matrix_transpose(t), b, not lower, is_unit)

    def composed(t: Any, b: Any) -> Any:
        return _composed(t, b, lower, is_unit)

    return linear_routine(name, composed, f"{name}_transposed", transposed, t, b, keeps_shape=True)


def _composed(t: Any, b: Any, lower: bool, is_unit: bool) -> Any:
    n = t.shape[-1]
    if is_empty(n, b.shape[-1]):
        return b
    if is_block(n):
        return _substitute(t, b, lower, is_unit)
    half = halved(n)
    first, second = t[..., :half, :half], t[..., half:, half:]
    if lower:
        top = _solve(first, b[..., :half, :], lower, is_unit)
        rest = b[..., half:, :] - xp.matmul(t[..., half:, :half], top)
        return xp.concatenate([top, _solve(second, rest, lower, is_unit)], axis=-2)
    bottom = _solve(second, b[..., half:, :], lower, is_unit)
    rest = b[..., :half, :] - xp.matmul(t[..., :half, half:], bottom)
    return xp.concatenate([_solve(first, rest, lower, is_unit), bottom], axis=-2)


def halved(n: int) -> int:
    """Where to split a size above `BLOCK`: about its half, at a multiple of `BLOCK`."""
    return -(-n // (2 * BLOCK)) * BLOCK


def _substitute(t: Any, b: Any, lower: bool, is_unit: bool) -> Any:
    """One row of the solution a step; what it contributes is taken off the other right-hand sides."""
    n = t.shape[-1]
    rows = positions(n)
    columns = xp.moveaxis(t, -1, 0)
    pivots = xp.moveaxis(diagonal(t), -1, 0)

    def step(rest: Any, slices: Any) -> Any:
        k, column, pivot = slices
        x = row(rest, k)
        if not is_unit:
            x = x / xp.expand_dims(pivot, -1)
        left = xp.where(rows > k if lower else rows < k, column, xp.zeros_like(column))
        return rest - xp.expand_dims(left, -1) * xp.expand_dims(x, -2), x

    _, solution = scan(step, b, (rows, columns, pivots), reverse=not lower)
    return xp.moveaxis(solution, 0, -2)

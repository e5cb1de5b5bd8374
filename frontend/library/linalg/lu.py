"""LU factors with partial pivoting, and what is solved with them: systems, inverses.

Panels of up to `BLOCK` columns are eliminated column by column; wider matrices are split by columns (Toledo
1997, Locality of reference in LU decomposition with partial pivoting), so that most of the 2 n^3 / 3
operations are in products. Pivots are those of LAPACK: the largest ``|re| + |im|``, the first among equals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects.types import INT32, storage
from ...control.scans import scan
from ...tracing.function_scope import keep_dimensions
from ...tracing.interpreter import ops
from ...tracing.sizes import minimum
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import shape_error
from ..numpy.promotion import broadcast, promote, same_shape, same_size, type_text
from ..routines import linear_routine, routine
from .matrix_arguments import (
    column,
    conjugate,
    diagonal,
    entry,
    inexact,
    is_block,
    is_complex,
    is_empty,
    is_less,
    is_named,
    matrix,
    positions,
    row,
    square,
    system,
    unit,
    unknown_zeros,
    zeros,
)
from .triangular import halved, solve_lower, solve_upper


def factor(a: Any) -> tuple[Any, Any, Any]:
    """Of `[..., m, n]` the packed factors, the pivots `[..., min(m, n)]` and the permutation `[..., m]`.

    Row `k` was exchanged with row ``pivots[k]``; ``a[permutation] = l @ u``. Both are int32.
    """
    return _factor(a)


@custom_jvp
def _factor(a: Any) -> Any:
    rows, columns = a.shape[-2:]
    if is_empty(rows, columns):
        shape = a.shape[:-2]
        return a, zeros((*shape, 0), INT32), broadcast(positions(rows), (*shape, rows))
    if is_named(rows, columns) and not same_size(rows, columns):
        return _recursive(a)
    if not is_less(rows, columns):
        return routine("lu", _recursive, a)
    packed, pivots, order = routine("lu", _recursive, a[..., :rows])
    right = solve_lower(packed, permuted(a[..., rows:], order), True)
    return xp.concatenate([packed, right], axis=-1), pivots, order


# a[p] = l u: with m = l^-1 da[p] u^-1, dl = l tril(m, -1) and du = triu(m) u, for factors made square.
@_factor.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    (a,), (da,) = primals, tangents
    packed, pivots, order = _factor(a)
    rows, columns = a.shape[-2:]
    least = minimum(rows, columns)
    if is_named(rows, columns) and not same_size(rows, columns):
        (missing,) = ops.undefined_value(
            a,
            da,
            message=f"lu: matrices {type_text(a)} of named sizes have no derivative unless they are square; "
            "give both axes one name, or trace with a static shape",
            results=(ops.type_of(packed),),
        )
        return (packed, pivots, order), (missing, ops.zeros_like(pivots), ops.zeros_like(order))
    lower, upper = _wide_lower(packed, rows, least), _wide_upper(packed, columns, least)
    left = solve_lower(lower, permuted(da, order), True)
    middle = xp.matrix_transpose(solve_lower(xp.matrix_transpose(upper), xp.matrix_transpose(left), False))
    dlower = xp.matmul(lower, xp.tril(middle, -1))
    dupper = xp.matmul(xp.triu(middle), upper)
    return (packed, pivots, order), (dlower + dupper, ops.zeros_like(pivots), ops.zeros_like(order))


def _wide_lower(packed: Any, rows: Any, least: Any) -> Any:
    """The unit lower factor, made square by columns of the identity."""
    lower = xp.tril(packed[..., :, :least], -1)
    padded = _padded(lower, 0, rows - least)
    return padded + unit(rows, packed.dtype)


def _wide_upper(packed: Any, columns: Any, least: Any) -> Any:
    """The upper factor, made square by rows of the identity."""
    if is_named(columns):
        return xp.triu(packed)
    upper = _padded(xp.triu(packed[..., :least, :]), columns - least, 0)
    added = np.diag([0.0] * least + [1.0] * (columns - least)).astype(packed.dtype)
    return upper + xp.asarray(added)


def _padded(x: Any, rows: int, columns: int) -> Any:
    if not rows and not columns:
        return x
    width = (0,) * (x.ndim - 2)
    zero = xp.zeros((), dtype=x.dtype)
    return ops.pad(x, zero, low=(0,) * x.ndim, high=(*width, rows, columns), interior=(0,) * x.ndim)


def permuted(x: Any, order: Any) -> Any:
    """The rows of each matrix in the order given, `[..., rows]`."""
    if is_less(x.shape[-2], 2) or is_empty(*x.shape):
        return x
    batch = tuple(range(x.ndim - 2))
    moved = ops.gather(
        x,
        xp.expand_dims(order, -1),
        offset_dims=(x.ndim - 1,),
        collapsed_slice_dims=(x.ndim - 2,),
        start_index_map=(x.ndim - 2,),
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
        slice_sizes=(*(1 for _ in batch), 1, x.shape[-1]),
        mode="clip",
        fill_value=storage(np.zeros((), x.dtype)),
    )
    return keep_dimensions(moved, x.shape)


def _recursive(a: Any) -> tuple[Any, Any, Any]:
    """Factors of matrices with at least as many rows as columns, or of a named size."""
    columns = a.shape[-1]
    if is_named(a.shape[-2]) or is_block(columns):
        return _panel(a)
    half = halved(columns)
    left, pivots, order = _recursive(a[..., :half])
    right = permuted(a[..., half:], order)
    upper = solve_lower(left[..., :half, :], right[..., :half, :], True)
    rest = right[..., half:, :] - xp.matmul(left[..., half:, :], upper)
    below, more_pivots, more_order = _recursive(rest)
    top = xp.concatenate([left[..., :half, :], upper], axis=-1)
    bottom = xp.concatenate([permuted(left[..., half:, :], more_order), below], axis=-1)
    tail = xp.squeeze(permuted(xp.expand_dims(order[..., half:], -1), more_order), -1)
    return (
        xp.concatenate([top, bottom], axis=-2),
        xp.concatenate([pivots, more_pivots + np.int32(half)], axis=-1),
        xp.concatenate([order[..., :half], tail], axis=-1),
    )


def _panel(a: Any) -> tuple[Any, Any, Any]:
    rows, columns = positions(a.shape[-2]), positions(a.shape[-1])

    def step(state: Any, k: Any) -> Any:
        a, order = state
        pivot_column = column(a, k)
        size = xp.abs(pivot_column)
        if is_complex(a):
            size = xp.abs(ops.real(pivot_column)) + xp.abs(ops.imag(pivot_column))
        size = xp.where(rows >= k, size, xp.full_like(size, -1))
        chosen = ops.argmax(size, axis=size.ndim - 1, index_dtype=INT32)
        is_chosen = rows == xp.expand_dims(chosen, -1)
        is_next = rows == k

        def exchanged(x: Any, ours: Any) -> Any:
            """`x` with the next element (or row) and the chosen one exchanged."""
            masks = is_next, is_chosen
            if x.ndim > is_chosen.ndim:
                masks = xp.expand_dims(is_next, -1), xp.expand_dims(is_chosen, -1)
            axis = is_chosen.ndim - 1
            theirs = xp.sum(xp.where(masks[1], x, xp.zeros_like(x)), axis=axis, keepdims=True, dtype=x.dtype)
            return xp.where(masks[0], theirs, xp.where(masks[1], ours, x)), theirs

        below, pivot = exchanged(pivot_column, entry(pivot_column, k))
        a, top = exchanged(a, xp.expand_dims(row(a, k), -2))
        order, _ = exchanged(order, entry(order, k))
        is_zero = pivot == 0
        safe = xp.where(is_zero, xp.ones_like(pivot), pivot)
        factors = xp.where(rows > k, below / safe, xp.zeros_like(below))
        wide = xp.expand_dims(factors, -1)
        later = xp.where(columns > k, top, xp.zeros_like(top))
        is_below = xp.logical_and(xp.expand_dims(rows > k, -1), columns == k)
        return (xp.where(is_below, wide, a - wide * later), order), chosen

    order = rows + unknown_zeros(xp.sum(a, axis=-1), INT32)
    steps = columns if same_size(*a.shape[-2:]) else positions(minimum(*a.shape[-2:]))
    (packed, order), pivots = scan(step, (a, order), steps)
    return packed, xp.moveaxis(pivots, 0, -1), order


@custom_jvp
def solve_factored(packed: Any, order: Any, b: Any) -> Any:
    """`x` with ``a @ x = b`` from what `factor` returns of `a`."""
    names = "lu_solve", _composed_solution, "lu_solve_transposed", _transposed_solution
    return linear_routine(*names, packed, order, b, keeps_shape=True)


# With a[order] = l u and y = u x: da[order] x = dl y + l du x.
@solve_factored.defjvp
def _factored_rule(primals: Any, tangents: Any) -> Any:
    (packed, order, b), (dpacked, _, db) = primals, tangents
    x = solve_factored(packed, order, b)
    y, dy = xp.matmul(xp.triu(packed), x), xp.matmul(xp.triu(dpacked), x)
    moved = xp.matmul(xp.tril(dpacked, -1), y) + xp.matmul(xp.tril(packed, -1), dy) + dy
    return x, solve_factored(packed, order, db - permuted(moved, xp.argsort(order, axis=-1)))


def _composed_solution(packed: Any, order: Any, b: Any) -> Any:
    return solve_upper(packed, solve_lower(packed, permuted(b, order), True), False)


def _transposed_solution(packed: Any, order: Any, b: Any) -> Any:
    """`x` with ``a^T @ x = b``."""
    turned = xp.matrix_transpose(packed)
    x = solve_upper(turned, solve_lower(turned, b, False), True)
    return permuted(x, xp.argsort(order, axis=-1))


def signed_pivots(a: Any) -> Any:
    """The diagonals of `u`, `[..., n]`, the first element with the sign of the exchanges: their product is
    the determinant. They have no derivative.
    """

    def composed(a: Any) -> Any:
        packed, pivots, _ = _recursive(a)
        is_first = positions(a.shape[-1]) == 0
        return diagonal(packed) * xp.where(is_first, xp.expand_dims(parity(pivots, a.dtype), -1), 1)

    return routine("signed_pivots", composed, a)


def parity(pivots: Any, dtype: np.dtype) -> Any:
    """1 for an even number of exchanges, -1 for an odd one."""
    moved = xp.sum(xp.astype(pivots != positions(pivots.shape[-1]), INT32), axis=-1, dtype=INT32)
    return xp.astype(1 - 2 * (moved % 2), dtype)


@custom_jvp
def _solve(a: Any, b: Any) -> Any:
    packed, _, order = _factor(a)
    return solve_factored(packed, order, b)


# a x = b, so da x + a dx = db; one factorization serves the solution and its derivative.
@_solve.defjvp
def _solve_rule(primals: Any, tangents: Any) -> Any:
    (a, b), (da, db) = primals, tangents
    packed, _, order = _factor(a)
    x = solve_factored(packed, order, b)
    return x, solve_factored(packed, order, db - xp.matmul(da, x))


def solve(a: Any, b: Any) -> Any:
    """`x` with ``a @ x = b``; a 1-d `b` is one right-hand side, otherwise its last two axes are matrices.

    A singular matrix yields infinities or NaN: a compiled program raises no exception for a value.
    """
    is_vector = xp.asarray(b).ndim == 1
    left, right = system("solve", square("solve", a, named=True), b, is_vector=is_vector)
    x = _solve(left, right)
    return xp.squeeze(x, -1) if is_vector else x


def inv(a: Any) -> Any:
    """The inverse of each matrix; infinities or NaN for a singular one."""
    value = square("inv", a, named=True)
    return _solve(value, broadcast(unit(value.shape[-1], value.dtype), value.shape))


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """SciPy's pair of packed factors and pivots; row `k` was exchanged with row ``pivots[k]``."""
    del overwrite_a, check_finite
    packed, pivots, _ = factor(matrix("lu_factor", a, named=True))
    return packed, pivots


def lu_solve(
    lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """`x` with ``a @ x = b`` (`trans` 1: of the transpose, 2: of the adjoint), from `lu_factor`'s results."""
    del overwrite_b, check_finite
    packed, pivots = lu_and_piv
    packed, right = promote(packed, b)
    packed, right = square("lu_solve", packed, named=True), inexact("lu_solve", right)
    pivots = xp.asarray(pivots)
    if not same_shape(pivots.shape, packed.shape[:-1]):
        raise shape_error(f"lu_solve: {type_text(packed)} and the pivots {type_text(pivots)} do not fit")
    is_vector = right.ndim == 1
    order = permutation(pivots)
    packed, right = system("lu_solve", packed, right, is_vector=is_vector)
    order = broadcast(order, packed.shape[:-1])
    if trans == 0:
        x = solve_factored(packed, order, right)
    else:
        x = _transposed_solution(conjugate(packed) if trans == 2 else packed, order, right)
    return xp.squeeze(x, -1) if is_vector else x


def permutation(pivots: Any, size: Any = None) -> Any:
    """The order of `size` rows (as many as `pivots` by default) that the exchanges `pivots` make."""
    n = pivots.shape[-1]
    rows = positions(n if size is None else size)

    def step(order: Any, exchange: Any) -> Any:
        k, chosen = exchange
        is_chosen = rows == xp.expand_dims(chosen, -1)
        ours = entry(order, k)
        theirs = xp.sum(xp.where(is_chosen, order, 0), axis=-1, keepdims=True, dtype=order.dtype)
        return xp.where(rows == k, theirs, xp.where(is_chosen, ours, order)), None

    start = rows + xp.astype(xp.any(pivots < 0, axis=-1, keepdims=True), INT32)
    return scan(step, start, (positions(n), xp.moveaxis(pivots, -1, 0)))[0]


def lu(
    a: Any,
    permute_l: bool = False,
    overwrite_a: bool = False,
    check_finite: bool = True,
    p_indices: bool = False,
) -> Any:
    """SciPy's `lu`: ``a = p @ l @ u``, with `permute_l` the pair of ``p @ l`` and `u`.

    With `p_indices` the permutation comes as indices: ``a = l[p] @ u``.
    """
    del overwrite_a, check_finite
    value = matrix("lu", a, named=True)
    rows, columns = value.shape[-2:]
    least = minimum(rows, columns)
    packed, _, order = factor(value)
    lower = xp.tril(packed[..., :, :least], -1) + xp.eye(rows, least, dtype=value.dtype)
    upper = xp.triu(packed[..., :least, :])
    back = xp.argsort(order, axis=-1)
    if permute_l:
        return permuted(lower, back), upper
    if p_indices:
        return back, lower, upper
    moved = xp.expand_dims(order, -2) == xp.expand_dims(positions(rows), -1)
    return xp.astype(moved, value.dtype), lower, upper

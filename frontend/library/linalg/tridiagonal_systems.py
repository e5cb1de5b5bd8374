"""Systems of tridiagonal matrices by elimination with partial pivoting, in as many steps as there are rows.

Input: diagonals `[..., n]` and right-hand sides `[..., n, m]`.
Idea: LAPACK's gtsv. A step has what is left of the row before, whose elements are in two columns, and a row,
whose elements are in three; the larger one of their first elements is the pivot. The first step has a row of
the identity before. The derivative of a solution is another one with the same factors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ....dialects.types import INT32
from ...control.scans import scan
from ...transforms.custom_derivatives import custom_jvp
from .. import numpy as xp
from ..numpy.arguments import count_array
from .matrix_arguments import positions, unknown_zeros


class _Factors(NamedTuple):
    """Of each step the pivot's row, what is taken off the other one, and whether they were exchanged.

    All are `[n, ..., 1]`; `last` is the pivot of the last row, `[..., 1]`.
    """

    rows: tuple[Any, Any, Any]
    multiples: Any
    is_exchanged: Any
    last: Any


@custom_jvp
def solve_tridiagonal(below: Any, middle: Any, above: Any, b: Any) -> Any:
    """`x` of the systems; ``below[0]`` and ``above[-1]`` are not used."""
    return _solved(_factors(below, middle, above), b)


# With t x = b: t dx = db - dt x.
@solve_tridiagonal.defjvp
def _rule(primals: Any, tangents: Any) -> Any:
    (below, middle, above, b), (dbelow, dmiddle, dabove, db) = primals, tangents
    factors = _factors(below, middle, above)
    x = _solved(factors, b)
    rows = xp.expand_dims(positions(x.shape[-2]), -1)
    before = xp.where(rows == 0, xp.zeros_like(x), xp.roll(x, 1, axis=-2))
    after = xp.where(rows == _end(x.shape[-2]), xp.zeros_like(x), xp.roll(x, -1, axis=-2))
    pairs = ((dbelow, before), (dmiddle, x), (dabove, after))
    return x, _solved(factors, db - sum(xp.expand_dims(d, -1) * moved for d, moved in pairs))


def _end(n: Any) -> Any:
    """The last place."""
    return count_array(n, INT32) - 1


def _factors(below: Any, middle: Any, above: Any) -> _Factors:
    n = middle.shape[-1]
    rows = positions(n)
    below = xp.where(rows == 0, xp.zeros_like(below), below)
    above = xp.where(rows == _end(n), xp.zeros_like(above), above)

    def step(before: Any, row: Any) -> Any:
        (first, second), (low, diagonal, high) = before, row
        is_exchanged = xp.abs(low) > xp.abs(first)
        pivot, other = xp.where(is_exchanged, low, first), xp.where(is_exchanged, first, low)
        zero, is_zero = xp.zeros_like(high), pivot == 0
        multiple = xp.where(is_zero, zero, other / xp.where(is_zero, xp.ones_like(pivot), pivot))
        beside, last = xp.where(is_exchanged, diagonal, second), xp.where(is_exchanged, high, zero)
        rest = xp.where(is_exchanged, second, diagonal) - multiple * beside
        more = xp.where(is_exchanged, zero, high) - multiple * last
        return (rest, more), (pivot, beside, last, multiple, is_exchanged)

    nothing = unknown_zeros(xp.sum(middle, axis=-1), middle.dtype)
    columns = tuple(xp.moveaxis(x, -1, 0) for x in (below, middle, above))
    (last, _), steps = scan(step, (nothing + 1, nothing), columns)
    pivot, beside, third, multiples, is_exchanged = (xp.expand_dims(x, -1) for x in steps)
    return _Factors((pivot, beside, third), multiples, is_exchanged, xp.expand_dims(last, -1))


def _solved(factors: _Factors, b: Any) -> Any:
    """`x` with the factors, linear in `b`."""
    nothing = xp.zeros_like(xp.sum(b, axis=-2))

    def eliminate(before: Any, row: Any) -> Any:
        ours, multiple, is_exchanged = row
        pivot, other = xp.where(is_exchanged, ours, before), xp.where(is_exchanged, before, ours)
        return other - multiple * pivot, pivot

    rows = xp.moveaxis(b, -2, 0), factors.multiples, factors.is_exchanged
    end, pivots = scan(eliminate, nothing, rows)

    def substitute(known: Any, row: Any) -> Any:
        (x, following), (y, pivot, beside, third) = known, row
        return ((y - beside * x - third * following) / pivot, x), x

    _, x = scan(substitute, (end / factors.last, nothing), (pivots, *factors.rows), reverse=True)
    return xp.moveaxis(x, 0, -2)

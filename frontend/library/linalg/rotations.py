"""Jacobi rotations of many pairs of columns at once: what `eigh` and `svd` share.

In round `t` of a sweep column `i` meets column ``(t - i) mod n``; in `n` rounds every pair meets once (the
modulus ordering, Luk and Park 1989, A proof of convergence for two parallel Jacobi SVD algorithms). A
rotation is computed from its pair in one order only, so that both columns see the same one to the last bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....dialects.types import INT32, storage
from ...control.scans import scan
from ...control.while_loops import while_loop
from ...tracing.interpreter import ops
from .. import numpy as xp
from ..numpy.arguments import count_array
from .matrix_arguments import conjugate, is_named, phase, positions, squares


def repeated_sweeps(n: Any, is_left: Any, step: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
    """``state = step(t, state)`` for the rounds of a sweep, again until `is_left(state)` is false.

    Convergence is quadratic, 6 to 9 sweeps are usual, and ``8 + log2(n)`` are where it stops.
    """
    most = _most_sweeps(n)

    def goes_on(state: tuple[Any, ...]) -> Any:
        return xp.logical_and(state[0] < most, is_left(state[1:]))

    def sweep(state: tuple[Any, ...]) -> tuple[Any, ...]:
        return (state[0] + 1, *scan(lambda kept, t: (step(t, kept), None), tuple(state[1:]), positions(n))[0])

    return tuple(while_loop(goes_on, sweep, (xp.zeros((), dtype=INT32), *state)))[1:]


def _most_sweeps(n: Any) -> Any:
    if not is_named(n):
        return 8 + math.ceil(math.log2(n))
    return np.int32(8 + 32) - ops.clz(xp.maximum(count_array(n, INT32) - 1, 0))


class Round:
    """The pairs of one round: for each column its partner."""

    def __init__(self, t: Any, n: Any) -> None:
        self.columns = positions(n)
        difference = t - self.columns
        self.partner = xp.where(difference < 0, difference + count_array(n, INT32), difference)
        self.is_first = self.columns <= self.partner
        self.is_alone = self.columns == self.partner

    def swapped(self, x: Any, axis: int = -1) -> Any:
        """`x` with every element along `axis` in the place of its partner."""
        place = axis % x.ndim
        return ops.gather(
            x,
            xp.expand_dims(self.partner, -1),
            offset_dims=tuple(a for a in range(x.ndim) if a != place),
            collapsed_slice_dims=(place,),
            start_index_map=(place,),
            operand_batching_dims=(),
            start_indices_batching_dims=(),
            slice_sizes=tuple(1 if a == place else n for a, n in enumerate(x.shape)),
            mode="clip",
            fill_value=storage(np.zeros((), x.dtype)),
        )

    def shared(self, products: Any) -> Any:
        """The products of column and partner, those of a pair conjugates of each other exactly."""
        return xp.where(self.is_first, products, conjugate(self.swapped(products)))

    def rotation(self, weights: Any, products: Any, is_needed: Any) -> tuple[Any, Any, Any]:
        """Cosines, sines (with the phase) and tangents that make the products of all pairs zero.

        `weights` are the diagonal elements of the Hermitian matrix whose off-diagonal ones are `products`.
        Column `i` becomes ``cosine[i] * column[i] - sine[i] * partner[i]``, its weight falls by
        ``tangent[i] * |products[i]|`` (Golub and Van Loan, section 8.5.2).
        """
        size = xp.sqrt(squares(products)) if products.dtype != weights.dtype else xp.abs(products)
        is_needed = xp.logical_and(xp.logical_and(is_needed, size > 0), xp.logical_not(self.is_alone))
        safe = xp.where(is_needed, size, xp.ones_like(size))
        ratio = (self.swapped(weights) - weights) / (2 * safe)
        is_up = xp.logical_or(ratio > 0, xp.logical_and(ratio == 0, self.is_first))
        slope = 1 / (xp.abs(ratio) + xp.hypot(ratio, xp.ones_like(ratio)))
        tangent = xp.where(is_needed, xp.where(is_up, slope, -slope), xp.zeros_like(slope))
        cosine = 1 / xp.sqrt(1 + tangent * tangent)
        sine = xp.astype(tangent * cosine, products.dtype) * conjugate(phase(products))
        return cosine, sine, tangent

    def columns_rotated(self, x: Any, cosine: Any, sine: Any) -> Any:
        """The columns of each matrix after the rotations."""
        return x * xp.expand_dims(xp.astype(cosine, x.dtype), -2) - self.swapped(x) * xp.expand_dims(sine, -2)

    def rows_rotated(self, x: Any, cosine: Any, sine: Any) -> Any:
        """The rows of each matrix after the adjoint rotations."""
        turned = xp.expand_dims(conjugate(sine), -1)
        return x * xp.expand_dims(xp.astype(cosine, x.dtype), -1) - self.swapped(x, -2) * turned


def sorted_by(keys: Any, *matrices: Any, descending: bool = False) -> tuple[Any, ...]:
    """`keys` in order, and the columns of the matrices in the same order; NaN anywhere makes all keys NaN.

    Every key counts those that come before it, and a permutation matrix does the rest: exact, and for the
    few keys of a matrix cheaper than a sort and its gathers.
    """
    ours, places = xp.expand_dims(keys, -1), positions(keys.shape[-1])
    rank = ranks(keys, descending=descending)
    moved = xp.expand_dims(rank, -1) == places
    ordered = xp.sum(xp.where(moved, ours, xp.zeros_like(ours)), axis=-2, dtype=keys.dtype)
    poison = 0 * xp.sum(keys, axis=-1, keepdims=True, dtype=keys.dtype)
    return (ordered + poison, *(xp.matmul(x, xp.astype(moved, x.dtype)) for x in matrices))


def ranks(keys: Any, *, descending: bool = False) -> Any:
    """The place of each key in the order of all; equal ones keep their order."""
    ours, theirs = xp.expand_dims(keys, -1), xp.expand_dims(keys, -2)
    places = positions(keys.shape[-1])
    is_earlier = xp.logical_and(theirs == ours, places < xp.expand_dims(places, -1))
    is_before = theirs > ours if descending else theirs < ours
    return xp.sum(xp.astype(xp.logical_or(is_before, is_earlier), INT32), axis=-1, dtype=INT32)

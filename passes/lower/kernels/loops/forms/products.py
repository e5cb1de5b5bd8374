"""Products in kernels: one `linalg.generic` over batch, free and contracted axes.

Where the rows of the right operand run along the result's, vectors of results are summed
(`register_tiles.py`), in the order of the steps; a right operand that is used for many rows is turned for
that. Else the contracted loop runs along memory, whose sum may be added in any order, as the host's
(`row_sums.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, TypeAlias

import numpy as np

from ......dialects.ops.contraction.dot_general import Axes, Pairs, operand_axes
from ......dialects.ops.reduction import accumulation_dtype
from ......dialects.types import FLOAT32, FLOAT64
from ....builder import Value
from ....lowering import LoweringContext
from ....named_ops import filled
from ..kept_apart import kept_apart
from .common import builder_of
from .movement import transposed
from .reductions import _convert, reassociable

Shape: TypeAlias = Sequence[object]  # a size that is no int shows at the call
VECTOR: Final = 64  # bytes
NARROWEST: Final = 4  # elements from which on vectors gain
ROWS: Final = 4
"""Rows of the left operand from which on the right one is turned, so that its rows run along the result's."""


def vector_length(left: Shape, right: Shape, contracting: Pairs, batch: Pairs, dtype: np.dtype) -> int:
    """How many elements the vectors have that compute a product; 1 where it is done by numbers."""
    ours = operand_axes(len(left), 0, contracting, batch)
    theirs = operand_axes(len(right), 1, contracting, batch)
    if dtype not in (FLOAT32, FLOAT64) or not ours.contracting:
        return 1
    ours_last, theirs_last = len(left) - 1, len(right) - 1
    count: object = 0
    if theirs.free:
        is_along = theirs.free[-1] == theirs_last or rows_are_many(left, right, contracting, batch)
        count = right[theirs.free[-1]] if is_along else 0
    elif ours.free and ours.free[-1] == ours_last:
        count = left[-1]
    if not count and (ours.contracting[-1], theirs.contracting[-1]) == (ours_last, theirs_last):
        count = left[-1] if isinstance(left[-1], int) else VECTOR
    return min(count, VECTOR // dtype.itemsize) if isinstance(count, int) and count >= NARROWEST else 1


def rows_are_many(left: Shape, right: Shape, contracting: Pairs, batch: Pairs) -> bool:
    """Whether the right operand, which is summed along its last axis, is used often enough to be turned."""
    ours, theirs = (
        operand_axes(len(left), 0, contracting, batch),
        operand_axes(len(right), 1, contracting, batch),
    )
    rows = prod(n if isinstance(n, int) else ROWS for n in (left[a] for a in ours.free))
    return bool(theirs.free) and theirs.free[-1] != len(right) - 1 and rows >= ROWS


def _in_order(axes: Axes) -> Axes:
    """The axes of an operand whose batch is first, then what is summed over, then the others."""
    place = iter(range(sum(map(len, axes))))
    batch, contracting = ([next(place) for _ in each] for each in (axes.batch, axes.contracting))
    return Axes(tuple(batch), tuple(place), tuple(contracting))


def lower_dot_general(
    ctx: LoweringContext, x: Value, y: Value, *, contracting: Pairs, batch: Pairs, dtype: np.dtype
) -> Value:
    """The sum of products, in a wider dtype where it needs one."""
    b, source, carried = builder_of(ctx), ctx.operand_dtype, accumulation_dtype(dtype)
    for pairs in (contracting, batch):
        for i, j in zip(*pairs, strict=True):
            b.require_equal(b.shape(x)[i], b.shape(y)[j], "adze: contracted or batch axes differ in size")
    left, right = b.shape(x), b.shape(y)
    ours, theirs = (
        operand_axes(len(left), 0, contracting, batch),
        operand_axes(len(right), 1, contracting, batch),
    )
    if rows_are_many(left, right, contracting, batch):
        y = kept_apart(transposed(b, y, [*theirs.batch, *theirs.contracting, *theirs.free]))
        right = b.shape(y)
        theirs = _in_order(theirs)
    # Loops by name: of the batch, of the left's axes, of the right's, of the sum.
    names = [
        *(f"b{k}" for k in range(len(ours.batch))),
        *(f"m{k}" for k in range(len(ours.free))),
        *(f"n{k}" for k in range(len(theirs.free))),
    ]
    sums = [f"k{k}" for k in range(len(ours.contracting))]
    of_left = {
        **{a: f"b{k}" for k, a in enumerate(ours.batch)},
        **{a: f"m{k}" for k, a in enumerate(ours.free)},
        **{a: f"k{k}" for k, a in enumerate(ours.contracting)},
    }
    of_right = {
        **{a: f"b{k}" for k, a in enumerate(theirs.batch)},
        **{a: f"n{k}" for k, a in enumerate(theirs.free)},
        **{a: f"k{k}" for k, a in enumerate(theirs.contracting)},
    }
    sizes = {of_left[a]: n for a, n in enumerate(left)}
    sizes |= {of_right[a]: n for a, n in enumerate(right) if isinstance(n, int) or of_right[a] not in sizes}
    last = of_right[len(right) - 1] if theirs.free else of_left[len(left) - 1] if left else ""
    loops = [*names[:-1], *sums, last] if names and last == names[-1] else [*names, *sums]
    result = [sizes[name] for name in names]
    zero = b.scalars.constant(carried, 0)
    whole = b.empty(result, carried)
    init = filled(zero, whole) if sums else whole
    axes = (
        [loops.index(of_left[a]) for a in range(len(left))],
        [loops.index(of_right[a]) for a in range(len(right))],
        [loops.index(name) for name in names],
    )
    iterators = ["reduction" if name in sums else "parallel" for name in loops]

    def body(p: Value, q: Value, total: Value) -> Value:
        p, q = b.scalars.convert(source, carried, p), b.scalars.convert(source, carried, q)
        product = b.scalars.mul(carried, p, q)
        return b.scalars.add(carried, total, product) if sums else product

    if not loops:
        return _convert(b, carried, dtype, b.single(body(b.element(x), b.element(y), zero), ()))
    maps = [b.axes_map(len(loops), each) for each in axes]
    total = reassociable(b.generic([x, y], [init], maps, iterators, body))
    return _convert(b, carried, dtype, total)

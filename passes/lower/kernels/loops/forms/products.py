"""Products in kernels: one `linalg.generic` over batch, free and contracted axes as they are.

Where the rows of the right operand run along the result's, their loop is the inner one, so that it
vectorises without another order of sums; else the contracted loop is, whose sum may be added in any order,
as the host's.
"""

from __future__ import annotations

import numpy as np

from ......dialects import mlir
from ......dialects.ops.contraction.dot_general import Pairs, operand_axes
from ......dialects.ops.reduction import accumulation_dtype
from ....builder import Value
from ....lowering import LoweringContext
from .common import builder_of, shape_of
from .reductions import _convert, reassociable


def lower_dot_general(
    ctx: LoweringContext, x: Value, y: Value, *, contracting: Pairs, batch: Pairs, dtype: np.dtype
) -> Value:
    """The sum of products, in a wider dtype where it needs one."""
    b, source, carried = builder_of(ctx), ctx.operand_dtype, accumulation_dtype(dtype)
    left, right = shape_of(x), shape_of(y)
    ours, theirs = (
        operand_axes(len(left), 0, contracting, batch),
        operand_axes(len(right), 1, contracting, batch),
    )
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
    sizes = {of_left[a]: n for a, n in enumerate(left)} | {of_right[a]: n for a, n in enumerate(right)}
    runs_along = bool(theirs.free) and theirs.free[-1] == len(right) - 1
    loops = [*names[:-1], *sums, names[-1]] if runs_along else [*names, *sums]
    result = [sizes[name] for name in names]
    zero = b.scalars.constant(carried, 0)
    init = mlir.linalg.fill(zero, outs=[b.empty(result, carried)])
    maps = [
        b.axes_map(len(loops), [loops.index(of_left[a]) for a in range(len(left))]),
        b.axes_map(len(loops), [loops.index(of_right[a]) for a in range(len(right))]),
        b.axes_map(len(loops), [loops.index(name) for name in names]),
    ]

    def body(p: Value, q: Value, total: Value) -> Value:
        p, q = b.scalars.convert(source, carried, p), b.scalars.convert(source, carried, q)
        return b.scalars.add(carried, total, b.scalars.mul(carried, p, q))

    iterators = ["reduction" if name in sums else "parallel" for name in loops]
    if not loops:
        total = b.single(body(b.element(x), b.element(y), zero), ())
    else:
        total = reassociable(b.generic([x, y], [init], maps, iterators, body))
    return _convert(b, carried, dtype, total)

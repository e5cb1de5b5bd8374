"""Reductions of a few elements that are computed of smaller arrays, such as distances of points.

Input: a reduction and the arrays that its operand is computed of. Output: an elementwise op over the loops
that are kept, which computes each of the few elements of parts of those arrays.
Idea: IREE makes a vector of the few elements. Where none of the arrays has all elements, there are as many
vectors of results, and what is read is in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation, Value
from ..builder import LinalgBuilder
from .generics import Access, Generic, Map, counted_size, defining_op, inline_body
from .tensor_ops import drop_unit_axes, extract_slice, permute

MOST: Final = 4  # elements that vectors take from between others at once
SMALLER: Final = 4  # times as many elements as an array has are computed of it


def is_short(reduction: Generic, sources: Sequence[Access]) -> bool:
    """Whether a reduction of the last axis of `sources` is of this kind."""
    reduced = _reduced(reduction)
    ((operand, map_),) = reduction.accesses
    shape = mlir.ir.RankedTensorType(operand.type).shape
    if len(reduced) != 1 or map_[-1] != reduced[0] or not 1 < shape[-1] <= MOST or len(shape) < 2:
        return False
    largest = max(counted_size(value) for value, _ in sources)
    init = defining_op(reduction.inits[0])
    return SMALLER * largest <= counted_size(operand) and init is not None and init.name == "linalg.fill"


def emit_unrolled(
    b: LinalgBuilder, reduction: Generic, accesses: Sequence[Access], element: Callable[..., Value]
) -> Operation:
    """The elementwise op in the place of a reduction that is short, which is erased.

    `element(scalars)` computes an element of its operand of one of each of `accesses`.
    """
    ((operand, _),) = reduction.accesses
    (reduced,), count = _reduced(reduction), mlir.ir.RankedTensorType(operand.type).shape[-1]
    order = {loop: place for place, loop in enumerate(reduction.kept)}
    anchor, result = reduction.operation, reduction.operation.results[0]
    with mlir.ir.InsertionPoint(anchor), anchor.location:
        copies: dict[tuple[Value, int], list[Value]] = {}
        parts = [_parts(b, value, axes, reduced, count, copies) for value, axes in accesses]
        maps = [[order[loop] for loop in axes if loop != reduced] for _, axes in accesses]
        first = defining_op(reduction.inits[0])
        assert first is not None
        start, init = first.operands[0], first.operands[1]

        def body(*scalars: Value) -> Value:
            total = start
            for number in range(count):
                mine = scalars[number : len(scalars) - 1 : count]
                (total,) = inline_body(reduction.body, [element(mine), total], range(reduction.loops))
            return total

        rank = len(reduction.kept)
        attributes = [b.axes_map(rank, axes) for axes in maps for _ in range(count)]
        inputs = [part for several in parts for part in several]
        unrolled = b.generic(inputs, [init], [*attributes, b.identity_map(rank)], ["parallel"] * rank, body)
    result.replace_all_uses_with(unrolled)
    anchor.erase()
    return unrolled.owner.operation


def _reduced(reduction: Generic) -> list[int]:
    return [loop for loop in range(reduction.loops) if loop not in reduction.kept]


def _parts(
    b: LinalgBuilder,
    value: Value,
    axes: Map,
    reduced: int,
    count: int,
    copies: dict[tuple[Value, int], list[Value]],
) -> list[Value]:
    """An array at each place of the loop that is reduced, copied so that each lies by itself."""
    if reduced not in axes:
        return [value] * count
    rank, axis = len(axes), axes.index(reduced)
    if (value, axis) not in copies:
        first = b.materialise(permute(b, value, [axis, *(at for at in range(rank) if at != axis)]))
        sizes = [1, *b.shape(first)[1:]]
        parts = (extract_slice(b, first, [n, *[0] * (rank - 1)], sizes, [1] * rank) for n in range(count))
        copies[value, axis] = [drop_unit_axes(b, part, [at > 0 for at in range(rank)]) for part in parts]
    return copies[value, axis]

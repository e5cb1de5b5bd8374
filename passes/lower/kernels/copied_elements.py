"""Ops of linalg for kernels of IREE's phase `flow` that only copy elements.

Input: the op that stores what was loaded at equal distances, or an op that gathers rows. Output: an op of
linalg before it that computes each element of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation, Value
from .computed_places import INDEX
from .tensor_sizes import GENERIC

GATHER: Final = "iree_linalg_ext.gather"


def copy_of(store: Operation) -> Operation:
    """An op whose elements are those of what is stored."""
    value = store.operands[0]
    axes = range(mlir.ir.RankedTensorType(value.type).rank)
    return _generic(store, [value, value], [tuple(axes)] * 2, lambda element: element)


def rows_at_places(gather: Operation) -> Operation | None:
    """An op that takes the rows that a gather does, at places along the first axis of an array; None for a
    gather of another kind."""
    source, places, out = gather.operands
    rank, of_places = (mlir.ir.RankedTensorType(value.type).rank for value in (source, places))
    count = mlir.ir.RankedTensorType(out.type).rank
    dimensions = list(mlir.ir.DenseI64ArrayAttr(gather.attributes["dimension_map"]))
    if dimensions != [0] or of_places + rank - 1 != count:
        return None

    def taken(place: Value) -> Value:
        index = mlir.ir.IndexType.get()
        first = mlir.arith.index_cast(index, place)
        within = [_place_of(loop) for loop in range(of_places, count)]
        return mlir.tensor.extract(source, [first, *within])

    return _generic(gather, [places, out], [tuple(range(of_places)), tuple(range(count))], taken)


def _place_of(loop: int) -> Value:
    """The place of a loop of the op around."""
    attributes = {"dim": mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), loop)}
    return mlir.ir.Operation.create(INDEX, results=[mlir.ir.IndexType.get()], attributes=attributes).result


def _generic(
    before: Operation,
    operands: Sequence[Value],
    axes: Sequence[tuple[int, ...]],
    body: Callable[[Value], Value],
) -> Operation:
    """An elementwise op of one array, whose result is as the last one of the operands."""
    count = len(axes[-1])
    maps = [
        mlir.ir.AffineMap.get(count, 0, [mlir.ir.AffineDimExpr.get(axis) for axis in each]) for each in axes
    ]
    kinds = ", ".join(["#linalg.iterator_type<parallel>"] * count)
    elements = [mlir.ir.RankedTensorType(operand.type).element_type for operand in operands]
    with mlir.ir.InsertionPoint(before):
        made = mlir.ir.Operation.create(
            GENERIC,
            results=[operands[-1].type],
            operands=operands,
            attributes={
                "indexing_maps": mlir.ir.ArrayAttr.get([mlir.ir.AffineMapAttr.get(each) for each in maps]),
                "iterator_types": mlir.ir.Attribute.parse(f"[{kinds}]"),
                "operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([1, 1]),
            },
            regions=1,
        )
        block = made.regions[0].blocks.append(*elements, arg_locs=[mlir.ir.Location.current] * 2)
        with mlir.ir.InsertionPoint(block):
            mlir.ir.Operation.create("linalg.yield", operands=[body(block.arguments[0])])
    return made

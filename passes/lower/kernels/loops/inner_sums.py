"""Reductions with the loops over their results outermost, which the threads of a GPU share.

Input: the code of a kernel on buffers, with linalg ops. Output: the same, where no loop over results lies
within one over terms. A product for a CPU has its terms before its columns, so that columns are vectors: of
4 x 8 results four threads would have a row each.
"""

from __future__ import annotations

from .....dialects import mlir
from ....ir.aliases import Operation
from .walk import nested, operations_named


def move_sums_inside(module: mlir.ir.Module) -> int:
    """Put the loops over terms of every reduction behind the others; of how many that changes the order."""
    return sum(map(_reorder, operations_named(module, "linalg.generic")))


def _reorder(generic: Operation) -> bool:
    """Whether a generic had a loop over results within one over terms; its loops are in order now."""
    kinds = list(mlir.ir.ArrayAttr(generic.attributes["iterator_types"]))
    is_sum = ["parallel" not in str(kind) for kind in kinds]
    order = sorted(range(len(kinds)), key=lambda loop: is_sum[loop])
    if order == list(range(len(kinds))):
        return False
    places = [mlir.ir.AffineDimExpr.get(order.index(loop)) for loop in range(len(kinds))]
    moved = mlir.ir.AffineMap.get(len(kinds), 0, places)
    maps = []
    for attribute in mlir.ir.ArrayAttr(generic.attributes["indexing_maps"]):
        results = [result.compose(moved) for result in mlir.ir.AffineMapAttr(attribute).value.results]
        maps.append(mlir.ir.AffineMapAttr.get(mlir.ir.AffineMap.get(len(kinds), 0, results)))
    generic.attributes["indexing_maps"] = mlir.ir.ArrayAttr.get(maps)
    generic.attributes["iterator_types"] = mlir.ir.ArrayAttr.get([kinds[loop] for loop in order])
    for inside in nested(generic):
        if inside.name == "linalg.index":
            loop = mlir.ir.IntegerAttr(inside.attributes["dim"])
            inside.attributes["dim"] = mlir.ir.IntegerAttr.get(loop.type, order.index(loop.value))
    return True

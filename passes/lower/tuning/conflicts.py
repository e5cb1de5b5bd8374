"""Tiles on the ops of a lowered module: conflicts between them are resolved, or all of them are dropped.

Input: linalg whose ops may carry `compilation_info`. Output: the same ops, fewer of which carry it.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from ....dialects import mlir
from ...ir.functions import functions

if TYPE_CHECKING:
    from iree.compiler import ir


def resolve_tiles(module: ir.Module) -> None:
    """Of reductions that IREE may put into one kernel, let the last one decide about its tiles.

    It refuses a kernel with two configurations, and one whose last op has none but an earlier one has.
    Reductions meet in a kernel where one depends on the other through elementwise ops and both have the same
    loops that are not summed over, as the sum of a softmax and its maximum have.
    """
    for function in functions(module).values():
        for block in function.regions[0].blocks:
            _resolve_block(block)


def _resolve_block(block: ir.Block) -> None:
    upstream: dict[ir.Value, frozenset[int]] = {}  # reductions that a value may be computed with
    reductions: list[tuple[ir.Operation, frozenset[int]]] = []  # and those that each may share a kernel with
    for operation in block.operations:
        name, operands = operation.operation.name, list(operation.operands)
        is_reduction = name == "linalg.generic" and "reduction" in str(operation.attributes["iterator_types"])
        before: frozenset[int] = frozenset()
        if is_reduction:
            operands = _along_kept_loops(operation, operands)
        if name == "linalg.generic" or name.startswith("tensor."):
            before = before.union(*(upstream.get(v, before) for v in operands))
        if is_reduction:
            if _is_product(operation):
                before = frozenset()
            else:
                count = prod(operation.results[0].type.shape)
                alike = (n for n in before if prod(reductions[n][0].results[0].type.shape) == count)
                reductions.append((operation, frozenset(alike)))
                before |= {len(reductions) - 1}
        if before:
            for result in operation.results:
                upstream[result] = before
    dropped: set[int] = set()
    for number in reversed(range(len(reductions))):
        operation, conflicts = reductions[number]
        if number not in dropped:
            dropped |= conflicts
        elif "compilation_info" in operation.attributes:
            del operation.attributes["compilation_info"]


def _along_kept_loops(reduction: ir.Operation, operands: list[ir.Value]) -> list[ir.Value]:
    """The operands that a kernel with this reduction may compute itself: those with an axis that it keeps.

    The vector of a product with a matrix is needed whole for each element of the result.
    """
    kinds = mlir.ir.ArrayAttr(reduction.attributes["iterator_types"])
    kept = {loop for loop, kind in enumerate(kinds) if "parallel" in str(kind)}
    maps = mlir.ir.ArrayAttr(reduction.attributes["indexing_maps"])
    return [
        value
        for value, attribute in zip(operands, maps, strict=True)
        if any(
            isinstance(place, mlir.ir.AffineDimExpr) and place.position in kept
            for place in mlir.ir.AffineMapAttr(attribute).value.results
        )
    ]


def _is_product(operation: ir.Operation) -> bool:
    """Whether a generic with a reduction multiplies two arrays of which neither is the other's shape."""
    maps = mlir.ir.ArrayAttr(operation.attributes["indexing_maps"])
    inputs = operation.attributes["operandSegmentSizes"][0]
    loops = len(mlir.ir.ArrayAttr(operation.attributes["iterator_types"]))
    return all(len(mlir.ir.AffineMapAttr(maps[i]).value.results) < loops for i in range(inputs))


def drop_tiles(module: ir.Module) -> bool:
    """Remove every `compilation_info` from `module`, in place; whether there was one."""
    has_tiles = False

    def visit(operation: ir.Operation) -> ir.WalkResult:
        nonlocal has_tiles
        if "compilation_info" in operation.attributes:
            del operation.attributes["compilation_info"]
            has_tiles = True
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return has_tiles

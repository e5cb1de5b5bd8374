"""Cheap arrays that follow from positions alone are computed again for each use, where they then fuse.

Input: the code of a kernel on tensors. Output: the same, where each `linalg.generic` that uses counts, masks
or splats without inputs has a copy of its own.
"""

from __future__ import annotations

from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation
from .walk import operations_inside

MOST_OPS: Final = 12


def repeat_cheap(module: mlir.ir.Module) -> int:
    """Copy what is cheap to its uses, in place; how many copies there are."""
    copies = 0
    for operation in operations_inside(module):
        if not _is_cheap(operation):
            continue
        uses = [(use.owner.operation, use.operand_number) for use in operation.results[0].uses]
        fusible = [(user, k) for user, k in uses if _is_input(user, k)]
        if len(uses) == 1 and all(user.parent == operation.parent for user, _ in fusible):
            continue  # it fuses as it is
        for user, position in fusible:
            copy = operation.clone(ip=mlir.ir.InsertionPoint(user)).operation
            user.operands[position] = copy.results[0]
            copies += 1
    return copies


def _is_input(user: Operation, position: int) -> bool:
    return user.name == "linalg.generic" and position < user.attributes["operandSegmentSizes"][0]


def _is_cheap(operation: Operation) -> bool:
    if operation.name != "linalg.generic" or len(operation.results) != 1:
        return False
    if operation.attributes["operandSegmentSizes"][0]:
        return False
    if any("parallel" not in str(kind) for kind in operation.attributes["iterator_types"]):
        return False
    inside = [child.operation for child in operation.regions[0].blocks[0].operations]
    return len(inside) <= MOST_OPS and not any(o.name == "tensor.extract" or list(o.regions) for o in inside)

"""What a loop turns in each step, and never changes, is turned once before it.

Input: the code of a kernel on tensors. Output: the same, where a `linalg.generic` that only puts the axes of
an array in another order, such as those of the weights of a recurrent layer, stands before the outermost
loop in which the array stays the same.
"""

from __future__ import annotations

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named

_LOOPS = ("scf.for", "scf.while")


def turn_once(module: mlir.ir.Module) -> None:
    """Move what turns an array before the loops that do not change the array."""
    for generic in operations_named(module, "linalg.generic"):
        if not _turns(generic):
            continue
        source, target = generic.operands
        loop = _outermost_without(generic, source)
        if loop is None:
            continue
        type_ = mlir.ir.RankedTensorType(target.type)
        with mlir.ir.InsertionPoint(loop), generic.location:
            empty = mlir.ir.Operation.create("tensor.empty", results=[type_], operands=[])
        generic.operands[1] = empty.results[0]
        generic.move_before(loop)


def _turns(generic: Operation) -> bool:
    """Whether a generic yields the elements of one array in another order."""
    block = generic.regions[0].blocks[0]
    if len(generic.operands) != 2 or len(generic.results) != 1 or len(block.operations) != 1:
        return False
    if not mlir.ir.RankedTensorType(generic.results[0].type).has_static_shape:
        return False
    if list(block.operations[0].operands) != [block.arguments[0]]:
        return False
    maps = [mlir.ir.AffineMapAttr(a).value for a in mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])]
    return all(map_.is_permutation for map_ in maps) and maps[0] != maps[1]


def _outermost_without(operation: Operation, value: Value) -> Operation | None:
    """The outermost loop around an op in which a value is not made; None where there is none."""
    inside = _around(value.owner if isinstance(value.owner, mlir.ir.Block) else value.owner.operation)
    found = None
    for outer in _around(operation):
        if outer.name in _LOOPS:
            if outer in inside:
                break
            found = outer
    return found


def _around(place: mlir.ir.Block | Operation) -> list[Operation]:
    """The ops that a block or an op is inside of, the nearest first."""
    found = []
    parent = place.owner if isinstance(place, mlir.ir.Block) else place.parent
    while parent is not None:
        found.append(parent.operation)
        parent = parent.operation.parent
    return found

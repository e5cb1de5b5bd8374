"""Results that the threads of a workgroup share, kept in its memory until a kernel for Vulkan or Metal ends.

Input: the code of a kernel on buffers, as loops over elements. Output: the same, where results of which
threads use elements of each other are temporaries, and are copied to their places at the end.
Idea: a barrier of SPIR-V, as IREE makes it, orders what lies in the workgroup's memory and nothing else, also
in the source for Metal: what one thread stores in an array of the device, another one may never see. A result
of which every element is stored once, and that nobody reads, needs no order, and stays where it goes.
"""

from __future__ import annotations

from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from ....ir.functions import functions
from .outline import KERNEL
from .walk import terminator

_COUNTED: Final = ("scf.for", "scf.parallel")
_STORED: Final = 1  # the operand of a store that is the array


def keep_results(module: mlir.ir.Module, first_result: int) -> int:
    """Keep results, the arguments from `first_result` on, in temporaries where that is needed; how many."""
    block = functions(module)[KERNEL].operation.regions[0].blocks[0]
    kept = [a for a in list(block.arguments)[first_result:] if not _is_stored_once(a)]
    for result in kept:
        with mlir.ir.InsertionPoint.at_block_begin(block), mlir.ir.Location.unknown():
            none = mlir.ir.DenseI32ArrayAttr.get([0, 0])
            place = mlir.ir.Operation.create(
                "memref.alloc", results=[result.type], attributes={"operandSegmentSizes": none}
            ).result
        result.replace_all_uses_with(place)
        with mlir.ir.InsertionPoint(terminator(block)), mlir.ir.Location.unknown():
            mlir.ir.Operation.create("memref.copy", operands=[place, result])
    return len(kept)


def _is_stored_once(result: Value) -> bool:
    """Whether one store is all that uses a result, and no two of its iterations store the same element."""
    uses = [(use.owner.operation, use.operand_number) for use in result.uses]
    if len(uses) != 1:
        return False
    ((store, number),) = uses
    if store.name != "memref.store" or number != _STORED:
        return False
    places = list(store.operands)[_STORED + 1 :]
    return all(counter in places for counter in _counters(store)) and not _is_in_while(store)


def _counters(operation: Operation) -> list[Value]:
    """The counters of all loops around an op."""
    return [
        counter
        for loop in _around(operation)
        if loop.name in _COUNTED
        for counter in list(loop.regions[0].blocks[0].arguments)[: _counted(loop)]
    ]


def _counted(loop: Operation) -> int:
    """How many counters a loop has."""
    return 1 if loop.name == "scf.for" else len(loop.regions[0].blocks[0].arguments)


def _is_in_while(operation: Operation) -> bool:
    return any(each.name == "scf.while" for each in _around(operation))


def _around(operation: Operation) -> list[Operation]:
    """The ops around an op, up to the function."""
    found = []
    parent = operation.parent
    while parent is not None and parent.operation.name != "func.func":
        found.append(parent.operation)
        parent = parent.operation.parent
    return found

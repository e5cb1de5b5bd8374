"""What a loop carries and updates in place is copied first, where the body also reads it as it was.

Input: the code of a kernel on tensors. Output: the same, where the update of a carried array is the only use
of it, and the others take a copy. Bufferization refuses an update in place before the last use of what was
there (`u.at[...].set(...)` and then `sum(abs(u - old))`): it would copy the array that is updated, whose
buffer is then not the one that the loop carries.
"""

from __future__ import annotations

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .destinations import DESTINATION, LOOPS, copied
from .state import DEEPEST, carried_arrays
from .walk import initial_operand, operations_inside, terminator


def keep_old_values(module: mlir.ir.Module) -> None:
    """Copy each carried array that is updated, for its other uses."""
    for operation in operations_inside(module):
        if operation.name not in LOOPS:
            continue
        block = operation.regions[len(operation.regions) - 1].blocks[0]
        end = terminator(block)
        for value, argument in zip(list(end.operands), carried_arrays(operation), strict=True):
            update = None if argument is None else _update(value, argument)
            if argument is None or update is None:
                continue
            others = [
                use
                for use in argument.uses
                if use.owner.operation != end and (use.owner.operation, use.operand_number) != update
            ]
            if others:
                with mlir.ir.InsertionPoint.at_block_begin(block):
                    old = copied(argument)
                for use in others:
                    use.owner.operation.operands[use.operand_number] = old


def _update(value: Value, argument: Value) -> tuple[Operation, int] | None:
    """The first op of those that update an array to `value`, and which of its operands the array is."""
    for _ in range(DEEPEST):
        if isinstance(value.owner, mlir.ir.Block):
            return None
        operation = value.owner.operation
        position: int | None
        if operation.name in DESTINATION:
            position = DESTINATION[operation.name]
        elif operation.name in LOOPS:
            position = initial_operand(operation, list(operation.results).index(value))
        else:
            return None
        if position is None:
            return None
        if operation.operands[position] == argument:
            return operation, position
        value = operation.operands[position]
    return None

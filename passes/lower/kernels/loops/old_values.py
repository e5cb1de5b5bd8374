"""What a loop carries and updates in place is copied first, where the body also reads it as it was.

Input: the code of a kernel on tensors. Output: the same, where the update of a carried array is the only use
of it, and the others take a copy; so do later uses of what it was between two updates. Bufferization refuses
an update in place before the last use of what was there (`u.at[...].set(...)` and then `sum(abs(u - old))`):
it would copy the array that is updated, whose buffer is then not the one that the loop carries.
"""

from __future__ import annotations

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Block, Operation, Value
from .destinations import DESTINATION, LOOPS, copied
from .state import DEEPEST, carried_arrays
from .walk import initial_operand, operations_inside, terminator


def keep_old_values(module: mlir.ir.Module) -> None:
    """Copy each carried array that is updated, for its other uses."""
    for operation in operations_inside(module):
        if operation.name not in LOOPS:
            continue
        block = operation.regions[len(operation.regions) - 1].blocks[0]
        for value, argument in zip(list(terminator(block).operands), carried_arrays(operation), strict=True):
            updates = [] if argument is None else _updates(value, argument)
            for update in updates:
                _keep(block, update, is_first=update is updates[-1])


@dataclass(frozen=True)
class _Update:
    """An op that updates an array, and which of its operands the array is."""

    operation: Operation
    position: int

    @property
    def array(self) -> Value:
        return self.operation.operands[self.position]


def _keep(block: Block, update: _Update, *, is_first: bool) -> None:
    """Let the uses of an array beside its update take a copy: of a carried one all, else those behind it."""
    array, end = update.array, terminator(block)
    own = update.operation, update.position
    others = [use for use in array.uses if use.owner.operation != end]
    others = [use for use in others if (use.owner.operation, use.operand_number) != own]
    if not is_first:
        others = [use for use in others if _is_behind(block, use.owner.operation, update.operation)]
    if not others:
        return
    ir = mlir.ir
    with ir.InsertionPoint.at_block_begin(block) if is_first else ir.InsertionPoint(update.operation):
        old = copied(array)
    for use in others:
        use.owner.operation.operands[use.operand_number] = old


def _is_behind(block: Block, user: Operation, update: Operation) -> bool:
    """Whether an op, or the one of the block that it is inside of, comes after another one of the block."""
    while user.block != block:
        user = user.parent.operation
    operations = [child.operation for child in block.operations]
    return operations.index(user) > operations.index(update)


def _updates(value: Value, argument: Value) -> list[_Update]:
    """The ops that update a carried array to `value`, the last one first; none where others do."""
    updates: list[_Update] = []
    for _ in range(DEEPEST):
        if isinstance(value.owner, mlir.ir.Block):
            return []
        operation = value.owner.operation
        position: int | None
        if operation.name in DESTINATION:
            position = DESTINATION[operation.name]
        elif operation.name in LOOPS:
            position = initial_operand(operation, list(operation.results).index(value))
        else:
            return []
        if position is None:
            return []
        updates.append(_Update(operation, position))
        if operation.operands[position] == argument:
            return updates
        value = operation.operands[position]
    return []

"""What a loop computes of arrays in each step, and never changes, is computed once before it.

Input: the code of a kernel on tensors. Output: the same, where an array that follows from what no step makes,
and that is only read, stands before the outermost loop for which that is so: the turned weights of a
recurrent layer, a vector the other way round, a mask. Of an array that is written into, a step needs one of
its own; filling that costs no more than copying it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Block, Operation, Value
from .walk import nested, operations_inside

LOOPS: Final = ("scf.for", "scf.while")
GENERIC: Final = "linalg.generic"
FILL: Final = "linalg.fill"
EMPTY: Final = "tensor.empty"
INSERTION: Final = "tensor.insert_slice"
VIEWS: Final = ("tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape")
READERS: Final = ("tensor.extract", "tensor.dim", *VIEWS)


def compute_once(module: mlir.ir.Module) -> int:
    """Move what computes an array before the loops that do not change the array; how many."""
    moved = 0
    for operation in list(operations_inside(module)):
        if operation.name not in (GENERIC, INSERTION, *VIEWS) or not _is_static(operation):
            continue
        loop = _outermost_that_keeps(operation)
        if loop is not None and _is_only_read(operation.results[0]):
            _move(operation, loop)
            moved += 1
    return moved


def _is_static(operation: Operation) -> bool:
    """Whether an op has one result, of a size that is known."""
    if len(operation.results) != 1:
        return False
    return bool(mlir.ir.RankedTensorType(operation.results[0].type).has_static_shape)


def _destination(operation: Operation) -> int | None:
    """Which operand is the first array that an op writes into, the only one of an op with one result."""
    if operation.name == GENERIC:
        return len(operation.operands) - len(operation.results)
    return 1 if operation.name == INSERTION else None


def _is_written(operation: Operation, number: int) -> bool:
    """Whether an op writes into one of its operands."""
    place = _destination(operation)
    return place is not None and place <= number < place + len(operation.results)


def _is_only_read(value: Value) -> bool:
    """Whether no use of an array, or of a part of it, writes into it."""
    for use in value.uses:
        user = use.owner.operation
        has_arrays = _destination(user) is not None
        is_read = not _is_written(user, use.operand_number) if has_arrays else user.name in READERS
        if not is_read or (user.name in VIEWS and not _is_only_read(user.results[0])):
            return False
    return True


def _outermost_that_keeps(operation: Operation) -> Operation | None:
    """The outermost loop around an op that makes nothing of what it takes; None where there is none."""
    taken = list(_taken(operation))
    found = None
    for loop in _around(operation):
        if loop.name not in LOOPS:
            continue
        if any(loop in _around(_place(value)) for value in taken):
            break
        found = loop
    return found


def _taken(operation: Operation) -> Iterator[Value]:
    """What an op takes from outside, but for a new array that it writes into."""
    place = _destination(operation)
    for number, value in enumerate(operation.operands):
        if number == place:
            yield from _content(value)
        else:
            yield value
    for each in nested(operation):
        for value in each.operands:
            if operation not in _around(_place(value)):
                yield value


def _content(array: Value) -> Iterator[Value]:
    """What an array that is written into follows from, as far as that is not made anew with the op."""
    owner = None if isinstance(array.owner, mlir.ir.Block) else array.owner.operation
    if owner is not None and owner.name == FILL and _is_new(owner.operands[1]):
        yield owner.operands[0]
    elif owner is not None and _is_part(owner):
        yield from (value for number, value in enumerate(owner.operands) if number != 1)
        yield from _content(owner.operands[1])
    elif not _is_new(array):
        yield array


def _is_part(operation: Operation) -> bool:
    """Whether an op only begins an array for another one, as those of a concatenation do."""
    return operation.name == INSERTION and len(list(operation.results[0].uses)) == 1


def _is_new(array: Value) -> bool:
    """Whether an array has no elements yet, and a size that is known."""
    owner = array.owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != EMPTY:
        return False
    return not list(owner.operation.operands)


def _move(operation: Operation, loop: Operation) -> None:
    """Move an op before a loop, behind a new array that it writes into."""
    place = _destination(operation)
    array = operation.operands[place] if place is not None else None
    if array is not None and loop in _around(_place(array)):
        made = array.owner.operation
        if _is_part(made):
            _move(made, loop)
        else:
            operation.operands[place] = _anew(made, loop)
    operation.move_before(loop)


def _anew(made: Operation, loop: Operation) -> Value:
    """An empty or filled array, made once more before a loop."""
    with mlir.ir.InsertionPoint(loop), made.location:
        if made.name != FILL:
            return made.clone().operation.results[0]
        again = made.operands[1].owner.operation.clone().operation.results[0]
        copy = made.clone().operation
    copy.operands[1] = again
    return copy.results[0]


def _place(value: Value) -> Block | Operation:
    """Where a value is made."""
    return value.owner if isinstance(value.owner, mlir.ir.Block) else value.owner.operation


def _around(place: Block | Operation) -> list[Operation]:
    """The ops that a block or an op is inside of, the nearest first."""
    found = []
    parent = place.owner if isinstance(place, mlir.ir.Block) else place.parent
    while parent is not None:
        found.append(parent.operation)
        parent = parent.operation.parent
    return found

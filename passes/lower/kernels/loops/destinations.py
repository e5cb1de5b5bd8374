"""An array that outlives an iteration, or is inserted into twice, is copied before an insertion.

Input: the code of a kernel on tensors. Output: the same, where the destination of each insertion is of the
same iteration, and of no other insertion. Upstream's passes take a slice that is computed to be inserted
for a part of its destination and compute it there (`eliminate-empty-tensors`); bufferization then sees no
conflict with the insertion of the next iteration, or with another one of the same iteration, which has the
same destination and finds this slice in it. So such a destination is copied: all insertions but one would
have to copy it anyway.

Symptom: rows that a loop inserted into an array in earlier iterations are in it again; of two arrays that
differ from a third one in the same rows, one is the other.
Seen in: IREE 3.13.
Smallest: `scan(lambda c, i: (c + zeros.at[i].set(c.sum(0)), None), x, arange(4))` of matrices;
random program 10419 of `tests/passes/lower/kernels/test_checked_loops.py`.
"""

from __future__ import annotations

from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .errors import KernelError
from .walk import initial_operand, operations_inside, operations_named, terminator

LOOPS: Final = frozenset({"scf.for", "scf.while"})
DESTINATION: Final = {
    "tensor.insert": 1,
    "tensor.insert_slice": 1,
    "bufferization.materialize_in_destination": 1,
}
"""Which operand the result of an op is an update of."""
_VIEWS: Final = frozenset(
    {"tensor.extract_slice", "tensor.expand_shape", "tensor.collapse_shape", "tensor.cast"}
)
_ALLOCATIONS: Final = frozenset({"tensor.empty", "bufferization.alloc_tensor"})


def own_destinations(module: mlir.ir.Module) -> None:
    """Copy what is inserted into, where its buffer may be from outside of the loop or of two insertions.

    New and filled arrays are one for each op that writes into them, instead of copied.
    """
    for name in ("linalg.fill", "tensor.empty"):
        for operation in operations_named(module, name):
            _repeat_for_writers(operation)
    for operation in operations_inside(module):
        if operation.name != "tensor.insert_slice":
            continue
        loop = _innermost_loop(operation)
        is_outer = loop is not None and not _is_of_iteration(operation.operands[1], loop)
        if is_outer or _is_shared(operation.operands[1]):
            with mlir.ir.InsertionPoint(operation), operation.location:
                operation.operands[1] = own = _own(operation.operands[1])
            if own.owner.operation.name == "linalg.fill":
                _write_elsewhere(operation.operands[0])


def _repeat_for_writers(maker: Operation) -> None:
    """Let each op that writes into a new or filled array have one of its own."""
    for result in maker.results:
        writers = [
            (use.owner.operation, use.operand_number)
            for use in result.uses
            if is_destination(use.owner.operation, use.operand_number)
        ]
        for user, position in writers[1:]:
            copy = maker.clone(ip=mlir.ir.InsertionPoint(maker)).operation
            user.operands[position] = copy.results[0]


def _write_elsewhere(value: Value) -> None:
    """Let what is inserted into a filled array be computed in an array of its own: computed in there, it
    would follow the fill, whose array may be the one that it reads."""
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "linalg.generic":
        return
    maker = value.owner.operation
    for position in range(len(maker.operands) - len(maker.results), len(maker.operands)):
        init = maker.operands[position].owner
        if not isinstance(init, mlir.ir.Block) and init.operation.name == "tensor.empty":
            with mlir.ir.InsertionPoint(maker), maker.location:
                maker.operands[position] = _new(maker.operands[position].type)


def _new(type_: mlir.ir.Type) -> Value:
    if not mlir.ir.RankedTensorType(type_).has_static_shape:
        raise KernelError("a temporary has a size that shows at the call")
    return mlir.ir.Operation.create(
        "bufferization.alloc_tensor",
        results=[type_],
        attributes={"operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([0, 0, 0])},
    ).results[0]


def _own(value: Value) -> Value:
    """A destination with the elements of `value` that is no other's."""
    owner = value.owner
    if not isinstance(owner, mlir.ir.Block) and owner.operation.name in ("tensor.empty", "linalg.fill"):
        copy = owner.operation.clone().operation
        if copy.name == "linalg.fill":
            with mlir.ir.InsertionPoint(copy):
                copy.operands[1] = _own(copy.operands[1])
        return copy.results[0]
    return copied(value)


def copied(value: Value) -> Value:
    """A copy of an array, which bufferization does not merge with another."""
    return mlir.ir.Operation.create(
        "bufferization.alloc_tensor",
        results=[value.type],
        operands=[value],
        attributes={"operandSegmentSizes": mlir.ir.DenseI32ArrayAttr.get([0, 1, 0])},
    ).results[0]


def _is_shared(value: Value) -> bool:
    """Whether an array, or a view of what it is a view of, is a destination more than once."""
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name in _VIEWS:
        value = value.owner.operation.operands[0]
    count, pending = 0, [value]
    while pending and count < 2:
        for use in pending.pop().uses:
            user = use.owner.operation
            if user.name in _VIEWS:
                pending.append(user.results[0])
            count += is_destination(user, use.operand_number)
    return count > 1


def is_destination(user: Operation, position: int) -> bool:
    """Whether an op may write into its operand at `position`."""
    if user.name in DESTINATION:
        return position == DESTINATION[user.name]
    if user.name.startswith("linalg."):
        return position >= len(user.operands) - len(user.results)
    return user.name in LOOPS or user.name == "scf.yield"


def _innermost_loop(operation: Operation) -> Operation | None:
    parent = operation.parent
    while parent is not None and parent.operation.name not in LOOPS:
        parent = parent.operation.parent
    return None if parent is None else parent.operation


def _is_of_iteration(value: Value, loop: Operation) -> bool:
    """Whether the buffer of `value` is one that `loop` carries, or is allocated in each iteration."""
    owner = value.owner
    if isinstance(owner, mlir.ir.Block):
        return bool(owner.owner.operation == loop)
    operation = owner.operation
    if operation.name in _ALLOCATIONS:
        return _is_inside(value, loop)
    position = list(operation.results).index(value)
    if operation.name == "scf.if":
        ends = [terminator(region.blocks[0]).operands[position] for region in operation.regions]
        return all(_is_of_iteration(end, loop) for end in ends)
    source = _source(operation, position)
    return source is not None and _is_of_iteration(operation.operands[source], loop)


def _source(operation: Operation, position: int) -> int | None:
    """Which operand has the buffer of a result, None where that is not known."""
    if operation.name in DESTINATION:
        return DESTINATION[operation.name]
    if operation.name in _VIEWS:
        return 0
    if operation.name in LOOPS:
        return initial_operand(operation, position)
    if operation.name.startswith("linalg."):
        return len(operation.operands) - len(operation.results) + position
    return None


def _is_inside(value: Value, loop: Operation) -> bool:
    """Whether `value` is defined in a region of `loop`."""
    owner = value.owner
    parent = owner.owner if isinstance(owner, mlir.ir.Block) else owner.operation.parent
    while parent is not None:
        if parent.operation == loop:
            return True
        parent = parent.operation.parent
    return False

"""What loops and branches yield is written where it belongs, so that nothing but contents changes.

Input: the code of a kernel on tensors. Output: the same, where each array that a loop yields is an update of
the array that it carries, and each that a branch yields is written into one place for all branches.
Bufferization then sees where an update in place would overwrite what is still used, and copies there (two
carried arrays that change places): buffers themselves never change places, which `allocations.py` checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Block, Operation, Value
from .destinations import DESTINATION, LOOPS, copied
from .errors import KernelError
from .walk import initial_operand, nested, terminator

DEEPEST: Final = 400


def write_into(value: Value, destination: Value) -> Value:
    """`value`, written into the buffer of `destination`."""
    return mlir.ir.Operation.create(
        "bufferization.materialize_in_destination", results=[value.type], operands=[value, destination]
    ).results[0]


def yield_in_place(module: mlir.ir.Module, *, through_copies: bool = False) -> None:
    """Let loops and branches write what they yield into what they carry or share, in place.

    What is an update of another array that the loop carries goes through a copy: all are taken before the
    first is written. With `through_copies` everything does, which bufferization refuses in no case.
    """
    for function in module.body.operations:
        inside = list(nested(function.operation))
        for operation in reversed(inside):  # inner ones first
            if operation.name == "scf.if":
                _share_destination(operation)
            elif operation.name in LOOPS:
                block = operation.regions[len(operation.regions) - 1].blocks[0]
                _write_carried(block, carried_arrays(operation), through_copies)


def _is_array(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.RankedTensorType)


def carried_arrays(loop: Operation) -> list[Value | None]:
    """For each value that a loop's body yields, the argument that carries it, if that is an array."""
    return [v if v is not None and _is_array(v) else None for v in _carried(loop)]


def _carried(loop: Operation) -> list[Value | None]:
    if loop.name == "scf.for":
        return list(loop.regions[0].blocks[0].arguments)[1:]
    before, after = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    passed = list(terminator(before).operands)[1:]
    return [after.arguments[passed.index(a)] if a in passed else None for a in before.arguments]


def _write_carried(block: Block, carried: Sequence[Value | None], through_copies: bool) -> None:
    end = terminator(block)
    moved: list[int] = []
    for position, (value, argument) in enumerate(zip(list(end.operands), carried, strict=True)):
        if argument is None:
            continue
        root = root_of(value)
        if root != argument:
            moved.append(position)
            if through_copies or any(other is not None and root == other for other in carried):
                with mlir.ir.InsertionPoint(end):
                    end.operands[position] = copied(value)
    for position in moved:
        argument = carried[position]
        assert argument is not None
        with mlir.ir.InsertionPoint(end):
            end.operands[position] = write_into(end.operands[position], argument)


def _share_destination(branch: Operation) -> None:
    ends = [terminator(region.blocks[0]) for region in branch.regions if len(region.blocks)]
    for position, result in enumerate(branch.results):
        if not _is_array(result):
            continue
        roots = [root_of(end.operands[position]) for end in ends]
        if all(root == roots[0] for root in roots) and not _is_inside(roots[0], branch):
            continue
        with mlir.ir.InsertionPoint(branch):
            type_ = mlir.ir.RankedTensorType(result.type)
            if not type_.has_static_shape:
                raise KernelError("branches compute arrays of a size that shows at the call")
            place = mlir.tensor.EmptyOp(type_.shape, type_.element_type).result
        for end in ends:
            with mlir.ir.InsertionPoint(end):
                end.operands[position] = write_into(end.operands[position], place)


def _is_inside(value: Value, operation: Operation) -> bool:
    owner = value.owner
    parent = owner.owner if isinstance(owner, mlir.ir.Block) else owner.operation.parent
    while parent is not None:
        if parent.operation == operation:
            return True
        parent = parent.operation.parent
    return False


def root_of(value: Value) -> Value:
    """The array that `value` is an update of along destinations, itself where it is none's."""
    for _ in range(DEEPEST):
        if isinstance(value.owner, mlir.ir.Block):
            return value
        operation = value.owner.operation
        position = list(operation.results).index(value)
        if operation.name in DESTINATION:
            value = operation.operands[DESTINATION[operation.name]]
        elif operation.name in ("scf.for", "scf.while"):
            initial = initial_operand(operation, position)
            if initial is None:
                return value
            value = operation.operands[initial]
        elif operation.name == "scf.if":
            ends = [terminator(region.blocks[0]).operands[position] for region in operation.regions]
            roots = [root_of(end) for end in ends]
            if any(root != roots[0] for root in roots) or _is_inside(roots[0], operation):
                return value
            value = roots[0]
        else:
            return value
    return value

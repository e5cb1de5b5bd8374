"""Loops inside loops, kept apart from what surrounds them: what is done where IREE 3.13 refuses a module.

In comes a lowered module, out goes the same where everything computed in the body of a loop before an inner
loop or branch is read through a barrier after it. A kernel before the inner loop with two results, one that
the loop reads and one for what follows, is put into the group of kernels that follows ("circular dependency:
input operation uses partition output"). A barrier keeps it out of there; it copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...dialects import mlir
from .barriers import compute_barrier
from .ownership import VIEWS

_STRUCTURED: Final = frozenset({"scf.for", "scf.while", "scf.if"})
_MADE_ANYWHERE: Final = frozenset({"arith.constant", "tensor.empty", "linalg.fill"})


def has_nested_loops(module: Any) -> bool:
    """Whether a loop or branch stands inside another."""
    return any(True for _ in _bodies_with_loops(module))


def keep_apart(module: Any) -> None:
    """Let what follows an inner loop or branch read what came before it through barriers.

    The results of earlier loops are no kernel's, and IREE loses their buffers behind barriers: they stay.
    """
    for block in list(_bodies_with_loops(module)):
        operations = [o.operation for o in block.operations]
        computed: set[Any] = set()
        for position, operation in enumerate(operations):
            if operation.name in _STRUCTURED:
                _hide(operation, computed, operations[position + 1 :])
            elif operation.name in VIEWS and operation.operands[0] not in computed:
                continue  # of what comes from outside of the body
            elif operation.name not in _MADE_ANYWHERE:
                computed.update(operation.results)


def _bodies_with_loops(module: Any) -> Iterator[Any]:
    """The blocks of loops and branches that have loops or branches of their own."""
    for function in module.body.operations:
        for block in _blocks(function.operation):
            for operation in block.operations:
                yield from _inner_bodies(operation.operation)


def _inner_bodies(operation: Any) -> Iterator[Any]:
    if operation.name in _STRUCTURED:
        for block in _blocks(operation):
            inner = [o.operation for o in block.operations if o.operation.name in _STRUCTURED]
            if inner:
                yield block
            for each in inner:
                yield from _inner_bodies(each)


def _blocks(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        yield from region.blocks


def _hide(loop: Any, before: set[Any], after: list[Any]) -> None:
    """Let the operations `after` the loop read the values `before` it through barriers."""
    readers = [o for operation in after for o in (operation, *_within(operation))]
    # What is written in place must stay the value that it is: a barrier would hide its other readers.
    written = {v for o in readers for v in _written(o)}
    hidden: dict[Any, Any] = {}
    tensor = mlir.ir.RankedTensorType
    for reader in readers:
        for number, value in enumerate(reader.operands):
            if value not in before or value in written or not isinstance(value.type, tensor):
                continue
            if value not in hidden:
                hidden[value] = barrier(loop, value)
            reader.operands[number] = hidden[value]


def _within(operation: Any) -> Iterator[Any]:
    for block in _blocks(operation):
        for inner in block.operations:
            yield inner.operation
            yield from _within(inner.operation)


def _written(operation: Any) -> list[Any]:
    """The operands whose buffers an operation may write into."""
    operands = list(operation.operands)
    if operation.name == "tensor.insert_slice":
        return operands[1:2]
    if operation.name in _STRUCTURED or operation.name.startswith("iree_linalg_ext."):
        return operands
    if operation.name.startswith("linalg.") and "operandSegmentSizes" in operation.attributes:
        inputs = mlir.ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"])[0]
        return operands[inputs:]
    return []


def barrier(operation: Any, value: Any) -> Any:
    """A barrier on `value` right after `operation`."""
    with mlir.ir.InsertionPoint.after(operation), operation.location:
        return compute_barrier(value)

"""The ops of a kernel's code, with those inside of loops, branches and generics."""

from __future__ import annotations

from collections.abc import Iterator

from .....dialects import mlir
from ....ir.aliases import Block, Operation


def operations_inside(module: mlir.ir.Module) -> Iterator[Operation]:
    """Every op of every function of `module`, outer ones first."""
    for function in list(module.body.operations):
        yield from nested(function.operation)


def operations_named(module: mlir.ir.Module, name: str) -> list[Operation]:
    """The ops of one name, listed before a caller erases any: an erased op may not be asked for its name.

    The bindings do not know that an op was erased through another of its Python objects; they look into
    memory that is free by then.
    """
    return [operation for operation in operations_inside(module) if operation.name == name]


def nested(operation: Operation) -> Iterator[Operation]:
    """Every op inside of `operation`, outer ones first; each may be erased when it is yielded."""
    for region in operation.regions:
        for block in region.blocks:
            for child in list(block.operations):
                yield child.operation
                if _is_alive(child.operation):
                    yield from nested(child.operation)


def terminator(block: Block) -> Operation:
    """The last op of a block."""
    return block.operations[len(block.operations) - 1].operation


def initial_operand(loop: Operation, number: int) -> int | None:
    """Which operand of a loop is the initial value of its result `number`; None where none is."""
    if loop.name == "scf.for":
        return 3 + number
    passed = list(terminator(loop.regions[0].blocks[0]).operands)[1:][number]
    arguments = list(loop.regions[0].blocks[0].arguments)
    return arguments.index(passed) if passed in arguments else None


def _is_alive(operation: Operation) -> bool:
    try:
        return operation.parent is not None
    except RuntimeError:  # erased
        return False

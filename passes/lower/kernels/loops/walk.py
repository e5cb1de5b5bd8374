"""The ops of a kernel's code, with those inside of loops, branches and generics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .....dialects import mlir
from ....ir.aliases import Block, Operation

_OF_ARRAYS: Final = ("linalg.generic", "memref.alloc", "memref.copy")
"""Ops that no generic has inside. Its scalar ops are most of a kernel's code, until they are in loops."""


def operations_inside(module: mlir.ir.Module) -> Iterator[Operation]:
    """Every op of every function of `module`, outer ones first."""
    for function in list(module.body.operations):
        yield from nested(function.operation)


def operations_named(module: mlir.ir.Module | mlir.ir.OpView, name: str) -> list[Operation]:
    """The ops of one name in a module or another op, listed before a caller erases any: an erased op may not
    be asked for its name.

    The bindings do not know that an op was erased through another of its Python objects; they look into
    memory that is free by then. MLIR traverses three times as fast as `operations_inside`: code of
    a kernel has many ops, and most passes look for a few of them.
    """
    found: list[Operation] = []
    result = mlir.ir.WalkResult
    advance, inside_generic = result.ADVANCE, result.SKIP if name in _OF_ARRAYS else result.ADVANCE

    def look(operation: Any) -> Any:
        if operation.name == name:
            found.append(operation)
        return inside_generic if operation.name == "linalg.generic" else advance

    module.operation.walk(look, mlir.ir.WalkOrder.PRE_ORDER)
    return found


def nested(operation: Operation) -> Iterator[Operation]:
    """Every op inside of `operation`, outer ones first; each may be erased when it is yielded."""
    for region in operation.regions:
        for block in region.blocks:
            for child in list(block.operations):
                inner = child.operation
                has_regions = len(inner.regions) > 0  # most ops have none
                yield inner
                if has_regions and _is_alive(inner):
                    yield from nested(inner)


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

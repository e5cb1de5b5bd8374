"""The dispatches of a program in IREE's phase `flow`, and the kernels that they call.

Input: the program. Output: its executables by their symbols, its functions, and the function of a kernel.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Operation
from .executable import DISPATCH

EXECUTABLE: Final = "flow.executable"
FUNCTIONS: Final = ("util.func", "util.initializer")


def executables_of(module: mlir.ir.Module) -> dict[str, Operation]:
    """The executables that IREE made, by their symbols."""
    operations = [each.operation for each in module.body.operations]
    return {_symbol(each): each for each in operations if each.name == EXECUTABLE}


def functions_of(module: mlir.ir.Module) -> list[Operation]:
    """The functions of the host's program."""
    return [each.operation for each in module.body.operations if each.operation.name in FUNCTIONS]


def dispatches(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The dispatches among operations and within them."""
    for operation in operations:
        if operation.name == DISPATCH:
            yield operation
        for region in operation.regions:
            for block in region.blocks:
                yield from dispatches([each.operation for each in block.operations])


def called_by(dispatch: Operation) -> str:
    """The symbol of the executable that a dispatch calls; none where it calls one of several."""
    entries = list(mlir.ir.ArrayAttr(dispatch.attributes["entry_points"]))
    return str(mlir.ir.SymbolRefAttr(entries[0]).value[0]) if len(entries) == 1 else ""


def kernel_of(operation: Operation, executables: Mapping[str, Operation]) -> Operation | None:
    """The function of the kernel that an op dispatches, if it takes arrays of known sizes alone, and has its
    results in buffers of their own."""
    if operation.name != DISPATCH or _is_tied(operation):
        return None
    segments = list(mlir.ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
    executable = executables.get(called_by(operation))
    if executable is None or sum(segments) != segments[1]:
        return None
    return function_of(executable)


def function_of(executable: Operation) -> Operation | None:
    """The function of an executable that IREE made, if it has one."""
    inner = [o.operation for o in executable.regions[0].blocks[0].operations]
    functions = [
        each.operation
        for o in inner
        if o.name == "builtin.module"
        for each in o.regions[0].blocks[0].operations
    ]
    return functions[0] if len(functions) == 1 and functions[0].name == "func.func" else None


def erase_executables(module: mlir.ir.Module, symbols: Collection[str]) -> None:
    """Erase executables that nothing uses any more, nothing of Python what is in them (see `add_beside`)."""
    for executable in list(module.body.operations):
        if executable.operation.name == EXECUTABLE and _symbol(executable.operation) in symbols:
            executable.operation.erase()


def _is_tied(dispatch: Operation) -> bool:
    """Whether a result is written in the buffer of an operand."""
    if "tied_operands" not in dispatch.attributes:
        return False
    ties = mlir.ir.ArrayAttr(dispatch.attributes["tied_operands"])
    return any(mlir.ir.IntegerAttr(tie).value >= 0 for tie in ties)


def _symbol(operation: Operation) -> str:
    return str(mlir.ir.StringAttr(operation.attributes["sym_name"]).value)

"""The pass `drop-numbers`: kernels of our own are passed the numbers that they use, and no others.

Input: a program in IREE's phase `flow`. Output: the same program; the functions of kernels have no parameters
for numbers that they do not use, and their dispatches no operands for these.
A kernel that takes parts of arrays of unknown sizes was passed a size for each axis of each part, of which
its code uses few. IREE's runtime takes 64 words in all, two for each size (`iree/limited_operands.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Operation
from ...ir.functions import EXECUTABLE
from .dispatches import called_by, dispatches, functions_of

_BINDING: Final = "!stream.binding"


@dataclass(frozen=True)
class DropNumbers(Pass):
    """Leave out the numbers that kernels of adze's own in IREE's phase `flow` are passed and do not use."""

    name = "drop-numbers"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a number was left out."""
        calls = list(dispatches(functions_of(module)))
        alone = {called_by(call) for call in calls}
        several = {symbol for call in calls if not called_by(call) for symbol in _entries(call)}
        with module.context:
            dropped: dict[str, list[int]] = {}
            for executable in module.body.operations:
                if executable.operation.name == EXECUTABLE:
                    symbol = mlir.ir.StringAttr(executable.operation.attributes["sym_name"]).value
                    if symbol in alone - several:
                        unused = _without_unused(executable.operation)
                        dropped.update({symbol: unused} if unused else {})
            for call in calls:
                if called_by(call) in dropped:
                    _pass_fewer(call, dropped)
        return bool(dropped)


def _entries(dispatch: Operation) -> list[str]:
    """The executables that a dispatch may call."""
    entries = mlir.ir.ArrayAttr(dispatch.attributes["entry_points"])
    return [str(mlir.ir.SymbolRefAttr(entry).value[0]) for entry in entries]


def _without_unused(executable: Operation) -> list[int]:
    """Drop the parameters of a kernel's function that are numbers without a use: their places."""
    inner = [each.operation for each in executable.regions[0].blocks[0].operations]
    (functions,) = (each for each in inner if each.name == "builtin.module")
    several = [each.operation for each in functions.regions[0].blocks[0].operations]
    if len(several) != 1 or several[0].name != "func.func":
        return []
    function, block = several[0], several[0].regions[0].blocks[0]
    arguments = list(block.arguments)
    unused = [
        number
        for number, argument in enumerate(arguments)
        if str(argument.type) != _BINDING and not any(True for _ in argument.uses)
    ]
    for number in reversed(unused):
        block.erase_argument(number)
    if unused:
        types = [argument.type for argument in block.arguments]
        function.attributes["function_type"] = mlir.ir.TypeAttr.get(mlir.ir.FunctionType.get(types, []))
    return unused


def _pass_fewer(dispatch: Operation, dropped: Mapping[str, Sequence[int]]) -> None:
    """The dispatch without the operands of parameters that its kernel no longer has."""
    unused = dropped[called_by(dispatch)]
    workload, arguments, *sizes = mlir.ir.DenseI32ArrayAttr(dispatch.attributes["operandSegmentSizes"])
    operands, gone = list(dispatch.operands), {workload + number for number in unused}
    attributes = {name: dispatch.attributes[name] for name in dispatch.attributes}
    segments = [workload, arguments - len(unused), *sizes]
    attributes["operandSegmentSizes"] = mlir.ir.DenseI32ArrayAttr.get(segments)
    if "tied_operands" in attributes:
        index = mlir.ir.IndexType.get()
        tied = [mlir.ir.IntegerAttr(tie).value for tie in mlir.ir.ArrayAttr(attributes["tied_operands"])]
        moved = [tie - sum(number < tie for number in unused) if tie >= 0 else tie for tie in tied]
        attributes["tied_operands"] = mlir.ir.ArrayAttr.get(
            [mlir.ir.IntegerAttr.get(index, n) for n in moved]
        )
    with mlir.ir.InsertionPoint(dispatch), dispatch.location:
        fewer = mlir.ir.Operation.create(
            dispatch.name,
            results=[result.type for result in dispatch.results],
            operands=[value for number, value in enumerate(operands) if number not in gone],
            attributes=attributes,
        )
    for before, after in zip(dispatch.results, fewer.results, strict=True):
        before.replace_all_uses_with(after)
    dispatch.erase()

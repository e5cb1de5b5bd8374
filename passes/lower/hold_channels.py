"""The pass `hold-channels`: the channels over which devices exchange arrays become globals of the program.

Input: the lowered module, which loads channels. Output: the same, in place, with a global for each and what
makes it when the program is loaded: a channel of IREE's with the ranks' name as its group. Which ranks these
are, and where among them the one that runs is, it asks then (`runtime/compile/channels.py`).
"""

from __future__ import annotations

from typing import Any, Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..base import Pass
from ..ir.functions import EXECUTABLE
from .forms.channels import CHANNEL

_LOAD: Final = "util.global.load"
WITHOUT_LOADS: Final = ("linalg.generic", EXECUTABLE)
"""Ops that hold most ops of a lowered module, and load no channels."""


@dataclass(frozen=True)
class HoldChannels(Pass):
    """Make the channels of the program's collectives when it is loaded."""

    name = "hold-channels"
    needs = (_LOAD,)
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        declared = mlir.ir.SymbolTable(module.operation)
        groups = [group for group in _loaded(module) if group not in declared]
        with module.context, mlir.ir.Location.unknown(), mlir.ir.InsertionPoint.at_block_begin(module.body):
            for group in groups:
                _declare(group)
        return bool(groups)


def _loaded(module: mlir.ir.Module) -> list[str]:
    """The groups whose channels are loaded, in the order of the text."""
    groups: dict[str, None] = {}

    def look(operation: Any) -> Any:
        if operation.name in WITHOUT_LOADS:
            return mlir.ir.WalkResult.SKIP
        if operation.name == _LOAD and str(operation.results[0].type) == CHANNEL:
            groups[mlir.ir.FlatSymbolRefAttr(operation.attributes["global"]).value] = None
        return mlir.ir.WalkResult.ADVANCE

    module.operation.walk(look, mlir.ir.WalkOrder.PRE_ORDER)
    return list(groups)


def _declare(group: str) -> None:
    type_ = mlir.ir.Type.parse(CHANNEL)
    made = mlir.ir.TypeAttr.get(mlir.ir.FunctionType.get([], []))
    stated = {
        "sym_name": mlir.ir.StringAttr.get(group),
        "sym_visibility": mlir.ir.StringAttr.get("private"),
        "type": mlir.ir.TypeAttr.get(type_),
    }
    mlir.ir.Operation.create("util.global", attributes=stated)
    initializer = mlir.ir.Operation.create("util.initializer", attributes={"function_type": made}, regions=1)
    with mlir.ir.InsertionPoint(initializer.regions[0].blocks.append()):
        named = {"group": mlir.ir.StringAttr.get(group)}
        channel = mlir.ir.Operation.create("flow.channel.default", [type_], [], named).result
        reference = {"global": mlir.ir.FlatSymbolRefAttr.get(group)}
        mlir.ir.Operation.create("util.global.store", [], [channel], reference)
        mlir.ir.Operation.create("util.return")

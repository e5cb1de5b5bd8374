"""Making a new function inside a module: what jvp, linearize, transpose and batch each end in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dialects import mlir
from ..dialects.attributes import Codec
from ..dialects.emission import Emitter
from ..dialects.types import ValueType
from .functions import functions


class NewFunction:
    """A private function under construction; `emitter` appends to it, `finish` returns from it."""

    def __init__(
        self,
        module: mlir.ir.Module,
        codec: Codec,
        name: str,
        arguments: Sequence[ValueType],
        location: mlir.ir.Location,
        emitter: type[Emitter] = Emitter,
    ) -> None:
        ir = mlir.ir
        self.module = module
        self.symbol = unique_symbol(module, name)
        with module.context, location:
            types = [codec.write_type(t) for t in arguments]
            self.operation = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(self.symbol),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
                    "sym_visibility": ir.StringAttr.get("private"),
                },
                regions=1,
                ip=ir.InsertionPoint(module.body),
            )
            self.block = self.operation.regions[0].blocks.append(*types, arg_locs=[location] * len(types))
        self.arguments = list(self.block.arguments)
        self.emitter = emitter(codec, ir.InsertionPoint(self.block), location)

    def finish(self, results: Sequence[Any]) -> str:
        """Return `results`; the function's symbol."""
        ir = mlir.ir
        with self.module.context, self.emitter.location:
            ir.Operation.create("func.return", operands=list(results), ip=ir.InsertionPoint(self.block))
            type_ = ir.FunctionType.get([a.type for a in self.block.arguments], [v.type for v in results])
            self.operation.attributes["function_type"] = ir.TypeAttr.get(type_)
        return self.symbol


def unique_symbol(module: mlir.ir.Module, name: str) -> str:
    """`name`, or `name_1`, `name_2`, ... when the module has such a function."""
    taken = functions(module).keys()
    symbol, count = name, 0
    while symbol in taken:
        count += 1
        symbol = f"{name}_{count}"
    return symbol


def derived_location(location: mlir.ir.Location, transform: str) -> mlir.ir.Location:
    """The user's line, and the transform that made an op of it."""
    context = location.context
    return mlir.ir.Location.fused(
        [location], mlir.ir.StringAttr.get(transform, context), context
    )

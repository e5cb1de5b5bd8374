"""A module of simplified adze IR as the text of a StableHLO module.

Input: the module, the symbol of its main function. Output: text, which MLIR has parsed and verified.
"""

from __future__ import annotations

import math
import re
from typing import Any, Final

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.codec import Codec
from ....dialects.types import TensorType
from ....passes.analysis.verify import location_text
from ....passes.ir.functions import body, functions, split_body
from ..errors import ModelUnsupportedError
from .rules import Application
from .table import TABLE
from .writer import SIZE, Ref, Writer, type_text

_WORD: Final = re.compile(r"[^A-Za-z0-9_]")


def module_text(module: mlir.ir.Module, main: str, *, drop_effects: bool = False) -> str:
    """The module in StableHLO, its main function `main`; `drop_effects` leaves out checks and output."""
    translation = Translation(module, main, drop_effects=drop_effects)
    written = [translation.function(symbol) for symbol in functions(module)]
    ranks = translation.ranks
    attributes = f"attributes {{mhlo.num_replicas = {ranks} : i32}} " if ranks > 1 else ""
    written += translation.combinations.values()
    text = "\n".join([f"module @{_WORD.sub('_', main) or 'program'} {attributes}{{", *written, "}"])
    return str(mlir.ir.Module.parse(text, mlir.new_context()))


class Translation:
    """The functions of a module, by their symbols; `names` are those in the text, `ranks` run the program."""

    def __init__(self, module: mlir.ir.Module, main: str, *, drop_effects: bool = False) -> None:
        self.drop_effects = drop_effects
        self.ranks = 1
        self.combinations: dict[str, str] = {}
        self.reader = Reader(Codec(module.context))
        self.functions = functions(module)
        self.main = main
        names = ["main" if symbol == main else f"f{i}" for i, symbol in enumerate(self.functions)]
        self.names = dict(zip(self.functions, names, strict=True))

    def function(self, symbol: str) -> str:
        """The text of one function."""
        operation = self.functions[symbol]
        writer = Writer(self.combinations)
        values: dict[Any, Ref] = {}
        for argument in body(operation).arguments:
            values[argument] = Ref(f"%{next(writer.numbers)}", self._tensor(argument.type))
        arguments = list(values.values())
        operations, terminator = split_body(operation)
        for child in operations:
            self._write(writer, child.operation, values)
        results = [values[v] for v in terminator.operands]
        writer.op("func.return", results, ())
        inside = ", ".join(f"{a.name}: {type_text(a.type)}" for a in arguments)
        types = ", ".join(type_text(r.type) for r in results)
        visibility = "public" if symbol == self.main else "private"
        lines = "\n".join(writer.lines)
        return f"func.func {visibility} @{self.names[symbol]}({inside}) -> ({types}) {{\n{lines}\n}}"

    def _tensor(self, type_: Any) -> TensorType:
        """The type in the text, where sizes are arrays."""
        read = self.reader.codec.read_type(type_)
        return read if isinstance(read, TensorType) else SIZE

    def _signature(self, name: str) -> tuple[TensorType, ...]:
        symbol = next(symbol for symbol, written in self.names.items() if written == name)
        _, terminator = split_body(self.functions[symbol])
        return tuple(self._tensor(v.type) for v in terminator.operands)

    def _write(self, writer: Writer, operation: Any, values: dict[Any, Ref]) -> None:
        application = self.reader.read(operation, values.__getitem__)
        where = location_text(operation.location)
        if application is None:
            raise ModelUnsupportedError(f"to_stablehlo: {operation.name} is no op of adze", where=where)
        op, operands, attributes = application
        if self.drop_effects and not operation.results:
            return
        for name, attribute in op.attributes.items():  # functions by the names that they get
            if attribute.kind == "symbol":
                attributes[name] = self.names.get(attributes[name], attributes[name])
            elif attribute.kind == "symbols":
                attributes[name] = tuple(self.names[symbol] for symbol in attributes[name])
        self.ranks = max(self.ranks, math.prod(attributes.get("mesh", ())))
        results = tuple(self._tensor(v.type) for v in operation.results)
        written = TABLE[op.name](
            writer, Application(op.name, operands, results, attributes, self._signature, where)
        )
        values.update(zip(operation.results, written, strict=True))

"""Which values vary over which axes of a mesh: the ranks along such an axis may hold different ones.

Input: an op or a function, and the axes over which its operands vary. Output: the axes of each result, and
the axes that a function sends arrays along. Idea: a value varies over what its operands vary over; a few
collectives add or remove their axis; loops take the fixed point of their state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.op import Op
from ..ir.functions import find_function, function, referenced, split_body

Axes = frozenset[str]
NOWHERE: Final[Axes] = frozenset()


def united(several: Sequence[Axes]) -> Axes:
    """The axes of any of several values."""
    return NOWHERE.union(*several)


class Varying:
    """The analysis of the functions of one module, whose finished functions do not change."""

    def __init__(self, module: mlir.ir.Module, reader: Reader) -> None:
        self._module = module
        self._reader = reader
        self._results: dict[tuple[str, tuple[Axes, ...]], tuple[Axes, ...]] = {}
        self._sent: dict[str, Axes] = {}

    def of_op(
        self, op: type[Op], attributes: Mapping[str, Any], operands: Sequence[Axes], count: int
    ) -> tuple[Axes, ...]:
        """The axes of the `count` results of an op."""
        if op.varies is not None:
            return tuple(op.varies(self, operands, attributes))
        callee = attributes.get("callee")
        if isinstance(callee, str) and self._takes(callee, len(operands)):
            return self.of_function(callee, operands)
        return (united(operands),) * count

    def of_function(self, symbol: str, arguments: Sequence[Axes]) -> tuple[Axes, ...]:
        """The axes of the results of a function."""
        key = (symbol, tuple(arguments))
        if key not in self._results:
            body, terminator = split_body(function(self._module, symbol))
            block = terminator.operation.block
            known: dict[Any, Axes] = dict(zip(block.arguments, arguments, strict=True))
            for child in body:
                application = self._reader.read(child.operation)
                assert application is not None
                operands = [known.get(v, NOWHERE) for v in child.operation.operands]
                results = list(child.operation.results)
                axes = self.of_op(application.op, application.attributes, operands, len(results))
                known.update(zip(results, axes, strict=True))
            self._results[key] = tuple(known.get(v, NOWHERE) for v in terminator.operands)
        return self._results[key]

    def sent_by(self, symbol: str) -> Axes:
        """The axes along which a function, or one that it refers to, sends arrays, now or backwards."""
        if symbol not in self._sent:
            self._sent[symbol] = NOWHERE
            body, _ = split_body(function(self._module, symbol))
            applications = [self._reader.read(child.operation) for child in body]
            self._sent[symbol] = united([self.sent(a) for a in applications if a is not None])
        return self._sent[symbol]

    def sent(self, application: Application) -> Axes:
        """The same of one op."""
        if application.op.sends_along is not None:
            return frozenset({application.attributes[application.op.sends_along]})
        if not application.op.refers_to_functions:
            return NOWHERE
        symbols = (s for s in referenced(application) if find_function(self._module, s) is not None)
        return united([self.sent_by(s) for s in symbols])

    def _takes(self, symbol: str, count: int) -> bool:
        found = find_function(self._module, symbol)
        return found is not None and len(found.operation.regions[0].blocks[0].arguments) == count

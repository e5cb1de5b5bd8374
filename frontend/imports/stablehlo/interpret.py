"""Runs a program on values: one rule for each op, in the order of the text.

Input: a program, the table of rules, arguments. Output: results. Outside a trace the ops compute, within one
they are recorded: it is the ops of adze that know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ....dialects.errors import AdzeError
from .application import Application, Draws, Rule
from .narrow import applied
from .program import Operation, Program, Region

_ONCE: Final = ("stablehlo.case", "stablehlo.if")  # other regions may run many times


class Interpreter:
    """Interprets the functions and regions of one program; one call, where it has a key."""

    def __init__(self, program: Program, table: Mapping[str, Rule], key: Any = None) -> None:
        self.program = program
        self.table = table
        self.draws = Draws(key)

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """The results of a function."""
        return self._run(self.program.functions[name].body, arguments, {})

    def _run(self, region: Region, arguments: Sequence[Any], outer: Mapping[int, Any]) -> list[Any]:
        values = dict(outer)
        values.update(zip(region.arguments, arguments, strict=True))
        for operation in region.operations:
            results = self._apply(region, operation, values)
            values.update(zip(operation.results, results, strict=True))
        return [values[number] for number in region.results]

    def _run_region(
        self, operation: Operation, region: Region, arguments: Sequence[Any], outer: Mapping[int, Any]
    ) -> list[Any]:
        is_repeated = operation.name not in _ONCE
        self.draws.repeated += is_repeated
        try:
            return self._run(region, arguments, outer)
        finally:
            self.draws.repeated -= is_repeated

    def _apply(self, region: Region, operation: Operation, values: Mapping[int, Any]) -> Sequence[Any]:
        inputs = tuple(values[number] for number in operation.operands)
        callee = operation.attributes.get("callee", operation.attributes.get("decomposition"))
        if operation.name in ("func.call", "stablehlo.composite"):
            return self.call(callee, inputs)
        application = Application(
            operation,
            inputs,
            lambda region, xs: self._run_region(operation, region, xs, values),
            self.program.functions,
            self.program.ranks,
            self.draws,
            lambda name, index: _operands(region.producer(operation.operands[index]), name, values),
        )
        try:
            return applied(self.table[operation.name], application)
        except AdzeError as error:
            if not getattr(error, "__notes__", None):
                error.add_note(f"of {operation.name} at {operation.where}")
            raise


def _operands(producer: Operation | None, name: str, values: Mapping[int, Any]) -> tuple[Any, ...] | None:
    """What an op was applied to, None where it has another name."""
    if producer is None or producer.name != name:
        return None
    return tuple(values[number] for number in producer.operands)

"""Loops that take the evaluator long: how many ops they run, and each as a program of its own.

Input: a loop in a module of adze IR. Output: the number of ops; the text of a module that holds the loop
alone, as its function `loop`.
Idea: the evaluator takes microseconds for an op on a small array, and a compile tenths of a second. Which
loops are compiled depends on their ops and steps, never on a clock, so that results do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ..ir.aliases import Operation
from ..ir.construction import add_function, clone_operation, finish_function
from ..ir.functions import body, function, referenced

MOST_OPS: Final = 10_000
"""A loop that runs more ops than these is compiled."""

MOST_OPS_BETWEEN_CALLS: Final = 100_000
"""The same of a loop that calls Python functions: it is compiled at each call, as they may be others."""

MOST_UNSEEN: Final = 2_500
"""So many ops a loop of unknown length runs before it is compiled; then it runs again from its start."""

MOST_ELEMENTS: Final = 10_000
"""A loop whose constants have more elements than these is not compiled: its text would be long."""

LOOP: Final = "loop"
"""The name of the function that is a loop alone."""

CompileLoop = Callable[[str, Sequence[Any], bool], "list[Any] | None"]
"""From the text of a module and the operands of its loop to the results; None where it cannot be compiled, or
where what fails may run again."""


class OpCounts:
    """How many ops the functions of a module run, each function counted once."""

    def __init__(self, module: mlir.ir.Module, reader: Reader) -> None:
        self._module = module
        self._reader = reader
        self._known: dict[str, int] = {}

    def of_function(self, symbol: str) -> int:
        """The ops of one call; a loop whose number of steps is not known takes one."""
        if symbol not in self._known:
            self._known[symbol] = 0  # while it is counted: a function may refer to itself
            operations = body(function(self._module, symbol)).operations
            self._known[symbol] = sum(self._of_operation(child.operation) for child in operations)
        return self._known[symbol]

    def of_step(self, application: Application) -> int:
        """The ops of all functions that an op refers to: of one step, where it is a loop."""
        return sum(map(self.of_function, referenced(application)))

    def _of_operation(self, operation: Operation) -> int:
        op = self._reader.declaration(operation.name)
        if op is None or op.is_constant:
            return 0
        if not op.refers_to_functions:
            return 1
        application = self._reader.read(operation)
        assert application is not None
        steps = None if op.iterations is None else op.iterations(**application.attributes)
        return 1 + (steps if isinstance(steps, int) else 1) * self.of_step(application)


def text_of_loop(
    module: mlir.ir.Module, operation: Operation, application: Application, reader: Reader
) -> str | None:
    """The module that holds a loop alone, as text that is equal for equal loops; None for one of sizes that
    are operands or shown by the arrays alone, and for one with large constants."""
    symbols = _reachable(module, application, reader)
    if not _is_static(operation) or sum(_constants(module, s, reader) for s in symbols) > MOST_ELEMENTS:
        return None
    ir = mlir.ir
    with module.context, ir.Location.unknown():
        alone = ir.Module.create()
        point = ir.InsertionPoint(alone.body)
        for symbol in symbols:
            function(module, symbol).operation.clone(ip=point)
        types = [value.type for value in operation.operands]
        made, block = add_function(alone, LOOP, ir.Location.unknown(), types, private=False)
        values = dict(zip(operation.operands, block.arguments, strict=True))
        loop = clone_operation(operation, values, ir.InsertionPoint(block))
        finish_function(made, list(loop.results), ir.Location.unknown())
        return str(alone)


def _is_static(operation: Operation) -> bool:
    kinds = [value.type for value in (*operation.operands, *operation.results)]
    return all(isinstance(kind, mlir.ir.RankedTensorType) and kind.has_static_shape for kind in kinds)


def _constants(module: mlir.ir.Module, symbol: str, reader: Reader) -> int:
    """How many elements the text of the constants of a function has."""
    count = 0
    for child in body(function(module, symbol)).operations:
        op = reader.declaration(child.operation.name)
        value = child.attributes["value"] if op is not None and op.is_constant else None
        if isinstance(value, mlir.ir.DenseElementsAttr) and not value.is_splat:
            count += len(value)
    return count


def _reachable(module: mlir.ir.Module, application: Application, reader: Reader) -> list[str]:
    """The functions that a loop refers to, and those that they do."""
    pending, found = referenced(application), list[str]()
    while pending:
        symbol = pending.pop()
        if symbol in found:
            continue
        found.append(symbol)
        for child in body(function(module, symbol)).operations:
            op = reader.declaration(child.operation.name)
            if op is not None and op.refers_to_functions:
                inner = reader.read(child.operation)
                assert inner is not None
                pending += referenced(inner)
    return found

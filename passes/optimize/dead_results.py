"""Narrowing: loops and branches give what is read of them, and compute what that follows from.

In comes a module, out goes the same in which a control op with results that nothing reads has functions
without them: the residuals that a loop would save for a derivative that is not taken, the steps of a carry
that only feeds itself. Functions are walked from what calls them inwards, each from its end to its start.
"""

from __future__ import annotations

from typing import Any

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dialect import BY_NAME
from ...dialects.op import DIALECT
from ...dialects.ops.control.dead_results import Flags, Narrowable
from ..ir.construction import SHAPE_DONORS, NewFunction, clone_operation
from ..ir.functions import body, function, functions, is_private, split_body, walk
from .simplify import Effects, drop_unreferenced, referenced


def narrow(module: mlir.ir.Module) -> bool:
    """Narrow the control ops of all public functions of `module`, and of what they refer to, in place.

    False where there are none.
    """
    if not any(_has_bodies(child.operation) for _, child in walk(module)):
        return False
    reader = Reader(Codec(module.context))
    _Narrower(module, reader).run()
    drop_unreferenced(module, reader)
    return True


def _has_bodies(operation: Any) -> bool:
    """Whether this is an op with results that refers to functions."""
    op = BY_NAME.get(operation.name.removeprefix(f"{DIALECT}."))
    return op is not None and op.refers_to_functions


class _Narrower:
    """The engine that the `reads` and `narrowed` rules ask."""

    def __init__(self, module: mlir.ir.Module, reader: Reader) -> None:
        self.module = module
        self.reader = reader
        self.effects = Effects(module, reader)
        self.done: set[str] = set()
        self._reads: dict[tuple[str, Flags], Flags] = {}
        self._made: dict[tuple[str, Flags, Flags], str] = {}

    def run(self) -> None:
        for symbol, operation in functions(self.module).items():
            if not is_private(operation):
                self._function(symbol)

    # -- what rules ask ------------------------------------------------------------------------

    def reads(self, symbol: str, wanted: Flags) -> Flags:
        """Which arguments of a function its `wanted` results, and its effects, follow from."""
        key = (symbol, wanted)
        found = self._reads.get(key)
        if found is None:
            found = self._reads[key] = self._read_by(symbol, wanted)
        return found

    def narrowed(self, symbol: str, arguments: Flags, results: Flags) -> str:
        """A function with these arguments and results of `symbol` only."""
        if all(arguments) and all(results):
            self._function(symbol)
            return symbol
        key = (symbol, arguments, results)
        if key not in self._made:
            self._made[key] = self._without(symbol, arguments, results)
        return self._made[key]

    # -- functions -----------------------------------------------------------------------------

    def _read_by(self, symbol: str, wanted: Flags) -> Flags:
        source = function(self.module, symbol)
        operations, terminator = split_body(source)
        live = {v for v, is_wanted in zip(terminator.operands, wanted, strict=True) if is_wanted}
        for child in reversed(operations):
            operation = child.operation
            results = tuple(r in live for r in operation.results)
            application = self.reader.read(operation)
            if application is None or self.effects.of(application):
                live.update(operation.operands)
            elif any(results):
                flags = self._needed(application, results)[0]
                sizes = list(operation.operands)[len(flags) :]
                live.update(v for v, flag in zip(application.operands, flags, strict=True) if flag)
                live.update(sizes)
        arguments = list(body(source).arguments)
        read = [a in live for a in arguments]
        for place, donor in enumerate(_donors(source)):
            if read[place] and donor >= 0:
                read[donor] = True
        return tuple(read)

    def _needed(self, application: Application, wanted: Flags) -> tuple[Flags, Flags]:
        if issubclass(application.op, Narrowable):
            return application.op.reads(self, wanted, application.attributes)
        return (True,) * len(application.operands), (True,) * len(wanted)

    def _function(self, symbol: str) -> None:
        """Drop what nothing reads in one function, and narrow its control ops."""
        if symbol in self.done:
            return
        self.done.add(symbol)
        operations, _ = split_body(function(self.module, symbol))
        for child in reversed(operations):
            operation = child.operation
            op = self.reader.declaration(operation.name)
            wanted = tuple(next(iter(r.uses), None) is not None for r in operation.results)
            if op is None or (any(wanted) and not op.refers_to_functions):
                continue
            application = self.reader.read(operation)
            assert application is not None
            if self.effects.of(application):
                self._functions(application)
            elif not any(wanted):
                operation.erase()
            else:
                self._control(operation, application, wanted)

    def _control(self, operation: Any, application: Application, wanted: Flags) -> None:
        operands, results = self._needed(application, wanted)
        if all(operands) and all(results):
            self._functions(application)
            return
        op, values, given = application
        assert issubclass(op, Narrowable)
        attributes = op.narrowed(self, operands, results, given)
        emitter = Emitter(self.reader.codec, mlir.ir.InsertionPoint(operation), operation.location)
        kept = [v for v, flag in zip(values, operands, strict=True) if flag]
        found = emitter.apply(op, kept, attributes)
        replaced = [r for r, flag in zip(operation.results, results, strict=True) if flag]
        for old, new in zip(replaced, found, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()

    def _functions(self, application: Application) -> None:
        for symbol in referenced(application):
            self._function(symbol)

    def _without(self, symbol: str, arguments: Flags, results: Flags) -> str:
        source = function(self.module, symbol)
        places = list(body(source).arguments)
        types = [self.reader.codec.read_type(a.type) for a in places]
        new = NewFunction(self.module, self.reader.codec, symbol, types, source.location)
        values = dict(zip(places, new.arguments, strict=True))
        operations, terminator = split_body(source)
        for child in operations:
            clone_operation(child.operation, values, new.emitter.point)
        given = zip(terminator.operands, results, strict=True)
        made = new.finish([values[v] for v, flag in given if flag])
        self._function(made)
        self._drop_arguments(made, arguments, _donors(source))
        return made

    def _drop_arguments(self, symbol: str, arguments: Flags, donors: list[int]) -> None:
        operation = function(self.module, symbol)
        block = body(operation)
        for place in reversed(range(len(arguments))):
            if not arguments[place]:
                block.erase_argument(place)
        _, terminator = split_body(operation)
        types = [a.type for a in block.arguments], [v.type for v in terminator.operands]
        with self.module.context:
            operation.attributes["function_type"] = mlir.ir.TypeAttr.get(mlir.ir.FunctionType.get(*types))
            if donors:
                kept = [place for place, flag in enumerate(arguments) if flag]
                moved = [kept.index(donors[place]) if donors[place] >= 0 else -1 for place in kept]
                operation.attributes[SHAPE_DONORS] = mlir.ir.DenseI64ArrayAttr.get(moved)


def _donors(operation: Any) -> list[int]:
    """For each argument the one that has its shape, -1 for none; nothing where that is not known."""
    attributes = operation.attributes
    return list(attributes[SHAPE_DONORS]) if SHAPE_DONORS in attributes else []

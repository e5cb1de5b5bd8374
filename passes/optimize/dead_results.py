"""Dead-result elimination: loops and branches compute only the results that are used.

Input: a module. Output: the same, in which a control op with unused results refers to functions without them:
without the residuals of a derivative that is not taken, without a carry that only feeds itself. Idea: from
each public function inwards, each function from its end to its start. The op says which operands its used
results depend on (`Op.live_operands`), and how it looks without the others (`Op.without_dead_results`).
"""

from __future__ import annotations

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.op import Op
from ..analysis.effects import Effects
from ..ir.aliases import Operation
from ..ir.construction import Activity, NewFunction, clone_operation
from ..ir.functions import body, function, functions, is_private, referenced, split_body, walk
from ..ir.shape_operands import set_shape_operands, shape_operands
from .simplify import drop_unreferenced


def eliminate_dead_results(module: mlir.ir.Module) -> bool:
    """Eliminate dead results in all public functions of `module`, and in what they refer to, in place.

    False where no op refers to functions.
    """
    reader = Reader(Codec(module.context))
    if not any(_refers_to_functions(reader.declaration(child.operation.name)) for _, child in walk(module)):
        return False
    _Elimination(module, reader).run()
    drop_unreferenced(module, reader)
    return True


def _refers_to_functions(op: type[Op] | None) -> bool:
    return op is not None and op.refers_to_functions


class _Elimination:
    """The engine that the rules `live_operands` and `without_dead_results` ask."""

    def __init__(self, module: mlir.ir.Module, reader: Reader) -> None:
        self.module = module
        self.reader = reader
        self.effects = Effects(module, reader)
        self.done: set[str] = set()
        self._live: dict[tuple[str, Activity], Activity] = {}
        self._restricted: dict[tuple[str, Activity, Activity], str] = {}

    def run(self) -> None:
        for symbol, operation in functions(self.module).items():
            if not is_private(operation):
                self._function(symbol)

    # -- for rules -----------------------------------------------------------------------------

    def live_arguments(self, symbol: str, used: Activity) -> Activity:
        """The arguments of a function that its `used` results, and its effects, depend on."""
        key = (symbol, used)
        live = self._live.get(key)
        if live is None:
            live = self._live[key] = self._live_arguments(symbol, used)
        return live

    def restricted(self, symbol: str, arguments: Activity, results: Activity) -> str:
        """A function with these arguments and results of `symbol` only."""
        if all(arguments) and all(results):
            self._function(symbol)
            return symbol
        key = (symbol, arguments, results)
        if key not in self._restricted:
            self._restricted[key] = self._restrict(symbol, arguments, results)
        return self._restricted[key]

    # -- functions -----------------------------------------------------------------------------

    def _live_arguments(self, symbol: str, used: Activity) -> Activity:
        source = function(self.module, symbol)
        operations, terminator = split_body(source)
        live = {v for v, is_used in zip(terminator.operands, used, strict=True) if is_used}
        for child in reversed(operations):
            operation = child.operation
            results = tuple(r in live for r in operation.results)
            application = self.reader.read(operation)
            if application is None or self.effects.of(application):
                live.update(operation.operands)
            elif any(results):
                flags = self._live_operands(application, results)[0]
                sizes = list(operation.operands)[len(flags) :]
                live.update(v for v, flag in zip(application.operands, flags, strict=True) if flag)
                live.update(sizes)
        arguments = list(body(source).arguments)
        is_live = [a in live for a in arguments]
        for place, shaped in enumerate(shape_operands(source)):
            if is_live[place] and shaped >= 0:
                is_live[shaped] = True
        return tuple(is_live)

    def _live_operands(self, application: Application, used: Activity) -> tuple[Activity, Activity]:
        if application.op.live_operands is not None:
            return application.op.live_operands(self, used, application.attributes)
        return (True,) * len(application.operands), (True,) * len(used)

    def _function(self, symbol: str) -> None:
        """Drop the dead ops of one function, and the dead results of its control ops."""
        if symbol in self.done:
            return
        self.done.add(symbol)
        operations, _ = split_body(function(self.module, symbol))
        for child in reversed(operations):
            operation = child.operation
            op = self.reader.declaration(operation.name)
            used = tuple(next(iter(r.uses), None) is not None for r in operation.results)
            if op is None or (any(used) and not op.refers_to_functions):
                continue
            application = self.reader.read(operation)
            assert application is not None
            if self.effects.of(application):
                self._functions(application)
            elif not any(used):
                operation.erase()
            else:
                self._control(operation, application, used)

    def _control(self, operation: Operation, application: Application, used: Activity) -> None:
        operands, results = self._live_operands(application, used)
        if all(operands) and all(results):
            self._functions(application)
            return
        op, values, _ = application
        assert op.without_dead_results is not None
        attributes = op.without_dead_results(self, operands, results, application.attributes)
        emitter = Emitter(self.reader.codec, mlir.ir.InsertionPoint(operation), operation.location)
        kept = [v for v, flag in zip(values, operands, strict=True) if flag]
        outputs = emitter.apply(op, kept, attributes)
        replaced = [r for r, flag in zip(operation.results, results, strict=True) if flag]
        for old, new in zip(replaced, outputs, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()

    def _functions(self, application: Application) -> None:
        for symbol in referenced(application):
            self._function(symbol)

    def _restrict(self, symbol: str, arguments: Activity, results: Activity) -> str:
        source = function(self.module, symbol)
        places = list(body(source).arguments)
        types = [self.reader.codec.read_type(a.type) for a in places]
        new = NewFunction(self.module, self.reader.codec, symbol, types, source.location)
        values = dict(zip(places, new.arguments, strict=True))
        operations, terminator = split_body(source)
        for child in operations:
            clone_operation(child.operation, values, new.emitter.point)
        returned = zip(terminator.operands, results, strict=True)
        restricted = new.finish([values[v] for v, flag in returned if flag])
        self._function(restricted)
        self._drop_arguments(restricted, arguments, shape_operands(source))
        return restricted

    def _drop_arguments(self, symbol: str, arguments: Activity, shaped: list[int]) -> None:
        operation = function(self.module, symbol)
        block = body(operation)
        for place in reversed(range(len(arguments))):
            if not arguments[place]:
                block.erase_argument(place)
        _, terminator = split_body(operation)
        types = [a.type for a in block.arguments], [v.type for v in terminator.operands]
        with self.module.context:
            operation.attributes["function_type"] = mlir.ir.TypeAttr.get(mlir.ir.FunctionType.get(*types))
        if shaped:
            kept = [place for place, flag in enumerate(arguments) if flag]
            set_shape_operands(
                operation, [kept.index(n) if n >= 0 else -1 for n in (shaped[p] for p in kept)]
            )

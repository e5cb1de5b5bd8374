"""The simplifier: fold constants, apply each op's algebra, share equal ops, drop unused ones.

Works function by function, in place. An op's own algebra is its `simplify` rule; what is general (folding
small constants, common subexpressions, dead code, unreferenced private functions) is here. What a rule emits
is simplified as it is emitted, so that one sweep does nearly all. Effects are kept, and kept in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.op import Op, Undefined, as_tuple
from ...dialects.ops.constants import Constant
from ...dialects.ops.elementwise.family import Elementwise
from ...dialects.ops.shape.rearrange import BroadcastInDim
from ...dialects.types import TensorType, ValueType
from ..ir.functions import body, function, functions, is_private, split_body

FOLD_LIMIT: Final = 256
"""Results with more elements than this are computed when the program runs, not stored in it."""
_ROUNDS: Final = 8
_DEPTH: Final = 8
"""Rules within rules: ops that lie deeper wait for the next round."""


def simplify(module: mlir.ir.Module) -> None:
    """Drop private functions of `module` that nothing refers to, and simplify the others."""
    reader = Reader(Codec(module.context))
    drop_unreferenced(module, reader)
    for symbol in functions(module):
        simplify_function(module, symbol, reader)
    drop_unreferenced(module, reader)


def simplify_function(module: mlir.ir.Module, symbol: str, reader: Reader | None = None) -> None:
    """Simplify one function of `module`, in place."""
    reader = reader or Reader(Codec(module.context))
    operation = function(module, symbol)
    effects = Effects(module, reader)
    for _ in range(_ROUNDS):
        run = _Run(module, operation, reader, effects)
        run.forward()
        run.drop_unused()
        if not run.is_unsettled():
            break


def drop_unused(module: mlir.ir.Module, symbol: str, reader: Reader) -> None:
    """Drop the ops of one function whose results nothing uses."""
    _Run(module, function(module, symbol), reader, Effects(module, reader)).drop_unused()


class Effects:
    """Which functions do something besides giving results."""

    def __init__(self, module: mlir.ir.Module, reader: Reader) -> None:
        self._module = module
        self._functions = functions(module)
        self._reader = reader
        self._known: dict[str, bool] = {}
        self._direct: dict[str, tuple[bool, set[str]]] = {}

    def of(self, application: Application) -> bool:
        op = application.op
        if op.has_effect or not op.refers_to_functions:
            return op.has_effect
        return any(self.of_function(symbol) for symbol in referenced(application))

    def of_function(self, symbol: str) -> bool:
        """Whether a function, or one that it refers to (it may refer to itself), does something."""
        if symbol not in self._known:
            reached, pending = {symbol}, [symbol]
            while pending:
                has_effect, names = self._own(pending.pop())
                if has_effect:
                    self._known[symbol] = True
                    return True
                pending += names - reached
                reached |= names
            self._known.update(dict.fromkeys(reached, False))
        return self._known[symbol]

    def _own(self, symbol: str) -> tuple[bool, set[str]]:
        """Whether a function has effects of its own, and which others it refers to."""
        if symbol not in self._direct:
            if symbol not in self._functions:
                self._functions = functions(self._module)  # it was made since
            has_effect, names = False, set[str]()
            for child in body(self._functions[symbol]).operations:  # it may lack its end: it is being made
                op = self._reader.declaration(child.operation.name)
                has_effect |= op.has_effect if op is not None else child.operation.name != "func.return"
                if op is not None and op.refers_to_functions:
                    application = self._reader.read(child.operation)
                    assert application is not None
                    names.update(referenced(application))
            self._direct[symbol] = has_effect, names
        return self._direct[symbol]


class _Run:
    """One forward and one backward sweep over one function."""

    def __init__(self, module: mlir.ir.Module, operation: Any, reader: Reader, effects: Effects) -> None:
        self.operation = operation
        self.reader = reader
        self.effects = effects
        self.depth = 0
        self.too_deep = False
        self.read_often: set[Any] = set()
        self.unknown = mlir.ir.Location.unknown(module.context)
        self.constants: dict[Any, np.ndarray] = {}
        self.splats: dict[Any, np.ndarray] = {}
        self.applications: dict[Any, Application] = {}
        self.seen: dict[Any, Any] = {}

    def forward(self) -> None:
        operations, _ = split_body(self.operation)
        for child in operations:
            operation = child.operation
            application = self.reader.read(operation)
            if application is not None:
                self.visit(operation, application)

    def visit(self, operation: Any, application: Application) -> list[Any] | None:
        """Replace `operation` if something simpler is known: the values that now stand for its results."""
        if self.effects.of(application):
            return None
        replacement = self._simplified(operation, application)
        if replacement is not None:
            for old, new in zip(list(operation.results), replacement, strict=True):
                old.replace_all_uses_with(new)
            self._erase(operation)
        return replacement

    def is_unsettled(self) -> bool:
        """Whether another round may find more: an op lay too deep, or a value is read less often now."""
        return self.too_deep or any(_is_read_once(v) for v in self.read_often)

    def _erase(self, operation: Any) -> None:
        self.read_often.difference_update(operation.results)
        operation.erase()

    def _simplified(self, operation: Any, application: Application) -> list[Any] | None:
        """The values that stand for the results of `operation`, or None when it stays."""
        key = _key(operation, application)
        earlier = self.seen.get(key)
        if earlier is not None:
            return list(earlier)
        folded = self._folded(operation, application)
        if folded is None:
            folded = self._folded_repeated(operation, application)
        if folded is None:
            folded = self._by_rule(operation, application)
        if folded is not None:
            return folded
        results = list(operation.results)
        self.seen[key] = results
        if len(results) == 1:
            self.applications[results[0]] = application
            if application.op is Constant:
                self.constants[results[0]] = Constant.evaluate(**application.attributes)
            elif application.op is BroadcastInDim and application.operands[0] in self.constants:
                constant = self.constants[application.operands[0]]
                if constant.size == 1:
                    self.splats[results[0]] = constant.reshape(())
        return None

    def _by_rule(self, operation: Any, application: Application) -> list[Any] | None:
        rule = application.op.simplify
        if rule is None:
            return None
        emitter = self._emitter(operation)
        replacement = rule(emitter, *application.operands, **application.attributes)
        if replacement is None:
            return None
        values = list(as_tuple(replacement))
        types = [self.reader.codec.read_type(v.type) for v in values]
        declared = [self.reader.codec.read_type(r.type) for r in operation.results]
        return values if types == declared else None

    def _folded(self, operation: Any, application: Application) -> list[Any] | None:
        op, operands, attributes = application
        if op is Constant or not operands or not all(v in self.constants for v in operands):
            return None
        if isinstance(op.evaluate, Undefined) or op.size_attributes or op.refers_to_functions:
            return None
        declared = [self.reader.codec.read_type(r.type) for r in operation.results]
        if not all(isinstance(t, TensorType) and _is_small(t) for t in declared):
            return None
        computed = op.evaluate(*(self.constants[v] for v in operands), **attributes)
        emitter = self._emitter(operation)
        return [emitter.array(np.asarray(a)) for a in as_tuple(computed)]

    def _folded_repeated(self, operation: Any, application: Application) -> list[Any] | None:
        """An elementwise op of repeated scalars is the repeated result, whatever the size."""
        op, operands, attributes = application
        if not issubclass(op, Elementwise) or not operands or not all(v in self.splats for v in operands):
            return None
        if isinstance(op.evaluate, Undefined):
            return None
        emitter = self._emitter(operation)
        scalar = emitter.array(np.asarray(op.evaluate(*(self.splats[v] for v in operands), **attributes)))
        shape = self.applications[operands[0]].attributes["shape"]
        (repeated,) = emitter.apply(BroadcastInDim, (scalar,), {"shape": shape, "dimensions": ()})
        return [repeated] if repeated.type == operation.results[0].type else None

    def drop_unused(self) -> None:
        operations, _ = split_body(self.operation)
        for child in reversed(operations):
            operation = child.operation
            if any(next(iter(r.uses), None) is not None for r in operation.results):
                continue
            application = self.reader.read(operation)
            if application is not None and not self.effects.of(application):
                self._erase(operation)

    def _emitter(self, operation: Any) -> Emitter:
        return _KnowingEmitter(self, mlir.ir.InsertionPoint(operation), operation.location)


class _KnowingEmitter(Emitter):
    """An emitter that answers what `simplify` rules ask from what the sweep has seen, and simplifies."""

    def __init__(self, run: _Run, point: mlir.ir.InsertionPoint, location: mlir.ir.Location) -> None:
        super().__init__(run.reader.codec, point, location)
        self.run = run

    def emit(
        self,
        op: type[Op],
        operands: Sequence[Any],
        types: Sequence[ValueType],
        attributes: Mapping[str, Any],
    ) -> tuple[tuple[Any, ...], tuple[ValueType, ...]]:
        results, result_types = super().emit(op, operands, types, attributes)
        if self.run.depth == _DEPTH:
            self.run.too_deep = True
            return results, result_types
        self.run.depth += 1
        replacement = self.run.visit(results[0].owner, Application(op, tuple(operands), dict(attributes)))
        self.run.depth -= 1
        return (results if replacement is None else tuple(replacement)), result_types

    def constant_of(self, value: Any) -> np.ndarray | None:
        """The array, or the 0-d array that is repeated to make it."""
        constant = self.run.constants.get(value)
        return self.run.splats.get(value) if constant is None else constant

    def defining(self, value: Any) -> Application | None:
        return self.run.applications.get(value)

    def is_read_once(self, value: Any) -> bool:
        if _is_read_once(value):
            return True
        self.run.read_often.add(value)
        return False


def _is_read_once(value: Any) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def referenced(application: Application) -> list[str]:
    """The symbols of the functions that an application refers to."""
    found: list[str] = []
    for name, attribute in application.op.attributes.items():
        if attribute.kind == "symbol":
            found.append(application.attributes[name])
        elif attribute.kind == "symbols":
            found.extend(application.attributes[name])
    return found


def _key(operation: Any, application: Application) -> Any:
    """What two equal ops have in common. Their result types follow from it."""
    op = application.op
    if not op.attributes:
        return (op, *application.operands)
    raw = operation.attributes
    return (op, *operation.operands, *(raw[name] for name in op.attributes))


def _is_small(type_: TensorType) -> bool:
    total = 1
    for n in type_.shape:
        if n is None:
            return False
        total *= n
    return total <= FOLD_LIMIT


def drop_unreferenced(module: mlir.ir.Module, reader: Reader) -> None:
    """Drop the private functions that nothing refers to."""
    found = functions(module)
    reached = {symbol for symbol, operation in found.items() if not is_private(operation)}
    pending = list(reached)
    while pending:
        operations, _ = split_body(found[pending.pop()])
        for child in operations:
            op = reader.declaration(child.operation.name)
            if op is None or not op.refers_to_functions:
                continue
            application = reader.read(child.operation)
            assert application is not None
            for symbol in referenced(application):
                if symbol not in reached:
                    reached.add(symbol)
                    pending.append(symbol)
    for symbol, operation in found.items():
        if symbol not in reached:
            operation.operation.erase()

"""The simplifier: constant folding, each op's algebra, common subexpressions, dead code.

Input: a module or one of its functions. Output: the same, simplified in place; effects are kept, in order.
Idea: one forward sweep folds small constants, merges equal ops and applies each op's `simplify` rule; the ops
that a rule emits are simplified as they are emitted. A backward sweep drops ops without uses. Sweeps are
repeated until a fixed point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import prod
from typing import Final

import numpy as np

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.errors import MissingRuleError
from ...dialects.op import Op, Undefined, as_tuple
from ...dialects.types import INEXACT, TensorType, ValueType
from ..analysis.effects import Effects
from ..ir.aliases import Operation, Value, Values
from ..ir.functions import function, functions, is_private, referenced, split_body

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
        if run.is_fixed_point():
            break


def drop_unused(module: mlir.ir.Module, symbol: str, reader: Reader) -> None:
    """Drop the ops of one function whose results nothing uses."""
    _Run(module, function(module, symbol), reader, Effects(module, reader)).drop_unused()


class _Run:
    """One forward and one backward sweep over one function."""

    def __init__(
        self, module: mlir.ir.Module, operation: Operation, reader: Reader, effects: Effects
    ) -> None:
        self.operation = operation
        self.reader = reader
        self.effects = effects
        self.depth = 0
        self.too_deep = False
        self.used_often: dict[Value, int] = {}  # and how often at most, for a rule
        self.unknown = mlir.ir.Location.unknown(module.context)
        self.constants: dict[Value, np.ndarray] = {}
        self.counts: set[Value] = set()
        """Of the constants, places and masks that follow from counts: code says them cheaper than memory."""
        self.splats: dict[Value, np.ndarray] = {}
        self.applications: dict[Value, Application] = {}
        self.seen: dict[tuple[object, ...], list[Value]] = {}

    def forward(self) -> None:
        operations, _ = split_body(self.operation)
        for child in operations:
            operation = child.operation
            application = self.reader.read(operation)
            if application is not None:
                self.visit(operation, application)

    def visit(self, operation: Operation, application: Application) -> list[Value] | None:
        """Replace `operation` if something simpler is known; the values that replace its results."""
        if self.effects.of(application):
            return None
        replacement = self._simplified(operation, application)
        if replacement is not None:
            for old, new in zip(list(operation.results), replacement, strict=True):
                old.replace_all_uses_with(new)
            self._erase(operation)
        return replacement

    def is_fixed_point(self) -> bool:
        """Whether another round cannot change more: no op lay too deep, no value has few uses now."""
        return not self.too_deep and not any(_has_uses(v, n) for v, n in self.used_often.items())

    def _erase(self, operation: Operation) -> None:
        for result in operation.results:
            self.used_often.pop(result, None)
        operation.erase()

    def _simplified(self, operation: Operation, application: Application) -> list[Value] | None:
        """The values that replace the results of `operation`, or None to keep it."""
        key = _key(operation, application)
        earlier = self.seen.get(key)
        if earlier is not None:
            return list(earlier)
        arrays = self._computed(operation, application)
        stays_code = any(v in self.counts for v in application.operands)
        if arrays is not None and not (stays_code and any(a.dtype not in INEXACT for a in arrays)):
            emitter = self._emitter(operation)
            return [emitter.array(array) for array in arrays]
        folded = self._folded_repeated(operation, application)
        if folded is None:
            folded = self._by_rule(operation, application)
        if folded is not None:
            return folded
        results = list(operation.results)
        self.seen[key] = results
        if len(results) == 1:
            self._know(results[0], application, None if arrays is None else arrays[0])
        return None

    def _know(self, result: Value, application: Application, computed: np.ndarray | None) -> None:
        """Keep what is known of an op that stays; `computed`: its result, which follows from counts."""
        op, operands, attributes = application
        self.applications[result] = application
        if op.is_constant:
            self.constants[result] = op.evaluate(**attributes)
        elif computed is not None or self._is_small_count(application, result):
            self.constants[result] = op.evaluate(**attributes) if computed is None else computed
            self.counts.add(result)
        elif op.is_broadcast and operands[0] in self.constants and self.constants[operands[0]].size == 1:
            self.splats[result] = self.constants[operands[0]].reshape(())

    def _is_small_count(self, application: Application, result: Value) -> bool:
        """Whether an op counts, and only so far that its elements may be stored in the program."""
        if not application.op.is_count:
            return False
        return _small_shape(self.reader.codec.read_type(result.type)) is not None

    def _by_rule(self, operation: Operation, application: Application) -> list[Value] | None:
        rule = application.op.simplify
        if rule is None:
            return None
        emitter = self._emitter(operation)
        replacement = rule(emitter, *application.operands, **application.attributes)
        if replacement is None:
            return None
        values = list(as_tuple(replacement))
        return values if [v.type for v in values] == [r.type for r in operation.results] else None

    def _computed(self, operation: Operation, application: Application) -> list[np.ndarray] | None:
        """The results of an op of small constants."""
        op, operands, attributes = application
        if not operands or not any(v in self.constants for v in operands):
            return None
        if isinstance(op.evaluate, Undefined) or op.refers_to_functions or op.runs_on_host:
            return None
        if op.is_broadcast and self.constants[operands[0]].size == 1:
            return None  # A repeated scalar says more than its elements.
        if any(not isinstance(n, int) for name in op.size_attributes for n in attributes[name]):
            return None
        declared = [self.reader.codec.read_type(r.type) for r in operation.results]
        if any(_small_shape(t) is None for t in declared):
            return None
        known = [self._array(v) for v in operands]
        if any(a is None for a in known):
            return None
        try:
            computed = op.evaluate(*known, **attributes)
        except MissingRuleError:  # A value that does not exist: an error only if something needs it.
            return None
        return [np.asarray(a) for a in as_tuple(computed)]

    def _array(self, value: Value) -> np.ndarray | None:
        """The constant `value`, a small one if it repeats a scalar; None if it is not known."""
        if value not in self.splats:
            return self.constants.get(value)
        shape = _small_shape(self.reader.codec.read_type(value.type))
        return None if shape is None else np.broadcast_to(self.splats[value], shape)

    def _folded_repeated(self, operation: Operation, application: Application) -> list[Value] | None:
        """An elementwise op of repeated scalars is the repeated result, whatever the size."""
        op, operands, attributes = application
        if not op.is_elementwise or not operands or not all(v in self.splats for v in operands):
            return None
        if isinstance(op.evaluate, Undefined):
            return None
        emitter = self._emitter(operation)
        scalar = emitter.array(np.asarray(op.evaluate(*(self.splats[v] for v in operands), **attributes)))
        shape = self.applications[operands[0]].attributes["shape"]
        repeated = emitter.broadcast_in_dim(scalar, shape=shape, dimensions=())
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

    def _emitter(self, operation: Operation) -> Emitter:
        return _SimplifyingEmitter(self, operation)


class _SimplifyingEmitter(Emitter):
    """The emitter of `simplify` rules: it simplifies what it emits and knows the constants of the sweep.

    Most rules emit nothing: the place is asked for when one does.
    """

    def __init__(self, run: _Run, operation: Operation) -> None:
        self.codec = run.reader.codec
        self.functions = None
        self.run = run
        self._operation = operation

    @cached_property
    def point(self) -> mlir.ir.InsertionPoint:
        """Before the op that is simplified."""
        return mlir.ir.InsertionPoint(self._operation)

    @cached_property
    def location(self) -> mlir.ir.Location:
        """The location of the op that is simplified."""
        return self._operation.location

    def emit(
        self,
        op: type[Op],
        operands: Values,
        types: Sequence[ValueType],
        attributes: Mapping[str, object],
    ) -> tuple[tuple[Value, ...], tuple[ValueType, ...]]:
        results, result_types = super().emit(op, operands, types, attributes)
        if self.run.depth == _DEPTH:
            self.run.too_deep = True
            return results, result_types
        self.run.depth += 1
        replacement = self.run.visit(results[0].owner, Application(op, tuple(operands), dict(attributes)))
        self.run.depth -= 1
        return (results if replacement is None else tuple(replacement)), result_types

    def constant_of(self, value: Value) -> np.ndarray | None:
        """The array, or the 0-d array that is repeated to make it."""
        constant = self.run.constants.get(value)
        return self.run.splats.get(value) if constant is None else constant

    def defining(self, value: Value) -> Application | None:
        return self.run.applications.get(value)

    def is_read_once(self, value: Value, times: int = 1) -> bool:
        if _has_uses(value, times):
            return True
        self.run.used_often[value] = times
        return False


def _has_uses(value: Value, count: int) -> bool:
    """Whether `value` has just so many uses."""
    return len(list(islice(value.uses, count + 1))) == count


def _key(operation: Operation, application: Application) -> tuple[object, ...]:
    """Equal ops have equal keys; their result types follow from it."""
    op = application.op
    if not op.attributes:
        return (op, *application.operands)
    raw = operation.attributes
    return (op, *operation.operands, *(raw[name] for name in op.attributes))


def _small_shape(type_: ValueType) -> tuple[int, ...] | None:
    """The shape of a static array with few elements; None of others."""
    if not isinstance(type_, TensorType):
        return None
    shape = tuple(n for n in type_.static_shape if n is not None)
    return shape if len(shape) == type_.rank and prod(shape) <= FOLD_LIMIT else None


def drop_unreferenced(module: mlir.ir.Module, reader: Reader) -> None:
    """Drop the private functions that nothing refers to."""
    by_symbol = functions(module)
    reached = {symbol for symbol, operation in by_symbol.items() if not is_private(operation)}
    pending = list(reached)
    while pending:
        operations, _ = split_body(by_symbol[pending.pop()])
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
    for symbol, operation in by_symbol.items():
        if symbol not in reached:
            operation.operation.erase()

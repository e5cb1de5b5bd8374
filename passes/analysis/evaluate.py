"""The evaluator: runs adze IR in NumPy.

Input: a module, the symbol of a function, arrays. Output: its results. Idea: each op in order, by its rule
`Op.evaluate`. Compiled code is compared with it; transforms of concrete arrays use it, so that exploring
costs no compile time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.errors import AdzeError, MissingRuleError, VerificationError
from ...dialects.op import Op, Undefined, as_tuple
from ...dialects.types import TensorType, ValueType, same_dimension
from ..ir.aliases import Operation, Value
from ..ir.functions import body, function, split_body
from .effects import Effects
from .long_loops import MOST_OPS, MOST_OPS_BETWEEN_CALLS, MOST_UNSEEN, CompileLoop, OpCounts, text_of_loop
from .verify import location_text

Watch = Callable[[type[Op], Sequence[ArrayLike], Sequence[ArrayLike], object], None]
"""Called with op, operands, results and location (MLIR's, or the user's `file:line`) after each op."""

WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)
"""The watch of the ops that are evaluated in this context."""


def is_watching() -> bool:
    """Whether NaN are looked for on this thread."""
    return WATCH.get() is not None


def evaluate(
    module: mlir.ir.Module, symbol: str, arguments: Sequence[Any], compile_loop: CompileLoop | None = None
) -> list[Any]:
    """The results of function `symbol` applied to arrays (and integers for size arguments).

    With `compile_loop`, loops of more than `MOST_OPS` ops run compiled. Raises `VerificationError` when the
    arguments do not fit the function's types.
    """
    return Evaluation(module, compile_loop=compile_loop).call(symbol, arguments)


@dataclass(frozen=True, slots=True)
class _Missing:
    """In place of a value that no rule can compute: what uses it is missing too, and the rest is not."""

    error: MissingRuleError


def _required(values: list[Any]) -> list[Any]:
    """The values, of which none may be missing."""
    for value in values:
        if type(value) is _Missing:
            raise value.error
    return values


class _Slot(int):
    """The place of a value among those of one call, in operands and in sizes that are no constants."""


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop that would run many ops, or whose number of steps is not known."""

    operation: Operation
    attributes: dict[str, Any]
    steps: int | None
    """After so many steps it is compiled, and runs from its start; None for one that is compiled at once."""
    may_repeat: bool
    """Whether it may run again from its start: it calls no Python functions that do something."""


class _LongLoop(Exception):
    """A loop of unknown length has run for long."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One op of a function, read once: where its operands lie, and where its results go."""

    op: type[Op]
    operands: tuple[int, ...]
    attributes: dict[str, Any]
    sizes: dict[str, tuple[Any, ...]]
    results: tuple[int, ...]
    location: mlir.ir.Location
    unused: tuple[int, ...]
    """The values that no later op uses."""
    loop: _Loop | None = None
    """What it is as a loop that may be compiled."""

    def attributes_of(self, values: Sequence[Any]) -> dict[str, Any]:
        """The attributes in one call; some of their sizes may be values."""
        if not self.sizes:
            return self.attributes
        sizes = {n: tuple(values[i] if type(i) is _Slot else i for i in t) for n, t in self.sizes.items()}
        return {**self.attributes, **sizes}


@dataclass(frozen=True, slots=True)
class _Function:
    """A function whose ops are read: its parameters' types, steps and results, and the initial values."""

    parameters: tuple[ValueType, ...]
    steps: tuple[_Step, ...]
    results: tuple[int, ...]
    values: tuple[Any, ...]
    """For each value of the function its array where that is a constant, else None."""


class Evaluation:
    """Evaluates functions and single ops of a module; without `effects` nothing is printed or checked.

    A function is read at its first call: its ops must not change after that. `compile_loop` runs the loops
    that are long, if nobody watches.
    """

    def __init__(
        self, module: mlir.ir.Module, *, effects: bool = True, compile_loop: CompileLoop | None = None
    ) -> None:
        self.module = module
        self.reader = Reader(Codec(module.context))
        self.effects = effects
        self.watch = WATCH.get() if effects else None
        self._compile_loop = compile_loop if self.watch is None else None
        self._counts = OpCounts(module, self.reader)
        self._all_effects = Effects(module, self.reader)
        self._effects_but_calls = Effects(module, self.reader, calls=False)
        self._functions: dict[str, _Function] = {}
        self._are_missing = False
        self.count = 0
        """How many ops ran so far, those of loops once a step; what ran compiled counts as one."""

    def has_effect(self, symbol: str) -> bool:
        """Whether a function prints, checks or may run forever, besides returning results."""
        return self._all_effects.of_function(symbol)

    def call(self, symbol: str, arguments: Sequence[Any]) -> list[Any]:
        """The results of function `symbol` applied to arrays and integers.

        Raises `MissingRuleError` where one of them has no value.
        """
        return _required(self._call(symbol, arguments))

    def _call(self, symbol: str, arguments: Sequence[Any]) -> list[Any]:
        if symbol not in self._functions:
            self._functions[symbol] = self._read(function(self.module, symbol))
        known = self._functions[symbol]
        if len(known.parameters) != len(arguments):
            raise VerificationError(
                f"@{symbol} takes {len(known.parameters)} arguments, got {len(arguments)}"
            )
        self.count += len(known.steps)
        values = list(known.values)
        for position, (declared, argument) in enumerate(zip(known.parameters, arguments, strict=True)):
            values[position] = _argument(symbol, position, declared, argument)
        for step in known.steps:
            operands = [values[i] for i in step.operands]
            results = self._results(step, operands, values)
            for place, result in zip(step.results, results, strict=True):
                values[place] = result
            for place in step.unused:
                values[place] = None
        return [values[i] for i in known.results]

    def _results(self, step: _Step, operands: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
        """The results of one op, some of them missing; effects and control flow need all their operands."""
        op = step.op
        if self._are_missing and (op.has_effect or (op.refers_to_functions and op.callee_attribute is None)):
            _required([*operands])
        elif self._are_missing and op.callee_attribute is None:
            missing = next((x for x in operands if type(x) is _Missing), None)
            if missing is not None:
                return (missing,) * len(step.results)
        try:
            if step.loop is not None:
                return self._run_loop(step, step.loop, operands)
            return self._apply(op, operands, step.attributes_of(values), step.location)
        except MissingRuleError as error:
            self._are_missing = True
            return (_Missing(error),) * len(step.results)

    def _read(self, operation: mlir.ir.Operation) -> _Function:
        parameters = list(body(operation).arguments)
        slots: dict[Value, _Slot] = {v: _Slot(i) for i, v in enumerate(parameters)}
        operations, terminator = split_body(operation)
        steps, values = list[_Step](), [None] * len(parameters)
        for child in operations:
            results = list(child.results)
            if not results and not self.effects:
                continue
            application = self._application(child.operation, slots.__getitem__)
            for result in results:
                slots[result] = _Slot(len(slots))
            if application.op.is_constant and self.watch is None:
                values.append(application.op.evaluate(**application.attributes))
                continue
            values += [None] * len(results)
            places = tuple(slots[v] for v in results)
            steps.append(self._step(application, places, child.operation))
        returned = tuple(slots[v] for v in terminator.operands)
        declared = tuple(self.reader.codec.read_type(v.type) for v in parameters)
        return _Function(declared, _forgetting(steps, returned, values), returned, tuple(values))

    def _step(self, application: Application, results: tuple[int, ...], operation: Operation) -> _Step:
        op, operands, attributes = application
        sizes = {
            name: attributes[name]
            for name in op.size_attributes
            if any(type(n) is _Slot for n in attributes[name])
        }
        passed = self._with_callables(op, attributes)
        loop = None if sizes else self._loop(application, operation)
        return _Step(op, tuple(operands), passed, sizes, results, operation.location, (), loop)

    def _loop(self, application: Application, operation: Operation) -> _Loop | None:
        """What an op is as a loop that may be compiled, None for other ops."""
        op = application.op
        if op.iterations is None or self._compile_loop is None or self._effects_but_calls.of(application):
            return None
        may_repeat = not self._all_effects.of(application)
        steps = op.iterations(**application.attributes)
        in_a_step = max(self._counts.of_step(application), 1)
        if steps is None:
            unseen = MOST_UNSEEN // in_a_step
            return _Loop(operation, application.attributes, unseen, may_repeat) if may_repeat else None
        is_long = steps * in_a_step > (MOST_OPS if may_repeat else MOST_OPS_BETWEEN_CALLS)
        return _Loop(operation, application.attributes, None, may_repeat) if is_long else None

    def _run_loop(self, step: _Step, loop: _Loop, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The results of a loop, which is compiled once it has run for long."""
        if loop.steps is not None:
            try:
                return self._apply(step.op, operands, _stopping(step.attributes, loop.steps), step.location)
            except _LongLoop:
                pass
        results = self._compiled(step, loop, operands)
        return self._apply(step.op, operands, step.attributes, step.location) if results is None else results

    def _compiled(self, step: _Step, loop: _Loop, operands: Sequence[Any]) -> tuple[Any, ...] | None:
        """The results of a loop from compiled code, None where there is none."""
        assert self._compile_loop is not None
        application = Application(step.op, tuple(operands), loop.attributes)
        text = text_of_loop(self.module, loop.operation, application, self.reader)
        results = None if text is None else self._compile_loop(text, operands, loop.may_repeat)
        return None if results is None else tuple(results)

    def step(self, operation: mlir.ir.Operation, environment: dict[Value, Any]) -> None:
        """Add the results of one op to `environment`, which has its operands."""
        if not self.effects and len(operation.results) == 0:
            return
        op, operands, attributes = self._application(operation, environment.__getitem__)
        results = self._apply(op, operands, self._with_callables(op, attributes), operation.location)
        environment.update(zip(operation.results, results, strict=True))

    def _application(self, operation: mlir.ir.Operation, lookup: Callable[[Value], Any]) -> Application:
        application = self.reader.read(operation, lookup)
        if application is None:
            raise VerificationError(f"op '{operation.name}' cannot be evaluated: it is not of adze")
        op = application.op
        if not self.effects and op.has_effect:
            raise VerificationError(
                f"the result of 'adze.{op.name}' has no value yet: it runs once, with the whole function",
                where=location_text(operation.location),
            )
        if isinstance(op.evaluate, Undefined):
            raise MissingRuleError(f"op 'adze.{op.name}' cannot be evaluated: {op.evaluate.reason}")
        return application

    def _apply(
        self, op: type[Op], operands: Sequence[Any], attributes: dict[str, Any], location: mlir.ir.Location
    ) -> tuple[Any, ...]:
        try:
            results = as_tuple(op.evaluate(*operands, **attributes))
        except AdzeError as error:
            if error.where:
                raise
            raise type(error)(error.message, where=location_text(location), hint=error.hint) from None
        if self.watch is not None and not any(type(x) is _Missing for x in (*operands, *results)):
            self.watch(op, operands, results, location)
        return results

    def _with_callables(self, op: type[Op], attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes, with functions of the module in place of their symbols."""
        passed = dict(attributes)
        for name, attribute in op.attributes.items():
            if attribute.kind == "symbol":
                passed[name] = self._callable(attributes[name], op)
            elif attribute.kind == "symbols":
                passed[name] = tuple(self._callable(symbol, op) for symbol in attributes[name])
        return passed

    def _callable(self, symbol: str, op: type[Op]) -> Callable[..., tuple[Any, ...]]:
        """A function of the module; a call passes missing values on, which other ops would compute with."""
        call = self.call if op.callee_attribute is None else self._call
        return lambda *arguments: tuple(call(symbol, arguments))


def _stopping(attributes: dict[str, Any], steps: int) -> dict[str, Any]:
    """The attributes of a loop, with a body that raises `_LongLoop` after so many steps."""
    body, taken = attributes["body"], 0

    def counted(*arguments: Any) -> Any:
        nonlocal taken
        if taken == steps:
            raise _LongLoop
        taken += 1
        return body(*arguments)

    return {**attributes, "body": counted}


def _argument(symbol: str, position: int, declared: ValueType, argument: Any) -> Any:
    if not isinstance(declared, TensorType):
        return int(argument)
    if type(argument) is _Missing:
        return argument
    array = np.asarray(argument)
    fits = array.ndim == declared.rank and all(map(same_dimension, array.shape, declared.shape))
    if array.dtype != declared.dtype or not fits:
        seen = TensorType(array.shape, array.dtype)
        raise VerificationError(f"argument {position} of @{symbol} is {seen}, expected {declared}")
    return array


def _forgetting(
    steps: Sequence[_Step], returned: Sequence[int], constants: Sequence[Any]
) -> tuple[_Step, ...]:
    """The steps, each with the values that are used in it for the last time."""
    used = {*returned, *(place for place, value in enumerate(constants) if value is not None)}
    forgetting: list[_Step] = []
    for step in reversed(steps):
        sizes = (i for sizes in step.sizes.values() for i in sizes if type(i) is _Slot)
        unused = {*step.operands, *sizes, *step.results} - used
        used |= unused
        forgetting.append(replace(step, unused=tuple(unused)))
    return tuple(reversed(forgetting))

"""The evaluator: runs adze IR in NumPy.

Input: a module, the symbol of a function, arrays. Output: its results. Idea: each op in order, by its rule
`Op.evaluate`. Compiled code is compared with it; transforms of concrete arrays use it, so that exploring
costs no compile time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.errors import AdzeError, MissingRuleError, VerificationError
from ...dialects.op import Op, Undefined, as_tuple
from ...dialects.types import TensorType, same_dimension
from ..ir.aliases import Value
from ..ir.functions import body, function, split_body
from .verify import location_text

Watch = Callable[[type[Op], Sequence[ArrayLike], Sequence[ArrayLike], object], None]
"""Called with op, operands, results and location (MLIR's, or the user's `file:line`) after each op."""

WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)


def is_watching() -> bool:
    """Whether NaN are looked for on this thread."""
    return WATCH.get() is not None


"""The watch of the ops that are evaluated in this context."""


def evaluate(module: mlir.ir.Module, symbol: str, arguments: Sequence[Any]) -> list[Any]:
    """The results of function `symbol` applied to arrays (and integers for size arguments).

    Raises `VerificationError` when the arguments do not fit the function's types.
    """
    return Evaluation(module).call(symbol, arguments)


class Evaluation:
    """Evaluates functions and single ops of a module; without `effects` nothing is printed or checked."""

    def __init__(self, module: mlir.ir.Module, *, effects: bool = True) -> None:
        self.module = module
        self.reader = Reader(Codec(module.context))
        self.effects = effects
        self.watch = WATCH.get() if effects else None

    def call(self, symbol: str, arguments: Sequence[Any]) -> list[Any]:
        """The results of function `symbol` applied to arrays and integers."""
        operation = function(self.module, symbol)
        parameters = list(body(operation).arguments)
        if len(parameters) != len(arguments):
            raise VerificationError(f"@{symbol} takes {len(parameters)} arguments, got {len(arguments)}")
        environment: dict[Value, Any] = {}
        for position, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
            environment[parameter] = self._argument(symbol, position, parameter, argument)
        operations, terminator = split_body(operation)
        for child in operations:
            self.step(child.operation, environment)
        return [environment[v] for v in terminator.operands]

    def _argument(self, symbol: str, position: int, parameter: Value, argument: Any) -> Any:
        declared = self.reader.codec.read_type(parameter.type)
        if not isinstance(declared, TensorType):
            return int(argument)
        array = np.asarray(argument)
        fits = array.ndim == declared.rank and all(map(same_dimension, array.shape, declared.shape))
        if array.dtype != declared.dtype or not fits:
            seen = TensorType(array.shape, array.dtype)
            raise VerificationError(f"argument {position} of @{symbol} is {seen}, expected {declared}")
        return array

    def step(self, operation: mlir.ir.Operation, environment: dict[Value, Any]) -> None:
        """Add the results of one op to `environment`, which has its operands."""
        if not self.effects and len(operation.results) == 0:
            return
        application = self.reader.read(operation, environment.__getitem__)
        if application is None:
            raise VerificationError(f"op '{operation.name}' cannot be evaluated: it is not of adze")
        op, operands, attributes = application
        if not self.effects and op.has_effect:
            raise VerificationError(
                f"the result of 'adze.{op.name}' has no value yet: it runs once, with the whole function",
                where=location_text(operation.location),
            )
        if isinstance(op.evaluate, Undefined):
            raise MissingRuleError(f"op 'adze.{op.name}' cannot be evaluated: {op.evaluate.reason}")
        try:
            results = as_tuple(op.evaluate(*operands, **self._with_callables(op, attributes)))
        except AdzeError as error:
            if error.where:
                raise
            raise type(error)(error.message, where=location_text(operation.location)) from None
        if self.watch is not None:
            self.watch(op, operands, results, operation.location)
        environment.update(zip(operation.results, results, strict=True))

    def _with_callables(self, op: type[Op], attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes, with functions of the module in place of their symbols."""
        passed = dict(attributes)
        for name, attribute in op.attributes.items():
            if attribute.kind == "symbol":
                passed[name] = self._callable(attributes[name])
            elif attribute.kind == "symbols":
                passed[name] = tuple(map(self._callable, attributes[name]))
        return passed

    def _callable(self, symbol: str) -> Callable[..., tuple[Any, ...]]:
        return lambda *arguments: tuple(self.call(symbol, arguments))

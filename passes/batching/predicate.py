"""Guarding: maps a function to one that takes a flag first, and where it is false does nothing that is felt.

The batch engine asks for it where it makes elements go through a function that they did not choose, or are
done with: checks hold for them and loops make no step. One rule an op, `guarded`, for the ops that stop
programs or refer to functions that do; all others are copied.
"""

from __future__ import annotations

from typing import Any

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.ops.control.predication import FLAG, Guardable
from ..ir.construction import FunctionMaker, NewFunction, clone_operation, derived_location
from ..ir.functions import body, function, split_body
from ..optimize.simplify import referenced


class Guard(FunctionMaker):
    """The guards of one module; remembers what it has made."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.module = module
        self.codec = Codec(module.context)
        self.reader = Reader(self.codec)
        self._made: dict[str, str] = {}
        self._needed: dict[str, bool] = {}

    def is_needed(self, symbol: str) -> bool:
        """Whether a function, or one that it refers to, does something that a guard switches off."""
        if symbol not in self._needed:
            operations, _ = split_body(function(self.module, symbol))
            self._needed[symbol] = any(self._is_guarded(child.operation) for child in operations)
        return self._needed[symbol]

    def guarded(self, symbol: str) -> str:
        """The function that takes the flag before the operands of `symbol`."""
        if symbol not in self._made:
            self._made[symbol] = self._guarded(symbol)
        return self._made[symbol]

    def _is_guarded(self, operation: Any) -> bool:
        op = self.reader.declaration(operation.name)
        if op is None or not issubclass(op, Guardable):
            return False
        application = self.reader.read(operation)
        assert application is not None
        return op.always_guarded or any(self.is_needed(name) for name in referenced(application))

    def _guarded(self, symbol: str) -> str:
        source = function(self.module, symbol)
        arguments = list(body(source).arguments)
        types = [self.codec.read_type(a.type) for a in arguments]
        location = derived_location(source.location, "guard")
        new = NewFunction(self.module, self.codec, f"{symbol}_guarded", [FLAG, *types], location)
        flag, b = new.arguments[0], new.emitter
        values: dict[Any, Any] = dict(zip(arguments, new.arguments[1:], strict=True))
        operations, terminator = split_body(source)
        for child in operations:
            operation = child.operation
            if not self._is_guarded(operation):
                clone_operation(operation, values, b.point)
                continue
            application = self.reader.read(operation, values.__getitem__)
            assert application is not None and issubclass(application.op, Guardable)
            b.location = operation.location
            found = application.op.guarded(b, flag, application.operands, self, **application.attributes)
            values.update(zip(operation.results, found, strict=True))
        return new.finish([values[v] for v in terminator.operands])

"""Effects: which functions of a module print, check or may run forever, besides returning results.

Input: a module. Output: one answer for each application and each function, memoised. Idea: a function has an
effect if one of its ops has, or if a function that it refers to has one.
"""

from __future__ import annotations

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.op import Op
from ..ir.functions import body, function, referenced


class Effects:
    """The effects of the functions of one module; without those that are calls of Python, if these are not
    asked for."""

    def __init__(self, module: mlir.ir.Module, reader: Reader, *, calls: bool = True) -> None:
        self._module = module
        self._reader = reader
        self._calls = calls
        self._known: dict[str, bool] = {}
        self._direct: dict[str, tuple[bool, set[str]]] = {}

    def of(self, application: Application) -> bool:
        """Whether an op, or a function that it refers to, has an effect."""
        op = application.op
        if self._is_one(op) or not op.refers_to_functions:
            return self._is_one(op)
        return any(self.of_function(symbol) for symbol in referenced(application))

    def _is_one(self, op: type[Op]) -> bool:
        return op.has_effect and (self._calls or not op.effect_is_a_call)

    def of_function(self, symbol: str) -> bool:
        """Whether a function, or one that it refers to (it may refer to itself), has an effect."""
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
            has_effect, names = False, set[str]()
            # A function under construction has no terminator yet.
            for child in body(function(self._module, symbol)).operations:
                op = self._reader.declaration(child.operation.name)
                has_effect |= self._is_one(op) if op is not None else child.operation.name != "func.return"
                if op is not None and op.refers_to_functions:
                    application = self._reader.read(child.operation)
                    assert application is not None
                    names.update(referenced(application))
            self._direct[symbol] = has_effect, names
        return self._direct[symbol]

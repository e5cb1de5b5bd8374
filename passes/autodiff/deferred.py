"""Functions that are made when an engine first asks for one: rules of custom derivatives within such rules.

A rule may call a function with a rule whose rule calls one again, without end. So in place of a rule that
nothing has differentiated yet the module holds an empty function, marked with the name of its maker. The
makers are Python functions, which text cannot hold: who defers functions keeps the `Deferred` alive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final
from weakref import WeakValueDictionary

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter
from ...dialects.codec import Codec
from ...dialects.errors import MissingRuleError
from ..ir.construction import NewFunction, call_function
from ..ir.functions import body, function

DEFERRED: Final = "adze.deferred"
"""On an empty function: the name of what makes it."""

_MAKERS: Final[WeakValueDictionary[str, Deferred]] = WeakValueDictionary()
_numbers: Final = count()


class Deferred:
    """Functions of one module that `make` makes together; `symbols` refer to them before they are made.

    `make` gives the symbols of functions of the module that do what these are to do.
    """

    def __init__(
        self, module: mlir.ir.Module, names: Sequence[str], make: Callable[[], Sequence[str]]
    ) -> None:
        self.module = module
        self.symbols: list[str] = []
        self._make = make
        label = f"{names[0]}#{next(_numbers)}"
        _MAKERS[label] = self
        for name in names:
            new = NewFunction(module, Codec(module.context), name, [], _unknown(module))
            self.symbols.append(new.finish([]))
            new.operation.attributes[DEFERRED] = mlir.ir.StringAttr.get(label, module.context)

    def make(self) -> None:
        """Let each function call what was made for it."""
        made = self._make()
        for symbol, target in zip(self.symbols, made, strict=True):
            self._forward(symbol, target)

    def _forward(self, symbol: str, target: str) -> None:
        codec = Codec(self.module.context)
        source = function(self.module, target)
        types = [codec.read_type(a.type) for a in body(source).arguments]
        function(self.module, symbol).operation.erase()
        new = NewFunction(self.module, codec, symbol, types, source.location, Emitter)
        new.finish(call_function(new.emitter, self.module, target, new.arguments))


def is_deferred(module: mlir.ir.Module, symbol: str) -> bool:
    """Whether a function is still to be made."""
    return DEFERRED in function(module, symbol).attributes


def require(module: mlir.ir.Module, symbol: str) -> None:
    """Make a function, unless it is there."""
    if not is_deferred(module, symbol):
        return
    deferred = _MAKERS.get(function(module, symbol).attributes[DEFERRED].value)
    if deferred is None:
        raise MissingRuleError(
            f"the rule @{symbol} of a custom derivative is a Python function, which this text of the program "
            "has lost",
            hint="differentiate it where the rule is defined, with adze.grad or adze.jvp",
        )
    deferred.make()


def _unknown(module: mlir.ir.Module) -> mlir.ir.Location:
    return mlir.ir.Location.unknown(module.context)

"""Deferred functions: rules of custom derivatives within such rules, and transposes of routines, traced when
an engine asks for them.

Input: symbols, and a Python function that traces their functions. Output: empty functions under these symbols
until an engine requires one. Idea: a rule may call a function with a rule whose rule calls one again, without
end; only the levels that are differentiated are traced. Transposes of routines do end, and most programs need
none. An empty function carries the label of its `Deferred`. IR text cannot hold a Python function: whoever
defers keeps the `Deferred` alive, and `complete` traces those that end before a module becomes text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Final
from weakref import WeakValueDictionary

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter
from ...dialects.codec import Codec
from ...dialects.errors import MissingRuleError
from ..ir.construction import Activity, NewFunction, call_function
from ..ir.functions import body, function, functions
from .variants import Variants, kinds_of, variant

DEFERRED: Final = "adze.deferred"
"""On an empty function: the label of its `Deferred`."""

_LABEL: Final = re.compile(rf'{re.escape(DEFERRED)} = "[^"]*"')
_DEFERRED: Final[WeakValueDictionary[str, Deferred]] = WeakValueDictionary()
_numbers: Final = count()


class Deferred:
    """Functions of one module that `trace` adds together; `symbols` refer to them before that.

    `trace` returns, for each of them, the symbol of the function of the module that it is to call, or its own
    where it has replaced the empty one. `ends`: it defers nothing that does not end.
    """

    def __init__(
        self,
        module: mlir.ir.Module,
        names: Sequence[str],
        trace: Callable[[], Sequence[str]],
        *,
        ends: bool = False,
    ) -> None:
        self.module = module
        self.ends = ends
        self.symbols: list[str] = []
        self._trace = trace
        self._kept: list[Variants] = []
        label = f"{names[0]}#{next(_numbers)}"
        _DEFERRED[label] = self
        for name in names:
            new = NewFunction(module, Codec(module.context), name, [], _unknown(module))
            self.symbols.append(new.finish([]))
            new.operation.attributes[DEFERRED] = mlir.ir.StringAttr.get(label, module.context)

    def resolve(self) -> None:
        """Trace the functions, and let each symbol call its own."""
        for symbol, target in zip(self.symbols, self._trace(), strict=True):
            if target != symbol:
                self._let_call(symbol, target)

    def _let_call(self, symbol: str, target: str) -> None:
        codec = Codec(self.module.context)
        source = function(self.module, target)
        types = [codec.read_type(a.type) for a in body(source).arguments]
        empty = function(self.module, symbol)
        labels = {kind: empty.attributes[kind] for kind in kinds_of(self.module, symbol)}
        empty.operation.erase()
        new = NewFunction(self.module, codec, symbol, types, source.location, Emitter)
        new.finish(call_function(new.emitter, self.module, target, new.arguments))
        for kind, label in labels.items():
            function(self.module, symbol).attributes[kind] = label
        for kind in kinds_of(self.module, target):
            of_target = partial(self._variant, kind, target)
            self._kept.append(Variants(self.module, kind, [symbol], of_target))

    def _variant(self, kind: str, target: str, active: Activity) -> list[str]:
        return [variant(self.module, kind, target, active)]


def is_deferred(module: mlir.ir.Module, symbol: str) -> bool:
    """Whether a function is still empty."""
    return DEFERRED in function(module, symbol).attributes


def require(module: mlir.ir.Module, symbol: str) -> None:
    """Trace a function if it is still empty."""
    if not is_deferred(module, symbol):
        return
    deferred = _deferred_of(module, symbol)
    if deferred is None:
        raise MissingRuleError(
            f"the rule @{symbol} of a custom derivative is a Python function, which this text of the program "
            "has lost",
            hint="differentiate it where the rule is defined, with adze.grad or adze.jvp",
        )
    deferred.resolve()


def ends(module: mlir.ir.Module, symbol: str) -> bool:
    """Whether a deferred function defers nothing that does not end."""
    deferred = _deferred_of(module, symbol)
    return deferred is not None and deferred.ends


def complete(module: mlir.ir.Module) -> None:
    """Trace all deferred functions that end: the text of the module can be differentiated then."""
    while found := [name for name in functions(module) if is_deferred(module, name) and ends(module, name)]:
        require(module, found[0])


def without_labels(text: str) -> str:
    """The text of a module without the labels of deferred functions, which differ from process to process."""
    return _LABEL.sub("", text)


def _deferred_of(module: mlir.ir.Module, symbol: str) -> Deferred | None:
    return _DEFERRED.get(function(module, symbol).attributes[DEFERRED].value)


def _unknown(module: mlir.ir.Module) -> mlir.ir.Location:
    return mlir.ir.Location.unknown(module.context)

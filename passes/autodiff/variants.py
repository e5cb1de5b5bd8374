"""Variants of users' rules, by what is known to be zero: rules that asked for symbolic zeros.

Input: the symbol of a rule, and which of its tangents (or cotangents) there are. Output: the symbol of the
same rule, traced for that. Idea: an engine knows what is zero when it applies a rule, which is later than the
rule's trace. A rule that wants to know carries a label; the Python function behind it traces one more
variant, whose signature is the rule's: what is zero is an argument that it does not use. The residuals of a
pair of rules may differ among variants. IR text cannot hold the Python function: there, zeros are arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final
from weakref import WeakValueDictionary

from ...dialects import mlir
from ..ir.construction import Activity
from ..ir.functions import function

BY_TANGENTS: Final = "adze.by_tangents"
"""On a rule whose variants differ by which tangents of its operands there are."""

BY_COTANGENTS: Final = "adze.by_cotangents"
"""On a rule whose variants differ by which cotangents of the results there are."""

_VARIANTS: Final[WeakValueDictionary[str, Variants]] = WeakValueDictionary()
_numbers: Final = count()


class Variants:
    """Rules of a module that have variants: `trace` returns their symbols for an activity, in the same order.

    Whoever makes one keeps it alive.
    """

    def __init__(
        self,
        module: mlir.ir.Module,
        kind: str,
        symbols: Sequence[str],
        trace: Callable[[Activity], Sequence[str]],
    ) -> None:
        self.module = module
        self.symbols = list(symbols)
        self._trace = trace
        self._known: dict[Activity, Sequence[str]] = {}
        label = f"{symbols[0]}#{next(_numbers)}"
        _VARIANTS[label] = self
        for symbol in symbols:
            attribute = mlir.ir.StringAttr.get(label, module.context)
            function(module, symbol).attributes[kind] = attribute

    def of(self, symbol: str, active: Activity) -> str:
        """The variant of one of the rules."""
        if active not in self._known:
            self._known[active] = self._trace(active)
        return self._known[active][self.symbols.index(symbol)]


def variant(module: mlir.ir.Module, kind: str, symbol: str, active: Activity) -> str:
    """The rule for an activity: itself where all is active, or where it has no variants."""
    attributes = function(module, symbol).attributes
    if all(active) or kind not in attributes:
        return symbol
    variants = _VARIANTS.get(attributes[kind].value)
    if variants is None or symbol not in variants.symbols or variants.module is not module:
        return symbol
    return variants.of(symbol, active)


def kinds_of(module: mlir.ir.Module, symbol: str) -> list[str]:
    """The kinds of variants that a rule has."""
    attributes = function(module, symbol).attributes
    return [kind for kind in (BY_TANGENTS, BY_COTANGENTS) if kind in attributes]

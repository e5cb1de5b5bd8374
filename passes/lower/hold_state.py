"""Arrays that a program keeps between calls: arguments and results of functions become globals.

Input: the lowered module, whose attribute `adze.held` lists what it keeps: name, type, whether a call
changes it, and its first value, or the scope of the parameters that it is read from. A function with
`adze.holds = "reads"` takes all of them as its first arguments; one with `"updates"` returns those that it
changes as its first results too, and one with `"sets"` only returns them. `adze.changes` says which.
Output: functions without them, under the same names, that load and store globals of the program. The
functions as they were stay beside them as private ones.

Where no first value is known, a global says whether the arrays have been set, and who reads them before that
gets an error. `state.get` returns the arrays that calls change, and `state.set` sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ...runtime.artifact.manifest import GETTER, SETTER
from ..base import Pass
from ..ir.aliases import Operation, Value
from ..ir.functions import functions

HELD: Final = "adze.held"
"""On a module: the arrays that it keeps."""

HOLDS: Final = "adze.holds"
"""On a function: whether it reads, updates or sets them."""

CHANGES: Final = "adze.changes"
"""On a function: the positions of those that it returns."""

_READY: Final = "adze.ready"
_UNSET: Final = "adze: the arrays of the program have no values yet: call the function that sets them first"


@dataclass(frozen=True)
class HoldState(Pass):
    """Let functions load and store what the program keeps, in place of taking and returning it."""

    name = "hold-state"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        if HELD not in module.operation.attributes:
            return False
        with module.context, mlir.ir.Location.unknown():
            _Held(module).run()
        return True


class _Held:
    """The arrays that a module keeps, and the functions around them."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.module = module
        self.arrays = [mlir.ir.DictAttr(each) for each in module.operation.attributes[HELD]]
        self.types = [mlir.ir.TypeAttr(each["type"]).value for each in self.arrays]
        self.mutable = [n for n, each in enumerate(self.arrays) if mlir.ir.BoolAttr(each["mutable"]).value]
        self.is_set_later = any("later" in each for each in self.arrays)

    def run(self) -> None:
        held = {symbol: f for symbol, f in functions(self.module).items() if HOLDS in f.attributes}
        with mlir.ir.InsertionPoint.at_block_begin(self.module.body):
            for n in range(len(self.arrays)):
                self._add_global(n)
            if self.is_set_later:
                false = mlir.ir.BoolAttr.get(False)
                _global(_READY, mlir.ir.IntegerType.get_signless(1), is_mutable=True, initial=false)
        for symbol, function in held.items():
            self._wrap(symbol, function)
        if self.mutable:
            types = [self.types[n] for n in self.mutable]
            getter = self._function(GETTER, [], types)
            with mlir.ir.InsertionPoint(getter):
                self._check_set()
                mlir.func.ReturnOp([self._load(n) for n in self.mutable])
            setter = self._function(SETTER, types, [])
            with mlir.ir.InsertionPoint(setter):
                self._store(self.mutable, list(setter.arguments))
                mlir.func.ReturnOp([])
        del self.module.operation.attributes[HELD]

    def _add_global(self, n: int) -> None:
        array = self.arrays[n]
        initial = array["initial"] if "initial" in array else None  # noqa: SIM401 - no dict
        if "scope" in array:
            scope, name = mlir.ir.StringAttr(array["scope"]).value, mlir.ir.StringAttr(array["name"]).value
            text = f"#stream.parameter.named<{_quoted(scope)}::{_quoted(name)}> : {self.types[n]}"
            initial = mlir.ir.Attribute.parse(text)
        _global(self._symbol(n), self.types[n], is_mutable=n in self.mutable, initial=initial)

    def _symbol(self, n: int) -> str:
        return f"adze.held.{n}"

    def _wrap(self, symbol: str, function: Operation) -> None:
        """The function under its name without the arrays, which calls the one that has them."""
        kind = mlir.ir.StringAttr(function.attributes[HOLDS]).value
        changed = list(mlir.ir.DenseI64ArrayAttr(function.attributes[CHANGES]))
        type_ = mlir.ir.FunctionType(mlir.ir.TypeAttr(function.attributes["function_type"]).value)
        taken = 0 if kind == "sets" else len(self.arrays)
        inner = f"{symbol}.held"
        function.attributes["sym_name"] = mlir.ir.StringAttr.get(inner)
        function.attributes["sym_visibility"] = mlir.ir.StringAttr.get("private")
        for name in (HOLDS, CHANGES):
            del function.attributes[name]
        block = self._function(symbol, type_.inputs[taken:], type_.results[len(changed) :])
        with mlir.ir.InsertionPoint(block):
            if taken:
                self._check_set()
            loaded = [self._load(n) for n in range(taken)]
            callee = mlir.ir.FlatSymbolRefAttr.get(inner)
            call = mlir.ir.Operation.create(
                "func.call", list(type_.results), [*loaded, *block.arguments], {"callee": callee}
            )
            results = list(call.results)
            self._store(changed, results[: len(changed)])
            mlir.func.ReturnOp(results[len(changed) :])

    def _function(
        self, symbol: str, inputs: Sequence[mlir.ir.Type], results: Sequence[mlir.ir.Type]
    ) -> mlir.ir.Block:
        with mlir.ir.InsertionPoint(self.module.body):
            function = mlir.func.FuncOp(symbol, (list(inputs), list(results)))
        block: mlir.ir.Block = function.add_entry_block()
        return block

    def _check_set(self) -> None:
        if self.is_set_later:
            ready = _load(_READY, mlir.ir.IntegerType.get_signless(1))
            mlir.cf.AssertOp(ready, _UNSET)

    def _load(self, n: int) -> Value:
        return _load(self._symbol(n), self.types[n])

    def _store(self, positions: Sequence[int], values: Sequence[Value]) -> None:
        for n, value in zip(positions, values, strict=True):
            _store(self._symbol(n), value)
        if self.is_set_later and positions == self.mutable:
            true = mlir.arith.constant(mlir.ir.IntegerType.get_signless(1), 1)
            _store(_READY, true)


def _global(symbol: str, type_: mlir.ir.Type, *, is_mutable: bool, initial: Any) -> None:
    attributes: dict[str, mlir.ir.Attribute] = {
        "sym_name": mlir.ir.StringAttr.get(symbol),
        "sym_visibility": mlir.ir.StringAttr.get("private"),
        "type": mlir.ir.TypeAttr.get(type_),
    }
    if is_mutable:
        attributes["is_mutable"] = mlir.ir.UnitAttr.get()
    if initial is not None:
        attributes["initial_value"] = initial
    mlir.ir.Operation.create("util.global", attributes=attributes)


def _load(symbol: str, type_: mlir.ir.Type) -> Value:
    reference = {"global": mlir.ir.FlatSymbolRefAttr.get(symbol)}
    return mlir.ir.Operation.create("util.global.load", [type_], [], reference).results[0]


def _store(symbol: str, value: Value) -> None:
    reference = {"global": mlir.ir.FlatSymbolRefAttr.get(symbol)}
    mlir.ir.Operation.create("util.global.store", [], [value], reference)


def _quoted(text: str) -> str:
    return str(mlir.ir.StringAttr.get(text))

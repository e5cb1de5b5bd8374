"""What a program costs, read from its IR: arithmetic, memory traffic, and the most bytes alive at once.

Input: a module of adze IR. Output: a `Cost`. Idea: each op is counted on its shapes alone, by `Op.flops`:
products and convolutions as `2 * m * n * k`, other arithmetic as one operation for each element of its
largest operand or result, movements as none. What IREE fuses is not known here: bytes are those of the
program as it is written. (`Op.element_cost` is another quantity: the time of one element, by which the
lowering decides whether threads pay.)
"""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.op import element_count
from ...dialects.types import TensorType
from ..ir.aliases import Operation, Value
from ..ir.functions import body, functions, is_private, split_body


@dataclass(frozen=True, slots=True)
class Cost:
    """`flops` of one call, `bytes_moved` by all ops, `peak_bytes` alive at once (arguments included).

    Dynamic sizes count as 1 where `is_static` is false, loops as one iteration.
    """

    flops: int
    bytes_moved: int
    peak_bytes: int
    is_static: bool = True

    def __str__(self) -> str:
        text = (
            f"{_scaled(self.flops, 'flop')}, {_scaled(self.bytes_moved, 'B')} moved, "
            f"{_scaled(self.peak_bytes, 'B')} alive at most"
        )
        return text if self.is_static else f"{text} (dynamic sizes counted as 1)"


@dataclass(frozen=True, slots=True)
class Step:
    """One op of a function: what it costs, and the bytes alive while it runs."""

    operation: Operation
    flops: int
    bytes_moved: int
    alive_bytes: int
    is_static: bool


def cost(module: mlir.ir.Module) -> Cost:
    """The cost of the module's public function."""
    counter, main = _counter_of(module)
    return counter.function(main)


def costs(module: mlir.ir.Module) -> dict[str, Cost]:
    """The cost of each public function of the module, by its name."""
    counter, _ = _counter_of(module)
    names = [symbol for symbol, operation in counter.functions.items() if not is_private(operation)]
    return {name: counter.function(name) for name in names}


def steps(module: mlir.ir.Module, name: str | None = None) -> list[Step]:
    """The ops of a public function of the module in order, by default of the first, each with its cost."""
    counter, main = _counter_of(module)
    return counter.steps(counter.functions[name or main])


def _counter_of(module: mlir.ir.Module) -> tuple[_Counter, str]:
    by_symbol = functions(module)
    main = next(symbol for symbol, operation in by_symbol.items() if not is_private(operation))
    return _Counter(module, by_symbol), main


class _Counter:
    """Counts functions, each once."""

    def __init__(self, module: mlir.ir.Module, by_symbol: Mapping[str, Operation]) -> None:
        self.reader = Reader(Codec(module.context))
        self.functions = by_symbol
        self.counted: dict[str, Cost] = {}

    def function(self, symbol: str) -> Cost:
        """The cost of one call of a function."""
        if symbol not in self.counted:
            self.counted[symbol] = self._count(self.functions[symbol])
        return self.counted[symbol]

    def _count(self, operation: Operation) -> Cost:
        arguments = body(operation).arguments
        counted = self.steps(operation)
        peak = max([sum(map(self._bytes, arguments)), *(step.alive_bytes for step in counted)])
        is_static = all(map(self._is_static, arguments)) and all(step.is_static for step in counted)
        flops, moved = sum(step.flops for step in counted), sum(step.bytes_moved for step in counted)
        return Cost(flops, moved, peak, is_static)

    def steps(self, operation: Operation) -> list[Step]:
        """The cost of each op of a function, those of the ops' bodies included."""
        operations, terminator = split_body(operation)
        last_use = {v: i for i, o in enumerate([*operations, terminator]) for v in o.operands}
        alive = sum(self._bytes(a) for a in body(operation).arguments)
        result = []
        for position, each in enumerate(operations):
            application = self.reader.read(each)
            if application is None:
                continue
            inner = self._called(application)
            is_static = all(map(self._is_static, each.results)) and all(c.is_static for c in inner)
            read, written = sum(map(self._bytes, each.operands)), sum(map(self._bytes, each.results))
            if inner:
                flops, moved = sum(c.flops for c in inner), sum(c.bytes_moved for c in inner)
            else:
                flops, moved = self._flops(application, each), read + written
            inside = max((c.peak_bytes for c in inner), default=0)
            result.append(Step(each, flops, moved, alive + max(written, inside - read), is_static))
            touched = {*each.operands, *each.results}
            dead = (v for v in touched if last_use.get(v, -1) <= position)
            alive += written - sum(map(self._bytes, dead))
        return result

    def _called(self, application: Application) -> list[Cost]:
        """What an op with bodies runs: its function or functions; of branches, the one that costs most."""
        op, attributes = application.op, application.attributes
        if op.callee_attribute is not None:  # other functions are rules for derivatives, which do not run
            return [self.function(attributes[op.callee_attribute])]
        called = []
        for name, attribute in op.attributes.items():
            if attribute.kind == "symbol":
                called.append(self.function(attributes[name]))
            elif attribute.kind == "symbols":
                called.append(max(map(self.function, attributes[name]), key=lambda c: c.flops))
        return called

    def _type(self, value: Value) -> TensorType | None:
        type_ = self.reader.codec.read_type(value.type)
        return type_ if isinstance(type_, TensorType) else None

    def _is_static(self, value: Value) -> bool:
        type_ = self._type(value)
        return type_ is not None and type_.is_static

    def _bytes(self, value: Value) -> int:
        type_ = self._type(value)
        return 0 if type_ is None else element_count(type_) * type_.dtype.itemsize

    def _flops(self, application: Application, operation: Operation) -> int:
        operands = [t for t in map(self._type, operation.operands) if t is not None]
        results = [t for t in map(self._type, operation.results) if t is not None]
        return application.op.flops(operands, results, application.attributes)


def _scaled(count: int, unit: str) -> str:
    for power, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= power:
            return f"{count / power:.3g} {prefix}{unit}"
    return f"{count} {unit}"

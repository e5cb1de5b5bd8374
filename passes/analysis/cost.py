"""What a program costs, read from its IR: arithmetic, memory traffic, and the most bytes alive at once.

In comes a module of adze IR, out comes a `Cost`. Each op is counted on its shapes alone: products and
convolutions as `2 * m * n * k`, other arithmetic as one operation for each element that it reads or writes,
movements as none. Nothing here knows what IREE fuses: bytes are those of the program as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Reader
from ...dialects.codec import Codec
from ...dialects.types import TensorType
from ..ir.functions import body, functions, is_private, split_body


@dataclass(frozen=True, slots=True)
class Cost:
    """`flops` of one call, `bytes_moved` by all ops, `peak_bytes` alive at once (arguments included).

    Dynamic sizes count as 1 where `is_static` is false, loops as one round.
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


def cost(module: mlir.ir.Module) -> Cost:
    """The cost of the module's public function."""
    found = functions(module)
    main = next(symbol for symbol, operation in found.items() if not is_private(operation))
    return _Counter(module, found).function(main)


class _Counter:
    """Counts functions, each once."""

    def __init__(self, module: mlir.ir.Module, found: Mapping[str, Any]) -> None:
        self.reader = Reader(Codec(module.context))
        self.found = found
        self.counted: dict[str, Cost] = {}

    def function(self, symbol: str) -> Cost:
        """The cost of one call of a function."""
        if symbol not in self.counted:
            self.counted[symbol] = self._count(self.found[symbol])
        return self.counted[symbol]

    def _count(self, operation: Any) -> Cost:
        operations, terminator = split_body(operation)
        last_use = {v: i for i, o in enumerate([*operations, terminator]) for v in o.operands}
        alive = sum(self._bytes(a) for a in body(operation).arguments)
        is_static = all(self._is_static(a) for a in body(operation).arguments)
        flops = moved = 0
        peak = alive
        for position, each in enumerate(operations):
            application = self.reader.read(each)
            if application is None:
                continue
            inner = self._called(application)
            is_static &= all(map(self._is_static, each.results)) and all(c.is_static for c in inner)
            read, written = sum(map(self._bytes, each.operands)), sum(map(self._bytes, each.results))
            if inner:
                flops += sum(c.flops for c in inner)
                moved += sum(c.bytes_moved for c in inner)
            else:
                flops += self._flops(application, each)
                moved += read + written
            inside = max((c.peak_bytes for c in inner), default=0)
            peak = max(peak, alive + max(written, inside - read))
            touched = {*each.operands, *each.results}
            dead = (v for v in touched if last_use.get(v, -1) <= position)
            alive += written - sum(map(self._bytes, dead))
        return Cost(flops, moved, peak, is_static)

    def _called(self, application: Application) -> list[Cost]:
        """What an op with bodies runs: its function or functions; of branches, the one that costs most."""
        op, given = application.op, application.attributes
        names = [n for n, a in op.attributes.items() if a.kind == "symbol"]
        if "callee" in names:  # the others are rules for derivatives, which do not run
            names = ["callee"]
        called = [self.function(given[name]) for name in names]
        for name, attribute in op.attributes.items():
            if attribute.kind == "symbols":
                called.append(max(map(self.function, given[name]), key=lambda c: c.flops))
        return called

    def _type(self, value: Any) -> TensorType | None:
        type_ = self.reader.codec.read_type(value.type)
        return type_ if isinstance(type_, TensorType) else None

    def _is_static(self, value: Any) -> bool:
        type_ = self._type(value)
        return type_ is not None and type_.is_static

    def _bytes(self, value: Any) -> int:
        type_ = self._type(value)
        return 0 if type_ is None else _elements(type_) * type_.dtype.itemsize

    def _flops(self, application: Application, operation: Any) -> int:
        operands = [t for t in map(self._type, operation.operands) if t is not None]
        results = [t for t in map(self._type, operation.results) if t is not None]
        counted = _EXACT.get(application.op.name)
        if counted is not None:
            return counted(operands, results, application.attributes)
        if application.op.name in _FREE or not operands:
            return 0
        return max(map(_elements, (*operands, *results)))


def _elements(type_: TensorType) -> int:
    return prod(1 if n is None else n for n in type_.shape)


def _product(operands: list[TensorType], results: list[TensorType], attributes: Mapping[str, Any]) -> int:
    depth = prod(operands[0].shape[axis] or 1 for axis in attributes["contracting"][0])
    return 2 * depth * _elements(results[0])


def _convolution(operands: list[TensorType], results: list[TensorType], attributes: Mapping[str, Any]) -> int:
    features = operands[1].shape[attributes["rhs_spec"][0]] or 1
    return 2 * _elements(results[0]) * (_elements(operands[1]) // max(features, 1))


# Costs are estimates beside the ops, not part of what they mean: what is missing here counts as arithmetic.
_EXACT: Final[Mapping[str, Callable[..., int]]] = {"dot_general": _product, "conv_general": _convolution}
_FREE: Final = frozenset(
    {
        *("constant", "full", "iota", "broadcast_in_dim", "reshape", "transpose", "slice", "pad"),
        *("concatenate", "reverse", "gather", "dynamic_slice", "dynamic_update_slice", "select"),
        *("convert", "bitcast_convert", "real", "imag", "complex", "dim", "optimization_barrier"),
        *("print", "check"),
    }
)


def _scaled(count: int, unit: str) -> str:
    for power, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= power:
            return f"{count / power:.3g} {prefix}{unit}"
    return f"{count} {unit}"

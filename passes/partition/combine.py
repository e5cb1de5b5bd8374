"""The pass `combine-collectives`: several sums over the ranks become one.

Input: a module with collectives. Output: the same, in place. Idea: a message costs time however short it is,
and a backward pass ends with a sum for each parameter. A sum waits until something needs its result; those
that wait for the same ranks are then one sum of their elements in a row. Every element is added up as before.
`late.py` makes sums wait longer, and adds up what would be added behind them.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Any, Final

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.ops.collectives.mesh_axes import AllReduce
from ...dialects.types import TensorType
from ..analysis.effects import Effects
from ..base import Pass, names_of
from ..ir.aliases import Operation, Value
from ..ir.functions import body, functions
from .late import LateSums, sink

LARGEST: Final = 256 << 10
"""Bytes of an array that is sent in a row with others: copying more takes longer than a message."""

TOGETHER: Final = 1 << 20
"""Bytes of a row: when it has so many it is sent, and travels while the rest is computed."""


@dataclass(frozen=True)
class CombineCollectives(Pass):
    """Add before summing over ranks, and send small sums together where none needs the result of another."""

    name = "combine-collectives"
    needs = names_of(AllReduce)

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether any were combined."""
        codec = Codec(module.context)
        reader = Reader(codec)
        effects = Effects(module, reader)
        is_changed = False
        for each in functions(module).values():
            block = body(each)
            late = LateSums(codec, reader)
            for operation in list(block.operations):
                late.visit(operation.operation)
            combiner = _Combiner(codec, reader)
            sink(block, reader, effects, combiner.together(block))
            for operation in list(block.operations):
                combiner.visit(operation.operation)
            is_changed = is_changed or late.is_changed or combiner.is_changed
        return is_changed


@dataclass
class _Row:
    """Sums that wait, and the bytes of their arrays."""

    operations: list[Operation] = field(default_factory=list)
    size: int = 0


@dataclass
class _Combiner:
    """The sums of one function that nothing has needed yet, by the ranks that they are of."""

    codec: Codec
    reader: Reader
    waiting: dict[Hashable, _Row] = field(default_factory=dict)
    owners: dict[Value, Hashable] = field(default_factory=dict)
    is_changed: bool = False

    def together(self, block: Any) -> list[Operation]:
        """The small sums of a body that another one is over the same ranks as."""
        found: dict[Hashable, list[Operation]] = {}
        for each in block.operations:
            key, _ = self._small(each.operation)
            if key is not None:
                found.setdefault(key, []).append(each.operation)
        return [each for several in found.values() if len(several) > 1 for each in several]

    def _small(self, operation: Operation) -> tuple[Hashable, int]:
        """The ranks that a small sum is over, with its kind and dtype, else None; and its bytes."""
        application = self.reader.read(operation)
        if application is None or application.op is not AllReduce:
            return None, 0
        kind = self._type(operation.operands[0])
        size = kind.dtype.itemsize
        for n in kind.static_shape:
            size *= n or 1
        if not kind.is_static or not 0 < size <= LARGEST:
            return None, 0
        attributes = application.attributes
        return (attributes["kind"], attributes["mesh"], attributes["axis"], kind.dtype), size

    def visit(self, operation: Operation) -> None:
        """The next op: what it needs must be there; a small sum waits."""
        for key in {self.owners[v] for v in operation.operands if v in self.owners}:
            self._send(key, operation)
        key, size = self._small(operation)
        if key is None:
            return
        result = operation.results[0]
        if self.waiting.get(key, _Row()).size + size > TOGETHER:
            self._send(key, operation)
        row = self.waiting.setdefault(key, _Row())
        row.operations.append(operation)
        row.size += size
        self.owners[result] = key

    def _type(self, value: Value) -> TensorType:
        kind = self.codec.read_type(value.type)
        assert isinstance(kind, TensorType)
        return kind

    def _send(self, key: Hashable, before: Operation) -> None:
        """One sum of all that wait, in front of an op."""
        row = self.waiting.pop(key, _Row()).operations
        for each in row:
            del self.owners[each.results[0]]
        if len(row) < 2:
            return
        self.is_changed = True
        application = self.reader.read(row[0])
        assert application is not None
        b = Emitter(self.codec, mlir.ir.InsertionPoint(before), before.location)
        b.location = mlir.ir.Location.fused([each.location for each in row], context=before.context)
        types = [self._type(each.operands[0]) for each in row]
        counts = [_count(kind) for kind in types]
        flat = [b.reshape(each.operands[0], shape=(n,)) for each, n in zip(row, counts, strict=True)]
        total = b.all_reduce(b.concatenate(*flat, axis=0), row[0].operands[1], **application.attributes)
        first = 0
        for each, kind, n in zip(row, types, counts, strict=True):
            part = b.slice(total, start=(first,), limit=(first + n,), strides=(1,))
            each.results[0].replace_all_uses_with(b.reshape(part, shape=kind.static_shape))
            first += n
        for each in row:
            each.erase()


def _count(kind: TensorType) -> int:
    count = 1
    for n in kind.static_shape:
        count *= n or 0
    return count

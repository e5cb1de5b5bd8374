"""Reductions and products that IREE would fuse with uses through several index maps, marked before lowering.

Input: adze IR. Output: the same, with the mark `adze.barrier` on the ops whose results must not be fused.

Symptom: where one elementwise op uses a result through two index maps (`s[:, None] + s[None, :]`, `g + g.T`),
    sums are added up again and again; so are they where a second reduction, over axes that were broadcast or
    transposed before, is fused with the first, which is used through another map elsewhere.
Seen in: IREE 3.13.
Smallest: `s = x.sum(1); s[:, None] + s[None, :]`.
Goes when: `tests/passes/lower/iree/test_two_index_maps.py::test_iree_still_needs_the_barrier` fails.
"""

from __future__ import annotations

from dataclasses import field

from ....dialects import mlir
from ....dialects.builder.core import Application
from ....dialects.builder.emitter import Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.elementwise.family import Elementwise
from ....dialects.ops.reduction import ArgumentExtremum, Reduction
from ....dialects.ops.shape.rearrange import BroadcastInDim, Movement, Reshape, Transpose
from ....dialects.types import TensorType
from ...base import Pass
from ...ir.aliases import Operation, Type, Value
from ...ir.functions import functions, split_body
from ...ir.marks import BARRIER
from .broadcast_sums import broadcast_sums
from .complex_products import complex_products
from .dear_broadcasts import dear_broadcasts
from .indexed_products import indexed_products
from .inner_broadcasts import inner_broadcasts
from .stored_products import stored_products

Step = tuple[str, tuple[str, ...]]
"""A movement and its attributes."""
Image = tuple[int | None, ...] | None
"""Where the axes of the combined value went: None if it is not known."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How a value uses a combined one: where its axes went, or else the number of the movements between."""

    image: Image
    movements: int = 0
    is_moved: bool = False

    @property
    def place(self) -> object:
        """Equal for two ways that put the axes in the same places."""
        return self.movements if self.image is None else self.image


Ways = frozenset[_Way]
"""Of one place: there are two at most, as the place may be reached with movements and without."""


@dataclass(frozen=True)
class MarkBarriers(Pass):
    """Mark the ops whose results IREE must not fuse with their uses: they are lowered with a barrier."""

    name = "mark-barriers"

    def run(self, module: mlir.ir.Module) -> bool:
        mark = mlir.ir.UnitAttr.get(module.context)
        reader = Reader(Codec(module.context))
        results = unfusible(module, reader) | indexed_products(module, reader)
        results |= complex_products(module, reader) | stored_products(module, reader)
        results |= inner_broadcasts(module, reader) | broadcast_sums(module, reader)
        results |= dear_broadcasts(module, reader)
        for result in results:
            result.owner.attributes[BARRIER] = mark
        return bool(results)


def unfusible(module: mlir.ir.Module, reader: Reader) -> set[Value]:
    """The results that must go behind a barrier."""
    values: set[Value] = set()
    for function in functions(module).values():
        operations, terminator = split_body(function)
        followed = _Followed(reader)
        for operation in operations:
            followed.read(operation.operation)
        followed.end(list(terminator.operands), None)
        values |= followed.hazards()
    return values


@dataclass
class _Followed:
    """Combined values of one function, followed through movements and elementwise ops to their ends.

    `ways` are, of each value, its sources and how it uses them. A source that is used through two index maps
    is `joined` and followed no further, so that a value has one place of each source: their number would
    double with each op that uses a value twice. `folded` are sources whose moved axes are reduced.
    """

    reader: Reader
    ways: dict[Value, dict[Value, Ways]] = field(default_factory=dict)
    ends: dict[Value, set[object]] = field(default_factory=dict)
    folded: set[Value] = field(default_factory=set)
    joined: set[Value] = field(default_factory=set)
    numbers: dict[tuple[object, Step], int] = field(default_factory=dict)

    def read(self, operation: Operation) -> None:
        op = self.reader.declaration(operation.name)
        if op is None or (issubclass(op, Elementwise) and not self.ways):
            return
        operands = list(operation.operands)
        if issubclass(op, Elementwise) and not any(v in self.ways for v in operands):
            return
        application = self.reader.read(operation)
        assert application is not None
        if not issubclass(op, (Elementwise, Movement)):
            if not operands:
                return
            self.end(operands, application)
            if op.refers_to_functions:
                # What a loop or a branch gives is never fused with its readers, and IREE 3.13 loses buffers
                # (a call fails: "binding capacity of the command buffer") where it is behind barriers.
                return
            for result in operation.results:
                if isinstance(self.reader.codec.read_type(result.type), TensorType):
                    rank = len(result.type.shape)
                    self.ways[result] = {result: frozenset((_Way(tuple(range(rank))),))}
            return
        merged = self._merged(application, operands, operation.results[0])
        self.joined.update(source for source, ways in merged.items() if len(_places(ways)) > 1)
        kept = {source: ways for source, ways in merged.items() if source not in self.joined}
        if kept:
            self.ways[operation.results[0]] = kept

    def end(self, operands: list[Value], application: Application | None) -> None:
        """An op that is neither a movement nor elementwise reads these values."""
        if application is not None and application.op is DotGeneral:
            # Without axes to sum over, a product is one elementwise op that reads each side by its own map.
            left, right = (self.ways.get(operand, {}) for operand in operands)
            self.joined.update(left.keys() & right.keys())
        for operand in operands:
            for source, ways in self.ways.get(operand, {}).items():
                self.ends.setdefault(source, set()).update(_places(ways))
                if application is None or not issubclass(application.op, (Reduction, ArgumentExtremum)):
                    continue
                attributes = application.attributes
                axes = set(attributes.get("axes", (attributes.get("axis"),)))
                if any(w.is_moved and (w.image is None or axes & set(w.image)) for w in ways):
                    self.folded.add(source)

    def hazards(self) -> set[Value]:
        return self.joined | {source for source in self.folded if len(self.ends[source]) > 1}

    def _merged(self, application: Application, operands: list[Value], result: Value) -> dict[Value, Ways]:
        step: Step | None = None
        moved = None
        if issubclass(application.op, Movement):
            step = (application.op.name, tuple(str(v) for v in application.attributes.values()))
            moved = _moved(application, operands[0].type, result.type)
        merged: dict[Value, Ways] = {}
        for operand in operands:
            for source, ways in self.ways.get(operand, {}).items():
                if step is not None:
                    ways = frozenset(self._through(way, step, moved) for way in ways)
                merged[source] = merged.get(source, frozenset()) | ways
        return merged

    def _through(self, way: _Way, step: Step, moved: Image) -> _Way:
        """The way behind one more movement."""
        if way.image is None or moved is None:
            return _Way(None, self.numbers.setdefault((way.place, step), len(self.numbers)), True)
        return _Way(tuple(None if a is None else moved[a] for a in way.image), 0, True)


def _places(ways: Ways) -> set[object]:
    return {way.place for way in ways}


def _moved(application: Application, before: Type, after: Type) -> Image:
    """Where a movement puts each axis of its operand, if axes stay axes."""
    if application.op is BroadcastInDim:
        return tuple(application.attributes["dimensions"])
    if application.op is Transpose:
        order = list(application.attributes["permutation"])
        return tuple(order.index(a) for a in range(len(order)))
    if application.op is Reshape:
        old = [a for a, n in enumerate(before.shape) if n != 1]
        new = [a for a, n in enumerate(after.shape) if n != 1]
        if [before.shape[a] for a in old] == [after.shape[a] for a in new]:
            place = dict(zip(old, new, strict=True))
            return tuple(place.get(a) for a in range(len(before.shape)))
    return None

"""What a step of a loop computes of the loop's constants alone is computed once, before the loop.

Input: adze IR. Output: the same, where a scan or a while gets such arrays as further constants, if they are
dear: made by functions that take long, products, sums, sorts. Idea: inner loops first, so that what they do
not change moves out of all that do not. A value that a step takes as it is leaves the step with all that it
follows from; what only moves elements, as a broadcast does, stays and moves them in each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import Final

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.op import Op
from ...dialects.ops.control.scan import Scan
from ...dialects.ops.control.while_loop import While
from ...dialects.ops.shape.rearrange import Movement
from ...dialects.types import TensorType
from ..analysis.effects import Effects
from ..base import Pass, names_of
from ..ir.aliases import Operation, Value
from ..ir.construction import NewFunction, clone_operation
from ..ir.functions import body, function, functions, referenced, split_body
from ..ir.shape_operands import shape_operands
from ..optimize.dead_results import eliminate_dead_results
from ..optimize.simplify import drop_unreferenced, drop_unused

DEAR: Final = 4  # multiplications of an element that are rather done once
LARGEST: Final = 1 << 26  # bytes of what is kept instead


@dataclass(frozen=True)
class HoistInvariants(Pass):
    """Compute what takes long and follows from a loop's constants alone once, before the loop."""

    name = "hoist-invariants"
    needs = names_of(Scan, While)

    def run(self, module: mlir.ir.Module) -> bool:
        reader = Reader(Codec(module.context))
        hoisting = _Hoisting(module, reader)
        for symbol in list(functions(module)):
            hoisting.function(symbol)
        if hoisting.is_changed:
            drop_unreferenced(module, reader)
            eliminate_dead_results(module)  # with the constants that no step takes any more
        return hoisting.is_changed


@dataclass(slots=True)
class _Hoisting:
    """The loops of a module, each function's after those that it refers to."""

    module: mlir.ir.Module
    reader: Reader
    is_changed: bool = False
    _done: set[str] = field(default_factory=set)

    def function(self, symbol: str) -> None:
        """Hoist out of the loops of one function."""
        if symbol in self._done:
            return
        self._done.add(symbol)
        operations, _ = split_body(function(self.module, symbol))
        found = False
        for child in operations:
            op = self.reader.declaration(child.operation.name)
            if op is None or not op.refers_to_functions:
                continue
            application = self.reader.read(child.operation)
            assert application is not None
            for inner in referenced(application):
                self.function(inner)
            if op in (Scan, While):
                found |= self._loop(child.operation, application)
        if found:
            self.is_changed = True
            drop_unused(self.module, symbol, self.reader)

    def _loop(self, operation: Operation, application: Application) -> bool:
        """Hoist out of one loop; whether there was anything."""
        first, count = _constants(application)
        symbol = application.attributes["body"]
        if shape_operands(function(self.module, symbol)):
            return False  # its sizes are arguments, too
        step = _Step(self.module, self.reader, symbol, count)
        hoisted = step.hoisted()
        if not hoisted:
            return False
        emitter = Emitter(self.reader.codec, mlir.ir.InsertionPoint(operation), operation.location)
        operands = list(application.operands)
        made = step.cloned_before(hoisted, operands[first : first + count], emitter)
        attributes = {**application.attributes, "body": step.without(hoisted)}
        attributes["constant_count" if application.op is Scan else "body_constants"] = count + len(hoisted)
        operands[first + count : first + count] = made
        results = emitter.apply(application.op, operands, attributes)
        for old, new in zip(operation.results, results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()
        return True


def _constants(loop: Application) -> tuple[int, int]:
    """Which operands are the constants of a loop's body: the first, and how many."""
    if loop.op is Scan:
        return 0, loop.attributes["constant_count"]
    return loop.attributes["condition_constants"], loop.attributes["body_constants"]


class _Step:
    """The body of a loop, and what of it follows from its first `count` arguments."""

    def __init__(self, module: mlir.ir.Module, reader: Reader, symbol: str, count: int) -> None:
        self._module = module
        self._reader = reader
        self._symbol = symbol
        self._source = function(module, symbol)
        self._operations, self._terminator = split_body(self._source)
        self._count = count
        self._fixed = set(list(body(self._source).arguments)[:count])
        self._dear: set[Value] = set()
        effects = Effects(module, reader)
        for operation in self._operations:
            self._read(operation, effects)

    def _read(self, operation: Operation, effects: Effects) -> None:
        """Note the results of an op that follow from constants, and those that it takes long to compute."""
        if not all(operand in self._fixed for operand in operation.operands):
            return
        if not all(_is_static(value) for value in (*operation.operands, *operation.results)):
            return  # its sizes are checked, which a loop without steps does not do
        application = self._reader.read(operation)
        if application is None or effects.of(application) or application.op.runs_on_host:
            return
        self._fixed.update(operation.results)
        is_dear = bool(operation.operands) and _is_dear(application.op)
        if is_dear or any(operand in self._dear for operand in operation.operands):
            self._dear.update(operation.results)

    def hoisted(self) -> list[Value]:
        """What is computed before the loop: dear values that an op of the step takes which is not fixed."""
        found: dict[Value, None] = {}
        for operation in (*self._operations, self._terminator):
            if operation.results and all(result in self._fixed for result in operation.results):
                continue
            for operand in operation.operands:
                value = self._before_moves(operand)
                if value in self._dear and _is_kept(self._reader, value):
                    found[value] = None
        return list(found)

    def _before_moves(self, value: Value) -> Value:
        """What a fixed value is a movement of, itself where it is none's."""
        while value in self._dear:
            maker = value.owner.operation
            op = self._reader.declaration(maker.name)
            if op is None or not issubclass(op, Movement) or len(maker.operands) != 1:
                break
            value = maker.operands[0]
        return value

    def cloned_before(
        self, values: Sequence[Value], constants: Sequence[Value], emitter: Emitter
    ) -> list[Value]:
        """The values, computed at the emitter's place of the loop's operands `constants`."""
        needed = self._needed(values)
        known = dict(zip(list(body(self._source).arguments)[: self._count], constants, strict=True))
        for operation in self._operations:
            if not needed.isdisjoint(operation.results):
                clone_operation(operation, known, emitter.point)
        return [known[value] for value in values]

    def _needed(self, values: Sequence[Value]) -> set[Value]:
        """Values and what they follow from."""
        needed: set[Value] = set()
        pending = list(values)
        while pending:
            value = pending.pop()
            if value not in needed and not isinstance(value.owner, mlir.ir.Block):
                needed.add(value)
                pending += value.owner.operation.operands
        return needed

    def without(self, values: Sequence[Value]) -> str:
        """The function of a step that gets the values behind its constants."""
        places = list(body(self._source).arguments)
        passed = [*places[: self._count], *values, *places[self._count :]]
        read = self._reader.codec.read_type
        types = [read(value.type) for value in passed]
        new = NewFunction(self._module, self._reader.codec, self._symbol, types, self._source.location)
        given = dict(zip(passed, new.arguments, strict=True))
        known = dict(given)
        for operation in self._operations:
            clone_operation(operation, known, new.emitter.point)
            known.update(given)  # what was computed before, of all the results of an op
        symbol = new.finish([known[value] for value in self._terminator.operands])
        drop_unused(self._module, symbol, self._reader)
        return symbol


def _is_dear(op: type[Op]) -> bool:
    """Whether results of an op are rather kept than computed in each step."""
    if op.is_elementwise:
        return op.element_cost >= DEAR
    return not op.is_cheap and not issubclass(op, Movement) and not op.is_constant


def _is_static(value: Value) -> bool:
    """Whether a value is an array of known sizes."""
    return isinstance(value.type, mlir.ir.RankedTensorType) and value.type.has_static_shape


def _is_kept(reader: Reader, value: Value) -> bool:
    """Whether an array of known sizes is not too large to be kept."""
    type_ = reader.codec.read_type(value.type)
    assert isinstance(type_, TensorType)
    return prod(value.type.shape) * type_.dtype.itemsize <= LARGEST

"""The sizes of what a loop is given and returns, as the host has them before the loop.

Input: an `adze.scan` or `adze.while`. Output: `index` values, computed before the loop where an axis of an
operand or a result has a size that shows at the call. Idea: an op says which sizes of its operands its result
has, so that those of two arrays are one value where they follow from one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from .....dialects import mlir
from .....dialects.builder.core import Application
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.dataclass import dataclass
from .....dialects.extents import carried_extents
from .....dialects.op import Op
from .....dialects.ops.constants import Dim, SizeCheck
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from .....dialects.ops.shape.slicing import Pad
from .....dialects.symbolic_sizes import NamedSize
from .....dialects.types import TensorType
from ....ir.aliases import Operation, Value
from ....ir.functions import body, split_body
from .errors import KernelError

Place: TypeAlias = "tuple[Value, int]"
DEEPEST: Final = 400  # ops in a row that a size is followed through


@dataclass(frozen=True)
class Sizes:
    """Which operand of a kernel is the size of an axis, by the positions of operands and of results."""

    operands: Mapping[tuple[int, int], int] = field(default_factory=dict)
    results: Mapping[tuple[int, int], int] = field(default_factory=dict)


def _tells_of_sizes(op: type[Op]) -> bool:
    return op in (Dim, SizeCheck)


class SizesBefore:
    """The sizes of one loop, each computed once."""

    def __init__(self, loop: Operation, by_symbol: Mapping[str, Operation], reader: Reader) -> None:
        application = reader.read(loop)
        assert application is not None
        self._loop = loop
        self._by_symbol = by_symbol
        self._reader = reader
        self._op, self._attributes = application.op, application.attributes
        self._emitter = Emitter(reader.codec, mlir.ir.InsertionPoint(loop), loop.location)
        self._known: dict[Place, Value] = {}
        self._equal: dict[Value, Value] = {}
        self._read_before()

    def size(self, value: Value, axis: int) -> Value:
        """The size of an axis of an operand."""
        source = self._source(value, axis)
        if isinstance(source, int):
            return self._emitter.size_constant(value=source)
        if isinstance(source, tuple):
            if source not in self._known:
                self._known[source] = self._emitter.dim(source[0], axis=source[1])
            source = self._known[source]
        return self.representative(source)

    def representative(self, size: Value) -> Value:
        """The one of the sizes equal to `size` that stands for all of them."""
        while size in self._equal:
            size = self._equal[size]
        return size

    def of_result(self, number: int) -> tuple[Value, ...]:
        """The sizes of a result's axes that show at the call."""
        axes = dynamic_axes(self._loop.results[number])
        initial = self._initial(number)
        if initial is not None:
            return tuple(self.size(initial, axis) for axis in axes)
        return tuple(self._of_stack(number, axis) for axis in axes)

    def _initial(self, number: int) -> Value | None:
        """The operand that a result begins with; None for what a scan stacks."""
        attributes, operands = self._attributes, self._loop.operands
        if self._op is While:
            return operands[attributes["condition_constants"] + attributes["body_constants"] + number]
        if self._op is Scan and number < attributes["carry_count"]:
            return operands[attributes["constant_count"] + number]
        return None

    def _of_stack(self, number: int, axis: int) -> Value:
        """The size of an axis of what a scan stacks: its length, or one of a row."""
        if axis == 0:
            (length,) = self._attributes["length"]
            return self._emitter.size_constant(value=length) if isinstance(length, int) else length
        step = self._by_symbol[self._attributes["body"]]
        source = self._source(split_body(step)[1].operands[number], axis - 1)
        if isinstance(source, int):
            return self._emitter.size_constant(value=source)
        arguments = list(body(step).arguments)
        if isinstance(source, tuple) and source[0] in arguments:
            place = arguments.index(source[0])
            is_row = place >= self._attributes["constant_count"] + self._attributes["carry_count"]
            return self.size(self._loop.operands[place], source[1] + is_row)
        if not isinstance(source, tuple) and source in arguments:
            return self._loop.operands[arguments.index(source)]
        raise KernelError("the size of what it stacks is not known before")

    # -- what is known ---------------------------------------------------------------------------

    def _read_before(self) -> None:
        """Read the sizes that were asked for and compared before the loop."""
        for child in self._loop.block.operations:
            if child.operation == self._loop:
                return
            application = self._reader.read_if(child.operation, _tells_of_sizes)
            if application is None:
                continue
            if application.op is Dim:
                (x,) = application.operands
                self._known.setdefault((x, application.attributes["axis"]), child.operation.results[0])
            elif application.op is SizeCheck:
                self._join(*application.operands)

    def _join(self, one: Value, other: Value) -> None:
        one, other = self.representative(one), self.representative(other)
        if one != other:
            self._equal[other] = one

    def _source(self, value: Value, axis: int) -> int | Value | Place:
        """The size of an axis: a number, a size, or the axis of an array that no op carries it over to."""
        for _ in range(DEEPEST):
            if not mlir.ir.RankedTensorType(value.type).is_dynamic_dim(axis):
                return int(mlir.ir.RankedTensorType(value.type).shape[axis])
            application = None
            if not isinstance(value.owner, mlir.ir.Block):
                application = self._reader.read(value.owner.operation)
            if application is None or application.op.refers_to_functions:
                break
            found = self._carried(application, axis)
            if found is None:
                break
            if isinstance(found, tuple):
                value, axis = application.operands[found[0]], found[1]
                continue
            asked = None if isinstance(found, int) else self._asked(found)
            if asked is None:
                return found
            value, axis = asked
        return value, axis

    def _asked(self, size: Value) -> Place | None:
        """The axis of which a size was asked for."""
        if isinstance(size.owner, mlir.ir.Block):
            return None
        application = self._reader.read(size.owner.operation)
        if application is None or application.op is not Dim:
            return None
        return application.operands[0], application.attributes["axis"]

    def _carried(self, application: Application, axis: int) -> int | Value | tuple[int, int] | None:
        """The size of an axis of a result: a number, a size, an operand's axis, or None for a new one."""
        stated = application.op.attributes.get("shape")
        if stated is not None and stated.kind == "sizes":
            return application.attributes["shape"][axis]
        if application.op is Pad and not any(
            application.attributes[n][axis] for n in ("low", "high", "interior")
        ):
            return 0, axis
        types = [self._reader.codec.read_type(v.type) for v in application.operands]
        shapes: list[Sequence[object]] = [
            tuple((k, a) if n is None else n for a, n in enumerate(t.shape))
            if isinstance(t, TensorType)
            else ()
            for k, t in enumerate(types)
        ]
        extents = carried_extents(application.op, types, shapes, application.attributes)
        extent = extents[0][axis] if extents else None
        return None if isinstance(extent, NamedSize) else extent


def dynamic_axes(value: Value) -> list[int]:
    """The axes of an array whose sizes show at the call; none of what is no array."""
    if not isinstance(value.type, mlir.ir.RankedTensorType):
        return []
    type_ = mlir.ir.RankedTensorType(value.type)
    return [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]


def is_number(value: Value) -> bool:
    """Whether a value is a size, no array."""
    return isinstance(value.type, mlir.ir.IndexType)

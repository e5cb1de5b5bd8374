"""The sizes of what a loop is given and returns, as the host has them before the loop.

Input: an `adze.scan` or `adze.while`. Output: `index` values, computed before the loop where an axis of an
operand or a result has a size that shows at the call.
"""

from __future__ import annotations

from .....dialects import mlir
from .....dialects.builder.emitter import Emitter, Reader
from .....dialects.ops.control.scan import Scan
from .....dialects.ops.control.while_loop import While
from ....ir.aliases import Operation, Value
from .errors import KernelError


class SizesBefore:
    """The sizes of one loop, each computed once."""

    def __init__(self, loop: Operation, reader: Reader) -> None:
        application = reader.read(loop)
        assert application is not None
        self._loop = loop
        self._op, self._attributes = application.op, application.attributes
        self._emitter = Emitter(reader.codec, mlir.ir.InsertionPoint(loop), loop.location)
        self._known: dict[tuple[Value, int], Value] = {}

    def size(self, value: Value, axis: int) -> Value:
        """The size of an axis of an operand."""
        if (value, axis) not in self._known:
            self._known[value, axis] = self._emitter.dim(value, axis=axis)
        return self._known[value, axis]

    def of_result(self, number: int) -> tuple[Value, ...]:
        """The sizes of a result's axes that show at the call."""
        axes = dynamic_axes(self._loop.results[number])
        if not axes:
            return ()
        initial = self._initial(number)
        if initial is not None:
            return tuple(self.size(initial, axis) for axis in axes)
        if axes != [0]:
            raise KernelError("it stacks arrays of a size that shows at the call")
        (length,) = self._attributes["length"]
        return (self._emitter.size_constant(value=length) if isinstance(length, int) else length,)

    def _initial(self, number: int) -> Value | None:
        """The operand that a result begins with; None for what a scan stacks."""
        attributes = self._attributes
        if self._op is While:
            return self._loop.operands[
                attributes["condition_constants"] + attributes["body_constants"] + number
            ]
        if self._op is Scan and number < attributes["carry_count"]:
            return self._loop.operands[attributes["constant_count"] + number]
        return None


def dynamic_axes(value: Value) -> list[int]:
    """The axes of an array whose sizes show at the call; none of what is no array."""
    if not isinstance(value.type, mlir.ir.RankedTensorType):
        return []
    type_ = mlir.ir.RankedTensorType(value.type)
    return [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]


def is_number(value: Value) -> bool:
    """Whether a value is a size, no array."""
    return isinstance(value.type, mlir.ir.IndexType)

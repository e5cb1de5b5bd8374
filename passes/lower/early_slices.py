"""Slices are taken before the elementwise ops that compute what they are taken of.

Input: adze IR. Output: the same, where an elementwise result of which only parts are used, such as the
coordinates of points side by side, is computed part by part. Idea: from the end of a function to its start,
each value has the parts that slices and elementwise ops ask of it. One whose parts are no more elements than
it has is computed in these parts, from the same parts of the operands. So `max(0, a - b)[..., 0]` reads
columns once, where an inner axis of two elements would be computed, written and read again.
What a product or a sum is made of is left whole: it is computed with that.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, TypeAlias

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.ops.constants import Constant, Iota
from ...dialects.ops.indexing.gather import Gather
from ...dialects.ops.shape.rearrange import Movement
from ...dialects.ops.shape.slicing import Slice
from ..base import Pass, names_of
from ..ir.aliases import Operation, Value
from ..ir.functions import functions, split_body
from ..optimize.simplify import simplify_function

Part: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""The start, the limit and the strides of a slice."""

MOST_PARTS: Final = 8
"""Of a result: each of them has all the ops before."""

MOVED: Final = (Constant, Iota, Movement, Gather)
"""Ops that compute nothing: what slices of their results cost is the elements that these have."""


@dataclass(frozen=True)
class EarlySlices(Pass):
    """Compute elementwise results of which only parts are used part by part, from slices of the operands."""

    name = "early-slices"
    needs = names_of(Slice)

    def run(self, module: mlir.ir.Module) -> bool:
        reader = Reader(Codec(module.context))
        changed = [
            symbol
            for symbol, function in functions(module).items()
            if _Function(function.operation, reader).run()
        ]
        for symbol in changed:
            simplify_function(module, symbol, reader)
        return bool(changed)


class _Function:
    """One function: its ops, and which parts of their results are asked for."""

    def __init__(self, function: Operation, reader: Reader) -> None:
        self._reader = reader
        operations, returned = split_body(function)
        self._operations = [child.operation for child in operations]
        self._asked: dict[Value, set[Part] | None] = dict.fromkeys(returned.operands)
        self._parts: dict[tuple[Value, Part], Value] = {}

    def run(self) -> bool:
        """Rewrite the function; whether anything was to be done."""
        if not any(self._reader.declaration(o.name) is Slice for o in self._operations):
            return False
        for operation in reversed(self._operations):
            self._ask(operation)
        for operation in self._operations:
            self._divide(operation)
        return bool(self._parts)

    def _ask(self, operation: Operation) -> None:
        """Add to what is asked of an op's operands; None: all of it."""
        op = self._reader.declaration(operation.name)
        parts: set[Part] | None = None
        if op is Slice:
            part = self._part(operation)
            parts = None if part is None else {part}
        elif op is not None and op.is_elementwise and len(operation.results) == 1:
            parts = self._asked.get(operation.results[0], set())
        type_ = operation.results[0].type if op is not Slice and len(operation.results) == 1 else None
        for operand in operation.operands:
            is_like_result = op is Slice or _shape(operand.type) == _shape(type_)
            before = self._asked.get(operand, set())
            asks = parts if is_like_result else None
            self._asked[operand] = None if asks is None or before is None else before | asks

    def _part(self, operation: Operation) -> Part | None:
        """What a slice takes, where that is known."""
        application = self._reader.read(operation)
        assert application is not None
        part = tuple(tuple(application.attributes[name]) for name in ("start", "limit", "strides"))
        known = _shape(operation.operands[0].type) is not None
        return part if known and all(isinstance(n, int) for each in part for n in each) else None  # type: ignore[return-value]

    def _divide(self, operation: Operation) -> None:
        """Compute an elementwise result part by part, or replace a slice of such a one."""
        op = self._reader.declaration(operation.name)
        if op is Slice:
            part = self._part(operation)
            value = None if part is None else self._parts.get((operation.operands[0], part))
            if value is not None:
                operation.results[0].replace_all_uses_with(value)
            return
        if op is None or not op.is_elementwise or len(operation.results) != 1:
            return
        asked = self._asked.get(operation.results[0])
        shape = _shape(operation.results[0].type)
        if not asked or shape is None or len(asked) > MOST_PARTS or sum(map(_count, asked)) > prod(shape):
            return
        if not all(self._is_divided(operand) for operand in operation.operands):
            return
        application = self._reader.read(operation)
        assert application is not None
        emitter = Emitter(self._reader.codec, mlir.ir.InsertionPoint(operation), operation.location)
        for part in sorted(asked):
            self._parts[operation.results[0], part] = self._of_part(emitter, application, shape, part)

    def _is_divided(self, operand: Value) -> bool:
        """Whether a slice of an operand costs no more than its elements."""
        if isinstance(operand.owner, mlir.ir.Block):
            return True
        asked = self._asked.get(operand)
        if asked and (operand, next(iter(asked))) in self._parts:
            return True
        op = self._reader.declaration(operand.owner.operation.name)
        return op is not None and issubclass(op, MOVED)

    def _of_part(self, emitter: Emitter, application: Application, shape: Sequence[int], part: Part) -> Value:
        operands = [
            self._sliced(emitter, operand, part) if _shape(operand.type) == tuple(shape) else operand
            for operand in application.operands
        ]
        (result,) = emitter.apply(application.op, operands, application.attributes)
        return result

    def _sliced(self, emitter: Emitter, operand: Value, part: Part) -> Any:
        known = self._parts.get((operand, part))
        start, limit, strides = part
        return known or emitter.slice(operand, start=start, limit=limit, strides=strides)


def _shape(type_: Any) -> tuple[int, ...] | None:
    """The sizes of an array, all of which are known; None of others."""
    if not isinstance(type_, mlir.ir.RankedTensorType) or not type_.has_static_shape:
        return None
    return tuple(type_.shape)


def _count(part: Part) -> int:
    """How many elements a slice has."""
    return prod(len(range(first, stop, step)) for first, stop, step in zip(*part, strict=True))

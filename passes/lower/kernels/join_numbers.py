"""Functions of single numbers that take long are computed of several numbers at once, as of an array.

Input: adze IR with a plan and decided loops. Output: the same, where at least `FEWEST` equal ops on numbers,
such as the sines of a robot's joints, of which none follows from another one, are one op on an array of as
many numbers as vectors have; others fill it up. Idea: of a sine each number has two hundred operations in a
kernel, which LLVM takes longer for than for all else; an array has them once. An op has the level of the most
such ops on a way to it: those of one level do not follow from each other.
Kernels gather and take apart numbers in a few instructions, the host does not: only functions that become
kernels are rewritten.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ....dialects import mlir
from ....dialects.builder.core import Application
from ....dialects.builder.emitter import Emitter, Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.op import Op
from ....dialects.types import FLOATS, TensorType
from ....runtime.targets import TargetKind
from ...analysis.effects import Effects
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.functions import functions, is_private, referenced, split_body
from ..plan import target_of
from .loops.select import ELEMENTS, KERNEL, marked, why_no_kernels

FEWEST: Final = 4  # numbers that are worth an array
DEAR: Final = 64  # multiplications that an op costs at least
MOST_OPS: Final = 20_000  # of a function: others are left as they are


@dataclass(frozen=True)
class JoinNumbers(Pass):
    """Compute what takes long of several numbers of its own as of an array; `kernels=off` changes nothing."""

    name = "join-numbers"
    kernels: str = "on"

    def __post_init__(self) -> None:
        if self.kernels not in ("on", "off"):
            raise ValueError(f"join-numbers: kernels is {self.kernels!r}: expected on or off")

    def run(self, module: mlir.ir.Module) -> bool:
        target = target_of(module)
        if target.kind is not TargetKind.CPU or why_no_kernels(module, self.kernels == "on") is not None:
            return False
        reader = Reader(Codec(module.context))
        joins = [
            _Function(module, function, reader, target.vector_bits).join()
            for function in _of_kernels(module, reader)
        ]
        return any(joins)


def _of_kernels(module: mlir.ir.Module, reader: Reader) -> list[Operation]:
    """The functions that become kernels, as far as that is known: those that the host runs, whose small ops
    do, and those that only loops refer to which are kernels, each with all that they refer to."""
    by_symbol = functions(module)
    host = [symbol for symbol, function in by_symbol.items() if not is_private(function)]
    of_host, of_kernels = set(host), set[str]()
    public = list(host)
    while host:
        for operation, application in _references(by_symbol[host.pop()], reader):
            text = marked(operation) or ""
            if text.startswith(KERNEL) and not text.startswith(ELEMENTS):
                of_kernels.update(referenced(application))
                continue
            host += set(referenced(application)) - of_host
            of_host.update(referenced(application))
    pending = list(of_kernels)
    while pending:
        for _, application in _references(by_symbol[pending.pop()], reader):
            pending += set(referenced(application)) - of_kernels
            of_kernels.update(referenced(application))
    return [by_symbol[symbol] for symbol in (*public, *sorted(of_kernels - of_host))]


def _references(function: Operation, reader: Reader) -> Iterator[tuple[Operation, Application]]:
    """The ops of a function that refer to functions."""
    for child in split_body(function)[0]:
        op = reader.declaration(child.operation.name)
        if op is not None and op.refers_to_functions:
            application = reader.read(child.operation)
            assert application is not None
            yield child.operation, application


class _Function:
    """One function: its ops, and which of them are to be one."""

    def __init__(self, module: mlir.ir.Module, function: Operation, reader: Reader, vector_bits: int) -> None:
        self._reader = reader
        self._effects = Effects(module, reader)
        self._vector_bits = vector_bits
        operations, self._end = split_body(function)
        self._operations: list[Operation] = [child.operation for child in operations]

    def join(self) -> bool:
        """Rewrite the function; whether anything was to be done."""
        if not FEWEST <= len(self._operations) <= MOST_OPS:
            return False
        groups = [group for group in self._groups() if len(group) >= FEWEST]
        if not groups:
            return False
        self._order(groups)
        for group in groups:
            self._replace(group)
        return True

    def _groups(self) -> list[list[Operation]]:
        """Ops on numbers that take long, those that are equal and on one level together."""
        levels: dict[Value, int] = {}
        behind = 0  # the level that ops with effects have reached: their order is kept
        groups: defaultdict[Any, list[Operation]] = defaultdict(list)
        for operation in self._operations:
            level = max((levels.get(value, 0) for value in operation.operands), default=0)
            op = self._reader.declaration(operation.name)
            if op is not None and _is_dear(op) and self._is_of_numbers(operation):
                level += 1
                attributes = tuple(sorted((each.name, str(each.attr)) for each in operation.attributes))
                groups[level, op, str(operation.results[0].type), attributes].append(operation)
            elif self._is_ordered(operation, op):
                level = behind = max(level, behind)
            levels.update(dict.fromkeys(operation.results, level))
        return list(groups.values())

    def _is_of_numbers(self, operation: Operation) -> bool:
        """Whether an op takes and makes numbers of one float dtype."""
        types = {value.type for value in (*operation.operands, operation.results[0])}
        kind = self._reader.codec.read_type(types.pop())
        return not types and isinstance(kind, TensorType) and not kind.shape and kind.dtype in FLOATS

    def _is_ordered(self, operation: Operation, op: type[Op] | None) -> bool:
        """Whether an op has an effect, or may have one."""
        if op is not None and not (op.has_effect or op.refers_to_functions):
            return False
        application = self._reader.read(operation)
        return application is None or self._effects.of(application)

    def _order(self, groups: Sequence[list[Operation]]) -> None:
        """Move the ops of each group together, to its first one, behind all that they follow from."""
        together = {operation: group for group in groups for operation in group}
        before = self._before()
        done: set[Operation] = set()
        ordered: list[Operation] = []
        pending = self._operations[::-1]
        while pending:
            operation = pending[-1]
            if operation in done:
                pending.pop()
                continue
            group = together.get(operation, [operation])
            missing = [each for member in group for each in before[member] if each not in done]
            if missing:
                pending += missing[::-1]
                continue
            done.update(group)
            ordered += group
        for operation in ordered:
            operation.move_before(self._end.operation)

    def _before(self) -> dict[Operation, list[Operation]]:
        """The ops that each one has to stay behind."""
        makers = {result: operation for operation in self._operations for result in operation.results}
        before: dict[Operation, list[Operation]] = {}
        last: list[Operation] = []
        for operation in self._operations:
            before[operation] = [makers[value] for value in operation.operands if value in makers]
            if self._is_ordered(operation, self._reader.declaration(operation.name)):
                before[operation] += last
                last = [operation]
        return before

    def _replace(self, group: Sequence[Operation]) -> None:
        """Compute the numbers of a group, which stand together, as an array."""
        last = group[-1]
        emitter = Emitter(self._reader.codec, mlir.ir.InsertionPoint(last), last.location)
        applications = [self._reader.read(operation) for operation in group]
        columns = zip(*(each.operands for each in applications if each is not None), strict=True)
        size = self._size(group)
        arrays = [_array(emitter, column, size) for column in columns]
        first = applications[0]
        assert first is not None
        (result,) = emitter.apply(first.op, arrays, first.attributes)
        for place, operation in enumerate(group):
            part = emitter.slice(result, start=(place,), limit=(place + 1,), strides=(1,))
            operation.results[0].replace_all_uses_with(emitter.reshape(part, shape=()))
        for operation in group:
            operation.erase()

    def _size(self, group: Sequence[Operation]) -> int:
        """How many numbers an array has: those of whole vectors, so that LLVM leaves none over."""
        kind = self._reader.codec.read_type(group[0].results[0].type)
        assert isinstance(kind, TensorType)
        lanes = max(self._vector_bits // (8 * max(kind.dtype.itemsize, 4)), 1)  # halves are widened
        whole = 1 << (len(group) - 1).bit_length()
        return whole if whole <= lanes else -(-len(group) // lanes) * lanes


def _is_dear(op: type[Op]) -> bool:
    """Whether an op computes a number by a function that takes long."""
    return op.is_elementwise and op.element_cost >= DEAR


def _array(emitter: Emitter, numbers: Sequence[Value], size: int) -> Value:
    """An array of numbers, with the last one again until it has `size`."""
    if len(set(numbers)) == 1:
        return emitter.broadcast_in_dim(numbers[0], shape=(size,), dimensions=())
    rows = [emitter.reshape(number, shape=(1,)) for number in numbers]
    return emitter.concatenate(*rows, *rows[-1:] * (size - len(rows)), axis=0)

"""Sums over the ranks as late as their results allow, for the pass `combine-collectives`.

Input: the body of a function. Output: the same, in place. Two ideas: arrays that are summed over the same
ranks and then added are added first, and sent once; and what nothing that is sent follows from stands at the
end, so that a small sum that only results need, a loss, waits for others.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import Any, NamedTuple

from ...dialects import mlir
from ...dialects.builder.core import Application
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.ops.collectives.mesh_axes import AllReduce, MeshCollective
from ...dialects.ops.shape.rearrange import Reshape, Transpose
from ..analysis.effects import Effects
from ..ir.aliases import Operation, Value


class _Sum(NamedTuple):
    """A summand that is a sum over ranks, rearranged: its `all_reduce` and the moves behind it, in order."""

    key: Hashable
    reduction: Operation
    moves: list[Operation]


@dataclass
class LateSums:
    """Adds before it reduces."""

    codec: Codec
    reader: Reader
    is_changed: bool = False

    def visit(self, operation: Operation) -> None:
        """The next op; the last add of a chain takes the sums among all its summands together."""
        if not _is_add(operation) or _has_outer_add(operation):
            return
        summands, adds = _summands(operation)
        sums = [self._sum(v) for v in summands]
        groups: dict[Hashable, list[int]] = {}
        for number, each in enumerate(sums):
            if each is not None:
                groups.setdefault(each.key, []).append(number)
        together = [numbers for numbers in groups.values() if len(numbers) > 1]
        if not together:
            return
        self.is_changed = True
        b = Emitter(self.codec, mlir.ir.InsertionPoint(operation), operation.location)
        old: list[Operation] = []
        values: list[Value | None] = list(summands)
        for numbers in together:
            group = [each for number in numbers if (each := sums[number]) is not None]
            values[numbers[0]] = self._reduced(b, group)
            for number in numbers[1:]:
                values[number] = None
            old += [each for one in group for each in (*reversed(one.moves), one.reduction)]
        total: Value | None = None
        for value in values:
            if value is not None:
                total = value if total is None else b.add(total, value)
        operation.results[0].replace_all_uses_with(total)
        for each in (*adds, *old):
            each.erase()

    def _sum(self, value: Value) -> _Sum | None:
        moves: list[Operation] = []
        while (owner := _owner(value)) is not None and _has_one_use(value):
            application = self.reader.read(owner)
            if application is None or application.op not in (AllReduce, Reshape, Transpose):
                return None
            if application.op is AllReduce:
                attributes = application.attributes
                if attributes["kind"] != "sum":
                    return None
                return _Sum((attributes["mesh"], attributes["axis"]), owner, moves[::-1])
            if len(owner.operands) > 1:  # sizes that are known when the program runs
                return None
            moves.append(owner)
            value = owner.operands[0]
        return None

    def _reduced(self, b: Emitter, group: list[_Sum]) -> Value:
        """One sum over the ranks of what the group adds."""
        total: Value | None = None
        for each in group:
            value = each.reduction.operands[0]
            for move in each.moves:
                application = self._read(move)
                (value,) = b.apply(application.op, (value,), application.attributes)
            total = value if total is None else b.add(total, value)
        first = group[0].reduction
        b.location = mlir.ir.Location.fused([one.reduction.location for one in group], context=first.context)
        (result,) = b.apply(AllReduce, (total, first.operands[1]), self._read(first).attributes)
        return result

    def _read(self, operation: Operation) -> Application:
        application = self.reader.read(operation)
        assert application is not None
        return application


def sink(block: Any, reader: Reader, effects: Effects, sums: Collection[Operation]) -> None:
    """Move to the end of a body what follows from `sums` and nothing that is sent follows from."""
    *operations, terminator = [each.operation for each in block.operations]
    following: set[Any] = set(sums)
    for each in operations:
        if any(_owner(v) in following for v in each.operands):
            following.add(each)
    last = {terminator}
    for each in reversed(operations):
        application = reader.read(each)
        if application is None or application.op.refers_to_functions or effects.of(application):
            continue
        is_sent = issubclass(application.op, MeshCollective)
        if each in following and not is_sent and all(use.owner.operation in last for use in _uses(each)):
            last.add(each)
    for each in operations:
        if each in last:
            each.move_before(terminator)


def _is_add(operation: Operation) -> bool:
    return bool(operation.name == "adze.add")


def _has_outer_add(operation: Operation) -> bool:
    uses = _uses(operation)
    return len(uses) == 1 and _is_add(uses[0].owner.operation)


def _summands(operation: Operation) -> tuple[list[Value], list[Operation]]:
    """What a chain of adds adds, from left to right; and the adds, outer ones before inner ones."""
    adds, found = [operation], list[Value]()
    pending: list[Value] = list(operation.operands)[::-1]
    while pending:
        value = pending.pop()
        owner = _owner(value)
        if owner is not None and _is_add(owner) and _has_one_use(value):
            adds.append(owner)
            pending += list(owner.operands)[::-1]
        else:
            found.append(value)
    return found, adds


def _owner(value: Value) -> Operation | None:
    owner = value.owner
    return None if isinstance(owner, mlir.ir.Block) else owner.operation


def _has_one_use(value: Value) -> bool:
    return len(list(value.uses)) == 1


def _uses(operation: Operation) -> list[Any]:
    return [use for result in operation.results for use in result.uses]

"""Many ops on small arrays as one kernel: the start of a dispatch costs more than what it computes.

Input: adze IR with a plan and decided loops. Output: the same, where ops of static, small arrays that depend
on each other, or lie side by side, are a call of a function of their own, marked `adze.loop = "kernel: why"`;
`loop-kernels` makes one dispatch of it. Idea: an op has the level of the longest way to it, counted in
changes between ops that may go into such a kernel and ops that may not; ops of one level may be run together.
They are where the estimate of `cost.py` is that one kernel takes less time than theirs apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field, replace
from functools import cmp_to_key
from typing import Final

from ....dialects import mlir
from ....dialects.builder.emitter import Emitter, Reader
from ....dialects.codec import Codec
from ....dialects.dataclass import dataclass
from ....dialects.op import Op
from ....dialects.ops.constants import Constant, Iota
from ....dialects.ops.contraction.convolution import ConvGeneral
from ....dialects.ops.contraction.dot_general import DotGeneral
from ....dialects.ops.indexing.gather import Gather
from ....dialects.ops.shape.rearrange import Concatenate
from ....dialects.ops.shape.slicing import Pad
from ....dialects.types import FLOAT32, FLOAT64, TensorType
from ....runtime.targets import TargetKind
from ...analysis.effects import Effects
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.construction import NewFunction, call_function, clone_operation
from ...ir.functions import functions, is_private, split_body
from ..plan import target_of
from .called_functions import FEWEST as FEWEST_CALLS
from .loops.allocations import MOST_ARGUMENTS
from .loops.cost import ELEMENT, StepCosts
from .loops.select import KERNEL, Obstacles, mark, time_text, why_no_kernels
from .loops.times import elements
from .row_moves import Chains, before_reshapes

NAME: Final = "small"
LARGEST: Final = 1 << 14  # elements of an array: larger ones are worth the host's tiles and threads
MOST_OPS: Final = 800  # of one kernel: the time to compile one grows faster than its ops
FEWEST_OPS: Final = 4
FEWEST_ELEMENTS: Final = 16  # of an array that is computed in vectors
LAUNCH: Final = 1000.0  # nanoseconds
GAIN: Final = 0.7  # of the time apart, which the estimate knows roughly


@dataclass(frozen=True)
class GroupSmallOps(Pass):
    """Make calls of many ops on small arrays, which become one kernel each; `kernels=off` makes none."""

    name = "group-small-ops"
    kernels: str = "on"

    def __post_init__(self) -> None:
        if self.kernels not in ("on", "off"):
            raise ValueError(f"group-small-ops: kernels is {self.kernels!r}: expected on or off")

    def run(self, module: mlir.ir.Module) -> bool:
        is_of_cpu = target_of(module).kind is TargetKind.CPU
        if not is_of_cpu or why_no_kernels(module, self.kernels == "on") is not None:
            return False
        grouping = _Grouping(module)
        for symbol, function in functions(module).items():
            if not is_private(function):
                grouping.of_function(symbol)
        return grouping.has_groups


@dataclass
class _Group:
    """Ops that become one kernel, in their order; what they take from other ops, and what others take."""

    operations: list[Operation] = field(default_factory=list)
    operands: dict[Value, None] = field(default_factory=dict)
    results: dict[Value, None] = field(default_factory=dict)
    is_needed: bool = False
    """Whether IREE would make a kernel of too many arrays of it."""

    def is_possible_with(self, other: _Group) -> bool:
        """Whether one kernel may have the ops of both."""
        arrays = [*self.operands, *other.operands, *self.results, *other.results]
        return len(arrays) <= MOST_ARGUMENTS

    def add(self, other: _Group) -> None:
        """Take the ops of a group that lies beside this one."""
        self.operations += other.operations
        self.operands.update(other.operands)
        self.results.update(other.results)


class _Grouping:
    """The groups of one module."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.module = module
        self.has_groups = False
        self._reader = Reader(Codec(module.context))
        self._functions = functions(module)
        self._obstacles = Obstacles(self._functions, self._reader)
        self._costs = StepCosts(self._functions, self._reader)
        self._effects = Effects(module, self._reader)
        self._small: dict[Hashable, bool] = {}  # by the class of an op, and the types of its values

    def of_function(self, symbol: str) -> None:
        """Make calls of the groups of one function that are worth it."""
        for operations in self._levels(symbol):
            for start in range(0, len(operations), MOST_OPS):
                self._group(operations[start : start + MOST_OPS])

    def _group(self, operations: Sequence[Operation]) -> None:
        """Make calls of ops of one level that are worth it."""
        for group in _groups(operations):
            # Those that it takes results of may be calls by now.
            group = replace(_group(group.operations), is_needed=group.is_needed)
            if not group.is_needed and (len(group.operations) < FEWEST_OPS or self._is_copied(group)):
                continue
            if self._calls_functions(group):
                continue
            apart, together = self._times(group)
            if together < GAIN * apart or group.is_needed:
                times = f"{time_text(together)} in one kernel, {time_text(apart)} apart"
                self._call(group, f"{len(group.operations)} ops on small arrays take about {times}")

    def _is_copied(self, group: _Group) -> bool:
        """Whether `row-moves` makes one copy of a group."""
        if len(group.results) != 1 or len(group.operands) != 1:
            return False
        value = before_reshapes(next(iter(group.results)))
        chains = Chains(self._reader.codec, self._reader)
        if isinstance(value.owner, mlir.ir.Block) or chains.rows(value.owner.operation) is None:
            return False
        return chains.source(value) in group.operands

    def _calls_functions(self, group: _Group) -> bool:
        """Whether `call-functions` makes one kernel of a group: it computes one array, whose elements take
        many functions."""
        if len(group.results) != 1:
            return False
        result, dear = self._tensor(next(iter(group.results))), 0
        if result.dtype not in (FLOAT32, FLOAT64) or elements(result) < FEWEST_ELEMENTS:
            return False
        for operation in group.operations:
            op = self._reader.declaration(operation.name)
            if op is None or not (op.is_elementwise or op.is_broadcast):
                return False
            if op.is_elementwise and op.element_cost > 1:
                types = [self._tensor(value) for value in (*operation.operands, *operation.results)]
                if any(type_ != result for type_ in types):
                    return False
                dear += 1
        return dear >= FEWEST_CALLS

    def _call(self, group: _Group, why: str) -> None:
        """Replace the ops of a group by a call of a function of their own."""
        last, codec = group.operations[-1], self._reader.codec
        move_users_behind(group.operations, self._is_ordered)
        constants = dict.fromkeys(o for v in group.operands for o in self._repeated(v))
        operands = [v for v in group.operands if not self._repeated(v)]
        types = [codec.read_type(v.type) for v in operands]
        function = NewFunction(self.module, codec, NAME, types, last.location)
        values = dict(zip(operands, function.arguments, strict=True))
        for operation in (*constants, *group.operations):
            clone_operation(operation, values, function.emitter.point)
        symbol = function.finish([values[v] for v in group.results])
        emitter = Emitter(codec, mlir.ir.InsertionPoint(last), last.location)
        called = call_function(emitter, self.module, symbol, operands)
        mark(called[0].owner, KERNEL + why)
        for old, new in zip(group.results, called, strict=True):
            old.replace_all_uses_with(new)
        for operation in reversed(group.operations):
            operation.erase()
        self.has_groups = True

    def _repeated(self, value: Value) -> list[Operation]:
        """The ops that make a value which is as cheap in a kernel as outside of it: a constant, one number
        for all elements, a count. No ops for other values."""
        owner = value.owner
        if isinstance(owner, mlir.ir.Block):
            return []
        application = self._reader.read(owner.operation)
        if application is None:
            return []
        if application.op in (Constant, Iota):
            return [owner.operation]
        if not application.op.is_broadcast or not self._repeated(application.operands[0]):
            return []
        return [*self._repeated(application.operands[0]), owner.operation]

    def _is_repeated(self, operation: Operation, op: type[Op]) -> bool:
        """Whether an op makes a value that is as cheap in a kernel as outside of it."""
        makes_numbers = op in (Constant, Iota) or op.is_broadcast
        return makes_numbers and len(operation.results) == 1 and bool(self._repeated(operation.results[0]))

    def _is_ordered(self, operation: Operation) -> bool:
        """Whether an op has an effect, or may have one."""
        op = self._reader.declaration(operation.name)
        if op is not None and not (op.has_effect or op.refers_to_functions):
            return False
        application = self._reader.read(operation)
        return application is None or self._effects.of(application)

    def _levels(self, symbol: str) -> Iterator[list[Operation]]:
        """The ops of a function that may go into kernels, those of each level for themselves."""
        levels: dict[Value, int] = {}
        behind_products: set[Value] = set()
        behind = 0  # the level that ops with effects have reached: their order is kept
        small: dict[Operation, int] = {}
        operations, _ = split_body(self._functions[symbol])
        for child in operations:
            operation = child.operation
            op = self._reader.declaration(operation.name)
            if op is not None and self._is_repeated(operation, op):
                continue
            operands = list(operation.operands)
            level = max((levels.get(value, 0) for value in operands), default=0)
            if op is not None and self._is_behind(op, operands, behind_products):
                behind_products.update(operation.results)
                level += 1 - level % 2
            elif op is not None and self._is_small(operation, op, operands):
                level += level % 2
                small[operation] = level
            else:
                level += 1 - level % 2
                if op in (ConvGeneral, DotGeneral):
                    behind_products.update(operation.results)
                if self._is_ordered(operation):
                    level = behind = max(level, behind)
            levels.update(dict.fromkeys(operation.results, level))
        self._delay_broadcasts(small)
        by_level: dict[int, list[Operation]] = {}
        for operation, level in small.items():
            by_level.setdefault(level, []).append(operation)
        yield from (by_level[level] for level in sorted(by_level))

    def _delay_broadcasts(self, small: dict[Operation, int]) -> None:
        """Let broadcasts go where the first op that takes them goes, if that is behind: the kernel before
        would store all their elements. `small` has the levels of the ops that may go into kernels. What is
        elementwise and has no level repeats the elements itself, so a broadcast for it has none either."""
        for operation in reversed(list(small)):
            op = self._reader.declaration(operation.name)
            if op is None or not op.is_broadcast:
                continue
            users = [use.owner.operation for use in operation.results[0].uses]
            levels = [small[user] for user in users if user in small]
            others = [self._reader.declaration(user.name) for user in users if user not in small]
            if small[operation] in levels or not all(other and other.is_elementwise for other in others):
                continue
            if others:
                del small[operation]
            elif levels:
                small[operation] = min(levels)

    @staticmethod
    def _is_behind(op: type[Op], operands: Sequence[Value], products: set[Value]) -> bool:
        """Whether an op is elementwise on what only it takes of a large product: it is done with that."""
        return op.is_elementwise and any(
            value in products and len(list(value.uses)) == 1 for value in operands
        )

    def _is_small(self, operation: Operation, op: type[Op], operands: Sequence[Value]) -> bool:
        """Whether an op may go into a kernel."""
        if op.refers_to_functions:
            return False
        taken, made = (tuple([v.type for v in vs]) for vs in (operands, operation.results))
        key = (op, taken, made)
        known = self._small.get(key)
        if known is None:
            read = self._reader.codec.read_type
            passed = taken[1:] if op is Gather else taken  # of a table, only what is taken counts
            types = [read(type_) for type_ in (*passed, *made)]
            application = self._reader.read(operation)
            assert application is not None
            known = self._obstacles.of(operation, application) is None and all(
                isinstance(t, TensorType) and elements(t) <= LARGEST for t in types
            )
            self._small[key] = known
        return known

    def _times(self, group: _Group) -> tuple[float, float]:
        """Nanoseconds that a group takes as ops of their own, and as one kernel."""
        apart, together = LAUNCH * len(group.results), LAUNCH
        for operation in group.operations:
            application = self._reader.read(operation)
            assert application is not None
            time = self._costs.operation(application, operation)
            apart, together = apart + time.host, together + time.kernel
            if application.op in (Pad, Concatenate):
                apart += LAUNCH * len(operation.operands)
                together += ELEMENT[1] * sum(elements(self._tensor(v)) for v in operation.results)
        return apart, together

    def _tensor(self, value: Value) -> TensorType:
        type_ = self._reader.codec.read_type(value.type)
        assert isinstance(type_, TensorType)
        return type_


def _groups(operations: Sequence[Operation]) -> list[_Group]:
    """Ops of one level as groups: connected parts, and such side by side as far as a dispatch takes them."""
    groups: list[_Group] = []
    for part in _connected(operations):
        group = _group([operations[k] for k in part])
        last = groups[-1] if groups else None
        if last is not None and last.is_possible_with(group):
            last.add(group)
        elif group.is_possible_with(_Group()) or _has_many_numbers(group):
            groups += _divided(group)
    for group in groups:  # Ops of earlier groups may have moved these.
        group.operations.sort(key=cmp_to_key(_compare_places))
    return groups


def _compare_places(one: Operation, other: Operation) -> int:
    """Below 0 where an op comes before another of its block: MLIR keeps their order, and lists no others."""
    return -1 if one.is_before_in_block(other) else int(one != other)


def _has_many_numbers(group: _Group) -> bool:
    """Whether IREE would make a kernel of too many arrays of a group.

    It makes one kernel of all ops on single numbers that it finds in a row, however many these are, and loads
    no program with it. Of ops on arrays it makes several.
    """
    return sum(_is_number(v) for v in (*group.operands, *group.results)) > MOST_ARGUMENTS


def _divided(group: _Group) -> list[_Group]:
    """A connected group as groups of as few arrays as a dispatch takes, one behind the other.

    Those of single numbers alone are needed, whatever they gain.
    """
    if group.is_possible_with(_Group()):
        return [group]
    if len(group.operations) == 1:
        return []
    middle = len(group.operations) // 2
    halves = [_group(group.operations[:middle]), _group(group.operations[middle:])]
    is_of_numbers = all(_is_number(v) for v in (*group.operands, *group.results))
    return [replace(part, is_needed=is_of_numbers) for half in halves for part in _divided(half)]


def _is_number(value: Value) -> bool:
    type_ = mlir.ir.RankedTensorType(value.type)
    return all(size == 1 for size in type_.shape)


def _connected(operations: Sequence[Operation]) -> list[list[int]]:
    """The positions of ops of which none uses a result of another part, part by part."""
    joined = list(range(len(operations)))

    def part(number: int) -> int:
        while joined[number] != number:
            joined[number] = number = joined[joined[number]]
        return number

    maker: dict[Value, int] = {}
    for number, operation in enumerate(operations):
        for value in operation.operands:
            if value in maker:
                joined[part(maker[value])] = part(number)
        maker.update(dict.fromkeys(operation.results, number))
    parts: dict[int, list[int]] = {}
    for number in range(len(operations)):
        parts.setdefault(part(number), []).append(number)
    return list(parts.values())


def _group(operations: list[Operation]) -> _Group:
    inside = set(operations)
    made = {result for operation in operations for result in operation.results}
    operands = dict.fromkeys(v for o in operations for v in o.operands if v not in made)
    results = {
        result: None
        for operation in operations
        for result in operation.results
        if any(use.owner.operation not in inside for use in result.uses)
    }
    return _Group(operations, operands, results)


def move_users_behind(operations: Sequence[Operation], is_ordered: Callable[[Operation], bool]) -> None:
    """Move what uses results of these ops, and is none of them, behind the last of them.

    Ops of `is_ordered`, which have effects, go along from the first that is moved on.
    """
    inside, end = set(operations), operations[-1]
    moved = {result for operation in operations for result in operation.results}
    moves_ordered = False
    for child in _between(operations[0], operations[-1]):
        if child in inside:
            continue
        ordered = is_ordered(child)
        if any(v in moved for v in child.operands) or (ordered and moves_ordered):
            child.move_after(end)
            end = child
            moved.update(child.results)
            moves_ordered = moves_ordered or ordered


def _between(first: Operation, last: Operation) -> list[Operation]:
    operations = [child.operation for child in first.block.operations]
    return operations[operations.index(first) : operations.index(last)]

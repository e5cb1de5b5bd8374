"""The code of several elementwise kernels as one: rows that the next kernel reads are kept, arrays are not.

Input: the kernels in their order as `Stage`s, of which the last one computes the result. Output: code of a
workgroup, which goes along a block of rows of the result.
Idea: in each step every stage computes one row, that which lies as far ahead as the ones behind it read. What
they still read is in a ring of rows. Before the block's first row there are steps in which only the first
stages compute. "Row" is what has one place along the first axis. Long rows are cut, so that a ring lies in
the first cache; what the next stages read beyond a cut is computed twice. Of a stage that is cheap, or read
at few places, no rows are kept: it is computed wherever it is read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import cached_property
from math import prod
from operator import add
from typing import Final, TypeAlias

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Block, Operation, Type, Value
from ..tuning.row_tiles import RowLoops
from ..tuning.stencil_tiles import StencilLoops, StencilShape, are_computed_again
from .builder import Array, Number, Place, index, loop, when
from .element_code import Code, Scope
from .executable import workgroup_id
from .loops.windows import number_of
from .reduced_rows import Row, places_of
from .reduction_programs import BITS, EXTRACT, Constant, Loaded, ReductionProgram, Step
from .reduction_reader import Reader, is_inside
from .tensor_sizes import GENERIC, STORE, OfAnotherKind, access_of, kinds_of, require

SLOW: Final = {"math.sqrt": 16, "arith.divf": 4}
"""Operations that take as long as several simple ones."""

Reach: TypeAlias = "tuple[int, int]"
Offsets: TypeAlias = "tuple[int, ...]"
Offset: TypeAlias = "tuple[Value | None, int]"


def read_stage(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, None where it is not one elementwise op with one result."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return None
    try:
        return _StageReader().program(blocks[0])
    except OfAnotherKind:
        return None


class _StageReader(Reader):
    are_sizes_known = True

    def program(self, block: mlir.ir.Block) -> ReductionProgram:
        """The program of a function's block."""
        self._read_arguments(block)
        operations = [each.operation for each in block.operations]
        generics = [each for each in operations if each.name == GENERIC]
        stores = [each for each in operations if each.name == STORE]
        require(len(generics) == len(stores) == 1)
        (root,), (store,) = generics, stores
        require(len(root.results) == 1 and set(kinds_of(root)) == {"parallel"})
        self._sizes = self._tensors.of_loops(root)
        rank = len(self._sizes)
        require(rank > 1)
        for operation in operations:
            if operation.name not in (GENERIC, STORE):
                self._note(operation)
        *maps, result_map = access_of(root)
        require(result_map == tuple(range(rank)))
        inputs = tuple(self._input(value, loops) for value, loops in zip(root.operands, maps, strict=False))
        require(all(isinstance(source, Loaded | Constant) for source, _ in inputs))
        code = root.regions[0].blocks[0]
        *body, last = [each.operation for each in code.operations]
        require(not any(each.name == EXTRACT for each in body))
        require(not [found for each in body for found in self._checked(each, root)])
        require(not list(code.arguments[len(inputs)].uses))
        require(is_inside(last.operands[0], root) and str(last.operands[0].type) in BITS)
        require(store.operands[0] == root.results[0])
        argument = self._array(store.operands[1])
        require(self._whole(store) == self._sizes)
        self._require_stored([argument])
        own = tuple((loop,) for loop in range(rank))
        step = Step(inputs, root, last.operands[0], True, own, 0)
        return ReductionProgram(self._parameters, self._sizes, (), (step,), ((step, argument),))


@dataclass(frozen=True, eq=False)
class Stage:
    """A dispatch, and the program of its kernel."""

    dispatch: Operation
    program: ReductionProgram

    @cached_property
    def cost(self) -> int:
        """What an element takes, in simple operations."""
        return sum(SLOW.get(each.name, 1) for step in self.program.steps for each in step.operations)

    def reads(self, value: Value) -> Iterator[tuple[Loaded, tuple[int, ...]]]:
        """The parts of an operand that the program reads, and the loops of their axes."""
        operands = list(self.dispatch.operands)
        for source, loops in self.program.steps[0].inputs:
            if isinstance(source, Loaded) and operands[source.argument] == value:
                yield source, loops


class _Ring(Array):
    """Rows of which a few are kept, those of each workgroup apart, from the element `start` of a row on."""

    def __init__(self, memref: Value, group: Number, window: int, start: Number) -> None:
        super().__init__(memref)
        self._group, self._window, self._start = group, window, start

    def _places(self, places: Sequence[Place]) -> tuple[Place, ...]:
        row, *others, last = places
        kept = index(row) % self._window if self._window > 1 else index(0)
        return (self._group, kept, *others, index(last) - self._start)

    def __getitem__(self, places: Place | tuple[Place, ...]) -> Number:
        return super().__getitem__(self._places(places if isinstance(places, tuple) else (places,)))

    def __setitem__(self, places: Place | tuple[Place, ...], number: Number) -> None:
        super().__setitem__(self._places(places if isinstance(places, tuple) else (places,)), number)

    def vector(self, width: int, *places: Place) -> Number:
        """`width` elements of the last axis, from the place on."""
        return super().vector(width, *self._places(places))


class _Computed(Array):
    """What a stage computes, as if it were in memory: each vector is computed where it is first read.

    There is no memref; what a block of code has computed, it has for all that read the same place.
    """

    def __init__(self, stage: Stage, arrays: Sequence[Array], loops: RowLoops) -> None:
        self._program, self._arrays, self._loops = stage.program, arrays, loops
        self._block: Block | None = None
        self._known: dict[tuple[int, tuple[Offset, ...]], Number] = {}

    @property
    def element(self) -> Type:
        """The type of an element."""
        return self._program.steps[0].result.type

    def vector(self, width: int, *places: Place) -> Number:
        """`width` elements of the last axis, from the place on."""
        block = mlir.ir.InsertionPoint.current.block
        if self._block is None or block != self._block:
            self._block, self._known = block, {}
        key = width, tuple(map(_offset_of, places))
        if key not in self._known:
            code = Code(self._program, self._arrays, width, self._loops.has_gathers)
            scope = Scope(code, {loop: index(place) for loop, place in enumerate(places)}, width)
            self._known[key] = code.lifted(scope.of(self._program.steps[0]))
        return self._known[key]


def _offset_of(place: Place) -> Offset:
    """A place as a value, None for none, and a number that is added to it."""
    if isinstance(place, int):
        return None, place
    value, total = place.value, 0
    while not isinstance(value.owner, mlir.ir.Block):
        operation = value.owner.operation
        if operation.name == "arith.constant":
            return None, total + int(operation.attributes["value"].value)
        added = number_of(operation.operands[1]) if operation.name == "arith.addi" else None
        if added is None:
            break
        value, total = operation.operands[0], total + added
    return value, total


@dataclass(frozen=True)
class Stencil:
    """Stages in their order, of which the last one computes the result and the others what it reads.

    `again`: those that are computed wherever they are read; rows of the others are kept.
    """

    stages: Sequence[Stage]
    again: Collection[Stage] = ()

    @cached_property
    def operands(self) -> list[Value]:
        """The arrays that come from elsewhere."""
        inner = [stage.dispatch.results[0] for stage in self.stages]
        found: list[Value] = []
        for stage in self.stages:
            found += [v for v in stage.dispatch.operands if v not in inner and v not in found]
        return found

    @cached_property
    def kept(self) -> list[Stage]:
        """The stages that have loops of their own."""
        return [stage for stage in self.stages if stage not in self.again]

    @cached_property
    def _reads(self) -> Mapping[Stage, Mapping[Stage, Set[Offsets]]]:
        """Where, beside its own place, each of these stages takes others, also for what it computes again."""
        return {stage: self._taken_by(stage) for stage in self.kept}

    def _taken_by(self, reader: Stage) -> Mapping[Stage, Set[Offsets]]:
        found: dict[Stage, Set[Offsets]] = {reader: {(0,) * len(reader.program.sizes)}}
        for stage in reversed(self.stages[: self.stages.index(reader)]):
            found[stage] = {
                tuple(map(add, place, source.offsets))
                for user, source in self._readers(stage)
                if user is reader or user in self.again
                for place in found.get(user, ())
            }
        return {stage: places for stage, places in found.items() if places and stage is not reader}

    @cached_property
    def operations(self) -> Mapping[Stage, int]:
        """How many operations an element of each of these stages takes, with what it computes again."""
        return {stage: sum(s.program.operations for s in self._done(stage)) for stage in self.kept}

    @property
    def cost(self) -> int:
        """What an element of the result takes in all, in simple operations."""
        return sum(each.cost for stage in self.kept for each in self._done(stage))

    def _done(self, stage: Stage) -> Iterator[Stage]:
        """What is computed for an element of a stage: itself, and others as often as it reads them."""
        yield stage
        for other, places in self._reads[stage].items():
            if other in self.again:
                yield from [other] * len(places)

    @cached_property
    def rows(self) -> Mapping[Stage, Reach]:
        """The first and the last row of each stage that a row of the result takes, counted from its own."""
        return self._reach(0)

    @cached_property
    def columns(self) -> Mapping[Stage, Reach]:
        """The same along the last axis."""
        return self._reach(-1)

    def _reach(self, axis: int) -> Mapping[Stage, Reach]:
        found = {self.stages[-1]: (0, 0)}
        for stage in reversed(self.kept[:-1]):
            ends = [
                (found[reader][0] + place[axis], found[reader][1] + place[axis])
                for reader, read in self._reads.items()
                for place in read.get(stage, ())
            ]
            found[stage] = min(low for low, _ in ends), max(high for _, high in ends)
        return found

    def _readers(self, stage: Stage) -> Iterator[tuple[Stage, Loaded]]:
        result = stage.dispatch.results[0]
        for reader in self.stages[self.stages.index(stage) + 1 :]:
            for source, _ in reader.reads(result):
                yield reader, source

    @cached_property
    def windows(self) -> Mapping[Stage, int]:
        """How many rows of a stage are kept."""
        return {
            stage: max(
                self.rows[stage][1] - self.rows[reader][1] - place[0] + 1
                for reader, read in self._reads.items()
                for place in read.get(stage, ())
            )
            for stage in self.kept[:-1]
        }

    @property
    def shape(self) -> StencilShape:
        """What decides about the loops."""
        return StencilShape(
            self.stages[-1].program.static_sizes,
            min(stage.program.static_sizes[-1] for stage in self.stages),
            max(high - low for low, high in self.rows.values()),
            max(high - low for low, high in self.columns.values()),
            sum(
                window * prod(stage.program.static_sizes[1:-1]) * _bits(stage) // 8
                for stage, window in self.windows.items()
            ),
        )

    def workgroups(self, loops: StencilLoops) -> tuple[int, int]:
        """How many workgroups there are, along the last axis and along the first."""
        sizes = self.stages[-1].program.static_sizes
        return -(-sizes[-1] // loops.columns), -(-sizes[0] // loops.block)

    def kept_types(self, loops: StencilLoops) -> list[Type]:
        """The arrays of rows that are kept, an axis for the workgroups in front."""
        groups = prod(self.workgroups(loops))
        types = []
        for stage, window in self.windows.items():
            low, high = self.columns[stage]
            shape = [groups, window, *stage.program.static_sizes[1:-1], loops.columns + high - low]
            types.append(mlir.ir.RankedTensorType.get(shape, stage.program.steps[0].result.type))
        return types

    def emit(self, loops: StencilLoops, given: Sequence[Value], written: Sequence[Value]) -> None:
        """The code of a workgroup."""
        blocks, _ = self.workgroups(loops)
        block = Number(workgroup_id(0))
        start, size = block * loops.columns, self.stages[-1].program.static_sizes[-1]
        whole = size // loops.columns
        if whole == blocks:
            self._block(loops, given, written, start, loops.columns)
            return
        if whole:
            with when(block < whole):
                self._block(loops, given, written, start, loops.columns)
            with when(block >= whole):
                self._block(loops, given, written, start, size - whole * loops.columns)
        else:
            self._block(loops, given, written, start, size)

    def _block(
        self, loops: StencilLoops, given: Sequence[Value], written: Sequence[Value], start: Number, count: int
    ) -> None:
        """A block of `count` columns from `start` on, and the rows of the workgroup."""
        blocks, _ = self.workgroups(loops)
        number = Number(workgroup_id(1))
        group = number * blocks + Number(workgroup_id(0))
        result, *kept = written
        arrays: dict[Value, Array] = {v: Array(m) for v, m in zip(self.operands, given, strict=True)}
        for (stage, window), memref in zip(self.windows.items(), kept, strict=True):
            first = start + self.columns[stage][0]
            arrays[stage.dispatch.results[0]] = _Ring(memref, group, window, first)
        arrays[self.stages[-1].dispatch.results[0]] = Array(result)
        for stage in self.stages:
            if stage in self.again:
                read = [arrays[value] for value in stage.dispatch.operands]
                arrays[stage.dispatch.results[0]] = _Computed(stage, read, loops.rows)
        rows, halo = self.stages[-1].program.static_sizes[0], self.shape.halo
        first = number * loops.block
        last = first + loops.block
        last = last.least(rows) if rows % loops.block else last
        with loop(first, last + halo) as step:
            for stage in self.kept:
                low, high = self.rows[stage]
                left, right = self.columns[stage]
                mine = [*stage.dispatch.operands, stage.dispatch.results[0]]
                code = Code(
                    stage.program, [arrays[value] for value in mine], loops.rows.width, loops.rows.has_gathers
                )
                waits = halo + low - high
                row = step - (halo - high) if high != halo else step
                part = (start + left if left else start, count + right - left)
                if waits:
                    with when(step >= first + waits):
                        _row(code, loops.rows, row, part)
                else:
                    _row(code, loops.rows, row, part)


def cheapest(stages: Sequence[Stage]) -> Stencil:
    """Stages of which those are computed again whose rows cost more to keep."""
    found = kept = Stencil(stages)
    for stage in reversed(stages[:-1]):
        other = Stencil(stages, [*found.again, stage])
        extra = other.cost - kept.cost
        if are_computed_again(len(other.again), extra, prod(kept.shape.sizes) * _bits(stages[-1]) // 8):
            found = other
    return found


def _bits(stage: Stage) -> int:
    """The bits of an element of what a stage computes."""
    return BITS[str(stage.program.steps[0].result.type)]


def _row(code: Code, loops: RowLoops, row: Number, part: tuple[Number, int]) -> None:
    """Some elements of each row of a stage that has one place along the first axis."""
    inner = code.program.static_sizes[1:-1]

    def elements(places: Sequence[Number]) -> None:
        scope = Scope(code, dict(enumerate([row, *places])))
        Row(code, loops, scope, {}, part=part).run()

    if inner:
        with loop(0, prod(inner)) as number:
            elements(places_of(number, inner))
    else:
        elements([])

"""The code of kernels that reduce columns: the rows are scanned as they lie in memory.

Input: a `ReductionProgram` whose last loop is kept, its `ColumnLoops`, and the memrefs of its arguments.
Idea: what a block of columns has so far lies in the first cache, or in registers where the block is narrow,
and some rows are added to it at once, so that every row is loaded in order. What holds for a whole column (a
mean, the square root of a variance) is computed once between the scans, what holds for a row once a row.
The last vector of a block ends where the columns end: it may do some of the one before again, which changes
nothing, since each vector has a place of its own for what its columns come to. Where it shows at the call how
many columns there are, it has a mask. Each column is added up in the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from ..tuning.column_tiles import ColumnLoops
from ..tuning.kernel_sizes import LEAST, WORKGROUPS
from .builder import Array, Number, Place, ceil_divided, index, local, loop, most
from .element_code import Code, Key, Scope, combined, from_memory, identity, in_memory
from .executable import stored_element, workgroup_id
from .partial_vectors import store_some
from .reduced_rows import places_of
from .reduction_programs import Loaded, ReductionProgram, Step

Kept = list[tuple[Step, Value]]


class ColumnVector(NamedTuple):
    """The first column of a vector, where the buffers have it, and how many columns it has."""

    column: Number
    slot: Place
    columns: Place


@dataclass(frozen=True, slots=True)
class Columns:
    """The code of one workgroup: a block of columns, of some of those that are summed apart."""

    program: ReductionProgram
    loops: ColumnLoops
    arrays: Sequence[Array] = ()
    numbers: Sequence[Number] = ()

    @property
    def workgroups(self) -> tuple[Place, ...]:
        """How many workgroups there are."""
        columns, block = self._code.size(self._code.last), self.loops.width * self.loops.vectors
        return (ceil_divided(columns, block), ceil_divided(self._groups, self._together))

    @property
    def _code(self) -> Code:
        return Code(self.program, self.arrays, self.loops.width, numbers=self.numbers)

    @property
    def _groups(self) -> Place:
        """How many groups of rows are summed apart."""
        return self._code.count(self.program.outer)

    @property
    def _together(self) -> Place:
        """How many groups a workgroup does."""
        if self.loops.outer is not None:
            return self.loops.outer
        elements = self._code.count((*self.program.summed, self._code.last))
        return most(index(self._groups) // WORKGROUPS, ceil_divided(LEAST, most(elements, 1)))

    def run(self) -> None:
        """Each group of rows that are summed."""
        program, code = self.program, self._code
        start = Number(workgroup_id(0)) * (self.loops.width * self.loops.vectors)
        buffers = buffers_of(program, self.loops)
        count, together = self._groups, self._together
        first = Number(workgroup_id(1)) * together
        last = first + together
        are_whole = isinstance(count, int) and isinstance(together, int) and count % together == 0
        with loop(first, last if are_whole else last.least(count)) as number:
            sizes = [code.size(at) for at in program.outer]
            places = dict(zip(program.outer, places_of(number, sizes), strict=True))
            Block(code, self.loops, Scope(code, places), start, buffers).run()


def buffers_of(program: ReductionProgram, loops: ColumnLoops) -> dict[Key, Array]:
    """A place for what is kept of each column of a block."""
    size = loops.width * loops.vectors
    return {key: local([size], element_kept(key)) for key in kept_keys(program)}


def element_kept(key: Key) -> Type:
    """The type that a number of a column has in memory."""
    element = (key.result if isinstance(key, Step) else key).type
    if isinstance(element, mlir.ir.IndexType):
        element = mlir.ir.IntegerType.get_signless(64)
    return stored_element(element)


def kept_keys(program: ReductionProgram) -> list[Key]:
    """What is kept of each column: what it is reduced to, and what is computed of that for its elements."""
    code = Code(program, [], 1)
    scans = [*program.reductions, [step for step, _ in program.stores if step.is_full]]
    computed = [value for steps in scans for _, value in _of_columns(code, program.closure(steps))]
    return list(dict.fromkeys([*(step for step in program.steps if step.sums), *computed]))


def _of_columns(code: Code, steps: Sequence[Step]) -> Kept:
    """What is computed for a whole column and used by the code of its elements."""
    columns = {*code.program.outer, code.last}
    found: Kept = []
    for step in steps:
        needs = code.needs(step)
        arguments = dict(zip(step.code.regions[0].blocks[0].arguments, step.inputs, strict=False))
        used = [
            operand
            for operation in step.operations
            if not needs[operation.results[0]] <= columns
            for operand in operation.operands
        ]
        for value in (*used, step.result):
            if value not in needs or not needs[value] <= columns or code.last not in needs[value]:
                continue
            source, _ = arguments.get(value, (None, ()))
            if source is None:
                found.append((step, value))
            elif isinstance(source, Step) and not source.sums:
                found.append((source, source.result))
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Block:
    """The code of a block of columns from `start` on; `group` knows what is the same for all of them.

    `first` is the first of the `count` rows that are scanned, all of them where it is None.
    """

    code: Code
    loops: ColumnLoops
    group: Scope
    start: Number
    buffers: dict[Key, Array]
    prepared: set[Key] = field(default_factory=set)
    first: Number | None = None
    count: int = 0

    def run(self) -> None:
        """Reductions in their order, those together that do not depend on each other; then what is stored."""
        program = self.code.program
        for steps in program.reductions:
            self.reduce(steps)
        self.store_columns()
        self.store_elements()

    def store_columns(self) -> None:
        """Store what columns are reduced to, and what is computed of that."""
        kept = [(step, argument) for step, argument in self.code.program.stores if not step.is_full]
        if kept:
            for vector in self.vectors():
                self._store_columns(kept, vector)

    def store_elements(self) -> None:
        """Compute elements and store them."""
        whole = [(step, argument) for step, argument in self.code.program.stores if step.is_full]
        if whole:
            self._store(whole)

    def vectors(self) -> Iterator[ColumnVector]:
        """The vectors of the block."""
        width, vectors, columns = self.loops.width, self.loops.vectors, self.code.size(self.code.last)
        stop = self.start + width * vectors
        if not isinstance(columns, int):
            whole = columns // width * width
            with loop(self.start, stop.least(whole), width) as at:
                yield ColumnVector(at, at - self.start, width)
            with loop(most(self.start, whole), stop.least(columns), width) as at:
                yield ColumnVector(at, at - self.start, columns - at)
        elif self.loops.is_unrolled:
            for slot in range(0, width * vectors, width):
                column = self.start + slot
                at = column.least(columns - width) if columns % (width * vectors) else column
                yield ColumnVector(at, slot, width)
        else:
            stop = stop.least(columns) if columns % (width * vectors) else stop
            with loop(self.start, stop, width) as at:
                column = at.least(columns - width) if columns % width else at
                yield ColumnVector(column, at - self.start, width)

    def _rows(self, together: int) -> Iterator[list[dict[int, Number]]]:
        """The places of the summed loops, some at once."""
        program = self.code.program
        sizes = [self.code.size(at) for at in program.summed]
        count = self.code.count(program.summed) if self.first is None else self.count
        first: Place = 0 if self.first is None else self.first

        def places(row: Number, number: int) -> list[dict[int, Number]]:
            return [
                dict(zip(program.summed, places_of(row + n if n else row, sizes), strict=True))
                for n in range(number)
            ]

        whole = count // together * together
        if not isinstance(whole, int) or whole:
            with loop(first, first + whole, together) as row:
                yield places(row, together)
        if not isinstance(count, int) or not isinstance(whole, int):
            with loop(first + whole, first + count) as row:
                yield places(row, 1)
        elif count > whole:
            yield places(index(first + whole), count - whole)

    def reduce(self, steps: Sequence[Step]) -> None:
        """One scan of the rows for the reductions `steps`."""
        closure = self.code.program.closure(steps)
        self._prepare(closure, steps)
        for rows in self._rows(self.loops.rows):
            lines = [self._line(places, closure) for places in rows]
            for vector in self.vectors():
                above = self.columns(vector, closure)
                totals = [self.total(above, step) for step in steps]
                for line in lines:
                    elements = self._elements(line, above)
                    totals = [
                        combined(step, total, self.code.lifted(elements.of(step)))
                        for step, total in zip(steps, totals, strict=True)
                    ]
                for step, total in zip(steps, totals, strict=True):
                    self.keep(step, vector, total)

    def _store(self, stored: Sequence[tuple[Step, int]]) -> None:
        """One scan that computes elements and stores them."""
        closure = self.code.program.closure([step for step, _ in stored])
        self._prepare(closure, [])
        for rows in self._rows(self.loops.rows):
            lines = [self._line(places, closure) for places in rows]
            for vector in self.vectors():
                above = self.columns(vector, closure)
                for line in lines:
                    elements = self._elements(line, above)
                    for step, argument in stored:
                        array = self.code.arrays[argument]
                        places = [elements.places[at] for at in range(self.code.last + 1)]
                        number = in_memory(self.code.lifted(elements.of(step)), array)
                        store_some(array, number, vector.columns, *places)

    def _store_columns(self, stored: Sequence[tuple[Step, int]], vector: ColumnVector) -> None:
        """Store what columns are reduced to, or what is computed of that."""
        above = self.columns(vector, ())
        for step, argument in stored:
            number = self.total(above, step) if step.sums else self.code.lifted(above.of(step))
            array = self.code.arrays[argument]
            places = [above.places[at] for at in self.code.program.outer]
            store_some(array, in_memory(number, array), vector.columns, *places, vector.column)

    # -- what holds for a row, for a column and for an element -----------------------------------------

    def _prepare(self, closure: Sequence[Step], steps: Sequence[Step]) -> None:
        """Compute what the scan of a block takes, and begin with its reductions."""
        self.group.prepare(closure)
        new = [(step, value) for step, value in _of_columns(self.code, closure) if value not in self.prepared]
        for vector in self.vectors():
            above = self.columns(vector, ())
            for step, value in new:
                self.keep(value, vector, self.code.lifted(above.value(step, value)))
            for step in steps:
                self.keep(step, vector, self.code.lifted(self.initial(above, step)))
        self.prepared.update(value for _, value in new)
        self.prepared.update(steps)

    def initial(self, above: Scope, step: Step) -> Number:
        """What a reduction begins with here."""
        return above.initial(step) if self.first is None else identity(step)

    def _line(self, places: dict[int, Number], closure: Sequence[Step]) -> Scope:
        """What holds for a row."""
        line = Scope(self.code, {**self.group.places, **places}, above=(self.group,))
        line.prepare(closure)
        return line

    def columns(self, vector: ColumnVector, closure: Sequence[Step]) -> Scope:
        """What holds for a vector of columns."""

        def kept(key: Key) -> Number | None:
            if key not in self.prepared:
                return None
            type_ = (key.result if isinstance(key, Step) else key).type
            return from_memory(self.buffers[key].vector(self.code.width, vector.slot), type_)

        places = {**self.group.places, self.code.last: vector.column}
        above = Scope(self.code, places, vector.columns, (self.group,), kept)
        known = places.keys()
        for step in closure:
            needs = self.code.needs(step)
            for argument, (source, _) in zip(needs, step.inputs, strict=False):
                if isinstance(source, Loaded) and needs[argument] <= known:
                    above.value(step, argument)
        return above

    def _elements(self, line: Scope, above: Scope) -> Scope:
        return Scope(self.code, {**line.places, **above.places}, above.count, (line, above))

    def total(self, above: Scope, step: Step) -> Number:
        found = above.find(step)
        assert found is not None
        return found

    def keep(self, key: Key, vector: ColumnVector, number: Number) -> None:
        buffer = self.buffers[key]
        buffer[vector.slot] = in_memory(number, buffer)

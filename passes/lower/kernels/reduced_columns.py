"""The code of kernels that reduce columns: the rows are scanned as they lie in memory.

Input: a `ReductionProgram` whose last loop is kept, its `ColumnLoops`, and the memrefs of its arguments.
Idea: what a block of columns has so far lies in the first cache, or in registers where the block is narrow,
and some rows are added to it at once, so that every row is loaded in order. What holds for a whole column (a
mean, the square root of a variance) is computed once between the scans, what holds for a row once a row.
The last vector of a block ends where the columns end: it may do some of the one before again, which changes
nothing, since each vector has a place of its own for what its columns come to. Each column is added up in the
order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ....dialects import mlir
from ...ir.aliases import Value
from ..tuning.column_tiles import ColumnLoops
from .builder import Array, Number, Place, index, local, loop
from .element_code import Code, Key, Scope, combined, from_memory, in_memory
from .executable import stored_element, workgroup_id
from .reduced_rows import places_of
from .reduction_programs import Loaded, ReductionProgram, Step

Kept = list[tuple[Step, Value]]


@dataclass(frozen=True, slots=True)
class Columns:
    """The code of one workgroup: a block of columns, of some of those that are summed apart."""

    program: ReductionProgram
    loops: ColumnLoops
    arrays: Sequence[Array]

    @property
    def workgroups(self) -> tuple[int, ...]:
        """How many workgroups there are."""
        columns, count = self.program.sizes[-1], self.program.count(self.program.outer)
        return (-(-columns // (self.loops.width * self.loops.vectors)), -(-count // self.loops.outer))

    def run(self) -> None:
        """Each group of rows that are summed."""
        program = self.program
        code = Code(program, self.arrays, self.loops.width)
        sizes = [program.sizes[at] for at in program.outer]
        start = Number(workgroup_id(0)) * (self.loops.width * self.loops.vectors)
        buffers = {key: self._buffer(key) for key in kept_keys(program)}
        count, together = program.count(program.outer), self.loops.outer
        first = Number(workgroup_id(1)) * together
        last = first + together
        with loop(first, last.least(count) if count % together else last) as number:
            places = dict(zip(program.outer, places_of(number, sizes), strict=True))
            _Block(code, self.loops, Scope(code, places), start, buffers).run()

    def _buffer(self, key: Key) -> Array:
        element = (key.result if isinstance(key, Step) else key).type
        if isinstance(element, mlir.ir.IndexType):
            element = mlir.ir.IntegerType.get_signless(64)
        return local([self.loops.width * self.loops.vectors], stored_element(element))


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
class _Block:
    """The code of a block of columns from `start` on; `group` knows what is the same for all of them."""

    code: Code
    loops: ColumnLoops
    group: Scope
    start: Number
    buffers: dict[Key, Array]
    prepared: set[Key] = field(default_factory=set)

    def run(self) -> None:
        """Reductions in their order, those together that do not depend on each other; then what is stored."""
        program = self.code.program
        for steps in program.reductions:
            self._reduce(steps)
        kept = [(step, argument) for step, argument in program.stores if not step.is_full]
        if kept:
            for column, slot in self._vectors():
                self._store_columns(kept, column, slot)
        whole = [(step, argument) for step, argument in program.stores if step.is_full]
        if whole:
            self._store(whole)

    def _vectors(self) -> Iterator[tuple[Number, Place]]:
        """The first column of each vector of the block, and where the buffers have it."""
        width, vectors, columns = self.loops.width, self.loops.vectors, self.code.program.sizes[-1]
        if self.loops.is_unrolled:
            for slot in range(0, width * vectors, width):
                column = self.start + slot
                yield (column.least(columns - width) if columns % (width * vectors) else column), slot
        else:
            stop = self.start + width * vectors
            with loop(self.start, stop.least(columns) if columns % (width * vectors) else stop, width) as at:
                yield (at.least(columns - width) if columns % width else at), at - self.start

    def _rows(self, together: int) -> Iterator[list[dict[int, Number]]]:
        """The places of the summed loops, some at once."""
        program = self.code.program
        sizes = [program.sizes[at] for at in program.summed]
        count = program.count(program.summed)

        def places(row: Number, number: int) -> list[dict[int, Number]]:
            return [
                dict(zip(program.summed, places_of(row + n if n else row, sizes), strict=True))
                for n in range(number)
            ]

        whole = count // together * together
        if whole:
            with loop(0, whole, together) as row:
                yield places(row, together)
        if count > whole:
            yield places(index(whole), count - whole)

    def _reduce(self, steps: Sequence[Step]) -> None:
        """One scan of the rows for the reductions `steps`."""
        closure = self.code.program.closure(steps)
        self._prepare(closure, steps)
        for rows in self._rows(self.loops.rows):
            lines = [self._line(places, closure) for places in rows]
            for column, slot in self._vectors():
                above = self._columns(column, slot, closure)
                totals = [self._total(above, step) for step in steps]
                for line in lines:
                    elements = self._elements(line, above)
                    totals = [
                        combined(step, total, self.code.lifted(elements.of(step)))
                        for step, total in zip(steps, totals, strict=True)
                    ]
                for step, total in zip(steps, totals, strict=True):
                    self._keep(step, slot, total)

    def _store(self, stored: Sequence[tuple[Step, int]]) -> None:
        """One scan that computes elements and stores them."""
        closure = self.code.program.closure([step for step, _ in stored])
        self._prepare(closure, [])
        for rows in self._rows(self.loops.rows):
            lines = [self._line(places, closure) for places in rows]
            for column, slot in self._vectors():
                above = self._columns(column, slot, closure)
                for line in lines:
                    elements = self._elements(line, above)
                    for step, argument in stored:
                        array = self.code.arrays[argument]
                        places = [elements.places[at] for at in range(self.code.last + 1)]
                        array[tuple(places)] = in_memory(self.code.lifted(elements.of(step)), array)

    def _store_columns(self, stored: Sequence[tuple[Step, int]], column: Number, slot: Place) -> None:
        """Store what columns are reduced to, or what is computed of that."""
        above = self._columns(column, slot, ())
        for step, argument in stored:
            number = self._total(above, step) if step.sums else self.code.lifted(above.of(step))
            array = self.code.arrays[argument]
            array[(*(above.places[at] for at in self.code.program.outer), column)] = in_memory(number, array)

    # -- what holds for a row, for a column and for an element -----------------------------------------

    def _prepare(self, closure: Sequence[Step], steps: Sequence[Step]) -> None:
        """Compute what the scan of a block takes, and begin with its reductions."""
        self.group.prepare(closure)
        new = [(step, value) for step, value in _of_columns(self.code, closure) if value not in self.prepared]
        for column, slot in self._vectors():
            above = self._columns(column, slot, ())
            for step, value in new:
                self._keep(value, slot, self.code.lifted(above.value(step, value)))
            for step in steps:
                self._keep(step, slot, self.code.lifted(above.initial(step)))
        self.prepared.update(value for _, value in new)
        self.prepared.update(steps)

    def _line(self, places: dict[int, Number], closure: Sequence[Step]) -> Scope:
        """What holds for a row."""
        line = Scope(self.code, {**self.group.places, **places}, above=(self.group,))
        line.prepare(closure)
        return line

    def _columns(self, column: Number, slot: Place, closure: Sequence[Step]) -> Scope:
        """What holds for a vector of columns."""

        def kept(key: Key) -> Number | None:
            if key not in self.prepared:
                return None
            type_ = (key.result if isinstance(key, Step) else key).type
            return from_memory(self.buffers[key].vector(self.code.width, slot), type_)

        places = {**self.group.places, self.code.last: column}
        above = Scope(self.code, places, self.code.width, (self.group,), kept)
        known = places.keys()
        for step in closure:
            needs = self.code.needs(step)
            for argument, (source, _) in zip(needs, step.inputs, strict=False):
                if isinstance(source, Loaded) and needs[argument] <= known:
                    above.value(step, argument)
        return above

    def _elements(self, line: Scope, above: Scope) -> Scope:
        return Scope(self.code, {**line.places, **above.places}, self.code.width, (line, above))

    def _total(self, above: Scope, step: Step) -> Number:
        found = above.find(step)
        assert found is not None
        return found

    def _keep(self, key: Key, slot: Place, number: Number) -> None:
        buffer = self.buffers[key]
        buffer[slot] = in_memory(number, buffer)

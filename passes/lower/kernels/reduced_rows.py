"""The code of kernels that reduce rows: loops of a few registers over the elements of each row.

Input: a `ReductionProgram` of rows, how many elements are done at once, and the memrefs of its arguments.
Idea: IREE makes a whole row one vector, or steps whose elements are added up at once. A loop of a few
registers, each with partial sums of its own, is short code for any length, and memory is read in the order
that processors fetch in advance. What is the same for a whole row is computed once for it. A row is gone over
once for reductions that do not depend on each other, and once for the elements that are stored. Elements that
take long (exponentials) and that another loop needs again are kept in the row of a result, which is written
last, or else on the stack.
A sum has as many partial sums as registers have elements, a long one those of blocks; they are added at the
end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from math import isqrt
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ..tuning.kernel_sizes import LEAST, WORKGROUPS
from ..tuning.row_tiles import SHORT, RowLoops
from .builder import (
    Array,
    Number,
    Place,
    broadcast,
    carried,
    ceil_divided,
    choose,
    index,
    least,
    local,
    loop,
    most,
    when,
)
from .computed_places import INDEX
from .element_code import Code, Key, Scope, combined, from_memory, identity, in_memory, total
from .executable import stored_element, workgroup_id
from .partial_vectors import first_of, load_some, store_some
from .reduction_programs import Loaded, ReductionProgram, Step

ADDED_IN_A_ROW: Final = (16, 128)  # vectors, before what they come to is added to the sum of other blocks


@dataclass(frozen=True, slots=True)
class Rows:
    """The code of one workgroup: a block of rows."""

    program: ReductionProgram
    loops: RowLoops
    arrays: Sequence[Array] = ()
    numbers: Sequence[Number] = ()

    @property
    def workgroups(self) -> tuple[Place, ...]:
        """How many workgroups there are."""
        return (ceil_divided(self._rows, self._block),)

    @property
    def _code(self) -> Code:
        return Code(self.program, self.arrays, self.loops.width, self.loops.has_gathers, self.numbers)

    @property
    def _rows(self) -> Place:
        return self._code.count(range(self._code.last))

    @property
    def _block(self) -> Place:
        """How many rows a workgroup does."""
        if self.loops.block is not None:
            return self.loops.block
        size = most(self._code.size(self._code.last), 1)
        return most(index(self._rows) // WORKGROUPS, ceil_divided(LEAST, size))

    def run(self) -> None:
        """Each row of the block."""
        rows, block, code = self._rows, self._block, self._code
        first = Number(workgroup_id(0)) * block
        last = first + block
        are_whole = isinstance(rows, int) and isinstance(block, int) and rows % block == 0
        with loop(first, last if are_whole else last.least(rows)) as row:
            places = places_of(row, [code.size(at) for at in range(code.last)])
            Row(code, self.loops, Scope(code, dict(enumerate(places))), self._kept()).run()

    def _kept(self) -> dict[Key, Array]:
        """Where elements are kept: in a result, or on the stack where it is known how many there are."""
        results, size = self.program.places, self.program.sizes[-1]
        kept: dict[Key, Array] = {step.result: self.arrays[number] for step, number in results.items()}
        if isinstance(size, int):
            whole = -(-size // self.loops.width) * self.loops.width
            for step in self.program.repeated:
                if step not in results:
                    kept[step.result] = local([whole], stored_element(step.result.type))
        return kept


def places_of(number: Number, sizes: Sequence[Place]) -> list[Number]:
    """The places of loops that are counted together, the last one fastest."""
    places: list[Number] = []
    for size in reversed(sizes[1:]):
        places.insert(0, number % size)
        number = number // size
    return [number, *places] if sizes else []


@dataclass(slots=True)
class Row:
    """The code of one row, of which `row` knows what is the same for all of it.

    `kept`: places for elements that are needed in several loops, by what they are; `computed`: those of them
    that are known. `part`: the first element and how many there are, where only some are computed and stored.
    """

    code: Code
    loops: RowLoops
    row: Scope
    kept: Mapping[Key, Array]
    computed: set[Key] = field(default_factory=set)
    part: tuple[Number, Place] | None = None

    @property
    def _size(self) -> Place:
        return self.code.size(self.code.last)

    def run(self) -> None:
        """Reductions in their order, those together that do not depend on each other; then what is stored."""
        program = self.code.program
        for steps in program.reductions:
            self._reduce(steps)
        for step, argument in program.stores:
            if not step.is_full:
                array = self.code.arrays[argument]
                number = self.row.values[step] if step.sums else self.row.of(step)
                array[tuple(self.row.places.values())] = in_memory(number, array)
        whole = [(step, argument) for step, argument in program.stores if step.is_full]
        if whole:
            self._store(whole)

    def _elements(self, at: Place, count: Place, code: Code | None = None) -> Scope:
        """`count` elements from a place of the row on; `code` is that of as many."""

        def kept(key: Key) -> Number | None:
            if key not in known:
                return None
            assert not isinstance(key, Step)
            array, places = self._place(key, at)
            return from_memory(load_some(array, self.code.width, count, *places), key.type)

        known = set(self.computed)
        return Scope(
            code or self.code, {**self.row.places, self.code.last: index(at)}, count, (self.row,), kept
        )

    def _keep(self, elements: Scope, at: Place, count: Place, steps: Sequence[Step]) -> None:
        """Keep elements that another loop needs again."""
        for step in steps:
            array, places = self._place(step.result, at)
            store_some(array, in_memory(self.code.lifted(elements.of(step)), array), count, *places)

    def _place(self, key: Key, at: Place) -> tuple[Array, list[Place]]:
        """Where elements from a place of the row on are kept."""
        array = self.kept[key]
        return array, [at] if len(array.type.shape) == 1 else [*self.row.places.values(), at]

    def _new(self, steps: Sequence[Step]) -> tuple[list[Step], int]:
        """Of what a loop computes, that which is to be kept, and how many operations an element takes."""
        left, found = list(steps), []
        while left:
            step = left.pop()
            if step.result not in self.computed and step not in found:
                found.append(step)
                left += [s for s, _ in step.inputs if isinstance(s, Step) and s.is_full]
        return [s for s in found if s.result in self.kept], sum(step.length for step in found)

    def _reduce(self, steps: Sequence[Step]) -> None:
        """One loop for the reductions `steps`."""
        width, size = self.loops.width, self._size
        self._prepare(steps)
        new, operations = self._new(steps)
        vectors = self.loops.vectors(operations)
        identities = [identity(step) for step in steps]
        initial = [broadcast(n, self.code.vector_of(n.type)) for n in identities for _ in range(vectors)]
        whole = size // (width * vectors) * width * vectors

        def added(at: Place, counts: Sequence[Place], sums: Sequence[Number]) -> list[Number]:
            following = list(sums)
            for number, count in enumerate(counts):
                place = index(at) + number * width if number else at
                elements = self._elements(place, count)
                self._keep(elements, place, count, new)
                for position, step in enumerate(steps):
                    value = self.code.lifted(elements.of(step))
                    if isinstance(count, Number) or count < width:
                        value = _first(count, value, initial[position * vectors])
                    mine = position * vectors + number
                    following[mine] = combined(step, following[mine], value)
            return following

        def scanned(start: Place, stop: Place, sums: Sequence[Number]) -> list[Number]:
            return carried(
                start, stop, sums, lambda at, *values: added(at, [width] * vectors, values), width * vectors
            )

        def block_added(at: Number, *totals: Number) -> list[Number]:
            sums = scanned(at, (at + block).least(whole), initial)
            return [
                combined(steps[n // vectors], *pair) for n, pair in enumerate(zip(totals, sums, strict=True))
            ]

        block = _added_in_a_row(size, width * vectors)
        sums: Sequence[Number] = initial
        if not isinstance(whole, int) or not isinstance(block, int) or whole > 2 * block:
            sums = carried(0, whole, sums, block_added, block)
        elif whole:
            sums = scanned(0, whole, sums)
        if isinstance(size, int) and isinstance(whole, int):
            if size > whole:
                sums = added(whole, _counts(width, size - whole), sums)
        else:
            sums = carried(
                whole,
                size,
                sums,
                lambda at, *values: added(at, _masked(width, vectors, size - at), values),
                width * vectors,
            )
        self.computed.update(step.result for step in new)
        for position, step in enumerate(steps):
            partial = sums[position * vectors : (position + 1) * vectors]
            vector = functools.reduce(functools.partial(combined, step), partial)
            self.row.values[step] = combined(step, self.row.initial(step), total(step, vector))

    def _store(self, stored: Sequence[tuple[Step, int]]) -> None:
        """One loop that computes elements of the row and stores them."""
        width = self.loops.width
        start, size = self.part or (None, self._size)
        steps = [step for step, _ in stored]
        self._prepare(steps)
        operations = self._new(steps)[1]
        at_once = self.loops.vectors(operations)
        wide = None
        if operations > SHORT and self._is_plain(steps):
            at_once = self.loops.short
            wide = replace(self.code, width=width * at_once)
        together = width * at_once
        whole = size // together * together

        def written(at: Place, counts: Sequence[Place], code: Code = self.code) -> None:
            for number, count in enumerate(counts):
                place = index(at) + number * width if number else at
                place = place if start is None else start + place
                elements = self._elements(place, count, code)
                vectors = [code.lifted(elements.of(step)) for step in steps]
                for vector, (_, argument) in zip(vectors, stored, strict=True):
                    array = self.code.arrays[argument]
                    store_some(array, in_memory(vector, array), count, *self.row.places.values(), place)

        if not isinstance(whole, int) or whole:
            with loop(0, whole, together) as at:
                if wide is None:
                    written(at, [width] * at_once)
                else:
                    written(at, [together], wide)
        if isinstance(size, int) and isinstance(whole, int):
            if size > whole:
                written(whole, _counts(width, size - whole))
        elif not self.code.program.summed:
            self._store_last(whole, index(size), lambda at: written(at, [width]), stored)
        else:
            with loop(whole, size, together) as at:
                written(at, _masked(width, at_once, size - at))

    def _is_plain(self, steps: Sequence[Step]) -> bool:
        """Whether elements are computed of elements that lie beside each other, and of nothing else: then one
        vector of several registers has the code of all of them, op by op."""
        program = self.code.program
        if program.summed or self.kept:
            return False
        closure = program.closure(steps)
        loaded = [source for step in closure for source, _ in step.inputs if isinstance(source, Loaded)]
        names = {each.name for step in closure for each in step.operations}
        is_beside = all(not source.strides or source.strides[-1] == 1 for source in loaded)
        return is_beside and INDEX not in names and not any(step.gathered for step in closure)

    def _store_last(
        self,
        whole: Place,
        size: Number,
        written: Callable[[Number], None],
        stored: Sequence[tuple[Step, int]],
    ) -> None:
        """Store the last elements of a row that are taken from elsewhere: as vectors, the last of which has
        some elements that are stored already, or one by one where there are too few for one."""
        width = self.loops.width
        has_vectors = size >= width
        with when(has_vectors), loop(whole, size, width) as at:
            written(at.least(size - width))
        with when(has_vectors ^ 1), loop(0, size) as at:
            place = at if self.part is None else self.part[0] + at
            element = self._elements(place, 0)
            for step, argument in stored:
                array = self.code.arrays[argument]
                array[(*self.row.places.values(), place)] = in_memory(element.of(step), array)

    def _prepare(self, steps: Sequence[Step]) -> None:
        """Compute what is the same for all elements, outside of the loop."""
        self.row.prepare(self.code.program.closure(steps))


def _added_in_a_row(size: Place, together: int) -> Place:
    """How many elements are added up before what they come to is added to the sum of other blocks.

    About the root of all, which makes the blocks as many as the elements of each.
    """
    fewest, greatest = ADDED_IN_A_ROW
    if isinstance(size, int):
        return min(max(isqrt(size // together), fewest), greatest) * together
    block = index(fewest * together)
    while fewest < greatest:
        block = choose(size > fewest * fewest * together, block.lift(2 * fewest * together), block)
        fewest *= 2
    return block


def _counts(width: int, left: int) -> list[int]:
    """How many elements each of the last vectors has."""
    return [min(width, left - at) for at in range(0, left, width)]


def _masked(width: int, vectors: int, left: Number) -> list[Place]:
    """How many elements each of some vectors has, where it shows at the call how many are left."""
    return [least(most(left - number * width if number else left, 0), width) for number in range(vectors)]


def _first(count: Place, vector: Number, others: Number) -> Number:
    """A vector whose first `count` elements are those of `vector`, and then those of `others`."""
    (width,) = mlir.ir.VectorType(vector.type).shape
    return Number(mlir.arith.select(first_of(count, width).value, vector.value, others.value))

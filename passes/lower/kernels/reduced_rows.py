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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isqrt, prod
from typing import Final

from ....dialects import mlir
from ...ir.aliases import Value
from ..tuning.row_tiles import RowLoops
from .builder import Array, Number, Place, broadcast, carried, index, local, loop
from .element_code import Code, Key, Scope, combined, from_memory, identity, in_memory, total
from .executable import stored_element, workgroup_id
from .products import load_some, store_some
from .reduction_programs import ReductionProgram, Step

ADDED_IN_A_ROW: Final = (16, 128)  # vectors, before what they come to is added to the sum of other blocks


@dataclass(frozen=True, slots=True)
class Rows:
    """The code of one workgroup: a block of rows."""

    program: ReductionProgram
    loops: RowLoops
    arrays: Sequence[Array]

    @property
    def workgroups(self) -> tuple[int, ...]:
        """How many workgroups there are."""
        return (-(-prod(self.program.sizes[:-1]) // self.loops.block),)

    def run(self) -> None:
        """Each row of the block."""
        rows, block = prod(self.program.sizes[:-1]), self.loops.block
        first = Number(workgroup_id(0)) * block
        last = first + block
        code = Code(self.program, self.arrays, self.loops.width, self.loops.has_gathers)
        whole = -(-self.program.sizes[-1] // self.loops.width) * self.loops.width
        results = self.program.places
        kept = {
            step.result: self.arrays[results[step]]
            if step in results
            else local([whole], stored_element(step.result.type))
            for step in self.program.repeated
        }
        with loop(first, last.least(rows) if rows % block else last) as row:
            places = places_of(row, self.program.sizes[:-1])
            Row(code, self.loops, Scope(code, dict(enumerate(places))), kept).run()


def places_of(number: Number, sizes: Sequence[int]) -> list[Number]:
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
    part: tuple[Number, int] | None = None

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

    def _elements(self, at: Place, count: int) -> Scope:
        """`count` elements from a place of the row on."""

        def kept(key: Key) -> Number | None:
            if key not in known:
                return None
            assert not isinstance(key, Step)
            array, places = self._place(key, at)
            return from_memory(load_some(array, self.code.width, count, *places), key.type)

        known = set(self.computed)
        return Scope(self.code, {**self.row.places, self.code.last: index(at)}, count, (self.row,), kept)

    def _keep(self, elements: Scope, at: Place, count: int, steps: Sequence[Step]) -> None:
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
        width, size = self.loops.width, self.code.program.sizes[-1]
        self._prepare(steps)
        new, operations = self._new(steps)
        vectors = self.loops.vectors(operations)
        identities = [identity(step) for step in steps]
        initial = [broadcast(n, self.code.vector_of(n.type)) for n in identities for _ in range(vectors)]
        whole = size // (width * vectors) * width * vectors

        def added(at: Place, counts: Sequence[int], sums: Sequence[Number]) -> list[Number]:
            following = list(sums)
            for number, count in enumerate(counts):
                place = index(at) + number * width if number else at
                elements = self._elements(place, count)
                self._keep(elements, place, count, new)
                for position, step in enumerate(steps):
                    value = self.code.lifted(elements.of(step))
                    if count < width:
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

        least, most = ADDED_IN_A_ROW
        block = min(max(isqrt(size // (width * vectors)), least), most) * width * vectors
        sums: Sequence[Number] = initial
        if whole > 2 * block:
            sums = carried(0, whole, sums, block_added, block)
        elif whole:
            sums = scanned(0, whole, sums)
        if size > whole:
            left = size - whole
            sums = added(whole, [min(width, left - at) for at in range(0, left, width)], sums)
        self.computed.update(step.result for step in new)
        for position, step in enumerate(steps):
            partial = sums[position * vectors : (position + 1) * vectors]
            vector = functools.reduce(functools.partial(combined, step), partial)
            self.row.values[step] = combined(step, self.row.initial(step), total(step, vector))

    def _store(self, stored: Sequence[tuple[Step, int]]) -> None:
        """One loop that computes elements of the row and stores them."""
        width = self.loops.width
        start, size = self.part or (None, self.code.program.sizes[-1])
        steps = [step for step, _ in stored]
        self._prepare(steps)
        at_once = self.loops.vectors(self._new(steps)[1])
        together = width * at_once
        whole = size // together * together

        def written(at: Place, counts: Sequence[int]) -> None:
            for number, count in enumerate(counts):
                place = index(at) + number * width if number else at
                place = place if start is None else start + place
                elements = self._elements(place, count)
                vectors = [self.code.lifted(elements.of(step)) for step in steps]
                for vector, (_, argument) in zip(vectors, stored, strict=True):
                    array = self.code.arrays[argument]
                    store_some(array, in_memory(vector, array), count, *self.row.places.values(), place)

        if whole:
            with loop(0, whole, together) as at:
                written(at, [width] * at_once)
        if size > whole:
            left = size - whole
            written(whole, [min(width, left - at) for at in range(0, left, width)])

    def _prepare(self, steps: Sequence[Step]) -> None:
        """Compute what is the same for all elements, outside of the loop."""
        self.row.prepare(self.code.program.closure(steps))


def _first(count: int, vector: Number, others: Number) -> Number:
    """A vector whose first `count` elements are those of `vector`, and then those of `others`."""
    (width,) = mlir.ir.VectorType(vector.type).shape
    return Number(mlir.arith.select(_mask(count, width), vector.value, others.value))


def _mask(count: int, width: int) -> Value:
    """A vector of bits, the first `count` of which are set."""
    bits = ", ".join("true" if place < count else "false" for place in range(width))
    mask = mlir.ir.Attribute.parse(f"dense<[{bits}]> : vector<{width}xi1>")
    return mlir.arith.constant(mask.type, mask)

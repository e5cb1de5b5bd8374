"""The kernel of CPUs that sorts short rows, or the first elements of each, by exchanges of neighbours.

Input: the fields that are sorted together, rows `[count, size]` or columns `[before, size, behind]` of each.
Output: the fields in rising order of their keys; of each row the first `kept` elements.
Idea: an element of a vector belongs to a row of its own, so an exchange of two vectors, a comparison and two
selections for each word, is one of several rows. The least elements move to the front, past their neighbours
(Knuth, The Art of Computer Programming 3, 5.2.2), several of them at once, which stay in registers. Only
neighbours are exchanged, and only where the later one is less, so equal elements keep their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Type, Value
from .builder import (
    Array,
    Number,
    Place,
    broadcast,
    carried,
    ceil_divided,
    choose,
    index,
    local,
    loop,
    product,
    when,
)
from .executable import Kernel, Kernels, Result, Size, workgroup_count, workgroup_id
from .panels import transposed
from .partial_vectors import load_some, store_some

TOGETHER: Final = 4  # elements that move to the front at once
UNROLLED: Final = 8  # the longest row whose exchanges are written out

Words = Sequence[Number]


@dataclass(frozen=True, slots=True)
class Field:
    """What is sorted: elements of type `element`, each as `words` signed integers of one width.

    `to_words` makes the words of a vector of elements, of which the first `keys` are compared, and
    `from_words` the elements again. Equal names have equal rules. A field without an operand (`is_place`)
    holds the places of elements in their row, as one word. `is_kept`: whether it is a result.
    """

    name: str
    element: Type
    words: int
    keys: int
    to_words: Callable[[Number], Words]
    from_words: Callable[[Words], Number]
    is_place: bool = False
    is_kept: bool = True


@dataclass(frozen=True, slots=True)
class Exchanges:
    """How rows are sorted: the fields, elements of a vector, the type of words, and how many are kept."""

    fields: tuple[Field, ...]
    lanes: int
    word: Type
    size: int
    kept: int

    @property
    def key(self) -> tuple[object, ...]:
        """What determines the code beside the types."""
        fields = tuple((f.name, f.keys, f.is_place, f.is_kept) for f in self.fields)
        return fields, self.lanes, self.word.width, self.size, self.kept


def exchange_rows(
    kernels: Kernels, arrays: Sequence[Value], sizes: Sequence[Size], how: Exchanges, workgroups: Size
) -> list[Value]:
    """The kept fields, sorted; `arrays` are those of the fields with an operand, `sizes` what all have."""
    kept = [how.kept if axis == 1 else n for axis, n in enumerate(sizes)]
    dynamic = mlir.ir.ShapedType.get_dynamic_size()
    static = [n if isinstance(n, int) else dynamic for n in kept]
    counted = tuple(n for n in kept if not isinstance(n, int))
    results = tuple(
        Result(mlir.ir.RankedTensorType.get(static, f.element), counted) for f in how.fields if f.is_kept
    )

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        code = _Rows if len(sizes) == 2 else _Columns
        code(how, list(map(Array, operands)), list(map(Array, written))).run()

    kernel = Kernel("short_rows", results, emit, how.key, (workgroups,))
    return list(kernels.call(kernel, arrays, sizes=lambda _: sizes))


class _Block:
    """The code of a workgroup: some of the blocks of as many rows as a vector has elements."""

    def __init__(self, how: Exchanges, operands: list[Array], results: list[Array]) -> None:
        self.how = how
        sources, targets = iter(operands), iter(results)
        self.sources = [None if f.is_place else next(sources) for f in how.fields]
        self.targets = [next(targets) if f.is_kept else None for f in how.fields]
        self.like = next(array for array in (*operands, *results))
        starts = [sum(f.words for f in how.fields[:n]) for n in range(len(how.fields) + 1)]
        self.words = [range(a, b) for a, b in itertools.pairwise(starts)]
        self.keys = [w for f, words in zip(how.fields, self.words, strict=True) for w in words[: f.keys]]
        self.held = local([starts[-1], how.size, how.lanes], how.word)

    def sort(self) -> None:
        """Sort what the block holds, as far as it is kept."""
        size, kept = self.how.size, min(self.how.kept, self.how.size - 1)
        done = 0
        if size > UNROLLED:
            done = kept // TOGETHER * TOGETHER
            with loop(0, done, TOGETHER) as start:
                self._move(start, TOGETHER)
        while done < kept:
            moved = min(TOGETHER, self.how.kept - done)
            self._move(done, moved)
            done += moved

    def _move(self, done: Place, moved: int) -> None:
        """Bring the least elements from the place `done` on there, `moved` of them."""
        end = self.how.size - moved
        front = self._sorted([self._load(end + number) for number in range(moved)])

        def step(place: Place, front: list[Words]) -> list[Words]:
            passing = self._load(place)
            for number, element in enumerate(front):
                front[number], passing = self._exchanged(passing, element)
            self._store(place + moved, passing)
            return front

        if isinstance(done, int):
            for place in reversed(range(done, end)):
                front = step(place, front)
        else:
            count = len(front[0])

            def body(number: Number, *words: Number) -> list[Number]:
                several: list[Words] = [words[k * count : (k + 1) * count] for k in range(moved)]
                return [w for element in step(end - 1 - number, several) for w in element]

            words = carried(0, end - done, [w for element in front for w in element], body)
            front = [words[k * count : (k + 1) * count] for k in range(moved)]
        for number, element in enumerate(front):
            self._store(done + number, element)

    def _sorted(self, elements: list[Words]) -> list[Words]:
        for end in range(1, len(elements)):
            for place in reversed(range(end)):
                elements[place : place + 2] = self._exchanged(elements[place], elements[place + 1])
        return elements

    def _exchanged(self, left: Words, right: Words) -> tuple[Words, Words]:
        """The lesser and the greater one of neighbours, as they are where they are equal."""
        is_less = None
        for key in reversed(self.keys):
            below = right[key] < left[key]
            is_less = below if is_less is None else below | (right[key].equals(left[key]) & is_less)
        assert is_less is not None
        pairs = list(zip(left, right, strict=True))
        return [choose(is_less, b, a) for a, b in pairs], [choose(is_less, a, b) for a, b in pairs]

    def _load(self, place: Place) -> Words:
        return [self.held.vector(self.how.lanes, w, place, 0) for w in range(self.words[-1].stop)]

    def _store(self, place: Place, words: Words) -> None:
        for number, word in enumerate(words):
            self.held[number, place, 0] = word

    def _take(self, field: int, place: Place, elements: Number) -> None:
        """Hold elements, a vector."""
        for number, word in zip(self.words[field], self.how.fields[field].to_words(elements), strict=True):
            self.held[number, place, 0] = word

    def _number(self, field: int) -> None:
        """Hold the places, which are the same in all rows."""
        vector = mlir.ir.VectorType.get([self.how.lanes], self.how.word)
        (word,) = self.words[field]
        with loop(0, self.how.size) as place:
            self.held[word, place, 0] = broadcast(place.as_integer(self.how.word), vector)

    def _elements(self, field: int, place: Place) -> Number:
        words = [self.held.vector(self.how.lanes, w, place, 0) for w in self.words[field]]
        return self.how.fields[field].from_words(words)

    @contextmanager
    def _blocks(self, count: Place) -> Iterator[Number]:
        with loop(Number(workgroup_id()), count, Number(workgroup_count())) as block:
            yield block


class _Rows(_Block):
    """Blocks of rows `[count, size]`, which are transposed on the way in and out."""

    def run(self) -> None:
        """Sort every so many blocks; the last row takes the place of those that the last block lacks."""
        lanes, count = self.how.lanes, index(self.like.size(0))
        with self._blocks(ceil_divided(count, lanes)) as block:
            rows = [(block * lanes + lane).least(count - 1) for lane in range(lanes)]
            for field, source in enumerate(self.sources):
                self._read(field, source, rows)
            self.sort()
            for field, target in enumerate(self.targets):
                if target is not None:
                    self._write(field, target, rows)

    def _read(self, field: int, source: Array | None, rows: Sequence[Number]) -> None:
        if source is None:
            self._number(field)
            return
        for place, count in self._squares(self.how.size):
            vectors = [load_some(source, self.how.lanes, count, row, place) for row in rows]
            for number, elements in enumerate(transposed(vectors)[:count]):
                self._take(field, place + number, elements)

    def _write(self, field: int, target: Array, rows: Sequence[Number]) -> None:
        for place, count in self._squares(self.how.kept):
            several = [self._elements(field, place + number) for number in range(count)]
            several += [several[-1]] * (self.how.lanes - count)
            for row, vector in zip(rows, transposed(several), strict=True):
                store_some(target, vector, count, row, place)

    def _squares(self, size: int) -> Iterator[tuple[Number, int]]:
        """The places that squares of elements begin at, in a loop, and how many columns they have."""
        lanes = self.how.lanes
        whole = size // lanes * lanes
        if whole:
            with loop(0, whole, lanes) as place:
                yield place, lanes
        if size > whole:
            yield index(whole), size - whole


class _Columns(_Block):
    """Blocks of columns `[before, size, behind]`, in vectors as they lie."""

    def run(self) -> None:
        """Sort every so many blocks."""
        lanes, before, behind = self.how.lanes, self.like.size(0), self.like.size(2)
        panels = ceil_divided(behind, lanes)
        with self._blocks(product([before, panels])) as block:
            outer, panel = block // panels, block % panels
            for field, source in enumerate(self.sources):
                if source is None:
                    self._number(field)
                    continue
                for count in self._counts(panel, behind):
                    with loop(0, self.how.size) as place:
                        some = load_some(source, lanes, count, outer, place, panel * lanes)
                        self._take(field, place, some)
            self.sort()
            for field, target in enumerate(self.targets):
                if target is None:
                    continue
                for count in self._counts(panel, behind):
                    with loop(0, self.how.kept) as place:
                        some = self._elements(field, place)
                        store_some(target, some, count, outer, place, panel * lanes)

    def _counts(self, panel: Number, behind: Place) -> Iterator[Place]:
        """How many columns a panel has; code for each of those that there may be, in branches."""
        lanes = self.how.lanes
        if isinstance(behind, Number):
            yield (behind - panel * lanes).least(lanes)
            return
        whole, left = divmod(behind, lanes)
        if not whole or not left:
            yield left or lanes
            return
        with when(panel < whole):
            yield lanes
        with when(panel.equals(whole)):
            yield left

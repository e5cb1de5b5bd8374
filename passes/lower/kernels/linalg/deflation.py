"""What of two solved blocks a change of rank one leaves alone, and how the rest is put together.

Input: eigenvalues of both blocks, the elements of the change for each, and the vectors as rows of a basis.
Output: the poles and elements that are kept, in order; vectors side by side, those with zeros outside of the
first block, those without, those with zeros outside of the second.
Idea: an element that is negligible keeps its vector; of two values that are close, a rotation of their
vectors makes one negligible (Cuppen 1981; LAPACK's laed2).
"""

from __future__ import annotations

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Number, Place, branches, broadcast, carried, choose, constant, index, loop, when
from .secular import POLES, POSITIONS
from .vectors import Lanes, Matrix, magnitude, root

ORDER, RANKS, KEPT, DROPPED, KINDS, PLACES, COUNTS = range(7)
"""Rows of `integers`."""
FIRST, BOTH, SECOND = range(3)
"""Kinds of vectors: in which blocks they are not zero."""


def rotate(
    lanes: Lanes,
    basis: Matrix,
    rows: tuple[Number, Number],
    rotation: tuple[Number, Number],
    columns: tuple[Place, Place],
) -> None:
    """Rows `x` and `y` become ``c x + s y`` and ``c y - s x``."""
    (one, other), width = rows, lanes.width
    cosine, sine = (lanes.filled(number) for number in rotation)
    with loop(*columns, width) as place:
        x, y = basis.vector(width, one, place), basis.vector(width, other, place)
        basis[one, place] = lanes.add_product(sine, y, x * cosine)
        basis[other, place] = lanes.sub_product(sine, x, y * cosine)


@dataclass(frozen=True, slots=True)
class Deflation:
    """Two blocks of rows: from the first to the second number of `block`, from there to the third.

    Row `diagonal` of `lines` has values; of `numbers`, the first of `changes` the elements by rows of the
    bases, the second those that are kept. Vectors of all `bases` are rotated alike.
    """

    lanes: Lanes
    lines: Matrix
    diagonal: int
    numbers: Matrix
    changes: tuple[int, int]
    integers: Matrix
    bases: tuple[Matrix, ...]
    compact: Matrix
    block: tuple[Number, Number, Number]

    def run(self, rho: Number, tolerance: Number | None = None, *, keeps_first: bool = False) -> Number:
        """Find what is kept of a change with this factor; how many poles.

        `tolerance`: what is negligible. `keeps_first`: the row of the least value is the first pole in any
        case, and its vectors are not zero in either block.
        """
        start, middle, end = self.block
        self._rank()
        with loop(start, end) as row:
            self._note(KINDS, row, choose(row < middle, index(FIRST), index(SECOND)))
        tolerance = self._tolerance() if tolerance is None else tolerance
        if keeps_first:
            least = self._noted(ORDER, start)
            self._note(KINDS, least, index(BOTH))
            self._keep(index(0), least)

        def look(n: Number, kept: Number, dropped: Number, pending: Number, has: Number) -> list[Number]:
            row = self._noted(ORDER, n)
            is_small = rho * magnitude(self.numbers[self.changes[0], row]) <= tolerance
            types = [kept.type] * 4

            def drop() -> list[Number]:
                self._note(DROPPED, start + dropped, row)
                return [kept, dropped + 1, pending, has]

            def compare() -> list[Number]:
                return branches(
                    has.equals(0),
                    types,
                    lambda: [kept, dropped, row, index(1)],
                    lambda: self._compare((pending, row), kept, dropped, tolerance),
                )

            return branches(is_small, types, drop, compare)

        zero, before = index(0), 1 if keeps_first else 0
        kept, _, pending, has = carried(start + before, end, [index(before), zero, zero, zero], look)

        def keep_last() -> list[Number]:
            self._keep(kept, pending)
            return [kept + 1]

        (kept,) = branches(has.equals(1), [kept.type], keep_last, lambda: [kept])
        self._arrange(kept)
        return kept

    @property
    def padded(self) -> Number:
        """The end of the columns that are used: whole panels."""
        panel = self.lanes.panel
        return (self.block[2] + (panel - 1)) // panel * panel

    def place(self, pole: Number) -> Number:
        """The row of a pole among vectors side by side."""
        return self._noted(PLACES, pole)

    def parts(self) -> tuple[tuple[Number, Number], tuple[Number, Number]]:
        """The rows of vectors side by side that are not zero in the first block, and in the second."""
        first, both, second = (self._noted(COUNTS, kind) for kind in range(3))
        return (index(0), first + both), (first, first + both + second)

    def gather(self, basis: Matrix, count: Number, others: Number) -> None:
        """Put vectors side by side: those that are kept, then so many others."""
        start = self.block[0]
        with loop(0, count) as pole:
            self._copy((basis, self._noted(KEPT, pole)), (self.compact, self.place(pole)))
        with loop(0, others) as n:
            self._copy((basis, self._noted(DROPPED, start + n)), (self.compact, count + n))

    def scatter(self, basis: Matrix, count: Number, others: Number) -> None:
        """Put the others behind what is kept."""
        with loop(count, count + others) as n:
            self._copy((self.compact, n), (basis, self.block[0] + n))

    def move_values(self, count: Number, others: Number) -> None:
        """Put the values of the others behind what is kept."""
        start = self.block[0]
        with loop(0, others) as n:
            self.numbers[self.changes[0], start + n] = self.lines[
                self.diagonal, self._noted(DROPPED, start + n)
            ]
        with loop(0, others) as n:
            self.lines[self.diagonal, start + count + n] = self.numbers[self.changes[0], start + n]

    def leave(self, count: Number, row: Number) -> None:
        """Count a row behind the block as the last one that is not kept: it stays where it is."""
        self._note(DROPPED, self.block[2] - count, row)

    def _copy(self, source: tuple[Matrix, Number], target: tuple[Matrix, Number]) -> None:
        (read, here), (written, there) = source, target
        with loop(self.block[0], self.padded, self.lanes.width) as place:
            written[there, place] = read.vector(self.lanes.width, here, place)

    def _note(self, row: int, place: Place, number: Number) -> None:
        self.integers[row, place] = number.as_integer(mlir.ir.IntegerType.get_signless(32))

    def _noted(self, row: int, place: Place) -> Number:
        return self.integers[row, place].as_index()

    def _rank(self) -> None:
        """The rows in the order of their values."""
        lanes, width, (start, _, end) = self.lanes, self.lanes.width, self.block
        integer = mlir.ir.IntegerType.get_signless(32)
        vector = mlir.ir.VectorType.get([width], integer)
        zeros, ones = (broadcast(constant(integer, n), vector) for n in (0, 1))
        with loop(start, end, width) as place:
            mine = self.lines.vector(width, self.diagonal, place)
            here = self.numbers.vector(width, POSITIONS, place)

            def count(other: Number, rank: Number) -> list[Number]:
                its = lanes.filled(self.lines[self.diagonal, other])
                there = lanes.filled(self.numbers[POSITIONS, other])
                is_before = (its < mine) | (its.equals(mine) & (there < here))
                return [rank + choose(is_before, ones, zeros)]

            (rank,) = carried(start, end, [zeros], count)
            self.integers[RANKS, place] = rank
        with loop(start, end) as row:
            self._note(ORDER, start + self._noted(RANKS, row), row)

    def _tolerance(self) -> Number:
        """What is negligible beside values and elements."""
        start, _, end = self.block

        def largest(row: Number, most: Number) -> list[Number]:
            for size in (
                magnitude(self.lines[self.diagonal, row]),
                magnitude(self.numbers[self.changes[0], row]),
            ):
                most = choose(size > most, size, most)
            return [most]

        (most,) = carried(start, end, [self.lanes.number(0.0)], largest)
        return most * (4.0 * float(np.finfo(self.lanes.dtype).eps))

    def _keep(self, kept: Number, row: Number) -> None:
        self._note(KEPT, kept, row)
        self.numbers[POLES, kept] = self.lines[self.diagonal, row]
        self.numbers[self.changes[1], kept] = self.numbers[self.changes[0], row]

    def _compare(
        self, rows: tuple[Number, Number], kept: Number, dropped: Number, tolerance: Number
    ) -> list[Number]:
        """Keep the first of two rows, or rotate its element away; the second one is pending then."""
        (one, other), changes, start = rows, self.changes[0], self.block[0]
        sine, cosine = self.numbers[changes, one], self.numbers[changes, other]
        length = root(sine * sine + cosine * cosine)
        gap = self.lines[self.diagonal, other] - self.lines[self.diagonal, one]
        cosine, sine = cosine / length, -sine / length
        is_close = magnitude(gap * cosine * sine) <= tolerance

        def deflate() -> list[Number]:
            self._rotate(rows, (cosine, sine), length)
            self._note(DROPPED, start + dropped, one)
            return [kept, dropped + 1, other, index(1)]

        def keep() -> list[Number]:
            self._keep(kept, one)
            return [kept + 1, dropped, other, index(1)]

        return branches(is_close, [kept.type] * 4, deflate, keep)

    def _rotate(self, rows: tuple[Number, Number], rotation: tuple[Number, Number], length: Number) -> None:
        """Rotate the element of the first row into that of the second."""
        (one, other), (cosine, sine), start = rows, rotation, self.block[0]
        self.numbers[self.changes[0], other] = length
        self.numbers[self.changes[0], one] = self.lanes.number(0.0)
        x, y = self.lines[self.diagonal, one], self.lines[self.diagonal, other]
        self.lines[self.diagonal, one] = x * cosine * cosine + y * sine * sine
        self.lines[self.diagonal, other] = x * sine * sine + y * cosine * cosine
        for basis in self.bases:
            rotate(self.lanes, basis, rows, rotation, (start, self.padded))
        mine, its = self._noted(KINDS, one), self._noted(KINDS, other)
        with when(mine.differs(its)):
            for row in rows:
                self._note(KINDS, row, index(BOTH))

    def _arrange(self, count: Number) -> None:
        """The places of vectors by their kinds."""

        def add(pole: Number, *counts: Number) -> list[Number]:
            kind = self._noted(KINDS, self._noted(KEPT, pole))
            return [choose(kind.equals(n), so_far + 1, so_far) for n, so_far in enumerate(counts)]

        counts = carried(0, count, [index(0)] * 3, add)
        for kind, number in enumerate(counts):
            self._note(COUNTS, kind, number)

        def put(pole: Number, *places: Number) -> list[Number]:
            kind = self._noted(KINDS, self._noted(KEPT, pole))
            place = choose(kind.equals(FIRST), places[FIRST], choose(kind.equals(BOTH), *places[1:]))
            self._note(PLACES, pole, place)
            return [choose(kind.equals(n), so_far + 1, so_far) for n, so_far in enumerate(places)]

        carried(0, count, [index(0), counts[FIRST], counts[FIRST] + counts[BOTH]], put)

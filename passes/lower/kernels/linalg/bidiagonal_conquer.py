"""Singular values and vectors of bidiagonal matrices by dividing and conquering.

Input: the diagonals of an upper bidiagonal matrix in two rows of scratch. Output: its singular values, none
negative, in place of the diagonal, in any order, and both kinds of vectors as rows of bases.
Idea: without one row, a matrix is two blocks of one more column than rows each, and the vectors of both make
it a diagonal and one full row (Gu and Eisenstat 1995, A divide-and-conquer algorithm for the bidiagonal SVD;
LAPACK's bdsdc). Leaves are solved by the QR algorithm; pairs of blocks are merged, level by level, by the
roots of a secular equation in squares and by products with their vectors. What is negligible beside the
largest element is dropped. Columns of blocks begin at whole panels; the last column of a block, and the row
of that number, lie between it and the next one. The last block has no such column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, branches, carried, choose, index, loop, when
from .bidiagonal_qr import BidiagonalValues, largest_of, poison_of, rotation
from .conquer import Blocks, begin, conquer_sizes
from .deflation import Deflation, rotate
from .packed import Packed
from .rank_one import Vectors
from .secular import LINES as SECULAR_LINES
from .secular import POLES, POSITIONS, ROOTS, WEIGHTS, Secular
from .vectors import Lanes, Matrix, root

OWN, BESIDE, CHANGES, KEPT_CHANGES, LENGTHS, OTHER_LENGTHS = range(SECULAR_LINES, SECULAR_LINES + 6)
"""Rows of `numbers` beside those of secular equations: both elements of a row between blocks, full rows."""
LINES: Final = SECULAR_LINES + 6
"""Rows of `numbers`."""


def divided_sizes(lanes: Lanes, size: Place) -> list[tuple[Place, Place]]:
    """Rows and columns of the scratch: distances, vectors side by side, numbers, strips and panels."""
    return conquer_sizes(lanes, size, LINES)


@dataclass(frozen=True, slots=True)
class BidiagonalConquer:
    """A matrix: row `diagonal` of `lines`, and row `beside` with what is right of the place before.

    Rows of `right` and `left` become vectors.
    """

    lanes: Lanes
    size: Place
    lines: Matrix
    diagonal: int
    beside: int
    right: Matrix
    left: Matrix
    distances: Matrix
    compact: Matrix
    numbers: Matrix
    strips: Matrix
    panels: Matrix
    integers: Matrix

    def solve(self) -> Number:
        """Solve leaves, then merge; zero, or NaN if there is no answer."""
        lines, rows = self.lines, (self.diagonal, self.beside)
        poison = poison_of(self.lanes, lines, rows, self.size)
        with when(poison.differs(0.0)), loop(0, self.size) as place:
            for row in rows:
                lines[row, place] = self.lanes.number(0.0)
        largest = largest_of(self.lanes, lines, rows, self.size)
        begin(self.lanes, self.size, self._bases, self.numbers, self.integers)
        blocks = Blocks(self.lanes, self.size + 1)
        poison = poison + self._solve_leaves(blocks, largest)
        tolerance = largest * (4.0 * float(np.finfo(self.lanes.dtype).eps))
        blocks.merge_all(lambda start, middle, end: self._merge((start, middle, end), tolerance))
        return poison

    @property
    def _bases(self) -> tuple[Matrix, Matrix]:
        return self.right, self.left

    def _solve_leaves(self, blocks: Blocks, largest: Number) -> Number:
        """Cut the matrix into blocks, and solve each; zero, or NaN if there is no answer."""
        lines, count = self.lines, blocks.count
        with loop(1, count) as block:
            middle = blocks.bound(block, count)
            self.numbers[OWN, middle - 1] = lines[self.diagonal, middle - 1]
            self.numbers[BESIDE, middle - 1] = lines[self.beside, middle]

        def solve(block: Number, poison: Number) -> list[Number]:
            start, last = blocks.bound(block, count), blocks.bound(block + 1, count) - 1
            padded = (last + self.lanes.panel) // self.lanes.panel * self.lanes.panel
            columns = start, padded.least(index(self.lanes.padded(self.size)))
            with when(last < self.size):
                self._make_square(start, last, columns)
            leaf = BidiagonalValues(
                self.lanes, last - start, replace(lines, first=start), self.diagonal, self.beside,
                AtOnce(self.lanes, self._bases, start, columns),
            )  # fmt: skip
            poison = poison + leaf.solve(largest)
            with loop(start, last) as row, when(lines[self.diagonal, row] < 0.0):
                lines[self.diagonal, row] = -lines[self.diagonal, row]
                with loop(*columns, self.lanes.width) as place:
                    self.right[row, place] = -self.right.vector(self.lanes.width, row, place)
            return [poison]

        return carried(0, count, [self.lanes.number(0.0)], solve)[0]

    def _make_square(self, start: Number, last: Number, columns: tuple[Number, Number]) -> None:
        """Rotate the last column of a block into those before, from the last one to the first."""
        lines = self.lines

        def fold(done: Number, bulge: Number) -> list[Number]:
            row = last - 1 - done
            cosine, sine, length = rotation(self.lanes, lines[self.diagonal, row], bulge)
            lines[self.diagonal, row] = length
            beside = lines[self.beside, row]
            lines[self.beside, row] = cosine * beside
            rotate(self.lanes, self.right, (row, last), (cosine, sine), columns)
            return [-(sine * beside)]

        carried(0, last - start, [lines[self.beside, last]], fold)

    def _merge(self, block: tuple[Number, Number, Number], tolerance: Number) -> None:
        """Merge two blocks that are solved, of these columns, and the row between them."""
        lanes, numbers, lines = self.lanes, self.numbers, self.lines
        start, middle, end = block
        between, last = middle - 1, end - 1
        own, beside = numbers[OWN, between], numbers[BESIDE, between]
        with loop(start, between) as row:
            numbers[CHANGES, row] = own * self.right[row, between]
        with loop(middle, last) as row:
            numbers[CHANGES, row] = beside * self.right[row, middle]
        is_within = end <= self.size
        columns = start, (last + (lanes.panel - 1)) // lanes.panel * lanes.panel
        length = self._rotate_last((between, last), (own, beside), columns, is_within)
        is_small = length <= tolerance
        numbers[CHANGES, between] = choose(is_small, tolerance, length)
        lines[self.diagonal, between] = lanes.number(-1.0)
        deflation = Deflation(
            lanes, lines, self.diagonal, numbers, (CHANGES, KEPT_CHANGES), self.integers, self._bases,
            self.compact, (start, middle, last),
        )  # fmt: skip
        count = deflation.run(lanes.number(1.0), tolerance, keeps_first=True)
        with when(count.equals(1)):
            lines[self.diagonal, between] = length
        with when(count > 1):
            self._of_kept(deflation, count, tolerance * 0.5, is_within)

    def _rotate_last(
        self,
        rows: tuple[Number, Number],
        elements: tuple[Number, Number],
        columns: tuple[Number, Number],
        is_within: Number,
    ) -> Number:
        """Rotate the right vectors of both blocks' last columns, of which one element of a full row is left.

        That element, not negative. The last block has no such vector.
        """
        (between, last), (own, beside), lanes = rows, elements, self.lanes
        mine = own * self.right[between, between]

        def both() -> list[Number]:
            its = beside * self.right[last, between + 1]
            cosine, sine, length = rotation(lanes, mine, its)
            rotate(lanes, self.right, (between, last), (cosine, sine), columns)
            return [length]

        (length,) = branches(is_within, [mine.type], both, lambda: [mine])
        with when(length < 0.0), loop(*columns, lanes.width) as place:
            self.right[between, place] = -self.right.vector(lanes.width, between, place)
        return choose(length < 0.0, -length, length)

    def _of_kept(self, deflation: Deflation, count: Number, least: Number, is_within: Number) -> None:
        """The values and vectors of what is not deflated; poles but the first are `least` or more."""
        lanes, numbers = self.lanes, self.numbers
        numbers[POLES, 0] = lanes.number(0.0)
        with loop(1, count) as p:
            pole = numbers[POLES, p]
            numbers[POLES, p] = choose(pole < least, least, pole)

        def weigh(p: Number, so_far: Number) -> list[Number]:
            change = numbers[KEPT_CHANGES, p]
            weight = change * change
            numbers[WEIGHTS, p] = weight
            return [so_far + weight]

        (squares,) = carried(0, count, [lanes.number(0.0)], weigh)
        reach = root(squares)
        beyond = numbers[POLES, count - 1] + reach + 1.0
        with loop(0, 2 * lanes.panel) as n:
            numbers[POLES, count + n] = beyond + numbers[POSITIONS, n]
        equation = Secular(lanes, numbers, self.distances, deflation.place, count, reach, True)
        equation.solve()
        vectors = Vectors(equation, numbers, KEPT_CHANGES, LENGTHS)
        vectors.write()
        start, _, last = deflation.block
        others = last - start - count
        # A column between blocks that are merged later has vectors too, which whole tiles would overwrite.
        with when(is_within):
            deflation.leave(count, last)
        stay = choose(is_within, others + 1, others)
        self._multiply(deflation, self.right, count, stay)
        self._make_left(vectors, deflation.place(index(0)))
        self._multiply(deflation, self.left, count, stay)
        deflation.move_values(count, others)
        with loop(0, count) as p:
            self.lines[self.diagonal, start + p] = numbers[ROOTS, p]

    def _make_left(self, vectors: Vectors, first: Number) -> None:
        """Left vectors in place of right ones: these times poles, and -1 for the first pole."""
        lanes, numbers, matrix = self.lanes, self.numbers, self.distances
        width, equation = lanes.width, vectors.equation
        with loop(0, vectors.end, width) as place:
            element = -numbers.vector(width, LENGTHS, place)
            matrix[first, place] = element
            numbers[OTHER_LENGTHS, place] = element * element
        with loop(1, equation.count) as p:
            row, pole = equation.places(p), lanes.filled(numbers[POLES, p])
            with loop(0, vectors.end, width) as place:
                element = matrix.vector(width, row, place) * pole
                matrix[row, place] = element
                so_far = numbers.vector(width, OTHER_LENGTHS, place)
                numbers[OTHER_LENGTHS, place] = lanes.add_product(element, element, so_far)
        vectors.normalize(matrix, OTHER_LENGTHS, 0)

    def _multiply(self, deflation: Deflation, basis: Matrix, count: Number, stay: Number) -> None:
        """Vectors of a merged block by products; so many others come behind."""
        start, middle, _ = deflation.block
        packed = Packed(self.lanes, self.strips, self.panels)
        deflation.gather(basis, count, stay)
        target = (basis, start, count)
        upper, lower = deflation.parts()
        packed.product(target, (start, middle), upper, self.distances, self.compact)
        packed.product(target, (middle, deflation.padded), lower, self.distances, self.compact)
        deflation.scatter(basis, count, stay)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Rotations of rows of both bases, some columns, each as soon as it is known; rows begin at `start`."""

    lanes: Lanes
    bases: Sequence[Matrix]
    start: Number
    columns: tuple[Number, Number]

    def begin_sweep(self, sweep: Number) -> None:
        """Nothing is kept."""

    def keep(self, sweep: Number, row: Number, rotations: tuple[tuple[Number, Number], ...]) -> None:
        """Rotate a row and the next."""
        row = self.start + row
        for basis, rotation_ in zip(self.bases, rotations, strict=True):
            rotate(self.lanes, basis, (row, row + 1), rotation_, self.columns)

    def end_sweep(self, sweep: Number, first: Number, last: Number) -> Number:
        """The same sweep again."""
        return sweep

    def finish(self, count: Number) -> None:
        """Nothing is left."""

"""Products of large matrices in scratch, whose operands are packed into strips that caches hold.

Input: `left` with a column, and `right` with a row, for each step of the sums. Output: ``left^T right`` in
some rows and columns of another matrix.
Idea: so many steps at a time, `right` as panels of columns, each without gaps, and so many columns of `left`
as strips; a tile of the result stays in registers meanwhile (Goto and van de Geijn 2008, Anatomy of
high-performance matrix multiplication).
"""

from __future__ import annotations

from typing import Final

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, branches, carried, choose, index, loop
from .vectors import ROWS, Lanes, Matrix

DEPTH: Final = 256  # steps whose operands are packed
BLOCK: Final = 128  # rows of the result whose strips are packed


def tile_rows(lanes: Lanes) -> int:
    """How many rows a tile has: twice as many where there are twice as many registers."""
    return 2 * ROWS if lanes.width * lanes.dtype.itemsize == 64 else ROWS


def pack_sizes(lanes: Lanes, size: Place) -> list[tuple[Place, Place]]:
    """Rows and columns of the scratch `strips` and `panels` for results of so many columns."""
    rows = tile_rows(lanes)
    return [(BLOCK // rows * DEPTH, rows), (lanes.padded(size) // lanes.panel * DEPTH, lanes.panel)]


@dataclass(frozen=True, slots=True)
class Packed:
    """The scratch of products."""

    lanes: Lanes
    strips: Matrix
    panels: Matrix

    def product(
        self,
        target: tuple[Matrix, Place, Number],
        columns: tuple[Place, Place],
        steps: tuple[Place, Place],
        left: Matrix,
        right: Matrix,
    ) -> None:
        """Write ``sum of left[p, i] * right[p, j]`` for whole panels of columns `j` and whole tiles of rows.

        `target`: a matrix, the row for ``i = 0``, and how many rows, rounded up to a tile's.
        """
        (first, end), rows = steps, tile_rows(self.lanes)
        matrix, start, count = target
        count = (count + (rows - 1)) // rows * rows
        # Without any step the result is zeros.
        with loop(first, choose(index(end) > first, index(end), index(first) + 1), DEPTH) as step:
            depth = (index(end) - step).least(index(DEPTH))
            is_first = step.equals(first)
            with loop(*columns, self.lanes.panel) as column:
                self._pack_right(right, (step, depth), column, self._strip(columns, column))
            with loop(0, count, BLOCK) as block:
                last = (block + BLOCK).least(count)
                with loop(block, last, rows) as row, loop(0, depth) as p:
                    place = (row - block) // rows * DEPTH + p
                    self.strips[place, 0] = left.vector(rows, step + p, row)
                with loop(*columns, self.lanes.panel) as column, loop(block, last, rows) as row:
                    strips = (row - block) // rows * DEPTH, self._strip(columns, column)
                    self._tile(matrix, (index(start) + row, column), strips, depth, is_first)

    def _strip(self, columns: tuple[Place, Place], column: Number) -> Number:
        return (column - columns[0]) // self.lanes.panel * DEPTH

    def _pack_right(self, right: Matrix, steps: tuple[Number, Number], column: Number, place: Number) -> None:
        width = self.lanes.width
        step, depth = steps
        with loop(0, depth) as p:
            for offset in range(0, self.lanes.panel, width):
                self.panels[place + p, offset] = right.vector(width, step + p, column + offset)

    def _tile(
        self,
        matrix: Matrix,
        place: tuple[Number, Number],
        strips: tuple[Number, Number],
        depth: Number,
        is_first: Number,
    ) -> None:
        """Add the products of some steps to a tile, or write them where they are the first."""
        lanes, width, rows = self.lanes, self.lanes.width, tile_rows(self.lanes)
        (row, column), (strip, panel) = place, strips
        places = [(r, offset) for r in range(rows) for offset in range(0, lanes.panel, width)]

        def add(p: Number, *sums: Number) -> list[Number]:
            vectors = {o: self.panels.vector(width, panel + p, o) for o in range(0, lanes.panel, width)}
            factors = [self.strips[strip + p, r] for r in range(rows)]
            return [
                lanes.add_product(factors[r], vectors[offset], so_far)
                for (r, offset), so_far in zip(places, sums, strict=True)
            ]

        start = branches(
            is_first,
            [lanes.vector] * len(places),
            lambda: [lanes.filled(0.0)] * len(places),
            lambda: [matrix.vector(width, row + r, column + offset) for r, offset in places],
        )
        for (r, offset), vector in zip(places, carried(0, depth, start, add), strict=True):
            matrix[row + r, column + offset] = vector

"""The register tile: four rows and a panel of columns, from which products of other rows are taken off.

Input: matrices in memory. Output: code that keeps a tile in registers for all steps of a sum of products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..builder import Number, Place, carried, index, loop
from .vectors import ROWS, Lanes, Matrix

Scalar = Callable[[Place, int], Number]
"""The factor of row `r` of a tile in step `p`."""
Rows = list[list[Number]]


@dataclass(frozen=True, slots=True)
class Tile:
    """`count` rows from `row` on, a panel of columns from `column` on, of a matrix."""

    lanes: Lanes
    matrix: Matrix
    row: Place
    column: Place
    count: int = ROWS

    def load(self) -> Rows:
        """The vectors of each row."""
        return [[self._vector(r, q) for q in self._offsets()] for r in range(self.count)]

    def store(self, rows: Sequence[Sequence[Number]]) -> None:
        """Write the vectors of each row."""
        for r, vectors in enumerate(rows):
            for q, vector in zip(self._offsets(), vectors, strict=True):
                self.matrix[index(self.row) + r, index(self.column) + q] = vector

    def less_products(self, steps: tuple[Place, Place], scalar: Scalar, right: Matrix, rows: Rows) -> Rows:
        """`rows` without the sum over the steps `p` of ``scalar(p, r) * right[p, column...]``."""
        lanes, width = self.lanes, self.lanes.panel // self.lanes.width

        def step(p: Number, *parts: Number) -> list[Number]:
            sums = lanes.joined(parts)
            vectors = [right.vector(lanes.width, p, index(self.column) + q) for q in self._offsets()]
            factors = [scalar(p, r) for r in range(self.count)]
            less = [
                lanes.sub_product(factors[n // width], vectors[n % width], total)
                for n, total in enumerate(sums)
            ]
            return lanes.flat(less)

        sums = lanes.joined(carried(*steps, lanes.flat([vector for row in rows for vector in row]), step))
        return [sums[r * width : (r + 1) * width] for r in range(self.count)]

    def _offsets(self) -> range:
        return range(0, self.lanes.panel, self.lanes.width)

    def _vector(self, r: int, q: int) -> Number:
        return self.matrix.vector(self.lanes.width, index(self.row) + r, index(self.column) + q)


def take_products(
    lanes: Lanes,
    matrix: Matrix,
    rows: tuple[Place, Place],
    columns: tuple[Place, Place],
    steps: tuple[Place, Place],
    scalar: Callable[[Place, Number], Number],
    right: Matrix | None = None,
) -> None:
    """Take ``sum of scalar(p, i) * right[p, j]`` off rows `i` of a matrix and columns `j`, whole tiles.

    `right` is the matrix itself if it is not given.
    """
    right = matrix if right is None else right
    with loop(*columns, lanes.panel) as column, loop(*rows, ROWS) as row:
        tile = Tile(lanes, matrix, row, column)
        start = tile.load()
        tile.store(tile.less_products(steps, lambda p, r: scalar(p, row + r), right, start))

"""The register tile: four rows and a panel of columns, from which products of other rows are taken off.

Input: matrices in memory. Output: code that keeps a tile in registers for all steps of a sum of products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....dialects.dataclass import dataclass
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

    `right` is the matrix itself if it is not given. Columns are the inner loop: neighbours along a row are
    loaded ahead, and rows lie on pages of their own (`lu` of order 1000, AVX-512: 11.8 -> 9.6 ms).
    """
    right = matrix if right is None else right
    first, end = index(rows[0]), index(rows[1])
    several, few = rows_at_once(lanes)

    def taken(row: Number, count: int) -> None:
        with loop(*columns, lanes.panel) as column:
            tile = Tile(lanes, matrix, row, column, count)
            start = tile.load()
            tile.store(tile.less_products(steps, lambda p, r: scalar(p, row + r), right, start))

    whole = first + (end - first) // several * several
    with loop(first, whole, several) as row:
        taken(row, several)
    with loop(whole, end, few) as row:
        taken(row, few)


def rows_at_once(lanes: Lanes) -> tuple[int, int]:
    """How many rows of a panel of columns registers hold, and how many are done at once of those left.

    Measured (Intel Xeon), `lu` of order 1000, four rows and these: AVX2 11.2 -> 9.6 ms, AVX-512 9.6 -> 7.8.
    """
    if lanes.parts == 1 and lanes.width * lanes.dtype.itemsize == 64:
        return 2 * ROWS, ROWS
    if lanes.parts == 1 and lanes.width * lanes.dtype.itemsize == 32:
        return ROWS + 2, 2
    return ROWS, ROWS

"""Hermitian matrices made tridiagonal by Householder reflections from both sides, in panels.

Input: a matrix in scratch, its columns as rows, padded by zeros. Output: its diagonals, which are real; the
vectors of the reflections are in its rows.
Idea: within a panel the matrix stays as it was, and what the reflections take off it is a product of few
long vectors (LAPACK's latrd). Only the diagonal's panels and what is right of them is used, each element
there for the product with its row and for that with its column.
"""

from __future__ import annotations

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, index, loop, when
from .pending import Pending, panel_of, summed
from .reflections import Reflections
from .tiles import Tile
from .vectors import ROWS, Lanes, Matrix

DIAGONAL, BESIDE, SUMS, FACTORS = range(4)
"""Rows of `lines`: the diagonals, of which only real parts are used, and what a step computes."""
LINES = 4


@dataclass(frozen=True, slots=True)
class Reduction:
    """The reduction of one matrix, in the reflections' `work`.

    Rows of `pairs` are vectors `v` and `w` in turn whose products ``v w^H + w v^H`` are still to be taken
    off. `diagonals` are the real parts of `lines`.
    """

    lanes: Lanes
    size: Place
    reflections: Reflections
    lines: Matrix
    diagonals: Matrix
    pairs: Matrix

    @property
    def _pending(self) -> Pending:
        return Pending(self.lanes, self.lanes.padded(self.size))

    def reduce(self) -> None:
        """Reflect all rows; the diagonals are in `lines` then."""
        panel = panel_of(self.lanes)
        with loop(0, self.size, panel) as first:
            end = (first + panel).least(index(self.size))
            with loop(first, end) as row:
                self._step(row, (row - first) * 2)
            with when(end < self.size):
                self._update(end)

    def _update(self, end: Number) -> None:
        """Take the products of a whole panel off the rows and columns after it."""
        lanes, work = self.lanes, self.reflections.work
        steps = index(0), index(2 * panel_of(lanes))

        def rows(column: Number) -> None:
            with loop(end, column + lanes.panel, ROWS) as row:
                tile = Tile(lanes, work, row, column)
                tile.store(
                    tile.less_products(steps, lambda p, r: self._other(p, row + r), self.pairs, tile.load())
                )

        with loop(end, lanes.padded(self.size), lanes.panel) as column:
            rows(column)

    def _other(self, pair: Place, place: Number) -> Number:
        """The factor of a vector of `pairs` in the row of a place."""
        return self.lanes.conjugate(self.pairs[index(pair) ^ 1, place])

    def _step(self, row: Number, pending: Number) -> None:
        """Reflect what follows the diagonal in a row; so many products are pending."""
        lanes, width, work = self.lanes, self.lanes.width, self.reflections.work
        end = lanes.padded(self.size)
        start = row // lanes.panel * lanes.panel
        with loop(start, end, lanes.panel) as place:
            taken = self._pending.combined(self.pairs, pending, place, [lambda p: self._other(p, row)])[0]
            for offset, its in zip(self._pending.offsets, taken, strict=True):
                work[row, place + offset] = work.vector(width, row, place + offset) - its
        self.diagonals[DIAGONAL, row] = lanes.real(work[row, row])
        with when(row + 1 < self.size):
            tau = self.reflections.reflection(row, row + 1)
            self.reflections.factors[row, row % lanes.panel] = tau
            self.diagonals[BESIDE, row] = lanes.real(work[row, row + 1])
            self._reflect(row, pending, start, tau)

    def _reflect(self, row: Number, pending: Number, start: Number, tau: Number) -> None:
        """The vector `v` of a reflection, and `w`, with which it is taken off."""
        lanes, width, lines, pairs = self.lanes, self.lanes.width, self.lines, self.pairs
        end, after = lanes.padded(self.size), pending + 1
        self._pending.copy(self.reflections.work, row, row + 1, pairs, pending, start)
        self._pending.products(pairs, pending, (pairs, pending), start, (lines, FACTORS))
        with loop(start, end, width) as place:
            lines[SUMS, place] = lanes.filled(0.0)
        with loop((row + 1) // ROWS * ROWS, end, ROWS) as first:
            self._rows(first, pending)

        def finish(place: Number, *inner: Number) -> list[Number]:
            taken = self._pending.combined(
                pairs, pending, place, [lambda p: lanes.conjugate(lines[FACTORS, p ^ 1])]
            )[0]
            following = []
            for n, (offset, its) in enumerate(zip(self._pending.offsets, taken, strict=True)):
                change = (lines.vector(width, SUMS, place + offset) - its) * tau
                pairs[after, place + offset] = change
                vector = pairs.vector(width, pending, place + offset)
                following.append(lanes.add_product(vector, lanes.conjugate(change), inner[n]))
            return following

        zeros = [lanes.filled(0.0)] * len(self._pending.offsets)
        inner = lanes.carried(start, end, zeros, finish, lanes.panel)
        half = tau * lanes.total(summed(inner)) * 0.5
        with loop(start, end, width) as place:
            vector, change = pairs.vector(width, pending, place), pairs.vector(width, after, place)
            pairs[after, place] = lanes.sub_product(half, vector, change)
        with loop(start, row + 1) as place:
            pairs[after, place] = lanes.number(0.0)

    def _rows(self, first: Number, pending: Number) -> None:
        """Some rows' products with the vector, and what they add to the products of later rows."""
        lanes, width, lines, work = self.lanes, self.lanes.width, self.lines, self.reflections.work
        diagonal = first // lanes.panel * lanes.panel
        mine = [self.pairs[pending, first + r] for r in range(ROWS)]

        def beside(place: Number, *sums: Number) -> list[Number]:
            vector = self.pairs.vector(width, pending, place)
            rows = [lanes.conjugate(work.vector(width, first + r, place)) for r in range(ROWS)]
            return [lanes.add_product(vector, row, sums[r]) for r, row in enumerate(rows)]

        def beyond(place: Number, *sums: Number) -> list[Number]:
            vector, so_far = self.pairs.vector(width, pending, place), lines.vector(width, SUMS, place)
            following = []
            for r in range(ROWS):
                row = work.vector(width, first + r, place)
                following.append(lanes.add_product(vector, lanes.conjugate(row), sums[r]))
                so_far = lanes.add_product(mine[r], row, so_far)
            lines[SUMS, place] = so_far
            return following

        sums = lanes.carried(diagonal, diagonal + lanes.panel, [lanes.filled(0.0)] * ROWS, beside, width)
        sums = lanes.carried(diagonal + lanes.panel, lanes.padded(self.size), sums, beyond, width)
        for r, product in enumerate(sums):
            lines[SUMS, first + r] = lines[SUMS, first + r] + lanes.total(product)

"""Square matrices made bidiagonal by Householder reflections from both sides, in panels.

Input: a matrix `w` in scratch, padded by zeros. Output: ``w = p l q^T`` with `l` real, lower bidiagonal; the
vectors of `q`'s reflections are in the rows of `w`, those of `p`'s in the rows of another matrix.
Idea: within a panel the matrix stays as it was, and what the reflections take off it is a product of few
long vectors (LAPACK's labrd). Both products of a step with the matrix, ``x = w v*`` and ``u^H w``, take one
pass over its rows: `u` is a column less a multiple of a unit vector, and each of its elements is known as
soon as that of `x` is (Howell, Demmel, Fulton, Hammarling and Marmol 2008, Cache efficient bidiagonalization
using BLAS 2.5 operators).
"""

from __future__ import annotations

from typing import Final

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, choose, index, loop, when
from .pending import Pending, panel_of, summed
from .reflections import Reflections
from .tiles import take_products
from .vectors import ROWS, Lanes, Matrix

DIAGONAL, BESIDE, SHARES, TAKEN, SUMS, FACTORS = range(6)
"""Rows of `lines`: `l`'s diagonals, `BESIDE` one place later than its column, and what a step computes."""
LINES: Final = 6
NEGLIGIBLE: Final = {4: 1e-30, 8: 1e-290}  # beside 1, by the bytes of a float: their products lose digits


@dataclass(frozen=True, slots=True)
class Bidiagonal:
    """The reduction of one matrix, in `across.work`; `down.work` gets the vectors of columns.

    Rows of `left` and `right` are the vectors whose products ``left[p] right[p]^T`` are still to be taken
    off: pairs of ``x, v`` and ``u, y``. `diagonals` are the real parts of `lines`.
    """

    lanes: Lanes
    size: Place
    across: Reflections
    down: Reflections
    lines: Matrix
    diagonals: Matrix
    left: Matrix
    right: Matrix

    @property
    def matrix(self) -> Matrix:
        """The matrix that is reduced."""
        return self.across.work

    @property
    def _pending(self) -> Pending:
        return Pending(self.lanes, self.end)

    @property
    def end(self) -> Place:
        """The length of vectors that are used."""
        return self.lanes.padded(self.size + ROWS)

    def reduce(self) -> None:
        """Reflect all rows and columns; the diagonals are in `lines` then."""
        panel = panel_of(self.lanes)
        with loop(0, self.size, panel) as first:
            end = (first + panel).least(index(self.size))
            with loop(first, end) as row:
                self._step(row, (row - first) * 2)
            with when(end < self.size):
                take_products(
                    self.lanes,
                    self.matrix,
                    (end, index(self.size)),
                    (end, index(self.lanes.padded(self.size))),
                    (0, 2 * panel),
                    lambda p, i: self.left[p, i],
                    self.right,
                )

    def _step(self, row: Number, pending: Number) -> None:
        """Reflect a row, and the column below its first element; so many products are pending."""
        lanes, width = self.lanes, self.lanes.width
        start = row // lanes.panel * lanes.panel
        with loop(start, self.end, lanes.panel) as place:
            sums = self._pending.combined(self.right, pending, place, [lambda p: self.left[p, row]])[0]
            for offset, taken in zip(self._pending.offsets, sums, strict=True):
                at = place + offset
                self.matrix[row, at] = self.matrix.vector(width, row, at) - taken
        tau = self.across.reflection(row, row)
        self.across.factors[row, row % lanes.panel] = tau
        self.diagonals[DIAGONAL, row] = lanes.real(self.matrix[row, row])
        self._pending.copy(self.across.work, row, row, self.right, pending, start)
        with when(row + 1 < self.size):
            self._reflect_column(row, pending, start, tau)

    def _reflect_column(self, row: Number, pending: Number, start: Number, tau: Number) -> None:
        lanes, width = self.lanes, self.lanes.width
        self._pending.products(self.right, pending, (self.right, pending), start, (self.lines, FACTORS))
        with loop((row + 1) // lanes.panel * lanes.panel, self.end, lanes.panel) as place:
            shares, taken = self._pending.combined(
                self.left,
                pending,
                place,
                [lambda p: self.lines[FACTORS, p], lambda p: self.right[p, row]],
            )
            for n, offset in enumerate(self._pending.offsets):
                self.lines[SHARES, place + offset] = shares[n] * lanes.conjugate(tau)
                self.lines[TAKEN, place + offset] = taken[n]
        with loop(start, self.end, width) as place:
            self.lines[SUMS, place] = self.left[pending, place] = lanes.filled(0.0)
        with loop(start, row + 1) as place:
            self.down.work[row, place] = lanes.number(0.0)
        with loop(row + 1, self.size, ROWS) as first:
            self._pass(row, first, pending, start, tau)
        pi = self.down.reflection(row, row + 1)
        self.down.factors[row, row % lanes.panel] = pi
        target = lanes.real(self.down.work[row, row + 1])
        self.diagonals[BESIDE, row + 1] = target
        after = pending + 1
        self._pending.copy(self.down.work, row, row + 1, self.left, after, start)
        self._pending.products(self.left, after, (self.left, after), start, (self.lines, FACTORS))
        # The factor by the head less the target, which `u` was divided by: both have that difference.
        zero = lanes.reals.number(0.0)
        share = choose(lanes.real(pi).equals(0.0), zero, -1.0 / target)
        with loop(start, self.end, lanes.panel) as place:
            taken = self._pending.combined(self.right, after, place, [lambda p: self.lines[FACTORS, p]])[0]
            for offset, its in zip(self._pending.offsets, taken, strict=True):
                at = place + offset
                sums = self.lines.vector(width, SUMS, at)
                below = self.matrix.vector(width, row + 1, at)
                along = lanes.sub_product(lanes.of_real(target), below, sums)
                self.right[after, at] = along * share - its * lanes.conjugate(pi)
        with loop(start, row + 1) as place:
            self.right[after, place] = lanes.number(0.0)

    def _pass(self, row: Number, first: Number, pending: Number, start: Number, tau: Number) -> None:
        """What some rows have to do with both products: their `x`, their part of the column and of sums."""
        lanes, width, matrix = self.lanes, self.lanes.width, self.matrix
        offsets = self._pending.offsets

        def add(place: Number, *sums: Number) -> list[Number]:
            vectors = [
                lanes.conjugate(self.right.vector(width, pending, place + offset)) for offset in offsets
            ]
            return [
                lanes.add_product(
                    matrix.vector(width, first + r, place + offset), vector, sums[r * len(offsets) + n]
                )
                for r in range(ROWS)
                for n, (offset, vector) in enumerate(zip(offsets, vectors, strict=True))
            ]

        padded = lanes.padded(self.size)
        sums = lanes.carried(start, padded, [lanes.filled(0.0)] * (ROWS * len(offsets)), add, lanes.panel)
        column = []
        for r in range(ROWS):
            mine = sums[r * len(offsets) : (r + 1) * len(offsets)]
            product = lanes.total(summed(mine)) * lanes.conjugate(tau) - self.lines[SHARES, first + r]
            self.left[pending, first + r] = product
            value = matrix[first + r, row] - self.lines[TAKEN, first + r] - product
            is_negligible = lanes.largest_part(value) < NEGLIGIBLE[lanes.dtype.itemsize]
            column.append(lanes.choose(is_negligible, lanes.number(0.0), value))
            self.down.work[row, first + r] = column[r]
        with loop(start, padded, width) as place:
            vector = self.lines.vector(width, SUMS, place)
            for r, factor in enumerate(map(lanes.conjugate, column)):
                vector = lanes.add_product(factor, matrix.vector(width, first + r, place), vector)
            self.lines[SUMS, place] = vector

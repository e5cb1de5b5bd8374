"""Cholesky factors by one kernel: a workgroup factors every so many matrices, in a padded copy of each.

Input: Hermitian matrices `[..., n, n]`, real or complex, of which the upper triangle is used. Output: the
lower factors; NaN in the lower triangle of a matrix that is not positive definite.
Idea: ``u^H u = a`` by four rows at a time (left-looking: all earlier rows are taken off first, in register
tiles), in blocks of `BLOCK` rows for large matrices, so that the rows that are taken off stay in the cache
(Golub and Van Loan, section 4.2.6). The padding is an identity. At the end blocks of `u` are transposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, carried, choose, constant, index, least, loop
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .matrices import each_matrix, known, own_sizes, scratch, workgroups
from .tiles import Rows, Tile, take_products
from .vectors import ROWS, Lanes, Machine, Matrix, lead_of, load, pieces, root

ONE_BLOCK: Final = 128  # rows of a matrix that are one block
BLOCK: Final = 32


def cholesky(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
    """The kernel of a routine: matrices to their lower factors."""
    (type_,) = types
    _, size = own_sizes(results[0])
    lanes = lanes_for(machine, type_.dtype, max(known(size), ROWS))
    count = workgroups(batch)
    copies = scratch(count, lanes.padded(size), lanes.stride(size), lanes)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        source, factor, copy = Array(operands[0]), Array(written[0]), Array(written[1])
        size = source.size(type_.rank - 2)

        def one(number: Number, mine: Number) -> None:
            lead = lead_of(source, number, 2)
            work = _Factor(lanes, size, lanes.kept(Matrix(copy, (mine,))))
            work.take(lanes.stored(Matrix(source, lead)))
            work.give(lanes.stored(Matrix(factor, lead)), work.factored())

        each_matrix(source, 2, one)

    return Kernel("cholesky", (results[0], copies), emit, (machine,), (count,), has_parts=lanes.parts > 1)


@dataclass(frozen=True, slots=True)
class _Factor:
    """The factorization of one matrix in `work`, a padded copy."""

    lanes: Lanes
    size: Place
    work: Matrix

    @property
    def padded(self) -> Place:
        """How many rows the copy has."""
        return self.lanes.padded(self.size)

    def take(self, matrix: Matrix) -> None:
        """Copy the upper triangle, padded by an identity."""
        lanes, size, padded = self.lanes, self.size, self.padded
        width = lanes.width
        whole = size // width * width
        # Tiles with the diagonal use what is left of it, whatever it is.
        is_one = isinstance(padded, int) and padded <= ONE_BLOCK
        block = lanes.panel if is_one else max(BLOCK, lanes.panel)
        with loop(0, size) as row:
            with loop(row // block * block, whole, width) as column:
                self.work[row, column] = matrix.vector(width, row, column)
            if isinstance(size, Number):
                with loop(whole, size) as column:
                    self.work[row, column] = matrix[row, column]
            else:
                for offset, piece in pieces(size % width, width):
                    self.work[row, whole + offset] = load(matrix, piece, row, whole + offset)
            self._pad(row, size, padded)
        with loop(size, padded) as row:
            self._pad(row, size // block * block, padded)
            self.work[row, row] = lanes.number(1.0)

    def _pad(self, row: Number, first: Place, end: Place) -> None:
        zero = self.lanes.number(0.0)
        with loop(first, end) as column:
            self.work[row, column] = zero

    def factored(self) -> Number:
        """Factor the copy; whether the matrix is positive definite."""
        padded = self.padded
        yes = constant(mlir.ir.IntegerType.get_signless(1), 1)
        if isinstance(padded, int) and padded <= ONE_BLOCK:
            return self._block(index(0), index(padded), yes)
        rows: Place = BLOCK
        if isinstance(padded, Number):
            rows = choose(padded <= ONE_BLOCK, index(ONE_BLOCK), BLOCK)

        def block(first: Number, is_definite: Number) -> list[Number]:
            end = (first + rows).least(index(padded))
            with loop(0, first, 2 * BLOCK) as start:
                steps = start, (start + 2 * BLOCK).least(first)
                take_products(self.lanes, self.work, (first, end), (first, padded), steps, self._factor)
            return [self._block(first, end, is_definite)]

        (is_definite,) = carried(0, padded, [yes], block, rows)
        return is_definite

    def _block(self, first: Number, end: Number, is_definite: Number) -> Number:
        """Factor the rows of a block, from which all rows before it have been taken off."""

        def group(row: Number, so_far: Number) -> list[Number]:
            panel = self.lanes.panel
            start = row // panel * panel
            factors, inverses, so_far = self._diagonal(first, row, start, so_far)
            with loop(start + panel, self.padded, panel) as column:
                tile = Tile(self.lanes, self.work, row, column)
                tile.store(_solved(self.lanes, self._left(first, row, tile), factors, inverses))
            return [so_far]

        (is_definite,) = carried(first, end, [is_definite], group, ROWS)
        return is_definite

    def _left(self, first: Number, row: Number, tile: Tile) -> Rows:
        """A tile without the rows of the block before it."""
        return tile.less_products((first, row), lambda p, r: self._factor(p, row + r), self.work, tile.load())

    def _factor(self, row: Place, column: Place) -> Number:
        """The conjugate of an element of ``u``."""
        return self.lanes.conjugate(self.work[row, column])

    def _diagonal(
        self, first: Number, row: Number, start: Number, so_far: Number
    ) -> tuple[list[list[Number]], list[Number], Number]:
        """Factor the panel with the diagonal: its factors above the diagonal, and one by those on it."""
        tile = Tile(self.lanes, self.work, row, start)
        rows = self._left(first, row, tile)
        factors: list[list[Number]] = []
        inverses: list[Number] = []
        for r in range(ROWS):
            for q in range(r):
                rows[r] = _less(self.lanes, factors[q][r - q - 1], rows[q], rows[r])
            one_row = Tile(self.lanes, self.work, row + r, start, 1)
            one_row.store([rows[r]])
            pivot = self.lanes.real(self.work[row + r, row + r])
            so_far = so_far & (pivot > 0.0)
            length = root(pivot)
            inverse = 1.0 / length
            rows[r] = [vector * inverse for vector in rows[r]]
            one_row.store([rows[r]])
            self.work[row + r, row + r] = self.lanes.of_real(length)
            inverses.append(inverse)
            factors.append([self._factor(row + r, row + t) for t in range(r + 1, ROWS)])
        return factors, inverses, so_far

    def give(self, target: Matrix, is_definite: Number) -> None:
        """Write the lower factor, or NaN in its place."""
        self._transpose()
        lanes, size, width = self.lanes, self.size, self.lanes.width
        whole = size // width * width
        zero, nan = lanes.number(0.0), lanes.number(float("nan"))
        with loop(0, size) as row:
            end = row // width * width + width
            with loop(0, least(end, whole), width) as column:
                target[row, column] = lanes.choose(
                    is_definite, self.work.vector(width, row, column), lanes.filled(nan)
                )
            with loop(end, whole, width) as column:
                target[row, column] = lanes.filled(zero)
            with loop(whole, size) as column:
                number = lanes.choose(is_definite, self.work[row, column], nan)
                target[row, column] = lanes.choose(column <= row, number, zero)
            with loop(choose(is_definite, index(whole), row + 1), least(end, whole)) as column:
                target[row, column] = zero  # the vector across the diagonal was NaN

    def _transpose(self) -> None:
        """Put the factor's transpose below the diagonal, and zeros beside it within its blocks."""
        width = self.lanes.width
        with loop(0, self.padded, width) as row:
            with loop(0, row, width) as column:
                block = [self.work.vector(width, column + r, row) for r in range(width)]
                for r, vector in enumerate(self.lanes.turned(block)):
                    self.work[row + r, column] = self.lanes.conjugate(vector)
            for r in range(width):
                for c in range(r):
                    self.work[row + r, row + c] = self._factor(row + c, row + r)
            for r in range(width - 1):
                for c in range(r + 1, width):
                    self.work[row + r, row + c] = self.lanes.number(0.0)


def _less(lanes: Lanes, factor: Number, others: Sequence[Number], row: Sequence[Number]) -> list[Number]:
    return [lanes.sub_product(factor, other, mine) for other, mine in zip(others, row, strict=True)]


def _solved(
    lanes: Lanes, rows: Rows, factors: Sequence[Sequence[Number]], inverses: Sequence[Number]
) -> Rows:
    """A tile right of the diagonal: what the rows of the group take off each other, divided."""
    solved: Rows = []
    for r, row in enumerate(rows):
        for q in range(r):
            row = _less(lanes, factors[q][r - q - 1], solved[q], row)
        solved.append([vector * inverses[r] for vector in row])
    return solved

"""QR factors by Householder reflections, by one kernel: a workgroup factors every so many matrices.

Input: real matrices `[..., m, n]`. Output: the first columns of `q`, as many as the result has, and as many
rows of `r`. Signs are those of LAPACK.
Idea: the matrix is transposed, so that columns are contiguous. A panel of columns is reflected one by one,
then its reflections are applied to the columns right of it together, as ``I - v t v^T`` (Golub and Van Loan,
section 5.2.3), in register tiles; `q` follows from the panels in reverse, applied to an identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, carried, ceil_divided, choose, index, least, loop, most
from ..executable import Kernel, Result, Size
from .matrices import each_matrix, own_sizes, scratch, workgroups
from .tiles import Tile
from .transposes import transpose_in, transpose_out
from .vectors import (
    ROWS,
    Lanes,
    Machine,
    Matrix,
    element_of,
    lead_of,
    magnitude,
    root,
    total,
    transposed,
)

PANEL: Final = 16  # columns, at most


def reflections(
    machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]
) -> Kernel:
    """The kernel of a routine: matrices to `q` and `r`."""
    (type_,) = types
    (rows, width), (_, columns) = (own_sizes(result) for result in results)
    lanes = Lanes.of(machine, type_.dtype, PANEL)
    panel = lanes.panel
    count = workgroups(batch)
    length = lanes.stride(rows + lanes.width)
    buffers = [
        scratch(count, lanes.padded(columns), length, lanes),
        scratch(count, lanes.padded(width), length, lanes),
        scratch(count, panel, length, lanes),
        scratch(count, lanes.padded(rows), panel, lanes),
        scratch(count, 2 * lanes.padded(columns), panel, lanes),
        scratch(count, 2 * ROWS, panel, lanes),
        scratch(count, lanes.width, lanes.stride(most(width, columns)), lanes),
    ]

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        source, q, r = Array(operands[0]), Array(written[0]), Array(written[1])
        rows, columns = (source.size(axis) for axis in (type_.rank - 2, type_.rank - 1))
        width = q.size(type_.rank - 1)
        reflected = least(rows, columns)

        def one(number: Number, mine: Number) -> None:
            lead = lead_of(source, number, 2)
            parts = [Matrix(Array(memref), (mine,)) for memref in written[2:]]
            copy, basis, vectors, turned, factors, sums = parts[:6]
            work = Reflections(
                lanes, rows, reflected, width, copy, basis, vectors, turned, factors, sums,
                others=columns - reflected,
            )  # fmt: skip
            transpose_in(lanes, Matrix(source, lead), parts[0], (rows, columns), parts[6])
            work.reduce()
            work.build()
            transpose_out(lanes, parts[1], Matrix(q, lead), (rows, width), parts[6])
            work.clear_below()
            transpose_out(lanes, parts[0], Matrix(r, lead), (width, columns), parts[6])

        each_matrix(source, 2, one)

    return Kernel("qr", (*results, *buffers), emit, (machine,), (count,))


@dataclass(frozen=True, slots=True)
class Reflections:
    """The factors of one matrix: `work` has its columns as rows, `basis` those of `q`.

    `panel` has the vectors of a panel's reflections as rows, `turned` as columns; `factors` has `t` of each
    panel, then its transposes; `sums` is for the rows that are being reflected. The vector of a column has
    its 1 `shift` places after the diagonal. `others` columns follow those that reflections are made of.
    """

    lanes: Lanes
    rows: Place
    columns: Place
    width: Place
    work: Matrix
    basis: Matrix
    panel: Matrix
    turned: Matrix
    factors: Matrix
    sums: Matrix
    shift: int = 0
    others: Place = 0

    def reduce(self) -> None:
        """Reflect all columns: `r` is on and above the diagonal, the vectors are below it."""
        size = self.lanes.panel
        with loop(0, self.columns, size) as first:
            end = (first + size).least(index(self.columns))
            with loop(0, size) as row:
                self.factors[first + row, row] = self.lanes.number(0.0)
            whole = (first + size).least(index(self.columns + self.others))
            with loop(first, end) as column:
                self._reflect(first, column, whole)
            self.spread(first, end)
            self.combine(first)
            with loop(first + size, self.lanes.padded(self.columns + self.others), ROWS) as row:
                self._apply(self.work, row, first, first)

    def build(self) -> None:
        """Apply the reflections, the last panel first, to the columns of an identity."""
        lanes = self.lanes
        with loop(0, lanes.padded(self.width)) as row:
            _fill(lanes, self.basis, row, lanes.padded(self.rows))
            self.basis[row, row] = lanes.number(1.0)
        self._apply_all(is_identity=True)

    def _apply_all(self, *, is_identity: bool) -> None:
        """Apply the reflections, the last panel first, to the rows of the basis."""
        size, lanes = self.lanes.panel, self.lanes
        panels = ceil_divided(self.columns, size)
        with loop(0, panels) as done:
            first = (index(panels - 1) - done) * size
            self.spread(first, (first + size).least(index(self.columns)))
            with loop(first if is_identity else 0, lanes.padded(self.width), ROWS) as row:
                self._apply(self.basis, row, first, first + lanes.padded(self.columns))

    def multiply(self) -> None:
        """The product of reflections whose factors alone are known, in the basis."""
        self._combine_all()
        self.build()

    def transform(self) -> None:
        """The product of reflections whose factors alone are known, applied to the rows of the basis."""
        self._combine_all()
        self._apply_all(is_identity=False)

    def _combine_all(self) -> None:
        with loop(0, self.columns, self.lanes.panel) as first:
            self.spread(first, (first + self.lanes.panel).least(index(self.columns)))
            self.combine(first)

    def clear_below(self) -> None:
        """Leave only `r` of the copy."""
        with loop(0, self.columns) as row, loop(row + 1, most(self.rows, self.width)) as column:
            self.work[row, column] = self.lanes.number(0.0)

    def _reflect(self, first: Number, row: Number, end: Number) -> None:
        """The reflection of one column, and the other columns of its panel after it."""
        lanes, width = self.lanes, self.lanes.width
        tau = self.reflection(row, row)
        self.factors[row, row - first] = tau
        with loop(row + 1, end) as other:
            (products,) = carried(
                row + 1,
                self.rows,
                [lanes.filled(0.0)],
                lambda place, so_far: [self._product(self.work, row, self.work, other, place, so_far)],
                width,
            )
            share = tau * (self.work[other, row] + total(products))
            self.work[other, row] = self.work[other, row] - share
            with loop(row + 1, self.rows, width) as place:
                mine, its = self.work.vector(width, row, place), self.work.vector(width, other, place)
                self.work[other, place] = lanes.sub_product(share, mine, its)

    def reflection(self, row: Number, head_place: Number) -> Number:
        """The factor of the reflection that moves a row, from a place on, onto that place, as LAPACK's larfg.

        Its vector, 1 at the head, takes the place of what follows the head; the head is what it becomes.
        """
        lanes, width = self.lanes, self.lanes.width
        zero, one = lanes.number(0.0), lanes.number(1.0)
        head = self.work[row, head_place]
        first = head_place + 1

        def survey(place: Number, most: Number, size: Number) -> list[Number]:
            vector = magnitude(self.work.vector(width, row, place))
            return [choose(vector > most, vector, most), size + vector]

        most, size = carried(first, self.rows, [lanes.filled(0.0)] * 2, survey, width)
        largest = self._largest(most, magnitude(head))
        is_flat = total(size).equals(0.0)
        scale = choose(largest > 0.0, largest, one)

        def add_squares(place: Number, so_far: Number) -> list[Number]:
            vector = self.work.vector(width, row, place) / lanes.filled(scale)
            return [lanes.add_product(vector, vector, so_far)]

        (squares,) = carried(first, self.rows, [lanes.filled(0.0)], add_squares, width)
        head = head / scale
        length = root(total(squares) + head * head)
        target = choose(head < 0.0, length, -length)
        away = choose(is_flat, one, (head - target) * scale)
        self.work[row, head_place] = choose(is_flat, self.work[row, head_place], target * scale)
        with loop(first, self.rows, width) as place:
            self.work[row, place] = self.work.vector(width, row, place) / lanes.filled(away)
        return choose(is_flat, zero, (target - head) / target)

    def _product(
        self, left: Matrix, row: Place, right: Matrix, other: Place, place: Number, so_far: Number
    ) -> Number:
        width = self.lanes.width
        return self.lanes.add_product(
            left.vector(width, row, place), right.vector(width, other, place), so_far
        )

    def _largest(self, vector: Number, start: Number) -> Number:
        """The greatest of a number and the elements of a vector."""
        for lane in range(self.lanes.width):
            element = element_of(vector, lane)
            start = choose(element > start, element, start)
        return start

    def spread(self, first: Number, end: Number) -> None:
        """The vectors of a panel: ones on the diagonal, zeros before it; also transposed."""
        lanes, width, padded = self.lanes, self.lanes.width, self.lanes.padded(self.rows)
        with loop(0, lanes.panel) as row, loop(first, padded, width) as place:
            self.panel[row, place] = lanes.filled(0.0)
        with loop(first, end) as column:
            row = column - first
            self.panel[row, column + self.shift] = lanes.number(1.0)
            with loop(column + 1 + self.shift, self.rows) as place:
                self.panel[row, place] = self.work[column, place]
        with loop(first, padded, width) as place, loop(0, lanes.panel, width) as row:
            block = [self.panel.vector(width, row + n, place) for n in range(width)]
            for n, vector in enumerate(transposed(block)):
                self.turned[place + n, row] = vector

    def combine(self, first: Number) -> None:
        """`t` of a panel and its transpose, from the factors of its reflections."""
        lanes, width = self.lanes, self.lanes.width
        padded = lanes.padded(self.columns)
        with loop(0, lanes.panel) as column:
            tau = self.factors[first + column, column]
            with loop(0, lanes.panel) as other:
                self.factors[first + padded + column, other] = lanes.number(0.0)
            self.factors[first + padded + column, column] = tau
            with loop(0, column) as other:
                (products,) = carried(
                    first,
                    lanes.padded(self.rows),
                    [lanes.filled(0.0)],
                    lambda place, so_far: [
                        self._product(self.panel, column, self.panel, other, place, so_far)
                    ],
                    width,
                )
                self.sums[0, other] = total(products)
            with loop(0, column) as other:
                (product,) = carried(
                    other,
                    column,
                    [lanes.number(0.0)],
                    lambda n, so_far: [so_far + self.factors[first + padded + n, other] * self.sums[0, n]],
                )
                share = -tau * product
                self.factors[first + padded + column, other] = share
        with loop(0, lanes.panel) as row, loop(0, lanes.panel) as column:
            self.factors[first + row, column] = self.factors[first + padded + column, row]

    def _apply(self, target: Matrix, row: Number, first: Number, factors: Number) -> None:
        """Reflect some rows by a panel: off go its vectors times ``(row . v) t``, with `t` from `factors`."""
        lanes, padded = self.lanes, self.lanes.padded(self.rows)
        zeros = [[lanes.filled(0.0)] * (lanes.panel // lanes.width) for _ in range(ROWS)]
        along = Tile(lanes, self.sums, 0, 0)
        along.store(along.less_products((first, padded), lambda p, r: target[row + r, p], self.turned, zeros))
        shares = Tile(lanes, self.sums, ROWS, 0)
        moved = _Below(self.factors.array, self.factors.lead, factors)
        shares.store(along.less_products((index(0), lanes.panel), lambda p, r: self.sums[r, p], moved, zeros))
        with loop(first, padded, lanes.panel) as column:
            tile = Tile(lanes, target, row, column)
            rows = tile.less_products(
                (index(0), lanes.panel), lambda p, r: self.sums[ROWS + r, p], self.panel, tile.load()
            )
            tile.store(rows)


@dataclass(frozen=True, slots=True)
class _Below(Matrix):
    """A matrix from a row on."""

    first: Place = 0

    def vector(self, width: int, row: Place, column: Place) -> Number:
        """Elements of a row."""
        return self.array.vector(width, *self.lead, index(self.first) + row, column)


def _fill(lanes: Lanes, matrix: Matrix, row: Place, end: Place) -> None:
    with loop(0, end, lanes.width) as place:
        matrix[row, place] = lanes.filled(0.0)

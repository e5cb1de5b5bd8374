"""LU factors with partial pivoting by one kernel: a workgroup factors every so many matrices.

Input: matrices `[..., m, n]`, real or complex, at least as many rows as columns. Output: the packed factors,
the pivots `[..., n]` and the permutation `[..., m]`, both int32; pivots are those of LAPACK: the largest
magnitude (of complex numbers ``|re| + |im|``), the first among equals, and NaN before all numbers.
Idea: a panel of columns is transposed, so that its columns are contiguous: the search for a pivot, the
division and the products within the panel are vector code. Then it is written back, and the rows right of it
are solved for and taken off the rows below, in register tiles (Golub and Van Loan, section 3.4.8). The
padding is zero. A zero pivot leaves its column as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Type, Value
from ..builder import (
    Array,
    Number,
    Place,
    broadcast,
    carried,
    ceil_divided,
    choose,
    constant,
    index,
    loop,
    when,
)
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .matrices import each_matrix, known, own_sizes, scratch, scratch_of, workgroups
from .tiles import Tile, take_products
from .vectors import ROWS, Lanes, Machine, Matrix, copy_row, element_of, fill_row, lead_of

NARROW: Final = 16  # columns of a panel
WIDE: Final = 32  # the same of large matrices
LARGE: Final = 400  # columns from which on panels are wide


def lu(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
    """The kernel of a routine: matrices to packed factors, pivots and permutations."""
    (type_,) = types
    shape = _Shape.of(machine, type_, *own_sizes(results[0]))
    count = workgroups(batch)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        source = Array(operands[0])
        packed, pivots, order, *copies = map(Array, written)
        lanes = shape.lanes
        rows, columns = source.size(type_.rank - 2), pivots.size(type_.rank - 2)

        def one(number: Number, mine: Number) -> None:
            lead, row_lead = lead_of(source, number, 2), lead_of(pivots, number, 1)
            work = shape.factors((rows, columns), copies, mine, _Row(pivots, row_lead), _Row(order, row_lead))
            work.take(lanes.stored(Matrix(source, lead)))
            work.factor()
            target = lanes.stored(Matrix(packed, lead))
            with loop(0, rows) as row:
                copy_row(lanes, (work.work, row), (target, row), columns)

        each_matrix(source, 2, one)

    made = (*results, *shape.scratch(count))
    return Kernel("lu", made, emit, (machine,), (count,), has_parts=shape.lanes.parts > 1)


def signed_pivots(
    machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]
) -> Kernel:
    """The kernel of a routine: square matrices to diagonals of `u`, the first element times the parity."""
    (type_,) = types
    (size,) = own_sizes(results[0], 1)
    shape = _Shape.of(machine, type_, size, size)
    count = workgroups(batch)

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        source, target, pivots, order, *copies = map(Array, (*operands, *written))
        lanes, size = shape.lanes, source.size(type_.rank - 2)

        def one(number: Number, mine: Number) -> None:
            lead = lead_of(source, number, 2)
            rows = _Row(pivots, (mine,)), _Row(order, (mine,))
            work = shape.factors((size, size), copies, mine, *rows)
            work.take(lanes.stored(Matrix(source, lead)))
            work.factor()

            def write(row: Place, pivot: Number) -> None:
                for part, number in enumerate(lanes.flat([pivot])):
                    target[(*lead, index(row) * lanes.parts + part)] = number

            def each(row: Number, exchanges: Number) -> list[Number]:
                write(row, work.work[row, row])
                return [choose(rows[0][row].as_index().differs(row), exchanges + 1, exchanges)]

            (exchanges,) = carried(0, size, [index(0)], each)
            with when((exchanges % 2).equals(1)):
                write(0, -work.work[0, 0])

        each_matrix(source, 2, one)

    integer = mlir.ir.IntegerType.get_signless(32)
    kept = [scratch_of(count, (size,), integer)] * 2
    made = (*results, *kept, *shape.scratch(count))
    return Kernel("signed_pivots", made, emit, (machine,), (count,), has_parts=shape.lanes.parts > 1)


@dataclass(frozen=True, slots=True)
class _Shape:
    """How matrices of these sizes are factored: vectors, and the columns of a panel."""

    lanes: Lanes
    panel: int
    rows: Place
    columns: Place

    @classmethod
    def of(cls, machine: Machine, type_: TensorType, rows: Place, columns: Place) -> _Shape:
        """The one of matrices of a type."""
        lanes = lanes_for(machine, type_.dtype, max(known(columns), ROWS))
        return cls(
            lanes, max(WIDE if known(columns, NARROW) >= LARGE else NARROW, lanes.panel), rows, columns
        )

    def scratch(self, count: Size) -> tuple[Result, Result]:
        """A padded copy and a panel for each workgroup."""
        lanes, panel = self.lanes, self.panel
        padded, width = (ceil_divided(n, panel) * panel for n in (self.rows, self.columns))
        return (
            scratch(count, padded, lanes.stride(width), lanes),
            scratch(count, panel, lanes.stride(padded + lanes.width), lanes),
        )

    def factors(
        self,
        sizes: tuple[Place, Place],
        copies: Sequence[Array],
        mine: Number,
        pivots: _Row,
        order: _Row,
    ) -> _Factors:
        """The work on the `mine`th matrix, of these sizes inside the kernel."""
        copy, turned = (self.lanes.kept(Matrix(array, (mine,))) for array in copies)
        return _Factors(self.lanes, *sizes, self.panel, copy, turned, pivots, order)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of integers of an array."""

    array: Array
    lead: tuple[Number | int, ...]

    def __getitem__(self, place: Number) -> Number:
        return self.array[(*self.lead, place)]

    def __setitem__(self, place: Number, number: Number) -> None:
        self.array[(*self.lead, place)] = number


@dataclass(frozen=True, slots=True)
class _Factors:
    """The factorization of one matrix in `work`; `turned` holds the columns of a panel as rows."""

    lanes: Lanes
    rows: Place
    columns: Place
    panel: int
    work: Matrix
    turned: Matrix
    pivots: _Row
    order: _Row

    @property
    def padded(self) -> Place:
        """How many rows the copy has, whole panels."""
        return ceil_divided(self.rows, self.panel) * self.panel

    @property
    def width(self) -> Place:
        """How many columns of the copy are used, whole panels."""
        return ceil_divided(self.columns, self.panel) * self.panel

    def take(self, matrix: Matrix) -> None:
        """Copy the matrix, padded by zeros, and start from the rows in order."""
        lanes, end = self.lanes, self.lanes.padded(self.width)
        integer = mlir.ir.IntegerType.get_signless(32)
        with loop(0, self.rows) as row:
            copy_row(lanes, (matrix, row), (self.work, row), self.columns)
            fill_row(lanes, self.work, row, self.columns, end)
            self.order[row] = row.as_integer(integer)
        with loop(self.rows, self.padded) as row:
            fill_row(lanes, self.work, row, 0, end)
        with loop(0, self.panel) as row:
            fill_row(lanes, self.turned, row, self.padded, self.padded + lanes.width)

    def factor(self) -> None:
        """Factor one panel after the other."""
        panel = self.panel
        with loop(0, self.columns, panel) as first:
            end = (first + panel).least(index(self.columns))
            self._turn(first, is_back=False)
            with loop(first, end) as column:
                self._eliminate(first, column, end)
            self._turn(first, is_back=True)
            right = first + panel
            columns = right, index(self.lanes.padded(self.width))
            self._solve(first, columns)
            steps = first, right
            take_products(
                self.lanes,
                self.work,
                (right, index(self.padded)),
                columns,
                steps,
                lambda p, i: self.work[i, p],
            )

    def _turn(self, first: Number, *, is_back: bool) -> None:
        """Transpose the panel from `first` on: rows from there on, into `turned` or back."""
        width = self.lanes.width
        with loop(first, self.padded, width) as row, loop(0, self.panel, width) as column:
            if is_back:
                block = [self.turned.vector(width, column + r, row) for r in range(width)]
                for r, vector in enumerate(self.lanes.turned(block)):
                    self.work[row + r, first + column] = vector
            else:
                block = [self.work.vector(width, row + r, first + column) for r in range(width)]
                for r, vector in enumerate(self.lanes.turned(block)):
                    self.turned[column + r, row] = vector

    def _eliminate(self, first: Number, column: Number, end: Number) -> None:
        """Exchange rows for the pivot of a column, divide by it, and take products off later columns."""
        mine = column - first
        chosen = self._pivot(mine, column)
        self.pivots[column] = chosen.as_integer(mlir.ir.IntegerType.get_signless(32))
        with when(chosen.differs(column)):
            self._exchange(column, chosen)
        lanes = self.lanes
        divided = lanes.quotients(self.turned[mine, column], keeps_by_zero=True)
        with loop(column + 1, self.rows, lanes.width) as row:
            self.turned[mine, row] = divided(self.turned.vector(lanes.width, mine, row))
        with loop(mine + 1, end - first) as later:
            factor = self.turned[later, column]
            with loop(column + 1, self.rows, lanes.width) as row:
                vector = self.turned.vector(lanes.width, later, row)
                below = self.turned.vector(lanes.width, mine, row)
                self.turned[later, row] = lanes.sub_product(factor, below, vector)

    def _pivot(self, mine: Number, column: Number) -> Number:
        """Where the largest magnitude from the diagonal on is, by the order of the bits of floats."""
        lanes, integer = self.lanes, self.lanes.integer
        vector = mlir.ir.VectorType.get([lanes.width], integer)
        bits = 8 * lanes.dtype.itemsize
        infinity = 0x7F800000 if bits == 32 else 0x7FF << 52
        steps = mlir.ir.DenseElementsAttr.get(
            [mlir.ir.IntegerAttr.get(integer, n) for n in range(lanes.width)], vector
        )
        lane = Number(mlir.arith.constant(vector, steps))
        least, rows = constant(integer, -1), self._row_count(integer)

        def search(row: Number, best: Number, place: Number) -> list[Number]:
            sizes = lanes.size(self.turned.vector(lanes.width, mine, row))
            raw = Number(mlir.arith.bitcast(vector, sizes.value))
            size = (raw & ((1 << (bits - 1)) - 1)).least(infinity + 1)
            here = lane + row.as_integer(integer)
            size = choose(here < rows, size, least)
            is_larger = size > best
            return [choose(is_larger, size, best), choose(is_larger, here, place)]

        start = [broadcast(least, vector), broadcast(constant(integer, 0), vector)]
        sizes, places = carried(column, self.rows, start, search, lanes.width)
        best, place = element_of(sizes, 0), element_of(places, 0)
        for n in range(1, lanes.width):
            size, here = element_of(sizes, n), element_of(places, n)
            is_better = (size > best) | (size.equals(best) & (here < place))
            best, place = choose(is_better, size, best), choose(is_better, here, place)
        return place.as_index()

    def _row_count(self, integer: Type) -> Number:
        rows = self.rows
        return rows.as_integer(integer) if isinstance(rows, Number) else constant(integer, rows)

    def _exchange(self, row: Number, other: Number) -> None:
        """Exchange two rows, in the copy, in the panel and in the permutation."""
        lanes = self.lanes
        with loop(0, self.lanes.padded(self.width), lanes.width) as column:
            vector = self.work.vector(lanes.width, row, column)
            self.work[row, column] = self.work.vector(lanes.width, other, column)
            self.work[other, column] = vector
        with loop(0, self.panel) as column:
            scalar = self.turned[column, row]
            self.turned[column, row] = self.turned[column, other]
            self.turned[column, other] = scalar
        place = self.order[row]
        self.order[row] = self.order[other]
        self.order[other] = place

    def _solve(self, first: Number, columns: tuple[Number, Number]) -> None:
        """Solve for the rows right of a whole panel, whose lower triangle has ones on the diagonal."""
        lanes = self.lanes
        with loop(*columns, lanes.panel) as column, loop(first, first + self.panel, ROWS) as row:
            tile = Tile(lanes, self.work, row, column)
            known = tile.less_products(
                (first, row), lambda p, r: self.work[row + r, p], self.work, tile.load()
            )
            for r in range(ROWS):
                for q in range(r):
                    factor = self.work[row + r, row + q]
                    known[r] = [
                        lanes.sub_product(factor, other, mine)
                        for other, mine in zip(known[q], known[r], strict=True)
                    ]
            tile.store(known)

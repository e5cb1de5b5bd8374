"""Triangular systems by one kernel: a workgroup solves every so many panels of right-hand sides.

Input: triangles `[..., n, n]` and right-hand sides `[..., n, m]`. Output: the solutions.
Idea: a panel of columns lies in scratch, where it stays in the cache; substitution takes four rows at a time:
all rows that are known are taken off in register tiles, then the four off each other. Only the named triangle
is used. Quotients are divisions, so that a zero on the diagonal yields what it yields elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, ceil_divided, index, loop, when
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .matrices import MakeKernel, each_matrix, known, own_sizes, scratch, workgroups
from .tiles import Rows, Tile
from .vectors import ROWS, Lanes, Machine, Matrix, copy_row, lead_of

RowPlace: TypeAlias = Callable[[Number], Number]


@dataclass(frozen=True, slots=True)
class Form:
    """Which system is solved: which triangle is used, as it is or transposed; are ones on the diagonal."""

    is_lower: bool
    is_unit: bool
    is_transposed: bool = False

    @property
    def name(self) -> str:
        """The name of the routine."""
        words = (
            "lower" if self.is_lower else "upper",
            "unit" * self.is_unit,
            "transposed" * self.is_transposed,
        )
        return "_".join(("solve", *filter(None, words)))

    @property
    def transposed(self) -> Form:
        """The same triangle, transposed."""
        return replace(self, is_transposed=not self.is_transposed)

    @property
    def is_forward(self) -> bool:
        """Whether rows are known from the first on."""
        return self.is_lower != self.is_transposed


FORMS = [Form(bool(lower), bool(unit), bool(back)) for lower in (1, 0) for unit in (0, 1) for back in (0, 1)]


def triangular_solve(form: Form) -> MakeKernel:
    """The kernel of a routine: triangles and right-hand sides to solutions."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        right = types[1]
        size, columns = own_sizes(results[0])
        lanes = lanes_for(machine, right.dtype, known(columns))
        count = workgroups(batch, ceil_divided(columns, lanes.panel))

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            factors, given, solved, copies = map(Array, (*operands, *written))
            size, columns = given.size(right.rank - 2), given.size(right.rank - 1) // lanes.parts
            panels = ceil_divided(columns, lanes.panel)

            def one(number: Number, mine: Number) -> None:
                batch = index(number) // panels
                work = lanes.kept(Matrix(copies, (mine,)))
                panel = Panel(lanes, columns, (index(number) % panels) * lanes.panel)
                triangle, source, target = (
                    lanes.stored(Matrix(x, lead_of(x, batch, 2))) for x in (factors, given, solved)
                )
                panel.copy(size, source, work, is_taken=True)
                System(form, lanes, size, triangle, work).solve()
                panel.copy(size, target, work, is_taken=False)

            each_matrix(given, 2, one, panels)

        copies = scratch(count, size, lanes.panel, lanes)
        return Kernel(form.name, (results[0], copies), emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make


@dataclass(frozen=True, slots=True)
class Panel:
    """The columns from `first` on of right-hand sides: as many as a panel has, or those that are left.

    `place` says in which row of the matrix a row of scratch is.
    """

    lanes: Lanes
    columns: Place
    first: Number

    def copy(
        self, size: Place, matrix: Matrix, work: Matrix, *, is_taken: bool, place: RowPlace | None = None
    ) -> None:
        """Copy the panel into scratch, or back."""
        panel, rest = self.lanes.panel, self.columns % self.lanes.panel

        def rows(count: Place) -> None:
            self._rows(size, matrix, work, count, is_taken, place or (lambda row: row))

        if not isinstance(rest, Number) and not rest:
            rows(panel)
        elif not isinstance(self.columns, Number) and self.columns < panel:
            rows(rest)
        else:
            is_whole = self.first + panel <= self.columns
            with when(is_whole):
                rows(panel)
            with when(is_whole ^ 1):
                rows(rest)

    def _rows(
        self, size: Place, matrix: Matrix, work: Matrix, count: Place, is_taken: bool, place: RowPlace
    ) -> None:
        part = replace(matrix, first=self.first)
        with loop(0, size) as row:
            if is_taken:
                copy_row(self.lanes, (part, place(row)), (work, row), count)
                self._clear(work, row, count)
            else:
                copy_row(self.lanes, (work, row), (part, place(row)), count)

    def _clear(self, work: Matrix, row: Number, first: Place) -> None:
        """Zeros behind the columns that there are."""
        if isinstance(first, Number):
            with loop(first, self.lanes.panel) as column:
                work[row, column] = self.lanes.number(0.0)
            return
        for place in range(first, self.lanes.panel):
            work[row, place] = self.lanes.number(0.0)


@dataclass(frozen=True, slots=True)
class System:
    """One triangle, and a panel of right-hand sides in `work`, which become the solutions."""

    form: Form
    lanes: Lanes
    size: Place
    triangle: Matrix
    work: Matrix

    def solve(self) -> None:
        """Substitute: whole groups of rows, and the rows that are left at the end where all else is known."""
        whole = self.size // ROWS * ROWS
        if self.form.is_forward:
            with loop(0, whole, ROWS) as row:
                self._group(row, ROWS)
            self._rest(whole)
            return
        self._rest(whole)
        with loop(0, whole, ROWS) as done:
            self._group(index(whole - ROWS) - done, ROWS)

    def _rest(self, whole: Place) -> None:
        """The rows behind the whole groups: one by one, where their number shows at the call."""
        if not isinstance(self.size, Number):
            if self.size % ROWS:
                self._group(index(whole), self.size % ROWS)
            return
        with loop(whole, self.size) as row:
            self._group(row if self.form.is_forward else self.size - 1 - (row - whole), 1)

    def _group(self, row: Number, count: int) -> None:
        tile = Tile(self.lanes, self.work, row, 0, count)
        known = (index(0), row) if self.form.is_forward else (row + count, index(self.size))
        rows = tile.less_products(known, lambda p, r: self._factor(row + r, p), self.work, tile.load())
        tile.store(self._among(row, rows))

    def _among(self, row: Number, rows: Rows) -> Rows:
        """Take the rows of a group off each other, in the order in which they become known."""
        order = list(range(len(rows)))
        if not self.form.is_forward:
            order.reverse()
        solved = list(rows)
        for place, r in enumerate(order):
            for q in order[:place]:
                factor = self._factor(row + r, row + q)
                solved[r] = [
                    self.lanes.sub_product(factor, other, mine)
                    for other, mine in zip(solved[q], solved[r], strict=True)
                ]
            if not self.form.is_unit:
                divided = self.lanes.quotients(self._factor(row + r, row + r))
                solved[r] = [divided(vector) for vector in solved[r]]
        return solved

    def _factor(self, row: Place, column: Place) -> Number:
        """An element of the triangle as the system has it."""
        return self.triangle[column, row] if self.form.is_transposed else self.triangle[row, column]

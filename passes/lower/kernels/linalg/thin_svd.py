"""Singular values and vectors of matrices of any shape by one kernel: QR factors, then those of the triangle.

Input: matrices `[..., m, n]`, real or complex. Output: as many left vectors as the shorter side has, as
columns, values in descending order, and right vectors as rows, or the values alone; NaN in all of a matrix
that has one.
Idea: a matrix of more columns than rows is transposed. Of ``a = q r`` and ``r^T = u s v^H`` left vectors are
the reflections of `q` applied to the rows of ``v^H``, and right ones the columns of `u`: nothing is
conjugated (Chan 1982, An improved algorithm for computing the singular value decomposition). Where values
alone are wanted, rows are reflected some at a time onto the triangle of those before, so that scratch is as
small as the shorter side (Golub and Van Loan, section 5.2.6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, branches, choose, index, least, loop, most, repeated
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .matrices import MakeKernel, each_matrix, known, own_sizes, parts_of, stacked, workgroups
from .reflections import Reflections, vector_columns
from .svd import Singular
from .transposes import transpose_in, transpose_out
from .vectors import Lanes, Machine, Matrix, copy_row, fill_row, lead_of

Condition: TypeAlias = "Number | bool"
FEW: Final = 64  # rows that are reflected at a time at least, where values alone are wanted


def thin(*, with_vectors: bool) -> MakeKernel:
    """The kernel of a routine: matrices to left vectors, values and right vectors, or to values."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        (size,) = own_sizes(results[-1 if not with_vectors else 1], 1)
        bound = min(known(n if n is not None else size) for n in type_.static_shape[-2:])
        lanes = lanes_for(machine, type_.dtype, vector_columns(bound))
        count = workgroups(batch)
        if with_vectors:
            (rows, _), (_, columns) = own_sizes(results[0]), own_sizes(results[2])
            reach = most(rows, columns)
        else:
            reach = _room(size)
        is_one_panel = bound <= lanes.panel
        rows_ = _rows(lanes, size, reach, is_one_panel=is_one_panel, with_vectors=with_vectors)
        buffers = [
            stacked(count, rows_[0], _length(lanes, reach), lanes),
            stacked(count, rows_[1], lanes.panel, lanes),
        ]
        of_triangle = Singular.buffers(lanes, size, bound, count, with_vectors=with_vectors)

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, outputs = Array(operands[0]), [Array(x) for x in written[: len(results)]]
            rows = source.size(type_.rank - 2)
            columns = lanes.elements(source.size(type_.rank - 1))
            size, reach = least(rows, columns), most(rows, columns)
            stacks = _rows(
                lanes, size, reach if with_vectors else _room(size),
                is_one_panel=is_one_panel, with_vectors=with_vectors,
            )  # fmt: skip

            def one(number: Number, mine: Number) -> None:
                long, short, *inner = [Matrix(Array(x), (mine,)) for x in written[len(results) :]]
                copy, *others = parts_of(lanes.kept(long), stacks[0])
                factors, *turned = parts_of(lanes.kept(short), stacks[1])
                lead = lead_of(source, number, 2)
                triangle = Singular.of(lanes, size, bound, inner, with_vectors=with_vectors)
                work = _Thin(lanes, rows, columns, is_one_panel, triangle, [copy, factors, *others, *turned])
                matrix = lanes.stored(Matrix(source, lead))
                if not with_vectors:
                    work.values(matrix, outputs[0], lead)
                    return
                u, values, vh = outputs
                left, right = (lanes.stored(Matrix(x, lead)) for x in (u, vh))
                work.decompose(matrix, left, values, right, lead)

            each_matrix(source, 2, one)

        name = "thin_svd" if with_vectors else "thin_svdvals"
        made = (*results, *buffers, *of_triangle)
        return Kernel(name, made, emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make


def _room(size: Place) -> Place:
    """How many rows, those of the triangle among them, are reflected at a time for values alone."""
    return most(3 * size, size + FEW)


def _rows(
    lanes: Lanes, size: Place, reach: Place, *, is_one_panel: bool, with_vectors: bool
) -> tuple[list[Place], list[Place]]:
    """The rows of what lies in scratch: in rows of the length of columns, and of a panel.

    The columns, vectors and a panel; the factors of reflections, and a panel's columns.
    """
    padded = lanes.padded(size)
    long, short = [padded] * (2 if with_vectors else 1), [2 * padded]
    if is_one_panel:
        return long, short
    return [*long, lanes.panel], [*short, lanes.padded(reach)]


def _length(lanes: Lanes, reach: Place) -> Place:
    """The length of columns in scratch, some of which are written behind others."""
    return lanes.stride(reach + 2 * lanes.panel + lanes.width)


def _either(condition: Condition, yes: Callable[[], None], no: Callable[[], None]) -> None:
    """Emit one of two parts, or a branch where the call shows which."""
    if isinstance(condition, bool):
        (yes if condition else no)()
        return

    def emitted(part: Callable[[], None]) -> list[Number]:
        part()
        return []

    branches(condition, [], lambda: emitted(yes), lambda: emitted(no))


@dataclass(frozen=True, slots=True)
class _Thin:
    """One matrix; `parts`: its columns as rows, the factors of reflections, and what else these need."""

    lanes: Lanes
    rows: Place
    columns: Place
    is_one_panel: bool
    triangle: Singular
    parts: Sequence[Matrix]

    @property
    def size(self) -> Place:
        """The shorter side."""
        return self.triangle.size

    @property
    def is_high(self) -> Condition:
        """Whether there are as many rows as columns at least."""
        if isinstance(self.rows, int) and isinstance(self.columns, int):
            return self.rows >= self.columns
        return index(self.rows) >= self.columns

    def decompose(
        self, matrix: Matrix, left: Matrix, values: Array, right: Matrix, lead: tuple[Place, ...]
    ) -> None:
        """Write left vectors, values and right vectors."""
        lanes, triangle, size = self.lanes, self.triangle, self.size
        work, factors, basis, *others = self.parts
        reach = most(self.rows, self.columns)
        self._take(matrix, work, 0, reach)
        reflections = self._reflections(work, basis, factors, others, reach)
        reflections.reduce()
        scale, poison = self._solve(work)
        with loop(0, lanes.padded(size)) as row:
            fill_row(lanes, basis, row, 0, lanes.stride(reach + lanes.width))
        into = triangle.vectors_into(basis, lanes.padded(size), poison)
        triangle.sort(values, lead, scale, poison, into)
        reflections.apply_all(is_identity=False)

        def write(columns: Matrix, rows: Matrix) -> None:
            transpose_out(lanes, columns, left, (self.rows, size), triangle.strip)
            with loop(0, size) as row:
                copy_row(lanes, (rows, row), (right, row), self.columns)

        others_ = triangle.across.work
        _either(self.is_high, lambda: write(basis, others_), lambda: write(others_, basis))

    def values(self, matrix: Matrix, values: Array, lead: tuple[Place, ...]) -> None:
        """Write the values."""
        lanes, (work, factors, *others) = self.lanes, self.parts
        reach, room = most(self.rows, self.columns), index(_room(self.size))
        with loop(0, lanes.padded(self.size)) as row:
            fill_row(lanes, work, row, 0, _length(lanes, room))

        def more(done: Number) -> list[Number]:
            before = choose(done.equals(0), index(0), index(self.size))
            count = (room - before).least(index(reach) - done)
            self._take(matrix, replace(work, first=before), done, count)
            self._reflections(work, work, factors, others, before + count).reduce()
            with loop(0, self.size) as row, loop(row + 1, self.size) as place:
                work[row, place] = lanes.number(0.0)
            return [done + count]

        repeated([index(0)], lambda done: done < reach, more)
        scale, poison = self._solve(work)
        self.triangle.sort(values, lead, scale, poison)

    def _take(self, matrix: Matrix, target: Matrix, start: Place, count: Place) -> None:
        """Copy so many rows of the matrix as columns, or columns as rows, of those of the longer side."""
        lanes, size = self.lanes, self.size

        def high() -> None:
            transpose_in(lanes, matrix, target, (count, size), self.triangle.strip, start)

        def wide() -> None:
            end = lanes.stride(count + lanes.width)
            with loop(size, lanes.padded(size)) as row:
                fill_row(lanes, target, row, 0, end)
            with loop(0, size) as row:
                fill_row(lanes, target, row, count // lanes.width * lanes.width, end)
                copy_row(lanes, (replace(matrix, first=start), row), (target, row), count)

        _either(self.is_high, high, wide)

    def _solve(self, work: Matrix) -> tuple[Number, Number]:
        """Decompose the transposed triangle: what divided it; zero, or NaN for no answer."""
        triangle = self.triangle
        triangle.clear()
        with loop(0, self.size) as row:
            fill_row(self.lanes, triangle.across.work, row, 0, self.lanes.padded(self.size))
            copy_row(self.lanes, (work, row), (triangle.across.work, row), row + 1)
        return triangle.normalize(), triangle.solve()

    def _reflections(
        self, work: Matrix, basis: Matrix, factors: Matrix, others: Sequence[Matrix], rows: Place
    ) -> Reflections:
        panel, turned = others or (work, work)  # not used of one panel
        return Reflections(
            self.lanes, rows, self.size, self.size, work, basis, panel, turned, factors,
            self.triangle.across.sums, is_one_panel=self.is_one_panel,
        )  # fmt: skip

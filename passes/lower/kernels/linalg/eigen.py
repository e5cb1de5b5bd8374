"""Eigenvalues and vectors of Hermitian matrices by one kernel: tridiagonal form, then QL or halves.

Input: Hermitian matrices `[..., n, n]`, real or complex, whose elements are at most 1. Output: eigenvalues in
ascending order, and with them the vectors as columns; NaN in all of them where the matrix has one.
Idea: Householder reflections from both sides (`tridiagonal.py`). Of small real matrices their product is made
in panels, as for QR factors, and rotated by the QL algorithm (`ql.py`); vectors of large and of complex ones
are those of the tridiagonal matrix, which is real, reflected: large ones divide and conquer (`conquer.py`). A
matrix whose size shows at the call counts as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, carried, choose, index, loop, most
from ..executable import Kernel, Result, Size
from .complex_lanes import lanes_for
from .conquer import Conquer, conquer_integers, conquer_sizes
from .matrices import MakeKernel, each_matrix, known, own_sizes, scratch, workgroups
from .pending import panel_of
from .ql import Tridiagonal
from .reflections import Reflections, vector_columns
from .rotations import Rotations, integers, scratch_sizes
from .transposes import transpose_in, transpose_out
from .tridiagonal import BESIDE, DIAGONAL, LINES, Reduction
from .vectors import ROWS, Lanes, Machine, Matrix, lead_of

DIVIDED: Final = 64  # rows from which on a tridiagonal matrix is divided


def eigen(*, with_vectors: bool) -> MakeKernel:
    """The kernel of a routine: matrices to eigenvalues, and to vectors."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        (size,) = own_sizes(results[0], 1)
        lanes = lanes_for(machine, type_.dtype, vector_columns(size))
        count, length = workgroups(batch), lanes.stride(size + lanes.width)
        sizes = _reduction_sizes(lanes, size)
        buffers = [scratch(count, rows, columns, lanes) for rows, columns in sizes]
        is_divided = with_vectors and known(size) >= DIVIDED
        is_one_panel = not is_divided and known(size) <= lanes.panel
        if is_divided:
            sizes = conquer_sizes(lanes, size)
            whole = conquer_integers(lanes, count, size)
        else:
            sizes = scratch_sizes(lanes, size, length, 1)
            whole = integers(count)
        buffers += [*(scratch(count, rows, columns, lanes.reals) for rows, columns in sizes), whole]

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, outputs = Array(operands[0]), [Array(x) for x in written[: len(results)]]
            size = source.size(type_.rank - 2)
            length = lanes.stride(size + lanes.width)

            def one(number: Number, mine: Number) -> None:
                parts = [Matrix(Array(memref), (mine,)) for memref in written[len(results) :]]
                copy, basis, panel, turned, factors, sums, strip, lines, pairs = map(lanes.kept, parts[:9])
                lead = lead_of(source, number, 2)
                transpose_in(lanes, lanes.stored(Matrix(source, lead)), copy, (size, size), strip)
                # What is beside the diagonal of a complex matrix becomes real by a reflection too.
                count = most(size - (2 if lanes.parts == 1 else 1), 0)
                reflections = Reflections(
                    lanes, size, count, size, copy, basis, panel, turned, factors, sums, 1,
                    is_one_panel=is_one_panel,
                )  # fmt: skip
                work = _Eigen(lanes, size, length, reflections, lines, pairs, parts[1], parts[7])
                work.reduce()
                if is_divided:
                    poison = work.conquer(parts[9:])
                else:
                    poison = work.rotate(parts[9:], with_vectors=with_vectors)
                work.sort(outputs[0], lead, poison, with_vectors=with_vectors)
                if with_vectors:
                    target = lanes.stored(Matrix(outputs[1], lead))
                    transpose_out(lanes, copy, target, (size, size), strip)

            each_matrix(source, 2, one)

        return Kernel("eigh", (*results, *buffers), emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make


def _reduction_sizes(lanes: Lanes, size: Place) -> list[tuple[Place, Place]]:
    """Rows and columns of what the reduction of a matrix keeps: the copy of it, the basis, a panel, what it
    becomes, factors, sums, a strip, lines and pairs."""
    padded, length = lanes.padded(size), lanes.stride(size + lanes.width)
    return [
        (padded, length),
        (padded, length),
        (lanes.panel, length),
        (padded, lanes.panel),
        (2 * padded, lanes.panel),
        (2 * ROWS, lanes.panel),
        (lanes.width, lanes.stride(size)),
        (LINES, most(length, 2 * panel_of(lanes))),
        (2 * panel_of(lanes), length),
    ]


@dataclass(frozen=True, slots=True)
class _Eigen:
    """One matrix, a copy of which is in the reflections' `work`; rows of `lines` are vectors.

    `real_basis` and `diagonals` are the real parts of the reflections' basis and of `lines`.
    """

    lanes: Lanes
    size: Place
    length: Place
    reflections: Reflections
    lines: Matrix
    pairs: Matrix
    real_basis: Matrix
    diagonals: Matrix

    def reduce(self) -> None:
        """Make the matrix tridiagonal: its diagonals to `lines`, the reflections below in `work`."""
        lanes = self.lanes
        for line in range(LINES):
            with loop(0, self.length, lanes.width) as place:
                self.lines[line, place] = lanes.filled(0.0)
        with loop(0, lanes.padded(self.size)) as row:
            self.reflections.factors[row, row % lanes.panel] = lanes.number(0.0)
        Reduction(lanes, self.size, self.reflections, self.lines, self.diagonals, self.pairs).reduce()

    def conquer(self, others: Sequence[Matrix]) -> Number:
        """Values and vectors by dividing, with other scratch; zero, or NaN if there is no answer."""
        if self.lanes.parts > 1:
            self.reflections.begin()  # imaginary parts
        poison = Conquer(
            self.lanes.reals, self.size, self.diagonals, DIAGONAL, BESIDE, self.real_basis, *others
        ).solve()
        self.reflections.transform()
        return poison

    def rotate(self, others: Sequence[Matrix], *, with_vectors: bool) -> Number:
        """Values, and vectors, by rotations, which are kept in other scratch; zero."""
        lanes, size, basis, rotations = self.lanes.reals, self.size, self.real_basis, None
        is_real = self.lanes.parts == 1
        if with_vectors:
            if is_real:
                self.reflections.multiply()
            else:
                self.reflections.begin()
            kept, columns, ranges = others
            rotations = Rotations(lanes, size, (basis,), kept, columns, ranges, is_reversed=True)
        Tridiagonal(lanes, size, self.diagonals, DIAGONAL, BESIDE, rotations).solve()
        if with_vectors and not is_real:
            self.reflections.transform()
        return lanes.number(0.0)

    def sort(self, values: Array, lead: tuple[Place, ...], poison: Number, *, with_vectors: bool) -> None:
        """Write the eigenvalues in order, and put the vectors in that order into `work`, as rows.

        They become NaN if `poison` is not zero.
        """
        lanes, width, size, lines = self.lanes, self.lanes.width, self.size, self.diagonals
        work, basis = self.reflections.work, self.reflections.basis
        (poison,) = carried(0, size, [poison], lambda i, so_far: [so_far + lines[DIAGONAL, i] * 0.0])
        spoilt = lanes.filled(lanes.of_real(poison))
        with loop(0, size) as row:
            values[(*lead, row)] = poison
            if with_vectors:
                with loop(0, lanes.padded(size), width) as place:
                    work[row, place] = spoilt
        with loop(0, size) as row:
            mine = lines[DIAGONAL, row]

            def count(other: Number, rank: Number) -> list[Number]:
                its = lines[DIAGONAL, other]
                is_before = (its < mine) | (its.equals(mine) & (other < row))
                return [choose(is_before, rank + 1, rank)]

            (rank,) = carried(0, size, [index(0)], count)
            values[(*lead, rank)] = mine + poison
            if with_vectors:
                with loop(0, lanes.padded(size), width) as place:
                    work[rank, place] = basis.vector(width, row, place) + spoilt

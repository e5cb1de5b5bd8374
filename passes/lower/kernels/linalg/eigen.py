"""Eigenvalues and vectors of symmetric matrices by one kernel: tridiagonal form, then QL or halves.

Input: real symmetric matrices `[..., n, n]` whose elements are at most 1. Output: eigenvalues in ascending
order, and with them the vectors as columns; NaN in all of them where the matrix has one.
Idea: Householder reflections from both sides (`tridiagonal.py`). Of small matrices their product is made in
panels, as for QR factors, and rotated by the QL algorithm (`ql.py`); vectors of large ones are those of the
tridiagonal matrix (`conquer.py`), reflected; a matrix whose size shows at the call counts as large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, carried, choose, index, loop, most
from ..executable import Kernel, Result, Size
from .conquer import Conquer, conquer_integers, conquer_sizes
from .matrices import MakeKernel, each_matrix, known, own_sizes, scratch, workgroups
from .pending import panel_of
from .ql import Tridiagonal
from .reflections import PANEL, Reflections
from .rotations import Rotations, integers, scratch_sizes
from .transposes import transpose_in, transpose_out
from .tridiagonal import BESIDE, DIAGONAL, LINES, Reduction
from .vectors import ROWS, Lanes, Machine, Matrix, lead_of

LARGE: Final = 64  # rows from which on register tiles have two vectors
DIVIDED: Final = 64  # rows from which on a tridiagonal matrix is divided


def eigen(*, with_vectors: bool) -> MakeKernel:
    """The kernel of a routine: matrices to eigenvalues, and to vectors."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        (size,) = own_sizes(results[0], 1)
        lanes = Lanes.of(machine, type_.dtype, PANEL if known(size) < LARGE else 2 * PANEL)
        count, padded = workgroups(batch), lanes.padded(size)
        length = lanes.stride(size + lanes.width)
        sizes = [
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
        is_divided = with_vectors and known(size) >= DIVIDED
        if is_divided:
            sizes += conquer_sizes(lanes, size)
            whole = conquer_integers(lanes, count, size)
        else:
            sizes += scratch_sizes(lanes, size, length, 1)
            whole = integers(count)
        buffers = [*(scratch(count, rows, columns, lanes) for rows, columns in sizes), whole]

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, outputs = Array(operands[0]), [Array(x) for x in written[: len(results)]]
            size = source.size(type_.rank - 1)
            length = lanes.stride(size + lanes.width)

            def one(number: Number, mine: Number) -> None:
                parts = [Matrix(Array(memref), (mine,)) for memref in written[len(results) :]]
                copy, basis, panel, turned, factors, sums, strip, lines, pairs, *others = parts
                lead = lead_of(source, number, 2)
                transpose_in(lanes, Matrix(source, lead), copy, (size, size), strip)
                reflections = Reflections(
                    lanes, size, most(size - 2, 0), size, copy, basis, panel, turned, factors, sums, 1
                )
                work = _Eigen(lanes, size, length, reflections, lines, pairs)
                work.reduce()
                poison = lanes.number(0.0)
                if is_divided:
                    poison = Conquer(lanes, size, lines, DIAGONAL, BESIDE, basis, *others).solve()
                    reflections.transform()
                else:
                    work.rotate(others, with_vectors=with_vectors)
                work.sort(outputs[0], lead, poison, with_vectors=with_vectors)
                if with_vectors:
                    transpose_out(lanes, copy, Matrix(outputs[1], lead), (size, size), strip)

            each_matrix(source, 2, one)

        return Kernel("eigh", (*results, *buffers), emit, (machine,), (count,))

    return make


@dataclass(frozen=True, slots=True)
class _Eigen:
    """One matrix, a copy of which is in the reflections' `work`; rows of `lines` are vectors."""

    lanes: Lanes
    size: Place
    length: Place
    reflections: Reflections
    lines: Matrix
    pairs: Matrix

    def reduce(self) -> None:
        """Make the matrix tridiagonal: its diagonals to `lines`, the reflections below in `work`."""
        lanes = self.lanes
        for line in range(LINES):
            with loop(0, self.length, lanes.width) as place:
                self.lines[line, place] = lanes.filled(0.0)
        with loop(0, lanes.padded(self.size)) as row:
            self.reflections.factors[row, row % lanes.panel] = lanes.number(0.0)
        Reduction(lanes, self.size, self.reflections, self.lines, self.pairs).reduce()

    def rotate(self, others: Sequence[Matrix], *, with_vectors: bool) -> None:
        """Values, and vectors, by rotations, which are kept in other scratch."""
        lanes, size, basis = self.lanes, self.size, self.reflections.basis
        rotations = None
        if with_vectors:
            self.reflections.multiply()
            kept, columns, ranges = others
            rotations = Rotations(lanes, size, (basis,), kept, columns, ranges, is_reversed=True)
        Tridiagonal(lanes, size, self.lines, DIAGONAL, BESIDE, rotations).solve()

    def sort(self, values: Array, lead: tuple[Place, ...], poison: Number, *, with_vectors: bool) -> None:
        """Write the eigenvalues in order, and put the vectors in that order into `work`, as rows.

        They become NaN if `poison` is not zero.
        """
        lanes, width, size, lines = self.lanes, self.lanes.width, self.size, self.lines
        work, basis = self.reflections.work, self.reflections.basis
        (poison,) = carried(0, size, [poison], lambda i, so_far: [so_far + lines[DIAGONAL, i] * 0.0])
        with loop(0, size) as row:
            values[(*lead, row)] = poison
            if with_vectors:
                with loop(0, lanes.padded(size), width) as place:
                    work[row, place] = lanes.filled(poison)
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
                    work[rank, place] = basis.vector(width, row, place) + lanes.filled(poison)

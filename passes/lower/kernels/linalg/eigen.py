"""Eigenvalues and vectors of symmetric matrices by one kernel: tridiagonal form, then implicit QL.

Input: real symmetric matrices `[..., n, n]` whose elements are at most 1. Output: eigenvalues in ascending
order, and with them the vectors as columns; NaN in all of them where the matrix has one.
Idea: Householder reflections from both sides, a row at a time (Golub and Van Loan, section 8.3.1). Their
product is made in panels, as for QR factors, and rotated by the QL algorithm (`ql.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects.types import TensorType
from ....ir.aliases import Type, Value
from ..builder import Array, Number, Place, carried, choose, index, loop
from ..executable import Kernel, Result
from .matrices import each_matrix, scratch, workgroups
from .ql import SWEEPS, Rotations, Tridiagonal, integers
from .reflections import PANEL, Reflections
from .transposes import transpose_in, transpose_out
from .vectors import ROWS, Lanes, Machine, Matrix, lead_of, total

VECTOR, CHANGE, DIAGONAL, BESIDE = range(4)  # rows of `lines`


def eigen(*, with_vectors: bool) -> Callable[[Machine, Sequence[TensorType], Sequence[Type]], Kernel]:
    """The kernel of a routine: matrices to eigenvalues, and to vectors."""

    def make(machine: Machine, types: Sequence[TensorType], results: Sequence[Type]) -> Kernel:
        (type_,) = types
        size = int(type_.static_shape[-1] or 0)
        lanes = Lanes.of(machine, type_.dtype, PANEL)
        count, padded = workgroups(type_, 2), lanes.padded(size)
        length = lanes.stride(size + lanes.width)
        sizes = [
            (padded, length),
            (padded, length),
            (lanes.panel, length),
            (padded, lanes.panel),
            (2 * padded, lanes.panel),
            (2 * ROWS, lanes.panel),
            (lanes.width, lanes.stride(size)),
            (4, length),
            (2 * SWEEPS, length),
        ]
        buffers = [*(scratch(count, rows, columns, lanes) for rows, columns in sizes), integers(count)]

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, outputs = Array(operands[0]), [Array(x) for x in written[: len(results)]]

            def one(number: Number, mine: Number) -> None:
                parts = [Matrix(Array(memref), (mine,)) for memref in written[len(results) :]]
                copy, basis, panel, turned, factors, sums, strip, lines, kept, ranges = parts
                lead = lead_of(source, number, 2)
                transpose_in(lanes, Matrix(source, lead), copy, (size, size), strip)
                reflections = Reflections(
                    lanes, size, max(size - 2, 0), size, copy, basis, panel, turned, factors, sums, 1
                )
                work = _Eigen(lanes, size, length, reflections, lines)
                work.reduce()
                if with_vectors:
                    reflections.multiply()
                rotations = Rotations(lanes, size, basis, kept, ranges) if with_vectors else None
                Tridiagonal(lanes, size, lines, DIAGONAL, BESIDE, rotations).solve()
                work.sort(outputs[0], lead, with_vectors=with_vectors)
                if with_vectors:
                    transpose_out(lanes, copy, Matrix(outputs[1], lead), (size, size), strip)

            each_matrix(type_, 2, one)

        return Kernel("eigh", tuple(map(Result, [*results, *buffers])), emit, (machine,), (count,))

    return make


@dataclass(frozen=True, slots=True)
class _Eigen:
    """One matrix, a copy of which is in the reflections' `work`; rows of `lines` are vectors."""

    lanes: Lanes
    size: int
    length: int
    reflections: Reflections
    lines: Matrix

    def reduce(self) -> None:
        """Make the matrix tridiagonal: its diagonals to `lines`, the reflections below in `work`."""
        lanes, size, work = self.lanes, self.size, self.reflections.work
        zero = lanes.filled(0.0)
        for line in range(4):
            with loop(0, self.length, lanes.width) as place:
                self.lines[line, place] = zero
        with loop(0, lanes.padded(size)) as row:
            self.reflections.factors[row, row % lanes.panel] = lanes.number(0.0)
        with loop(0, max(size - 2, 0)) as row:
            tau = self.reflections.reflection(row, row + 1)
            self.reflections.factors[row, row % lanes.panel] = tau
            self.lines[DIAGONAL, row] = work[row, row]
            self.lines[BESIDE, row] = work[row, row + 1]
            self._reflect(row, tau)
        for last in range(max(size - 2, 0), size):
            self.lines[DIAGONAL, last] = work[last, last]
            if last + 1 < size:
                self.lines[BESIDE, last] = work[last, last + 1]

    def _reflect(self, row: Number, tau: Number) -> None:
        """Reflect what is left of the matrix from both sides, by the vector that a row holds."""
        lanes, width, work, lines = self.lanes, self.lanes.width, self.reflections.work, self.lines
        padded = lanes.padded(self.size)
        start = (row + 1) // lanes.panel * lanes.panel
        with loop(start, padded, width) as place:
            lines[VECTOR, place] = work.vector(width, row, place)
        with loop(start, row + 1) as place:
            lines[VECTOR, place] = lanes.number(0.0)
        lines[VECTOR, row + 1] = lanes.number(1.0)
        with loop(start, padded, ROWS) as first:

            def add(place: Number, *sums: Number) -> list[Number]:
                vector = lines.vector(width, VECTOR, place)
                return [
                    lanes.add_product(vector, work.vector(width, first + r, place), sums[r])
                    for r in range(ROWS)
                ]

            for r, product in enumerate(carried(start, padded, [lanes.filled(0.0)] * ROWS, add, width)):
                lines[CHANGE, first + r] = total(product)
        (inner,) = carried(
            start,
            padded,
            [lanes.filled(0.0)],
            lambda place, so_far: [
                lanes.add_product(
                    lines.vector(width, VECTOR, place), lines.vector(width, CHANGE, place), so_far
                )
            ],
            width,
        )
        half = tau * tau * total(inner) * 0.5
        with loop(start, padded, width) as place:
            change = lines.vector(width, CHANGE, place) * tau
            lines[CHANGE, place] = lanes.sub_product(half, lines.vector(width, VECTOR, place), change)
        with loop(start, row + 1) as place:
            lines[CHANGE, place] = lanes.number(0.0)
        with loop(start, padded, ROWS) as first:
            factors = [(lines[VECTOR, first + r], lines[CHANGE, first + r]) for r in range(ROWS)]
            with loop(start, padded, width) as place:
                vector, change = lines.vector(width, VECTOR, place), lines.vector(width, CHANGE, place)
                for r, (mine, its) in enumerate(factors):
                    value = lanes.sub_product(mine, change, work.vector(width, first + r, place))
                    work[first + r, place] = lanes.sub_product(its, vector, value)

    def sort(self, values: Array, lead: tuple[Place, ...], *, with_vectors: bool) -> None:
        """Write the eigenvalues in order, and put the vectors in that order into `work`, as rows."""
        lanes, width, size, lines = self.lanes, self.lanes.width, self.size, self.lines
        work, basis = self.reflections.work, self.reflections.basis
        (poison,) = carried(
            0, size, [lanes.number(0.0)], lambda i, so_far: [so_far + lines[DIAGONAL, i] * 0.0]
        )
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

"""Singular values and vectors of square matrices by one kernel: bidiagonal form, then implicit QR.

Input: square matrices `[..., n, n]`, real or complex, whose elements are at most 1. Output: left vectors as
columns, values in descending order, right vectors as rows, or the values alone; NaN in all of a matrix that
has one, and where the QR algorithm does not end.
Idea: Householder reflections from both sides (`bidiagonal.py`); their products are made in panels, as for QR
factors, and rotated by the QR algorithm (`bidiagonal_qr.py`). The bidiagonal form is real: of complex
matrices its vectors are rotated, and reflected then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, carried, choose, index, loop, most
from ..executable import Kernel, Result, Size
from .bidiagonal import BESIDE, DIAGONAL, LINES, Bidiagonal
from .bidiagonal_qr import BidiagonalValues
from .complex_lanes import lanes_for
from .matrices import MakeKernel, each_matrix, known, own_sizes, scratch, workgroups
from .pending import panel_of
from .reflections import Reflections, vector_columns
from .rotations import Rotations, integers, scratch_sizes
from .transposes import transpose_out
from .vectors import ROWS, Lanes, Machine, Matrix, copy_row, lead_of, magnitude


def singular(*, with_vectors: bool) -> MakeKernel:
    """The kernel of a routine: matrices to left vectors, values and right vectors, or to values."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        (size,) = own_sizes(results[-1], 1)
        lanes = lanes_for(machine, type_.dtype, vector_columns(size))
        count, padded = workgroups(batch), lanes.padded(size)
        length = lanes.stride(size + max(ROWS, lanes.width))
        panel = panel_of(lanes)
        bases = [(padded, length)] * (2 if with_vectors else 0)
        sizes = [
            (most(size + ROWS, padded), length),
            (padded, length),
            *bases,
            (2 * panel, length),
            (2 * panel, length),
            (LINES, most(length, 2 * panel)),
            (lanes.panel, length),
            (padded + lanes.panel, lanes.panel),
            (2 * padded, lanes.panel),
            (2 * padded, lanes.panel),
            (2 * ROWS, lanes.panel),
            (lanes.width, length),
        ]
        buffers = [scratch(count, rows, columns, lanes) for rows, columns in sizes]
        rotated = scratch_sizes(lanes, size, length, 2)
        buffers += [scratch(count, rows, columns, lanes.reals) for rows, columns in rotated]
        buffers.append(integers(count))

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, outputs = Array(operands[0]), [Array(x) for x in written[: len(results)]]
            size = source.size(type_.rank - 2)
            length = lanes.stride(size + max(ROWS, lanes.width))

            def one(number: Number, mine: Number) -> None:
                parts = [Matrix(Array(memref), (mine,)) for memref in written[len(results) :]]
                lead = lead_of(source, number, 2)
                work = _Singular.of(lanes, size, length, parts, with_vectors=with_vectors)
                work.take(lanes.stored(Matrix(source, lead)))
                poison = work.solve()
                if with_vectors:
                    u, values, vh = outputs
                    work.sort(values, lead, lanes.stored(Matrix(vh, lead)), poison)
                    strip, target = lanes.kept(parts[-4]), lanes.stored(Matrix(u, lead))
                    transpose_out(lanes, work.across.work, target, (size, size), strip)
                else:
                    work.sort(outputs[0], lead, None, poison)

            each_matrix(source, 2, one)

        name = "svd" if with_vectors else "svdvals"
        return Kernel(name, (*results, *buffers), emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make


@dataclass(frozen=True, slots=True)
class _Singular:
    """One matrix, a copy of which is in `across.work`; `diagonals` are the real parts of `lines`."""

    lanes: Lanes
    size: Place
    length: Place
    across: Reflections
    down: Reflections
    lines: Matrix
    diagonals: Matrix
    pending: tuple[Matrix, Matrix]
    rotations: Rotations | None

    @classmethod
    def of(
        cls, lanes: Lanes, size: Place, length: Place, parts: Sequence[Matrix], *, with_vectors: bool
    ) -> _Singular:
        """The work on a matrix, in these parts of scratch."""
        *reals, kept, strip, ranges = parts
        copy, columns, *rest = map(lanes.kept, reals)
        bases = rest[:2] if with_vectors else [copy, columns]
        left, right, lines, panel, turned, factors, others, sums, _ = rest[-9:]
        is_one_panel = known(size) <= lanes.panel
        across = Reflections(
            lanes, size, size, size, copy, bases[0], panel, turned, factors, sums, is_one_panel=is_one_panel
        )
        # What is beside the diagonal of a complex matrix becomes real by a reflection too.
        below = most(size - (2 if lanes.parts == 1 else 1), 0)
        down = Reflections(
            lanes, size, below, size, columns, bases[1], panel, turned, others, sums, 1,
            is_one_panel=is_one_panel,
        )  # fmt: skip
        rotations = None
        if with_vectors:
            rotations = Rotations(lanes.reals, size, (reals[3], reals[2]), kept, strip, ranges)
        return cls(lanes, size, length, across, down, lines, reals[-7], (left, right), rotations)

    def take(self, matrix: Matrix) -> None:
        """Copy the matrix, and fill with zeros what is beside it and what sums start from."""
        lanes, size, width = self.lanes, self.size, self.lanes.width
        zero, rest = lanes.filled(0.0), size // width * width
        with loop(0, size) as row:
            with loop(rest, self.length, width) as place:
                self.across.work[row, place] = zero
                self.down.work[row, place] = zero
            copy_row(lanes, (matrix, row), (self.across.work, row), size)
        with loop(size, most(size + ROWS, lanes.padded(size))) as row, loop(0, self.length, width) as place:
            self.across.work[row, place] = zero
        with loop(0, LINES) as row, loop(0, self.length, width) as place:
            self.lines[row, place] = zero
        with loop(0, lanes.padded(size)) as row:
            for factors in (self.across.factors, self.down.factors):
                factors[row, row % lanes.panel] = lanes.number(0.0)

    def solve(self) -> Number:
        """Singular values, up to signs, in `lines`, vectors in the bases; zero, or NaN for no answer."""
        lanes = self.lanes
        lines, both = self.diagonals, (self.across, self.down)
        Bidiagonal(lanes, self.size, *both, self.lines, lines, *self.pending).reduce()
        is_real = lanes.parts == 1
        if self.rotations is not None:
            for reflections in both:
                if is_real:
                    reflections.multiply()
                else:
                    reflections.begin()
        (poison,) = carried(
            0,
            self.size,
            [lanes.reals.number(0.0)],
            lambda i, so_far: [so_far + (lines[DIAGONAL, i] + lines[BESIDE, i]) * 0.0],
        )
        poison = (
            poison + BidiagonalValues(lanes.reals, self.size, lines, DIAGONAL, BESIDE, self.rotations).solve()
        )
        if self.rotations is not None and not is_real:
            for reflections in both:
                reflections.transform()
        return poison

    def sort(self, values: Array, lead: tuple[Place, ...], right: Matrix | None, poison: Number) -> None:
        """Write the values in order and the right vectors; the left vectors in that order into the copy."""
        size, lines = self.size, self.diagonals
        with loop(0, size) as row:
            lines[BESIDE, row] = magnitude(lines[DIAGONAL, row])
        with loop(0, size) as row:
            mine = lines[BESIDE, row]

            def count(other: Number, rank: Number) -> list[Number]:
                its = lines[BESIDE, other]
                is_before = (its > mine) | (its.equals(mine) & (other < row))
                return [choose(is_before, rank + 1, rank)]

            (rank,) = carried(0, size, [index(0)], count)
            place = choose(poison.equals(0.0), rank, row)
            values[(*lead, place)] = mine + poison
            if right is not None:
                self._place(row, place, right, poison)

    def _place(self, row: Number, place: Number, right: Matrix, poison: Number) -> None:
        """Put the vectors of a value into their place; the right one gets its sign."""
        lanes, one = self.lanes, self.lanes.reals.number(1.0)
        basis, other = self.across.basis, self.down.basis
        sign = lanes.reals.filled(choose(self.diagonals[DIAGONAL, row] < 0.0, -one, one) + poison)
        spoilt = lanes.filled(lanes.of_real(poison))
        with loop(0, lanes.padded(self.size), lanes.width) as at:
            self.across.work[place, at] = other.vector(lanes.width, row, at) + spoilt
            basis[row, at] = basis.vector(lanes.width, row, at) * sign
        copy_row(lanes, (basis, row), (right, place), self.size)

"""Singular values and vectors of square matrices by one kernel: bidiagonal form, then implicit QR.

Input: square matrices `[..., n, n]`, real or complex. Output: left vectors as columns, values in descending
order, right vectors as rows, or the values alone; NaN in all of a matrix that has one, and where the QR
algorithm does not end.
Idea: the matrix, divided by its largest element, is reflected from both sides (`bidiagonal.py`). Of small
real matrices the products of the reflections are made in panels, as for QR factors, and rotated by the QR
algorithm (`bidiagonal_qr.py`); vectors of large and of complex ones are those of the bidiagonal form, which
is real, reflected: large ones divide and conquer (`bidiagonal_conquer.py`). A matrix whose size shows at the
call counts as large.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, Place, carried, choose, index, loop, most
from ..executable import Kernel, Result, Size
from .bidiagonal import BESIDE, DIAGONAL, LINES, Bidiagonal
from .bidiagonal_conquer import BidiagonalConquer, divided_sizes
from .bidiagonal_qr import BidiagonalValues, poison_of
from .complex_lanes import lanes_for
from .conquer import conquer_integers
from .matrices import MakeKernel, each_matrix, known, own_sizes, parts_of, scratch, stacked, workgroups
from .pending import panel_of
from .reflections import Reflections, vector_columns
from .rotations import Rotations, integers, scratch_sizes
from .transposes import transpose_out
from .vectors import ROWS, Lanes, Machine, Matrix, copy_row, element_of, lead_of, magnitude

DIVIDED: Final = 64  # rows from which on a bidiagonal matrix is divided


def singular(*, with_vectors: bool) -> MakeKernel:
    """The kernel of a routine: matrices to left vectors, values and right vectors, or to values."""

    def make(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
        (type_,) = types
        (size,) = own_sizes(results[-1], 1)
        lanes = lanes_for(machine, type_.dtype, vector_columns(size))
        count = workgroups(batch)
        buffers = Singular.buffers(lanes, size, known(size), count, with_vectors=with_vectors)

        def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
            source, outputs = Array(operands[0]), [Array(x) for x in written[: len(results)]]
            size = source.size(type_.rank - 2)

            def one(number: Number, mine: Number) -> None:
                parts = [Matrix(Array(memref), (mine,)) for memref in written[len(results) :]]
                lead = lead_of(source, number, 2)
                work = Singular.of(lanes, size, known(size), parts, with_vectors=with_vectors)
                work.clear()
                with loop(0, size) as row:
                    copy_row(lanes, (lanes.stored(Matrix(source, lead)), row), (work.across.work, row), size)
                scale = work.normalize()
                poison = work.solve()
                if not with_vectors:
                    work.sort(outputs[0], lead, scale, poison)
                    return
                u, values, vh = outputs
                into = work.vectors_into(lanes.stored(Matrix(vh, lead)), size, poison)
                work.sort(values, lead, scale, poison, into)
                target = lanes.stored(Matrix(u, lead))
                transpose_out(lanes, work.across.work, target, (size, size), work.strip)

            each_matrix(source, 2, one)

        name = "svd" if with_vectors else "svdvals"
        return Kernel(name, (*results, *buffers), emit, (machine,), (count,), has_parts=lanes.parts > 1)

    return make


@dataclass(frozen=True, slots=True)
class Singular:
    """One matrix, a copy of which is in `across.work`; `diagonals` are the real parts of `lines`.

    Rows of `down.basis` are left vectors, those of `across.basis` right ones, in the order of the diagonal.
    """

    lanes: Lanes
    size: Place
    length: Place
    across: Reflections
    down: Reflections
    lines: Matrix
    diagonals: Matrix
    pending: tuple[Matrix, Matrix]
    strip: Matrix
    rotations: Rotations | None
    divided: BidiagonalConquer | None

    @staticmethod
    def buffers(lanes: Lanes, size: Place, bound: int, count: Size, *, with_vectors: bool) -> list[Result]:
        """The scratch of matrices of this size, up to `bound`."""
        length = _length(lanes, size)
        long, short = _rows(lanes, size, with_vectors=with_vectors)
        sizes: list[tuple[Place, Place]] = []
        whole = []
        if with_vectors and is_divided(bound):
            sizes = divided_sizes(lanes.reals, size)
            whole = [conquer_integers(lanes.reals, count, size)]
        elif with_vectors:
            sizes = scratch_sizes(lanes, size, length, 2)
            whole = [integers(count)]
        return [
            stacked(count, long, most(length, 2 * panel_of(lanes)), lanes),
            stacked(count, short, lanes.panel, lanes),
            *(scratch(count, rows, columns, lanes.reals) for rows, columns in sizes),
            *whole,
        ]

    @classmethod
    def of(
        cls, lanes: Lanes, size: Place, bound: int, parts: Sequence[Matrix], *, with_vectors: bool
    ) -> Singular:
        """The work on a matrix, of a size up to `bound`, in these parts of scratch."""
        rows = _rows(lanes, size, with_vectors=with_vectors)
        long, short = (parts_of(lanes.kept(stack), each) for stack, each in zip(parts, rows, strict=False))
        copy, columns, left, right, lines, panel, strip, *bases = long
        turned, factors, others, sums = short
        bases = bases or [copy, columns]
        is_one_panel = bound <= lanes.panel and not (with_vectors and is_divided(bound))
        across = Reflections(
            lanes, size, size, size, copy, bases[0], panel, turned, factors, sums, is_one_panel=is_one_panel
        )
        # What is beside the diagonal of a complex matrix becomes real by a reflection too.
        below = most(size - (2 if lanes.parts == 1 else 1), 0)
        down = Reflections(
            lanes, size, below, size, columns, bases[1], panel, turned, others, sums, 1,
            is_one_panel=is_one_panel,
        )  # fmt: skip
        rotations = divided = None
        length, diagonals = _length(lanes, size), Matrix(lines.array, lines.lead, lines.first, lines.above)
        # Rotated, or products, are the real parts, which come first in a row.
        reals = tuple(Matrix(m.array, m.lead, m.first, m.above) for m in (bases[1], bases[0]))
        if with_vectors and is_divided(bound):
            divided = BidiagonalConquer(
                lanes.reals, size, diagonals, DIAGONAL, BESIDE, *reals, *parts[2:]
            )  # fmt: skip
        elif with_vectors:
            kept, rotated, ranges = parts[2:]
            rotations = Rotations(lanes.reals, size, reals, kept, rotated, ranges)
        return cls(
            lanes, size, length, across, down, lines, diagonals, (left, right), strip, rotations, divided
        )

    def clear(self) -> None:
        """Fill with zeros what is beside the copy of the matrix and what sums start from."""
        lanes, size, width = self.lanes, self.size, self.lanes.width
        zero, rest = lanes.filled(0.0), size // width * width
        with loop(0, size) as row, loop(rest, self.length, width) as place:
            self.across.work[row, place] = zero
            self.down.work[row, place] = zero
        with loop(size, most(size + ROWS, lanes.padded(size))) as row, loop(0, self.length, width) as place:
            self.across.work[row, place] = zero
        with loop(0, LINES) as row, loop(0, self.length, width) as place:
            self.lines[row, place] = zero
        with loop(0, lanes.padded(size)) as row:
            for factors in (self.across.factors, self.down.factors):
                factors[row, row % lanes.panel] = lanes.number(0.0)

    def normalize(self) -> Number:
        """Divide the copy by the largest part of an element, which is returned; 1 for a matrix of zeros."""
        lanes, work, reals = self.lanes, self.across.work, self.lanes.reals
        end = lanes.padded(self.size)

        def of_row(row: Number, so_far: Number) -> list[Number]:
            def survey(place: Number, so_far: Number) -> list[Number]:
                part = lanes.largest_part(work.vector(lanes.width, row, place))
                return [choose(part > so_far, part, so_far)]

            return carried(0, end, [so_far], survey, lanes.width)

        (parts,) = carried(0, self.size, [reals.filled(0.0)], of_row)
        largest = reals.number(0.0)
        for lane in range(lanes.width):
            part = element_of(parts, lane)
            largest = choose(part > largest, part, largest)
        scale = choose(largest > 0.0, largest, reals.number(1.0))
        divisor = reals.filled(scale)
        with loop(0, self.size) as row, loop(0, end, lanes.width) as place:
            work[row, place] = work.vector(lanes.width, row, place) / divisor
        return scale

    def solve(self) -> Number:
        """Singular values, up to signs, in `lines`, vectors in the bases; zero, or NaN for no answer."""
        lanes = self.lanes
        lines, both = self.diagonals, (self.across, self.down)
        Bidiagonal(lanes, self.size, *both, self.lines, lines, *self.pending).reduce()
        if self.divided is not None:
            if lanes.parts > 1:  # imaginary parts
                for reflections in both:
                    reflections.begin()
            poison = self.divided.solve()
            for reflections in both:
                reflections.transform()
            return poison
        is_real = lanes.parts == 1
        if self.rotations is not None:
            for reflections in both:
                if is_real:
                    reflections.multiply()
                else:
                    reflections.begin()
        poison = poison_of(lanes.reals, lines, (DIAGONAL, BESIDE), self.size)
        poison = (
            poison + BidiagonalValues(lanes.reals, self.size, lines, DIAGONAL, BESIDE, self.rotations).solve()
        )
        if self.rotations is not None and not is_real:
            for reflections in both:
                reflections.transform()
        return poison

    def sort(
        self,
        values: Array,
        lead: tuple[Place, ...],
        scale: Number,
        poison: Number,
        place: Callable[[Number, Number], None] | None = None,
    ) -> None:
        """Write the values, times `scale`, in order; `place(row, at)` gets what comes to which place."""
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
            at = choose(poison.equals(0.0), rank, row)
            values[(*lead, at)] = mine * scale + poison
            if place is not None:
                place(row, at)

    def vectors_into(self, right: Matrix, count: Place, poison: Number) -> Callable[[Number, Number], None]:
        """Puts the right vector of a value, with its sign, into `right`, and the left one into the copy.

        `count` elements of a right vector are written: those behind `size` are zeros.
        """
        lanes, one = self.lanes, self.lanes.reals.number(1.0)
        basis, other = self.across.basis, self.down.basis
        spoilt = lanes.filled(lanes.of_real(poison))

        def place(row: Number, at: Number) -> None:
            sign = lanes.reals.filled(choose(self.diagonals[DIAGONAL, row] < 0.0, -one, one) + poison)
            with loop(0, lanes.padded(self.size), lanes.width) as column:
                self.across.work[at, column] = other.vector(lanes.width, row, column) + spoilt
                basis[row, column] = basis.vector(lanes.width, row, column) * sign
            copy_row(lanes, (basis, row), (right, at), count)

        return place


def is_divided(bound: int) -> bool:
    """Whether vectors of matrices up to this size are those of two halves; the others are rotated."""
    return bound >= DIVIDED


def _rows(lanes: Lanes, size: Place, *, with_vectors: bool) -> tuple[list[Place], list[Place]]:
    """The rows of what lies in scratch: in rows of the length of matrices, and of a panel.

    A copy, the vectors of columns, two of those that are pending, lines, a panel, a strip, and two bases; the
    columns of a panel, the factors of both kinds of reflections, and sums.
    """
    padded, panel = lanes.padded(size), panel_of(lanes)
    bases = [padded] * (2 if with_vectors else 0)
    long = [
        most(size + ROWS, padded), padded, 2 * panel, 2 * panel, LINES, lanes.panel, lanes.width, *bases,
    ]  # fmt: skip
    return long, [padded + lanes.panel, 2 * padded, 2 * padded, 2 * ROWS]


def _length(lanes: Lanes, size: Place) -> Place:
    """The length of rows in scratch."""
    return lanes.stride(size + max(ROWS, lanes.width))

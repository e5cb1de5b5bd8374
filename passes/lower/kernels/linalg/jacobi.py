"""One-sided Jacobi rotations by one kernel: the columns of a matrix are rotated until all are orthogonal.

Input: real matrices `[..., n, n]` whose elements are at most 1, and perhaps others `[..., m, n]`. Output: the
matrices times orthogonal ones that make their columns orthogonal, and the others times the same.
Idea: columns are transposed, so that they are contiguous; sweeps over all pairs of them until none is left to
be rotated (Hestenes 1958; Golub and Van Loan, section 8.6.3). Squares of lengths are summed once a sweep and
follow the rotations in between. NaN rotates nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from .....dialects.types import TensorType
from ....ir.aliases import Value
from ..builder import Array, Number, branches, carried, choose, constant, index, loop, repeated
from ..executable import Kernel, Result, Size
from .matrices import each_matrix, scratch, workgroups
from .transposes import transpose_in, transpose_out
from .vectors import Lanes, Machine, Matrix, lead_of, magnitude, root, total

PANEL: Final = 16
MOST: Final = 30  # sweeps; 6 to 9 are usual


def jacobi(machine: Machine, batch: Size, types: Sequence[TensorType], results: Sequence[Result]) -> Kernel:
    """The kernel of a routine: matrices, and others that follow, to what rotations make of them."""
    columns = int(types[0].static_shape[-1] or 0)
    heights = [int(t.static_shape[-2] or 0) for t in types]
    lanes = Lanes.of(machine, types[0].dtype, PANEL)
    count = workgroups(batch)
    buffers = [
        *(scratch(count, lanes.padded(columns), lanes.stride(n + lanes.width), lanes) for n in heights),
        scratch(count, lanes.width, lanes.stride(columns), lanes),
        scratch(count, 1, columns, lanes),
    ]

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        sources, targets = [Array(x) for x in operands], [Array(x) for x in written[: len(types)]]

        def one(number: Number, mine: Number) -> None:
            *copies, strip, squares = [Matrix(Array(x), (mine,)) for x in written[len(types) :]]
            lead = lead_of(sources[0], number, 2)
            for source, copy, height in zip(sources, copies, heights, strict=True):
                transpose_in(lanes, Matrix(source, lead), copy, (height, columns), strip)
            _Sweeps(lanes, columns, heights, copies, squares).run()
            for target, copy, height in zip(targets, copies, heights, strict=True):
                transpose_out(lanes, copy, Matrix(target, lead), (height, columns), strip)

        each_matrix(sources[0], 2, one)

    return Kernel("jacobi", (*results, *buffers), emit, (machine,), (count,))


@dataclass(frozen=True, slots=True)
class _Sweeps:
    """The rotations of one matrix, the first of `copies`, whose rows are columns of these squared lengths."""

    lanes: Lanes
    columns: int
    heights: Sequence[int]
    copies: Sequence[Matrix]
    squares: Matrix

    def run(self) -> None:
        """Sweep until no pair has been rotated."""
        yes = constant(mlir.ir.IntegerType.get_signless(1), 1)

        def sweep(_: Number, done: Number) -> list[Number]:
            def with_first(first: Number, has: Number) -> list[Number]:
                start = [has, self.squares[0, first]]
                has, _ = carried(
                    first + 1, self.columns, start, lambda other, *state: self._pair(first, other, *state)
                )
                return [has]

            with loop(0, self.columns) as column:
                self.squares[0, column] = self._product(column, column)
            (has_rotated,) = carried(0, self.columns, [yes ^ 1], with_first)
            return [has_rotated, done + 1]

        repeated([yes, index(0)], lambda goes_on, done: goes_on & (done < MOST), sweep)

    def _product(self, one: Number, other: Number) -> Number:
        """The product of two columns."""
        lanes, width, matrix = self.lanes, self.lanes.width, self.copies[0]

        def add(place: Number, so_far: Number) -> list[Number]:
            x, y = matrix.vector(width, one, place), matrix.vector(width, other, place)
            return [lanes.add_product(x, y, so_far)]

        return total(carried(0, self.heights[0], [lanes.filled(0.0)], add, width)[0])

    def _pair(self, first: Number, other: Number, has: Number, mine: Number) -> list[Number]:
        """Rotate two columns if they are not orthogonal; whether that, or an earlier pair, was needed.

        And the square of the length of the first.
        """
        lanes, product, its = self.lanes, self._product(first, other), self.squares[0, other]
        epsilon, tiny = float(np.finfo(lanes.dtype).eps), float(np.finfo(lanes.dtype).tiny)
        least = choose(mine < its, mine, its)
        is_needed = (least > tiny / epsilon) & (
            magnitude(product) > root(mine) * root(its) * (epsilon * sqrt(self.columns))
        )

        def rotate() -> list[Number]:
            ratio = (its - mine) / (product * 2.0)
            length = magnitude(ratio) + root(ratio * ratio + 1.0)
            tangent = choose(ratio < 0.0, -1.0 / length, 1.0 / length)
            cosine = 1.0 / root(tangent * tangent + 1.0)
            self._rotate(first, other, cosine, tangent * cosine)
            moved = tangent * product
            self.squares[0, other] = its + moved
            return [is_needed, mine - moved]

        return branches(is_needed, [has.type, mine.type], rotate, lambda: [has, mine])

    def _rotate(self, first: Number, other: Number, cosine: Number, sine: Number) -> None:
        lanes, width = self.lanes, self.lanes.width
        for matrix, height in zip(self.copies, self.heights, strict=True):
            with loop(0, height, width) as place:
                x, y = matrix.vector(width, first, place), matrix.vector(width, other, place)
                matrix[first, place] = lanes.sub_product(sine, y, x * cosine)
                matrix[other, place] = lanes.add_product(sine, x, y * cosine)

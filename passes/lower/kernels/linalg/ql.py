"""The QL algorithm with implicit shifts for symmetric tridiagonal matrices, and the rotations it makes.

Input: the diagonals of a matrix in two rows of scratch. Output: its eigenvalues in place of the diagonal, and
the rotations applied to the rows of a basis (Bowdler, Martin, Reinsch and Wilkinson 1968, The QR and QL
algorithms for symmetric matrices).
Idea: a sweep's rotations are kept (`rotations.py`). NaN compares as if a coupling were negligible, so that
sweeps end. The roundings of a sweep are those of the largest rows, and may restore the couplings of much
smaller ones: after many sweeps a coupling is compared with the whole matrix, as bounds of errors are. A row
that is still coupled in the end becomes NaN.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Number, Place, branches, carried, choose, constant, index, repeated, when
from .rotations import Rotating
from .vectors import Lanes, Matrix, magnitude, root

SMALL: Final = {4: 1e-15, 8: 1e-140}  # of numbers beside 1, by the bytes of a float: squares lose digits
NEGLIGIBLE: Final = {4: 1e-12, 8: 1e-22}  # couplings beside 1: smaller ones may never converge
MANY: Final = 12  # sweeps for one eigenvalue; two are usual. Then couplings end beside the whole matrix
MOST: Final = 60


@dataclass(frozen=True, slots=True)
class Tridiagonal:
    """A matrix: row `diagonal` of `lines`, and row `beside` with the elements beside the diagonal.

    Its rows end before `size`, and begin at `start`.
    """

    lanes: Lanes
    size: Place
    lines: Matrix
    diagonal: int
    beside: int
    rotations: Rotating | None
    start: Place = 0

    def solve(self) -> None:
        """Make all couplings negligible."""
        rounding = self._size() * float(np.finfo(self.lanes.dtype).eps)

        def one(first: Number, sweeps: Number) -> list[Number]:
            yes = constant(mlir.ir.IntegerType.get_signless(1), 1)

            def again(goes_on: Number, done: Number, sweeps: Number) -> list[Number]:
                floor = choose(done < MANY, self.lanes.number(0.0), rounding)
                last = self._end_of_block(first, floor + NEGLIGIBLE[self.lanes.dtype.itemsize])
                is_done = last.equals(first) | done.equals(MOST)
                return branches(
                    is_done,
                    [goes_on.type, done.type, sweeps.type],
                    lambda: self._give_up(last.differs(first), first, [yes ^ 1, done, sweeps]),
                    lambda: [yes, done + 1, self._sweep(first, last, sweeps)],
                )

            *_, sweeps = repeated([yes, index(0), sweeps], lambda goes_on, *_: goes_on, again)
            return [sweeps]

        (sweeps,) = carried(self.start, self.size, [index(0)], one)
        if self.rotations is not None:
            self.rotations.finish(sweeps)

    def _give_up(self, is_coupled: Number, first: Number, state: list[Number]) -> list[Number]:
        """The same state; where a row is still coupled there is no answer."""
        with when(is_coupled):
            self.lines[self.diagonal, first] = self.lanes.number(float("nan"))
        return state

    def _size(self) -> Number:
        """The largest magnitude in the matrix."""
        lines, beside = self.lines, self.beside

        def larger(row: Number, so_far: Number) -> list[Number]:
            for line in (self.diagonal, beside):
                here = magnitude(lines[line, row])
                so_far = choose(so_far < here, here, so_far)
            return [so_far]

        (largest,) = carried(self.start, self.size, [self.lanes.number(0.0)], larger)
        return largest

    def _end_of_block(self, first: Number, floor: Number) -> Number:
        """The last row that is coupled to a row by more than roundings and a number."""
        epsilon = float(np.finfo(self.lanes.dtype).eps)

        def is_coupled(row: Number) -> Number:
            beside = magnitude(self.lines[self.beside, row])
            around = magnitude(self.lines[self.diagonal, row]) + magnitude(self.lines[self.diagonal, row + 1])
            return (row + 1 < self.size) & (beside > around * epsilon + floor)

        (last,) = repeated([first], is_coupled, lambda row: [row + 1])
        return last

    def _sweep(self, first: Number, last: Number, sweep: Number) -> Number:
        """One implicit QL step on the rows from `first` to `last`; the number of the next sweep."""
        lanes, lines, d, e = self.lanes, self.lines, self.diagonal, self.beside
        if self.rotations is not None:
            self.rotations.begin_sweep(sweep)
        zero, one = lanes.number(0.0), lanes.number(1.0)
        no = constant(mlir.ir.IntegerType.get_signless(1), 0)
        small = SMALL[lanes.dtype.itemsize]
        ratio = (lines[d, first + 1] - lines[d, first]) / (lines[e, first] * 2.0)
        length = root(ratio * ratio + 1.0)
        away = ratio + choose(ratio < 0.0, -length, length)
        start = lines[d, last] - lines[d, first] + lines[e, first] / away

        def is_left(done: Number, *state: Number) -> Number:
            return (done < last - first) & (state[-1] ^ 1)

        def rotate(
            done: Number, sine: Number, cosine: Number, moved: Number, bulge: Number, _: Number
        ) -> list[Number]:
            row = last - 1 - done
            far, near = sine * lines[e, row], cosine * lines[e, row]
            # Squares of small numbers are taken of multiples, so that rotations stay orthogonal.
            size = magnitude(far) + magnitude(bulge)
            is_small = size < small
            scale = choose(is_small, lanes.number(1 / small), one)
            is_zero = size * scale < small
            far, bulge = far * scale, bulge * scale
            length = root(far * far + bulge * bulge)
            lines[e, row + 1] = choose(is_zero, zero, choose(is_small, length * small, length))
            sine, cosine = choose(is_zero, zero, far / length), choose(is_zero, zero, bulge / length)
            base = lines[d, row + 1] - moved
            change = (lines[d, row] - base) * sine + cosine * near * 2.0
            moved = sine * change
            lines[d, row + 1] = base + moved
            if self.rotations is not None:
                self.rotations.keep(sweep, row, ((choose(is_zero, one, cosine), sine),))
            following = choose(is_zero, done, done + 1)
            return [following, sine, cosine, moved, cosine * change - near, is_zero]

        done, _, _, moved, bulge, is_zero = repeated([index(0), one, one, zero, start, no], is_left, rotate)
        lines[d, first] = choose(is_zero, lines[d, first], lines[d, first] - moved)
        lines[e, first] = choose(is_zero, lines[e, first], bulge)
        lines[e, last] = zero
        if self.rotations is None:
            return sweep
        return self.rotations.end_sweep(sweep, last - done, last)

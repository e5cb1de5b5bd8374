"""The QL algorithm with implicit shifts for symmetric tridiagonal matrices, and the rotations it makes.

Input: the diagonals of a matrix in two rows of scratch. Output: its eigenvalues in place of the diagonal, and
the rotations applied to the rows of a basis (Bowdler, Martin, Reinsch and Wilkinson 1968, The QR and QL
algorithms for symmetric matrices).
Idea: the rotations of several sweeps are kept, and applied together to strips of columns, which stay in the
cache meanwhile. NaN compares as if a coupling were negligible, so that sweeps end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from .....dialects import mlir
from ..builder import Number, branches, carried, choose, constant, index, loop, repeated
from .vectors import Lanes, Matrix, magnitude, root

SWEEPS: Final = 16  # whose rotations are kept
SMALL: Final = {4: 1e-15, 8: 1e-140}  # of numbers beside 1, by the bytes of a float: squares lose digits
MOST: Final = 60  # sweeps for one eigenvalue; two are usual


@dataclass(frozen=True, slots=True)
class Rotations:
    """Rotations of sweeps: cosines and sines in pairs of rows of `kept`, first and last row in `ranges`."""

    lanes: Lanes
    size: int
    basis: Matrix
    kept: Matrix
    ranges: Matrix

    def keep(self, sweep: Number, row: Number, cosine: Number, sine: Number) -> None:
        """One rotation, of a row of the basis and the next."""
        self.kept[sweep * 2, row] = cosine
        self.kept[sweep * 2 + 1, row] = sine

    def end_sweep(self, sweep: Number, first: Number, last: Number) -> Number:
        """Note the rows of a sweep; the number of the next one."""
        integer = mlir.ir.IntegerType.get_signless(32)
        self.ranges[sweep, 0] = first.as_integer(integer)
        self.ranges[sweep, 1] = last.as_integer(integer)
        following = sweep + 1

        def flush() -> list[Number]:
            self.apply(following)
            return [index(0)]

        (after,) = branches(following.equals(SWEEPS), [following.type], flush, lambda: [following])
        return after

    def apply(self, count: Number) -> None:
        """Rotate the rows of the basis by the first sweeps that are kept."""
        lanes, width = self.lanes, self.lanes.width
        offsets = range(0, lanes.panel, width)
        with loop(0, lanes.padded(self.size), lanes.panel) as place, loop(0, count) as sweep:
            first, last = self.ranges[sweep, 0].as_index(), self.ranges[sweep, 1].as_index()

            def rotate(done: Number, *below: Number) -> list[Number]:
                row = last - 1 - done
                cosine = self.kept[sweep * 2, row]
                sine = self.kept[sweep * 2 + 1, row]
                following = []
                for offset, lower in zip(offsets, below, strict=True):
                    at = place + offset
                    upper = self.basis.vector(width, row, at)
                    self.basis[row + 1, at] = lanes.add_product(sine, upper, lower * cosine)
                    following.append(lanes.sub_product(sine, lower, upper * cosine))
                return following

            start = [self.basis.vector(width, last, place + offset) for offset in offsets]
            ends = carried(0, last - first, start, rotate)
            for offset, vector in zip(offsets, ends, strict=True):
                self.basis[first, place + offset] = vector


@dataclass(frozen=True, slots=True)
class Tridiagonal:
    """A matrix: row `diagonal` of `lines`, and row `beside` with the elements beside the diagonal."""

    lanes: Lanes
    size: int
    lines: Matrix
    diagonal: int
    beside: int
    rotations: Rotations | None

    def solve(self) -> None:
        """Make all couplings negligible."""

        def one(first: Number, sweeps: Number) -> list[Number]:
            yes = constant(mlir.ir.IntegerType.get_signless(1), 1)

            def again(goes_on: Number, done: Number, sweeps: Number) -> list[Number]:
                last = self._end_of_block(first)
                is_done = last.equals(first) | done.equals(MOST)
                return branches(
                    is_done,
                    [goes_on.type, done.type, sweeps.type],
                    lambda: [yes ^ 1, done, sweeps],
                    lambda: [yes, done + 1, self._sweep(first, last, sweeps)],
                )

            *_, sweeps = repeated([yes, index(0), sweeps], lambda goes_on, *_: goes_on, again)
            return [sweeps]

        (sweeps,) = carried(0, self.size, [index(0)], one)
        if self.rotations is not None:
            self.rotations.apply(sweeps)

    def _end_of_block(self, first: Number) -> Number:
        """The last row that is coupled to a row."""
        epsilon = float(np.finfo(self.lanes.dtype).eps)

        def is_coupled(row: Number) -> Number:
            beside = magnitude(self.lines[self.beside, row])
            around = magnitude(self.lines[self.diagonal, row]) + magnitude(self.lines[self.diagonal, row + 1])
            return (row < self.size - 1) & (beside > around * epsilon)

        (last,) = repeated([first], is_coupled, lambda row: [row + 1])
        return last

    def _sweep(self, first: Number, last: Number, sweep: Number) -> Number:
        """One implicit QL step on the rows from `first` to `last`; the number of the next sweep."""
        lanes, lines, d, e = self.lanes, self.lines, self.diagonal, self.beside
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
                self.rotations.keep(sweep, row, cosine, sine)
            following = choose(is_zero, done, done + 1)
            return [following, sine, cosine, moved, cosine * change - near, is_zero]

        done, _, _, moved, bulge, is_zero = repeated([index(0), one, one, zero, start, no], is_left, rotate)
        lines[d, first] = choose(is_zero, lines[d, first], lines[d, first] - moved)
        lines[e, first] = choose(is_zero, lines[e, first], bulge)
        lines[e, last] = zero
        if self.rotations is None:
            return sweep
        return self.rotations.end_sweep(sweep, last - done, last)


def integers(count: int, sweeps: int = SWEEPS) -> mlir.ir.Type:
    """The type of the scratch for `ranges`."""
    return mlir.ir.RankedTensorType.get([count, sweeps, 2], mlir.ir.IntegerType.get_signless(32))

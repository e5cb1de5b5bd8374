"""The QR algorithm with implicit shifts for bidiagonal matrices, and the rotations that it makes.

Input: the diagonals of an upper bidiagonal matrix whose elements are around 1 in two rows of scratch. Output:
its singular values, up to their signs, in place of the diagonal, and rotations applied to the rows of bases.
Idea: Golub and Reinsch 1970, with the sweeps without a shift of Demmel and Kahan 1990 where a shift does not
count or an element of the diagonal is negligible. What is negligible beside the largest element is dropped,
as by dividing and conquering.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, branches, carried, choose, index, repeated
from .rotations import Rotating
from .vectors import Lanes, Matrix, magnitude, root

MOST: Final = 30  # sweeps for each singular value; two are usual
TINY: Final = {
    4: 1e-30,
    8: 1e-280,
}  # squares beside 1, by the bytes of a float: what is rotated away by dropping it


@dataclass(frozen=True, slots=True)
class BidiagonalValues:
    """A matrix: row `diagonal` of `lines`, and row `beside` with what is right of the place before."""

    lanes: Lanes
    size: Place
    lines: Matrix
    diagonal: int
    beside: int
    rotations: Rotating | None

    def solve(self, largest: Number | None = None) -> Number:
        """Make all elements beside the diagonal negligible; zero, or NaN if some are not in the end.

        `largest`: the largest magnitude of a matrix that this one is a block of.
        """
        lanes, lines = self.lanes, self.lines
        zero = lanes.number(0.0)
        lines[self.beside, 0] = zero
        lines[self.beside, self.size] = zero
        if largest is None:
            largest = largest_of(lanes, lines, (self.diagonal, self.beside), self.size)
        least = largest * float(np.finfo(lanes.dtype).eps)

        def is_left(last: Number, sweeps: Number, done: Number) -> Number:
            return (last > 0) & (done < MOST * self.size)

        def again(last: Number, sweeps: Number, done: Number) -> list[Number]:
            is_coupled = magnitude(lines[self.beside, last]) > least
            types = [last.type, sweeps.type, done.type]
            return branches(
                is_coupled,
                types,
                lambda: [last, self._block(last, least, sweeps), done + 1],
                lambda: [last - 1, sweeps, done],
            )

        start = [index(self.size - 1), index(0), index(0)]
        last, sweeps, _ = repeated(start, is_left, again)
        if self.rotations is not None:
            self.rotations.finish(sweeps)
        return choose(last > 0, lanes.number(float("nan")), zero)

    def _block(self, last: Number, least: Number, sweeps: Number) -> Number:
        """One sweep on the rows that are coupled to the last one; the number of the next sweep."""
        lines, d, e = self.lines, self.diagonal, self.beside
        start = magnitude(lines[d, last])

        def is_coupled(row: Number, *_: Number) -> Number:
            return magnitude(lines[e, row]) > least

        def survey(row: Number, smallest: Number, largest: Number) -> list[Number]:
            size, beside = magnitude(lines[d, row - 1]), magnitude(lines[e, row])
            largest = choose(size > largest, size, largest)
            return [
                row - 1,
                choose(size < smallest, size, smallest),
                choose(beside > largest, beside, largest),
            ]

        first, smallest, largest = repeated([last, start, start], is_coupled, survey)
        lines[e, first] = self.lanes.number(0.0)
        lines[e, last + 1] = self.lanes.number(0.0)
        if self.rotations is not None:
            self.rotations.begin_sweep(sweeps)
        shift = self._shift(last)
        head = magnitude(lines[d, first])
        epsilon = float(np.finfo(self.lanes.dtype).eps)
        ratio = shift / head
        is_plain = (smallest <= largest * epsilon) | (ratio * ratio < epsilon)

        def plain() -> list[Number]:
            self._plain(first, last, sweeps)
            return []

        def shifted() -> list[Number]:
            self._shifted(first, last, shift, sweeps)
            return []

        branches(is_plain, [], plain, shifted)
        return sweeps if self.rotations is None else self.rotations.end_sweep(sweeps, first, last)

    def _shift(self, last: Number) -> Number:
        """The smaller singular value of the last two rows (LAPACK's las2)."""
        lines, zero, one = self.lines, self.lanes.number(0.0), self.lanes.number(1.0)
        x, y = magnitude(lines[self.diagonal, last - 1]), magnitude(lines[self.diagonal, last])
        beside = magnitude(lines[self.beside, last])
        small, large = choose(x < y, x, y), choose(x < y, y, x)
        divisor = choose(large > beside, large, beside)
        divisor = choose(divisor > 0.0, divisor, one)
        small_part, large_part, beside = small / divisor, large / divisor, beside / divisor
        up, down = large_part + small_part, large_part - small_part
        squares = beside * beside
        length = root(up * up + squares) + root(down * down + squares)
        return choose(length > 0.0, small * large_part * 2.0 / length, zero)

    def _keep(
        self, sweep: Number, row: Number, right: tuple[Number, Number], left: tuple[Number, Number]
    ) -> None:
        if self.rotations is not None:
            self.rotations.keep(sweep, row, (right, left))

    def _shifted(self, first: Number, last: Number, shift: Number, sweep: Number) -> None:
        """A sweep from the first row to the last."""
        lines, d, e = self.lines, self.diagonal, self.beside
        head = lines[d, first]
        one = self.lanes.number(1.0)
        start = (magnitude(head) - shift) * (choose(head < 0.0, -one, one) + shift / head)

        def chase(row: Number, f: Number, g: Number, mine: Number, beside: Number) -> list[Number]:
            cosine, sine, length = rotation(self.lanes, f, g)
            lines[e, row] = length
            f, beside = cosine * mine + sine * beside, cosine * beside - sine * mine
            following = lines[d, row + 1]
            g, following = sine * following, cosine * following
            other_cosine, other_sine, length = rotation(self.lanes, f, g)
            lines[d, row] = length
            f = other_cosine * beside + other_sine * following
            following = other_cosine * following - other_sine * beside
            after = lines[e, row + 2]
            self._keep(sweep, row, (cosine, sine), (other_cosine, other_sine))
            return [f, other_sine * after, following, other_cosine * after]

        f, _, following, _ = carried(
            first, last, [start, lines[e, first + 1], head, lines[e, first + 1]], chase
        )
        lines[e, first] = self.lanes.number(0.0)
        lines[e, last] = f
        lines[d, last] = following

    def _plain(self, first: Number, last: Number, sweep: Number) -> None:
        """A sweep without a shift."""
        lines, d, e = self.lines, self.diagonal, self.beside
        zero, one = self.lanes.number(0.0), self.lanes.number(1.0)

        def chase(
            row: Number, cosine: Number, other_cosine: Number, other_sine: Number, mine: Number
        ) -> list[Number]:
            cosine, sine, length = rotation(self.lanes, mine * cosine, lines[e, row + 1])
            lines[e, row] = other_sine * length
            following = lines[d, row + 1]
            other_cosine, other_sine, length = rotation(self.lanes, other_cosine * length, following * sine)
            lines[d, row] = length
            self._keep(sweep, row, (cosine, sine), (other_cosine, other_sine))
            return [cosine, other_cosine, other_sine, following]

        start = [one, one, zero, lines[d, first]]
        cosine, other_cosine, other_sine, mine = carried(first, last, start, chase)
        length = mine * cosine
        lines[e, first] = zero
        lines[d, last] = length * other_cosine
        lines[e, last] = length * other_sine


def largest_of(lanes: Lanes, lines: Matrix, rows: Sequence[int], size: Place) -> Number:
    """The largest magnitude in the first elements of rows."""

    def larger(place: Number, most: Number) -> list[Number]:
        for row in rows:
            here = magnitude(lines[row, place])
            most = choose(here > most, here, most)
        return [most]

    return carried(0, size, [lanes.number(0.0)], larger)[0]


def poison_of(lanes: Lanes, lines: Matrix, rows: Sequence[int], size: Place) -> Number:
    """Zero, or NaN if the first elements of rows have NaN or infinity."""

    def add(place: Number, so_far: Number) -> list[Number]:
        for row in rows:
            so_far = so_far + lines[row, place] * 0.0
        return [so_far]

    return carried(0, size, [lanes.number(0.0)], add)[0]


def rotation(lanes: Lanes, f: Number, g: Number) -> tuple[Number, Number, Number]:
    """The cosine and sine that rotate `g` to zero, and the length; a tiny pair loses its `g`."""
    squares = lanes.add_product(f, f, g * g)
    is_tiny = squares < TINY[lanes.dtype.itemsize]
    length = root(squares)
    cosine = choose(is_tiny, lanes.number(1.0), f / length)
    sine = choose(is_tiny, lanes.number(0.0), g / length)
    return cosine, sine, choose(is_tiny, f, length)

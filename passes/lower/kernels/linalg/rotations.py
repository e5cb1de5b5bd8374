"""Rotations of neighbouring rows, kept for several sweeps and applied to bases together.

Input: sweeps of rotations, each of a row and the next, from a first row to a last one. Output: bases whose
rows are rotated.
Idea: strips of columns are copied to where they lie without gaps, and rotated by pairs of sweeps, the second
a row behind the first, so that a row is loaded and stored once for both. All sweeps take a window of rows, in
which each pair is two rows behind the one before, then the next window, so that rows stay in the first cache
(Van Zee, van de Geijn and Quintana-Orti 2014, Restructuring the tridiagonal and bidiagonal QR algorithms for
performance). Where a sweep has no rotation it rotates by nothing, also before the first row and after the
last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Number, Place, branches, carried, choose, index, loop, when
from ..executable import Result, Size
from .matrices import scratch_of
from .vectors import Lanes, Matrix

SWEEPS: Final = 32  # whose rotations are kept, an even number
WINDOW: Final = 32  # rows


def integers(count: Size) -> Result:
    """The scratch for `ranges`."""
    return scratch_of(count, (SWEEPS, 2), mlir.ir.IntegerType.get_signless(32))


def strip_width(lanes: Lanes) -> int:
    """How many columns are rotated at a time: as many as stay in registers."""
    return lanes.panel * (2 if lanes.width * lanes.dtype.itemsize == 64 else 1)


def scratch_sizes(lanes: Lanes, size: Place, length: Place, bases: int) -> list[tuple[Place, Place]]:
    """Rows and columns of the scratch `kept` and `strip`."""
    return [(2 * bases * SWEEPS, lanes.stride(length + 2)), (size + 2, strip_width(lanes))]


class Rotating(Protocol):
    """What takes the rotations of sweeps, one for each basis in each place."""

    def begin_sweep(self, sweep: Number) -> None:
        """A sweep begins."""

    def keep(self, sweep: Number, row: Number, rotations: tuple[tuple[Number, Number], ...]) -> None:
        """The cosines and sines of a row and the next."""

    def end_sweep(self, sweep: Number, first: Number, last: Number) -> Number:
        """A sweep of these rows ends; the number of the next one."""

    def finish(self, count: Number) -> None:
        """There are no more sweeps than these."""


@dataclass(frozen=True, slots=True)
class Rotations:
    """Cosines and sines of each basis in rows of `kept`; `ranges` has the first and the last row of sweeps.

    Rows of the strip and places of rotations start one before those of bases. `is_reversed`: sweeps go from
    the last row of bases to the first.
    """

    lanes: Lanes
    size: Place
    bases: tuple[Matrix, ...]
    kept: Matrix
    strip: Matrix
    ranges: Matrix
    is_reversed: bool = False

    def begin_sweep(self, sweep: Number) -> None:
        """Rotate no row yet."""
        lanes = self.lanes
        for n in range(len(self.bases)):
            for offset, value in ((0, 1.0), (1, 0.0)):
                row = sweep * (2 * len(self.bases)) + 2 * n + offset
                with loop(0, lanes.padded(self.size + 1), lanes.width) as place:
                    self.kept[row, place] = lanes.filled(value)

    def keep(self, sweep: Number, row: Number, rotations: tuple[tuple[Number, Number], ...]) -> None:
        """The rotations, one for each basis, of a row and the next."""
        place = index(self.size - 2) - row if self.is_reversed else row
        for n, (cosine, sine) in enumerate(rotations):
            first = sweep * (2 * len(self.bases)) + 2 * n
            self.kept[first, place + 1] = cosine
            self.kept[first + 1, place + 1] = sine

    def end_sweep(self, sweep: Number, first: Number, last: Number) -> Number:
        """Note the rows of a sweep; the number of the next one."""
        if self.is_reversed:
            first, last = index(self.size - 1) - last, index(self.size - 1) - first
        self._note(sweep, first, last)
        following = sweep + 1

        def flush() -> list[Number]:
            self._apply(following)
            return [index(0)]

        (after,) = branches(following.equals(SWEEPS), [following.type], flush, lambda: [following])
        return after

    def finish(self, count: Number) -> None:
        """Rotate by the sweeps that are left."""
        with when((count % 2).equals(1)):
            self.begin_sweep(count)
            self._note(count, self.ranges[count - 1, 0].as_index(), self.ranges[count - 1, 1].as_index())
        with when(count > 0):
            self._apply(count)

    def _note(self, sweep: Number, first: Number, last: Number) -> None:
        integer = mlir.ir.IntegerType.get_signless(32)
        self.ranges[sweep, 0] = first.as_integer(integer)
        self.ranges[sweep, 1] = last.as_integer(integer)

    def _apply(self, count: Number) -> None:
        """Rotate the rows of the bases by the first sweeps that are kept."""
        wide, padded = strip_width(self.lanes), self.lanes.padded(self.size)
        for n, basis in enumerate(self.bases):
            with loop(0, padded // wide * wide, wide) as place:
                self._strip(n, basis, place, wide, count)
            self._rest(n, basis, padded, count)

    def _rest(self, n: int, basis: Matrix, padded: Place, count: Number) -> None:
        """Rotate the columns that are no whole strip: one panel, if any."""
        wide, panel = strip_width(self.lanes), self.lanes.panel
        if panel == wide:
            return
        if isinstance(padded, int):
            if padded % wide:
                self._strip(n, basis, padded // wide * wide, padded % wide, count)
            return
        start = padded // wide * wide
        with when(start < padded):
            self._strip(n, basis, start, panel, count)

    def _strip(self, n: int, basis: Matrix, place: Place, wide: int, count: Number) -> None:
        """Rotate some columns."""
        width, offsets = self.lanes.width, range(0, wide, self.lanes.width)
        for offset in offsets:
            self.strip[0, offset] = self.strip[self.size + 1, offset] = self.lanes.filled(0.0)
        with loop(0, self.size) as row:
            for offset in offsets:
                vector = basis.vector(width, self._row(row), index(place) + offset)
                self.strip[row + 1, offset] = vector
        with loop(0, count + self.size, WINDOW) as start, loop(0, count, 2) as sweep:
            self._pair(n, wide, sweep, start)
        with loop(0, self.size) as row:
            for offset in offsets:
                vector = self.strip.vector(width, row + 1, offset)
                basis[self._row(row), index(place) + offset] = vector

    def _row(self, row: Number) -> Number:
        return index(self.size - 1) - row if self.is_reversed else row

    def _pair(self, n: int, wide: int, sweep: Number, start: Number) -> None:
        """Two sweeps in a window of rows: the first one's rotations there, and the other's a row before."""
        first, last = self.ranges[sweep, 0].as_index(), self.ranges[sweep, 1].as_index()
        other_first = self.ranges[sweep + 1, 0].as_index()
        other_last = self.ranges[sweep + 1, 1].as_index()
        first = choose(first < other_first, first, other_first)
        last = choose(last < other_last, other_last, last) + 1
        start = start - sweep
        first, last = choose(first < start, start, first), last.least(start + WINDOW)
        width, offsets = self.lanes.width, range(0, wide, self.lanes.width)
        count = len(offsets)

        def vectors(row: Number) -> list[Number]:
            return [self.strip.vector(width, row + 1, offset) for offset in offsets]

        def store(row: Number, vectors: Sequence[Number]) -> None:
            for offset, vector in zip(offsets, vectors, strict=True):
                self.strip[row + 1, offset] = vector

        def rotate(row: Number, *both: Number) -> list[Number]:
            done, following = self._rotated(self._rotation(n, sweep, row), both[:count], vectors(row + 1))
            behind, after = self._rotated(self._rotation(n, sweep + 1, row - 1), both[count:], done)
            store(row - 1, behind)
            return [*following, *after]

        with when(first < last):
            both = carried(first, last, [*vectors(first), *vectors(first - 1)], rotate)
            store(last - 1, both[count:])
            store(last, both[:count])

    def _rotation(self, n: int, sweep: Number, row: Number) -> tuple[Number, Number]:
        first = sweep * (2 * len(self.bases)) + 2 * n
        return self.kept[first, row + 1], self.kept[first + 1, row + 1]

    def _rotated(
        self, rotation: tuple[Number, Number], uppers: Sequence[Number], lowers: Sequence[Number]
    ) -> tuple[list[Number], list[Number]]:
        """Both rows of a rotation."""
        cosine, sine = rotation
        lanes, pairs = self.lanes, list(zip(uppers, lowers, strict=True))
        return (
            [lanes.add_product(sine, lower, upper * cosine) for upper, lower in pairs],
            [lanes.sub_product(sine, upper, lower * cosine) for upper, lower in pairs],
        )

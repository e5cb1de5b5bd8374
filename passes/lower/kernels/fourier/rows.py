"""One row of a Fourier transform, as a matrix whose columns are transformed twice.

Input: where the row lies (`Mixed`: parts side by side, `Planar`: all real parts first), scratch, roots.
Output: its spectrum, in order.
Idea: a row of ``n = first * second`` elements is a matrix whose columns are transformed, multiplied by roots
and written down as rows; its columns are transformed again (Bailey 1990). Where vectors do not divide the
columns, the last one overlaps the one before it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Array, Number, Place, index, loop
from ..linalg.vectors import transposed
from .plans import Split
from .stages import Parts, Read, Stages, Write


class Source(Protocol):
    """Where complex vectors come from."""

    def read(self, row: tuple[Place, ...], column: Place) -> Parts:
        """The complex vector from a column on."""
        ...


class Target(Protocol):
    """Where complex vectors go."""

    def write(self, row: tuple[Place, ...], column: Place, parts: Parts) -> None:
        """Store a complex vector from a column on."""
        ...


@dataclass(frozen=True, slots=True)
class Mixed:
    """A complex array as it lies in memory: the parts of an element side by side."""

    array: Array
    lead: tuple[Place, ...]
    width: int
    is_swapped: bool

    def read(self, row: tuple[Place, ...], column: Place) -> Parts:
        """The complex vector from a column on."""
        first, width = index(column) * 2, self.width
        low = self.array.vector(width, *self.lead, *row, first).value
        high = self.array.vector(width, *self.lead, *row, first + width).value
        parts = [
            Number(mlir.vector.shuffle(low, high, list(range(part, 2 * width, 2))))
            for part in ((1, 0) if self.is_swapped else (0, 1))
        ]
        return parts[0], parts[1]

    def write(self, row: tuple[Place, ...], column: Place, parts: Parts) -> None:
        """Store a complex vector from a column on."""
        first, width = index(column) * 2, self.width
        re, im = (n.value for n in (parts[::-1] if self.is_swapped else parts))
        mixed = [lane + part * width for lane in range(width) for part in range(2)]
        for half in range(2):
            piece = mlir.vector.shuffle(re, im, mixed[half * width : (half + 1) * width])
            self.array[(*self.lead, *row, first + half * width)] = Number(piece)


@dataclass(frozen=True, slots=True)
class Planar:
    """A row in scratch: `size` real parts, then the imaginary ones."""

    array: Array
    lead: tuple[Place, ...]
    size: int
    width: int
    is_swapped: bool = False

    def read(self, row: tuple[Place, ...], column: Place) -> Parts:
        """The complex vector from a column on."""
        first = index(column)
        parts = [self.array.vector(self.width, *self.lead, first + n * self.size) for n in range(2)]
        return (parts[1], parts[0]) if self.is_swapped else (parts[0], parts[1])

    def write(self, row: tuple[Place, ...], column: Place, parts: Parts) -> None:
        """Store a complex vector from a column on."""
        for number, part in enumerate(parts[::-1] if self.is_swapped else parts):
            self.array[(*self.lead, index(column) + number * self.size)] = part


def each_start(count: int, width: int, body: Callable[[Number, Number], None]) -> None:
    """`body(number, start)` for vectors that cover so many lanes."""
    with loop(0, -(-count // width)) as number:
        body(number, (number * width).least(count - width))


@dataclass(frozen=True, slots=True)
class Row:
    """One row: `middle` is its matrix between the two transforms, real parts beside imaginary ones.

    The table has `column_roots` at `lane_roots` and `start_roots`.
    """

    split: Split
    first: Stages
    second: Stages
    middle: Array
    lead: tuple[Place, ...]
    lane_roots: int
    start_roots: int

    def run(self, source: Source, target: Target) -> None:
        """The transform of the row."""
        width, columns, rows = self.split.width, self.split.second, self.split.first
        half = (len(self.first.radices) - 1) % 2

        def forward(number: Number, start: Number) -> None:
            self.first.run(
                lambda row: source.read((), index(row) * columns + start), self._turned(number, half)
            )
            each_start(rows, width, lambda _, row: self._transpose(half, row, start))

        def again(_: Number, start: Number) -> None:
            self.second.run(
                self._middle_row(start), lambda row, parts: target.write((), index(row) * rows + start, parts)
            )

        each_start(columns, width, forward)
        each_start(rows, width, again)

    def _turned(self, number: Number, half: int) -> Write:
        """Store a row of a vector of columns, times its roots."""
        first, width = self.first, self.split.width

        def write(row: Place, parts: Parts) -> None:
            place = index(row) * (2 * width) + self.lane_roots
            lanes = first.table.vector(width, place), first.table.vector(width, place + width)
            begin = first.root((number * self.split.first + row) * 2 + self.start_roots)
            turned = first.times(parts, first.times(lanes, begin))
            for which, part in enumerate(turned):
                first.work[(*self.lead, half, row, which * width)] = part

        return write

    def _transpose(self, half: int, row: Number, start: Number) -> None:
        """A square block of vectors of columns, as rows of the matrix in the middle."""
        width = self.split.width
        for part in range(2):
            block = [
                self.first.work.vector(width, *self.lead, half, row + r, part * width) for r in range(width)
            ]
            for lane, vector in enumerate(transposed(block)):
                self.middle[(*self.lead, start + lane, row + part * self.split.first)] = vector

    def _middle_row(self, start: Number) -> Read:
        """Vectors of the rows of the matrix in the middle."""
        width = self.split.width

        def read(row: Place) -> Parts:
            real = self.middle.vector(width, *self.lead, row, start)
            return real, self.middle.vector(width, *self.lead, row, start + self.split.first)

        return read

"""One row of a Fourier transform whose size has a large prime factor, by two rows of another length.

Input: where the row lies, a row in scratch, the transform of that row. Output: the spectrum.
Idea: the convolution with a chirp of `cyclic_plans.py`, with vectors along the row.
"""

from __future__ import annotations

from .....dialects.dataclass import dataclass
from ..builder import Array, Number, Place, constant, index
from .cyclic_plans import Cyclic
from .rows import Planar, Row, Source, Target, each_start
from .stages import Parts


@dataclass(frozen=True, slots=True)
class ChirpedRow:
    """The transform of a row by `row`, which transforms `scratch`, a row of the plan's length.

    `row.first.table` has at `chirp` the real and then the imaginary parts of the chirp, then of the response.
    """

    plan: Cyclic
    row: Row
    scratch: Array
    lead: tuple[Place, ...]
    chirp: int

    def run(self, source: Source, target: Target) -> None:
        """The transform of the row."""
        size, length, width = self.plan.size, self.plan.length, self.row.split.width
        inner = self._inner()
        zero = self.row.first.filled(constant(self.scratch.element, 0.0))
        # Zeros first: the last vector of the elements overlaps the one before it, not the zeros.
        each_start(length - size, width, lambda _, start: inner.write((), start + size, (zero, zero)))
        each_start(size, width, lambda _, start: inner.write((), start, self._turned(source, start)))
        self.row.run(inner, _Responded(self, inner))
        swapped = self._inner(is_swapped=True)
        self.row.run(swapped, swapped)
        each_start(size, width, lambda _, start: target.write((), start, self._turned(inner, start)))

    def _inner(self, *, is_swapped: bool = False) -> Planar:
        return Planar(self.scratch, self.lead, self.plan.length, self.row.split.width, is_swapped)

    def _turned(self, source: Source, start: Number) -> Parts:
        return self.row.first.times(source.read((), start), self.factors(start, self.chirp, self.plan.size))

    def factors(self, start: Place, place: int, size: int) -> Parts:
        """Numbers of the table, which has `size` real parts at a place, then the imaginary ones."""
        table, width = self.row.first.table, self.row.split.width
        first = index(start) + place
        return table.vector(width, first), table.vector(width, first + size)


@dataclass(frozen=True, slots=True)
class _Responded:
    """A row to which a spectrum is written times the response."""

    chirped: ChirpedRow
    inner: Planar

    def write(self, row: tuple[Place, ...], column: Place, parts: Parts) -> None:
        """Store a complex vector from a column on."""
        plan = self.chirped.plan
        factors = self.chirped.factors(column, self.chirped.chirp + 2 * plan.size, plan.length)
        self.inner.write(row, column, self.chirped.row.first.times(parts, factors))

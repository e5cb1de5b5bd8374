"""Products of long vectors that are still to be taken off a matrix whose panel is being reflected.

Input: matrices whose rows are the vectors. Output: code for sums of rows times factors, for the products of
rows with a vector, and for copies of the vector of a reflection.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, loop
from .vectors import Lanes, Matrix

Factor: TypeAlias = Callable[[Number], Number]


def panel_of(lanes: Lanes) -> int:
    """How many columns are reflected before the rest of a matrix is."""
    return max(16, lanes.panel)


@dataclass(frozen=True, slots=True)
class Pending:
    """Rows of vectors that end at a place, whole panels."""

    lanes: Lanes
    end: Place

    @property
    def offsets(self) -> range:
        """The places of a panel's vectors."""
        return range(0, self.lanes.panel, self.lanes.width)

    def combined(
        self, matrix: Matrix, count: Number, place: Number, factors: Sequence[Factor]
    ) -> list[list[Number]]:
        """Sums of the first rows, times factors, at a panel of places; one sum for each factor."""
        lanes, width, offsets = self.lanes, self.lanes.width, self.offsets

        def add(p: Number, *sums: Number) -> list[Number]:
            vectors = [matrix.vector(width, p, place + offset) for offset in offsets]
            scalars = [factor(p) for factor in factors]
            return [
                lanes.add_product(scalars[n // len(offsets)], vectors[n % len(offsets)], so_far)
                for n, so_far in enumerate(sums)
            ]

        sums = lanes.carried(0, count, [lanes.filled(0.0)] * (len(offsets) * len(factors)), add)
        return [sums[n * len(offsets) : (n + 1) * len(offsets)] for n in range(len(factors))]

    def products(
        self,
        matrix: Matrix,
        count: Number,
        vector: tuple[Matrix, Place],
        start: Number,
        target: tuple[Matrix, Place],
    ) -> None:
        """Write the products of the first rows, and of one more if they are odd, with a conjugated vector."""
        lanes, offsets, width = self.lanes, self.offsets, self.lanes.width
        (other, its), (written, line) = vector, target
        with loop(0, count, 2) as p:

            def add(place: Number, *sums: Number) -> list[Number]:
                vectors = [lanes.conjugate(other.vector(width, its, place + offset)) for offset in offsets]
                rows = [matrix.vector(width, p + r, place + offset) for r in range(2) for offset in offsets]
                return [
                    lanes.add_product(row, vectors[n % len(offsets)], sums[n]) for n, row in enumerate(rows)
                ]

            zeros = [lanes.filled(0.0)] * (2 * len(offsets))
            sums = lanes.carried(start, self.end, zeros, add, lanes.panel)
            for r in range(2):
                mine = sums[r * len(offsets) : (r + 1) * len(offsets)]
                written[line, p + r] = lanes.total(summed(mine))

    def copy(
        self, source: Matrix, row: Number, head: Number, target: Matrix, place: Place, start: Number
    ) -> None:
        """Copy the vector of a reflection, with its 1 at the head and zeros before."""
        width = self.lanes.width
        with loop(start, self.end, width) as at:
            target[place, at] = source.vector(width, row, at)
        with loop(start, head) as at:
            target[place, at] = self.lanes.number(0.0)
        target[place, head] = self.lanes.number(1.0)


def summed(vectors: Sequence[Number]) -> Number:
    """The sum of vectors."""
    first, *others = vectors
    for vector in others:
        first = first + vector
    return first

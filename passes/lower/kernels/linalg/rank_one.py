"""Eigenvectors of a diagonal matrix and a change of rank one, from the roots of its secular equation.

Input: a solved equation (`secular.py`), and the elements of the change in a row of scratch. Output: the
vectors as columns, in place of the distances of roots from poles.
Idea: the elements of the change whose exact roots the computed ones are follow from these, and vectors by
them are orthogonal to rounding errors, however close roots are (Gu and Eisenstat 1994, A stable and efficient
algorithm for the rank-one modification of the symmetric eigenproblem).
"""

from __future__ import annotations

from .....dialects.dataclass import dataclass
from ..builder import Number, Place, carried, choose, loop
from .secular import POLES, POSITIONS, Secular
from .vectors import Lanes, Matrix, element_of, root


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of an equation; row `changes` of `lines` has the elements, row `lengths` is scratch."""

    equation: Secular
    lines: Matrix
    changes: int
    lengths: int

    @property
    def end(self) -> Number:
        """The end of the columns that are used: whole panels."""
        panel = self.equation.lanes.panel
        return (self.equation.count + (panel - 1)) // panel * panel

    def write(self) -> None:
        """Write the vectors over the distances."""
        lanes, matrix = self.equation.lanes, self.equation.distances
        clear(lanes, self.lines, self.lengths, self.end)
        with loop(0, self.equation.count) as p:
            row, change = self.equation.places(p), lanes.filled(self._change(p))
            with loop(0, self.end, lanes.width) as place:
                element = change / matrix.vector(lanes.width, row, place)
                matrix[row, place] = element
                so_far = self.lines.vector(lanes.width, self.lengths, place)
                self.lines[self.lengths, place] = lanes.add_product(element, element, so_far)
        self.normalize(matrix, self.lengths, 0)

    def normalize(self, matrix: Matrix, lengths: int, first: Place) -> None:
        """Divide columns of so many rows by the roots of a row."""
        width, lines = self.equation.lanes.width, self.lines
        with loop(0, self.end, width) as place:
            lines[lengths, place] = 1.0 / root(lines.vector(width, lengths, place))
        with loop(first, self.equation.count) as row, loop(0, self.end, width) as place:
            matrix[row, place] = matrix.vector(width, row, place) * lines.vector(width, lengths, place)

    def _change(self, p: Number) -> Number:
        """The element of the change that belongs to a pole, but for a factor that all have in common."""
        equation, lanes, lines = self.equation, self.equation.lanes, self.equation.lines
        row, pole = equation.places(p), lanes.filled(lines[POLES, p])
        zero, one, mine = lanes.filled(0.0), lanes.filled(1.0), lanes.filled(lines[POSITIONS, p])

        def multiply(place: Number, so_far: Number) -> list[Number]:
            distance = equation.between(pole, lines.vector(lanes.width, POLES, place), zero)
            is_mine = lines.vector(lanes.width, POSITIONS, place).equals(mine)
            quotient = equation.distances.vector(lanes.width, row, place) / choose(is_mine, one, distance)
            return [so_far * quotient]

        (products,) = carried(0, self.end, [one], multiply, lanes.width)
        parts = [element_of(products, lane) for lane in range(lanes.width)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [parts[i] * parts[i + half] for i in range(half)]
        size = root(choose(parts[0] < 0.0, -parts[0], parts[0]))
        return choose(self.lines[self.changes, p] < 0.0, -size, size)


def clear(lanes: Lanes, matrix: Matrix, row: int, end: Place) -> None:
    """Set the elements of a row to zero, whole vectors."""
    with loop(0, end, lanes.width) as place:
        matrix[row, place] = lanes.filled(0.0)

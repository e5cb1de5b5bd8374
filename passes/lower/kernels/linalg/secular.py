"""Roots of secular equations, and the vectors of the matrices that they belong to.

Input: poles ``d_0 < d_1 < ...`` and weights ``w_p > 0`` in rows of scratch. Output: the roots of
``1 + sum of w_p / (d_p - x)``, one behind each pole, and their distances from all poles.
Idea: a vector of roots at a time. Each is known by its distance from the nearer pole, and approached by the
middle way of Li 1993 (Solving secular equations stably and efficiently), a rational function that agrees
with the sums over the poles before and behind the root; where that leaves what is known to hold the root, or
does not halve the function, the bits of the distance are bisected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ..builder import Number, carried, choose, constant, index, loop, repeated
from .vectors import Lanes, Matrix, magnitude, root, total

POLES, WEIGHTS, ROOTS, POSITIONS = range(4)
"""Rows of `lines`: poles and roots in order, and 0, 1, ..."""
LINES: Final = 4
MOST: Final = 150  # steps to a root; six are usual, and all bits are bisected in 64


@dataclass(frozen=True, slots=True)
class Secular:
    """An equation of `count` poles; the last root is at most `reach` behind the last pole.

    What follows in the row of poles are numbers beyond all roots.

    `distances[places(p), j]` gets the distance of root `j` from pole `p`, ``d_p - x_j``; of singular values,
    `are_squares`, poles and roots are the squares of what rows of `lines` have.
    """

    lanes: Lanes
    lines: Matrix
    distances: Matrix
    places: Callable[[Number], Number]
    count: Number
    reach: Number
    are_squares: bool

    def solve(self) -> None:
        """Write all roots and distances, for whole panels of roots."""
        end = (self.count + (self.lanes.panel - 1)) // self.lanes.panel * self.lanes.panel
        with loop(0, end, self.lanes.width) as first:
            _Roots.of(self, first).solve()

    def between(self, pole: Number, origin: Number, shift: Number) -> Number:
        """The distance of roots, `shift` from their origins, from a pole."""
        pole = origin.lift(pole)
        near = (pole - origin) - shift
        return near * ((pole + origin) + shift) if self.are_squares else near

    def moved(self, shift: Number, origin: Number, step: Number) -> Number:
        """The shift of roots that make a step."""
        if not self.are_squares:
            return shift + step
        place = origin + shift
        return shift + step / (place + root(place * place + step))


@dataclass(frozen=True, slots=True)
class _Roots:
    """A vector of roots from the `first` on: `near` and `far` are the poles before and behind each."""

    equation: Secular
    first: Number
    near: Number
    far: Number
    is_last: Number
    is_root: Number

    @classmethod
    def of(cls, equation: Secular, first: Number) -> _Roots:
        """The roots behind a vector of poles."""
        lanes, lines = equation.lanes, equation.lines
        numbers = lines.vector(lanes.width, POSITIONS, first)
        last = lanes.filled(lines[POSITIONS, equation.count - 1])
        near = lines.vector(lanes.width, POLES, first)
        far = lines.vector(lanes.width, POLES, first + 1)
        return cls(equation, first, near, far, numbers.equals(last), numbers <= last)

    def solve(self) -> None:
        """Write the roots and their distances from all poles."""
        equation, lanes, lines = self.equation, self.equation.lanes, self.equation.lines
        zero, one = lanes.filled(0.0), lanes.filled(1.0)
        gap = choose(self.is_last, lanes.filled(equation.reach), self.far - self.near)
        before, behind, *_ = self._sums(self.near, gap * 0.5)
        is_near = ((before + behind + 1.0) >= 0.0) | self.is_last
        origin = choose(is_near, self.near, self.far)
        side = choose(is_near, one, -one)
        high = choose(self.is_last, gap * (1.0 + 4.0 * self._epsilon), gap * 0.5)
        active = choose(self.is_root, one, zero)
        start = [index(0), active, gap * 0.5, zero, high, lanes.filled(float(np.finfo(lanes.dtype).max))]

        def is_left(done: Number, active: Number, *_: Number) -> Number:
            return (total(active) > 0.5) & (done < MOST)

        def step(done: Number, active: Number, *state: Number) -> list[Number]:
            return [done + 1, *self._step(origin, side, active, *state)]

        _, _, shift, *_ = repeated(start, is_left, step)
        # What is beyond the last root is its own pole, so that quotients of distances are 1 there.
        shift = choose(self.is_root, shift, zero) * side
        origin = choose(self.is_root, origin, self.near)
        lines[ROOTS, self.first] = origin + shift
        with loop(0, equation.count) as p:
            distance = equation.between(lanes.filled(lines[POLES, p]), origin, shift)
            equation.distances[equation.places(p), self.first] = distance

    @property
    def _epsilon(self) -> float:
        return float(np.finfo(self.equation.lanes.dtype).eps)

    def _sums(self, origin: Number, shift: Number) -> list[Number]:
        """The sums over the poles before and behind the roots, and their derivatives."""
        equation, lanes, lines = self.equation, self.equation.lanes, self.equation.lines
        width, zero = lanes.width, lanes.filled(0.0)

        def term(p: Number) -> tuple[Number, Number]:
            inverse = 1.0 / equation.between(lanes.filled(lines[POLES, p]), origin, shift)
            return lanes.filled(lines[WEIGHTS, p]) * inverse, inverse

        def add(p: Number, value: Number, slope: Number) -> list[Number]:
            share, inverse = term(p)
            return [value + share, lanes.add_product(share, inverse, slope)]

        def add_behind(n: Number, value: Number, slope: Number) -> list[Number]:
            return add(equation.count - 1 - n, value, slope)

        def add_among(p: Number, *sums: Number) -> list[Number]:
            is_before = lines.vector(width, POSITIONS, self.first) >= lanes.filled(lines[POSITIONS, p])
            share, inverse = term(p)
            mine, others = choose(is_before, share, zero), choose(is_before, zero, share)
            return [
                sums[0] + mine,
                sums[1] + others,
                lanes.add_product(mine, inverse, sums[2]),
                lanes.add_product(others, inverse, sums[3]),
            ]

        end = (self.first + width).least(equation.count)
        before = carried(0, self.first, [zero, zero], add)
        behind = carried(0, equation.count - end, [zero, zero], add_behind)
        return carried(self.first, end, [before[0], behind[0], before[1], behind[1]], add_among)

    def _step(
        self,
        origin: Number,
        side: Number,
        active: Number,
        distance: Number,
        low: Number,
        high: Number,
        largest: Number,
    ) -> list[Number]:
        """The next distance of each root that is active, what holds it, and the function's size there."""
        equation, lanes = self.equation, self.equation.lanes
        shift = distance * side
        before, behind, slope_before, slope_behind = self._sums(origin, shift)
        value, slope = before + behind + 1.0, slope_before + slope_behind
        size = magnitude(value)
        near = equation.between(self.near, origin, shift)
        far = equation.between(self.far, origin, shift)
        most = lanes.filled(float(np.finfo(lanes.dtype).max))
        is_root = (size <= ((behind - before) * 9.0 + 1.0) * self._epsilon) & (size < most)
        is_beyond = value * side > 0.0
        high, low = choose(is_beyond, distance, high), choose(is_beyond, low, distance)
        constant_ = value - near * slope_before - far * slope_behind
        linear = (near + far) * value - near * far * slope
        product = near * far * value
        length = root(magnitude(linear * linear - product * constant_ * 4.0))
        move = choose(linear <= 0.0, (linear - length) / (constant_ * 2.0), product * 2.0 / (linear + length))
        following = equation.moved(shift, origin, move) * side
        is_good = (following > low) & (following < high) & (size <= largest * 0.5)
        middle = self._middle(low, high)
        following = choose(is_good, following, middle)
        largest = choose(is_good, size, most)
        is_still = (following <= low) | (following >= high) | following.equals(distance)
        active_after = choose(is_root | is_still, lanes.filled(0.0), active)
        goes_on = active_after > 0.5
        return [active_after, choose(goes_on, following, distance), low, high, largest]

    def _middle(self, low: Number, high: Number) -> Number:
        """The number whose bits are in the middle."""
        lanes = self.equation.lanes
        bits = mlir.ir.VectorType.get([lanes.width], lanes.integer)
        low_bits = Number(mlir.arith.bitcast(bits, low.value))
        high_bits = Number(mlir.arith.bitcast(bits, high.value))
        half = (low_bits + high_bits) >> constant(lanes.integer, 1)
        return Number(mlir.arith.bitcast(lanes.vector, half.value))

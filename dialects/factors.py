"""How the axes of an op's operands and results go together, which says along which axes it can be divided.

Input: what an op's rule `factors` states. Output: a `Factors`: each axis is a product of factors, the major
one first. Operands and results may be divided along a factor if all that have it are: each rank then computes
its part from its parts. A factor of operands alone is reduced: ranks combine what they get. These are the
sharding rules of Shardy (OpenXLA), which propagates divisions by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import gcd, prod
from typing import TypeAlias

from .dataclass import dataclass
from .types import TensorType

Axes: TypeAlias = list[tuple[int, ...]]
"""The factors of each axis of an array."""


@dataclass
class Factors:
    """The factors of the axes of operands and results; rules add them one by one.

    `whole`: factors along which nothing may be divided. `reduced`: those along which ranks combine their
    results, by the collective of the kind `combining`. `counts_once`: an operand that the result begins with,
    so that of ranks whose results are added up only the first may begin with it, the others with zeros.
    """

    sizes: list[int] = field(default_factory=list)
    whole: set[int] = field(default_factory=set)
    reduced: set[int] = field(default_factory=set)
    combining: str = "sum"
    counts_once: int | None = None
    operands: list[Axes] = field(default_factory=list)
    results: list[Axes] = field(default_factory=list)

    def free(self, size: int | None) -> int:
        """A new factor of this size."""
        self.sizes.append(1 if size is None else size)
        return len(self.sizes) - 1

    def undivided(self, size: int | None) -> int:
        """A new factor that is never divided."""
        factor = self.free(size)
        self.whole.add(factor)
        return factor

    def combined(self, size: int | None) -> int:
        """A new factor along which results are combined."""
        factor = self.free(size)
        self.reduced.add(factor)
        return factor

    def all_free(self, type_: TensorType) -> Axes:
        """Axes with new factors."""
        return [(self.free(n),) for n in type_.static_shape]

    def all_undivided(self, type_: TensorType) -> Axes:
        """Axes none of which is divided."""
        return [(self.undivided(n),) for n in type_.static_shape]

    def shared_but(self, type_: TensorType, whole: Sequence[int], other: TensorType) -> tuple[Axes, Axes]:
        """Axes of two arrays that share their factors, except the axes `whole`, which are not divided."""
        mine: Axes = []
        theirs: Axes = []
        for axis, (n, m) in enumerate(zip(type_.static_shape, other.static_shape, strict=True)):
            if axis in whole:
                mine.append((self.undivided(n),))
                theirs.append((self.undivided(m),))
            else:
                mine.append((self.free(n),))
                theirs.append(mine[-1])
        return mine, theirs

    def reshaped(self, before: Sequence[int], after: Sequence[int]) -> tuple[Axes, Axes]:
        """Axes of an array of the shape `before` and of the same elements in row-major order as `after`.

        Axes are cut into common factors from the left; where there is none, nothing is divided up to the next
        place where both shapes have gone over equally many elements.
        """
        is_empty = 0 in before
        mine: Axes = [(self.undivided(n),) if is_empty or n == 1 else () for n in before]
        theirs: Axes = [(self.undivided(n),) if is_empty or n == 1 else () for n in after]
        if is_empty:
            return mine, theirs
        for left, right in _groups(before, after):
            self._cut([(axis, before[axis]) for axis in left], mine, [(k, after[k]) for k in right], theirs)
        return mine, theirs

    def _cut(
        self, left: list[tuple[int, int]], mine: Axes, right: list[tuple[int, int]], theirs: Axes
    ) -> None:
        """Common factors of axes that together have equally many elements."""
        while left and right:
            (i, n), (j, m) = left.pop(0), right.pop(0)
            common = gcd(n, m)
            if common == 1:
                for axis, size in ((i, n), *left):
                    mine[axis] += (self.undivided(size),)
                for axis, size in ((j, m), *right):
                    theirs[axis] += (self.undivided(size),)
                return
            factor = self.free(common)
            mine[i] += (factor,)
            theirs[j] += (factor,)
            if n > common:
                left.insert(0, (i, n // common))
            if m > common:
                right.insert(0, (j, m // common))


def _groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Consecutive axes of two shapes, those of size 1 left out, that together have equally many elements."""
    groups: list[tuple[list[int], list[int]]] = []
    left = [axis for axis, n in enumerate(before) if n > 1]
    right = [axis for axis, n in enumerate(after) if n > 1]
    while left:
        mine, theirs = [left.pop(0)], [right.pop(0)]
        while (n := prod(before[a] for a in mine)) != (m := prod(after[a] for a in theirs)):
            if n < m:
                mine.append(left.pop(0))
            else:
                theirs.append(right.pop(0))
        groups.append((mine, theirs))
    return groups


def undivided(operands: Sequence[TensorType], results: Sequence[TensorType]) -> Factors:
    """Of an op that states no rule: each rank computes all of it."""
    factors = Factors()
    factors.operands = [factors.all_undivided(x) for x in operands]
    factors.results = [factors.all_undivided(y) for y in results]
    return factors


def aligned(count: int, result: TensorType) -> Factors:
    """Of `count` operands of the result's shape, element by element."""
    factors = Factors()
    axes = factors.all_free(result)
    factors.operands = [axes] * count
    factors.results = [axes]
    return factors

"""`SizeAssumptions`: what is known of named sizes beyond their names, and which expressions are one by it.

Input: constraints such as `a >= b` and `a*b == c`. Output: a bound below any expression, and its normal form.
Idea: an inequality is an expression that is not negative, and what is left of another one without it bounds
that from below. An equality replaces its left side wherever that is a factor.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from typing import Final

from ...dialects.symbolic_sizes import Monomial, NamedSize, Size, least

_ROUNDS: Final = 8
"""Replacements in a row: equalities may be written so that one undoes another."""


class SizeAssumptions:
    """Names stand for sizes of at least 1, and for what constraints say."""

    def __init__(self) -> None:
        self.least: dict[str, int] = {}
        self.nonnegative: list[NamedSize] = []
        """Expressions that are not negative, those about one name alone included."""
        self._same: list[tuple[Counter[object], int, Size]] = []

    def add_nonnegative(self, size: NamedSize) -> None:
        """Assume that an expression is not negative."""
        self.nonnegative.append(size)
        constant = dict(size.terms).get((), 0)
        rest = [(monomial, factor) for monomial, factor in size.terms if monomial]
        if len(rest) == 1 and rest[0][1] == 1 and len(rest[0][0]) == 1 and isinstance(rest[0][0][0], str):
            name = rest[0][0][0]
            self.least[name] = max(self.least.get(name, 1), -constant)

    def add_equal(self, left: NamedSize, right: Size) -> None:
        """Write `right` for the one term `left` from now on."""
        ((monomial, factor),) = left.terms
        self._same.append((Counter(monomial), factor, right))

    def least_of(self, size: Size) -> float:
        """A number that the size is never less than."""
        if isinstance(size, int):
            return size
        best = self._least(size)
        for known in self.nonnegative:
            best = max(best, self._least(size - known))
        return best

    def _least(self, size: Size) -> float:
        if isinstance(size, int):
            return size
        return least(size, {name: self.least.get(str(name), 1) for name in size.names()})

    def normal(self, size: Size) -> Size:
        """The size with the right sides of equalities for their left sides."""
        for _ in range(_ROUNDS):
            if isinstance(size, int) or not self._same:
                return size
            replaced = self._replaced(size)
            if replaced == size:
                return size
            size = replaced
        return size

    def _replaced(self, size: NamedSize) -> Size:
        total: Size = 0
        for monomial, factor in size.terms:
            atoms = Counter(monomial)
            for left, of_left, right in self._same:
                if left <= atoms and factor % of_left == 0:
                    rest = tuple((atoms - left).elements())
                    total = total + _product(rest) * (factor // of_left) * right
                    break
            else:
                total = total + _product(monomial) * factor
        return total


def _product(monomial: Monomial) -> Size:
    one: Size = 1
    return reduce(lambda size, atom: NamedSize(atom) * size, monomial, one)

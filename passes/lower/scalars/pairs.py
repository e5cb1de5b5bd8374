"""Unevaluated sums of two floats, for the few places where one rounding is too much.

A `Pair` is `head + tail` with a tail below an ulp or so of the head. Products are exact because factors
are cut into halves with a bit mask, and the head of a product is masked too: the cut keeps a compiler that
fuses multiply and add from seeing through it, and machines without fused operations need nothing else.
"""

from __future__ import annotations

from ....dialects.dataclass import dataclass
from .terms import Term, arithmetic, choose


@dataclass(frozen=True, slots=True)
class Pair:
    head: Term
    tail: Term

    def __add__(self, other: Pair) -> Pair:
        total = add_exactly(self.head, other.head)
        return renormalise(total.head, total.tail + (self.tail + other.tail))

    def __mul__(self, other: Pair) -> Pair:
        product = multiply_exactly(self.head, other.head)
        return Pair(product.head, product.tail + (self.head * other.tail + self.tail * other.head))


def add_exactly(x: Term, y: Term) -> Pair:
    """x + y without error, in any order of magnitude."""
    if arithmetic().is_reassociated:
        ordered = x.absolute() >= y.absolute()
        return renormalise(choose(ordered, x, y), choose(ordered, y, x))
    total = x + y
    part = total - x
    return Pair(total, (x - (total - part)) + (y - part))


def renormalise(x: Term, y: Term) -> Pair:
    """x + y without error where |x| >= |y| or x = 0."""
    total = opaque(x + y)
    return Pair(total, y - (total - x))


def opaque(x: Term) -> Term:
    """x, where sums are reassociated with its last bit cleared, which no algebra on floats sees through."""
    return x.masked(~1) if arithmetic().is_reassociated else x


def multiply_exactly(x: Term, y: Term) -> Pair:
    """x * y with an error of about the square of one rounding."""
    x_head, y_head = x.head(), y.head()
    x_tail, y_tail = x - x_head, y - y_head
    head = (x * y).masked(~1)
    return Pair(head, ((x_head * y_head - head) + x_head * y_tail + x_tail * y_head) + x_tail * y_tail)


def square_exactly(x: Term) -> Pair:
    """x**2 with an exact head, the square of the leading half of x."""
    head = x.head()
    return Pair(head * head, (x - head) * (x + head))

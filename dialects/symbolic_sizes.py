"""Sizes that are known as expressions of named ones: `2*n + 1`, `max(n - 1, 0)`, `(n + 1)//2`.

Input: names of sizes and arithmetic on them. Output: an integer where the size is one, else a `NamedSize`;
two that are equal for every value of their names are one object as `==` sees it, wherever that can be shown.
Idea: a size is a polynomial with integer coefficients in one normal form. Its atoms are names, quotients
rounded down, and `max(p, 0)` of a polynomial `p`: all other extrema are made of that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import lru_cache, reduce
from math import gcd, inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias, overload

if TYPE_CHECKING:
    from fractions import Fraction

Monomial: TypeAlias = tuple[Hashable, ...]
"""Atoms that are multiplied, in order; none: 1."""


class Quotient(tuple["NamedSize", "int | NamedSize"]):
    """An atom: its first entry divided by its second and rounded down."""

    def __str__(self) -> str:
        return f"{_factor(self[0])}//{_factor(self[1])}"


class Excess(tuple["NamedSize"]):
    """An atom: the greater of its entry and 0."""

    def __str__(self) -> str:
        return f"max({self[0]}, 0)"


class NamedSize:
    """A dynamic size with an identity: where two are equal, they are equal when the program runs.

    A name may be anything that is hashable, and stands for a size that is not negative.
    """

    __slots__ = ("_hash", "_text", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, name: Hashable) -> None:
        self._set((((name,), 1),))

    def _set(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)
        self._text: str | None = None

    @property
    def name(self) -> Hashable | None:
        """The name that it is, None for an expression."""
        monomial, factor = self.terms[0]
        is_atom = len(self.terms) == 1 and factor == 1 and len(monomial) == 1
        return None if not is_atom or isinstance(monomial[0], (Quotient, Excess)) else monomial[0]

    def names(self) -> set[Hashable]:
        """The names that it is made of."""
        found: set[Hashable] = set()
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, (Quotient, Excess)):
                    found.update(*(part.names() for part in atom if isinstance(part, NamedSize)))
                else:
                    found.add(atom)
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedSize) and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self._text is None:
            self._text = _extremum_text(self) or _text(self.terms)
        return self._text

    def __add__(self, other: Size) -> Size:
        return _size(_sum(self.terms, _terms(other)))

    __radd__ = __add__

    def __neg__(self) -> Size:
        return self * -1

    def __sub__(self, other: Size) -> Size:
        return self + other * -1

    def __rsub__(self, other: Size) -> Size:
        return other + self * -1

    def __mul__(self, other: Size) -> Size:
        products = [(_monomial((*m, *n)), a * b) for m, a in self.terms for n, b in _terms(other)]
        return _size(_sum(products, ()))

    __rmul__ = __mul__

    def __floordiv__(self, other: Size) -> Size:
        return quotient(self, other)

    def __rfloordiv__(self, other: int) -> Size:
        return quotient(other, self)


Size: TypeAlias = int | NamedSize


@overload
def quotient(size: int, divisor: int) -> int: ...


@overload
def quotient(size: Size, divisor: Size) -> Size: ...


def quotient(size: Size, divisor: Size) -> Size:
    """`size` divided by `divisor`, rounded down; whole multiples of an integer divisor leave the quotient."""
    if isinstance(divisor, NamedSize):
        return _atom(Quotient((_named(size), divisor)))
    if isinstance(size, int) or divisor <= 0:
        return (
            size // divisor if isinstance(size, int) and divisor else _atom(Quotient((_named(size), divisor)))
        )
    whole = [(m, a // divisor) for m, a in size.terms]
    rest = _size([(m, a % divisor) for m, a in size.terms if a % divisor])
    if isinstance(rest, NamedSize):
        common = reduce(gcd, (a for m, a in rest.terms if m), divisor)
        if common > 1:  # (c*p + k)//(c*d) is (p + k//c)//d
            rest = _size([(m, a // common) for m, a in rest.terms])
            divisor //= common
        rest = _atom(Quotient((rest, divisor))) if isinstance(rest, NamedSize) else rest // divisor
    else:
        rest //= divisor
    return _size(_sum(whole, ())) + rest


@overload
def maximum(m: int, n: int) -> int: ...


@overload
def maximum(m: Size, n: Size) -> Size: ...


def maximum(m: Size, n: Size) -> Size:
    """The greater of two sizes."""
    return n + _excess(m - n)


@overload
def minimum(m: int, n: int) -> int: ...


@overload
def minimum(m: Size, n: Size) -> Size: ...


def minimum(m: Size, n: Size) -> Size:
    """The lesser of two sizes."""
    return n - _excess(n - m)


def _excess(size: Size) -> Size:
    """`max(size, 0)`."""
    if isinstance(size, int):
        return max(size, 0)
    if least(size) >= 0:
        return size
    if least(-size) >= 0:
        return 0
    if size.terms[0][1] < 0:  # max(-p, 0) is max(p, 0) - p
        return _atom(Excess((_named(-size),))) + size
    return _atom(Excess((size,)))


def least(size: Size, bounds: Mapping[Hashable, int] | None = None) -> float:
    """A number that the size is never less than, which may be far below; `bounds` are those of names."""
    if isinstance(size, int):
        return size
    from fractions import Fraction  # which imports decimal numbers

    bounds = bounds or {}
    rational = _without_quotients(size)
    total = Fraction(0)
    for monomial, factor in rational.items():
        if factor < 0 and monomial:
            return -inf
        low = Fraction(1)
        for atom in monomial:
            low *= 0 if isinstance(atom, (Quotient, Excess)) else max(bounds.get(atom, 0), 0)
        total += factor * low
    return float(total)


def _without_quotients(size: NamedSize) -> dict[Monomial, Fraction]:
    """A lower bound: quotients that are subtracted give way to what they are at most, `max(p, 0)` to `p`."""
    from fractions import Fraction

    total: dict[Monomial, Fraction] = {}
    for monomial, factor in size.terms:
        for m, a in _bound_of(monomial, factor):
            total[m] = total.get(m, Fraction(0)) + a
    return {m: a for m, a in total.items() if a}


def _bound_of(monomial: Monomial, factor: int) -> Iterable[tuple[Monomial, Fraction]]:
    from fractions import Fraction

    if len(monomial) == 1 and isinstance(atom := monomial[0], (Quotient, Excess)):
        divisor = atom[1] if isinstance(atom, Quotient) else 1
        if factor < 0 and isinstance(divisor, int) and divisor > 0 and least(atom[0]) >= 0:
            return [(m, Fraction(a * factor, divisor)) for m, a in atom[0].terms]
        if factor > 0 and isinstance(divisor, int) and divisor > 0 and isinstance(atom, Quotient):
            low = [(m, Fraction(a * factor, divisor)) for m, a in atom[0].terms]
            return [*low, ((), Fraction((1 - divisor) * factor, divisor))] if least(atom[0]) < 0 else []
        if factor < 0 and isinstance(atom, Excess):
            # max(p, 0) is at most the sum of the terms of p that are added
            return [(m, Fraction(a * factor)) for m, a in atom[0].terms if a > 0]
    return [(monomial, Fraction(factor))]


def _terms(size: Size) -> tuple[tuple[Monomial, int], ...]:
    return size.terms if isinstance(size, NamedSize) else ((((), size),) if size else ())


def _sum(
    left: Iterable[tuple[Monomial, int]], right: Iterable[tuple[Monomial, int]]
) -> list[tuple[Monomial, int]]:
    total: dict[Monomial, int] = {}
    for terms in (left, right):
        for monomial, factor in terms:
            total[monomial] = total.get(monomial, 0) + factor
    return [(m, a) for m, a in total.items() if a]


def _size(terms: list[tuple[Monomial, int]]) -> Size:
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    return _named_of(terms)


def _named_of(terms: list[tuple[Monomial, int]]) -> NamedSize:
    size = NamedSize.__new__(NamedSize)
    size._set(tuple(sorted(terms, key=_order)))
    return size


def _constant(n: int) -> NamedSize:
    return _named_of([((), n)])


def _named(size: Size) -> NamedSize:
    return size if isinstance(size, NamedSize) else _constant(size)


def _atom(atom: Hashable) -> NamedSize:
    return NamedSize(atom)


def _monomial(atoms: Monomial) -> Monomial:
    return tuple(sorted(atoms, key=_key))


def _order(term: tuple[Monomial, int]) -> tuple[int, list[tuple[int, str]]]:
    return -len(term[0]), [_key(atom) for atom in term[0]]


def _key(atom: Hashable) -> tuple[int, str]:
    if isinstance(atom, (str, Quotient, Excess)):
        return int(not isinstance(atom, str)), str(atom)
    return 2, repr(atom) if isinstance(atom, tuple) else str(id(atom))


# -- text ------------------------------------------------------------------------------------------


def _extremum_text(size: NamedSize) -> str | None:
    """`max(m, n)` or `min(m, n)`, where the size is that of two expressions."""
    found = [(m[0], a) for m, a in size.terms if len(m) == 1 and isinstance(m[0], Excess)]
    if len(found) != 1 or abs(found[0][1]) != 1:
        return None
    atom, factor = found[0]
    assert isinstance(atom, Excess)
    other = size - NamedSize(atom) * factor
    one = other + atom[0] * factor
    if other == 0 and factor < 0:
        return None
    m, n = sorted((one, other), key=lambda size: (isinstance(size, int), str(size)))
    return f"{'max' if factor > 0 else 'min'}({m}, {n})"


def _text(terms: tuple[tuple[Monomial, int], ...]) -> str:
    first = next((k for k, (_, factor) in enumerate(terms) if factor > 0), 0)
    ordered = [terms[first], *terms[:first], *terms[first + 1 :]]
    text = ""
    for monomial, factor in ordered:
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        parts = [str(atom) for atom in monomial]
        if len(parts) > 1 or abs(factor) != 1 or (factor < 0 and not text):
            parts = [f"({p})" if isinstance(a, Quotient) else p for p, a in zip(parts, monomial, strict=True)]
        if abs(factor) != 1 or not parts:
            parts.insert(0, str(abs(factor)))
        text += sign + "*".join(parts)
    return text


def _factor(size: Size) -> str:
    """The text of a size as a factor of a quotient."""
    text = str(size)
    return text if isinstance(size, int) or size.name is not None else f"({text})"


_OPERATORS: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: lambda m, n: m + n,
    ast.Sub: lambda m, n: m - n,
    ast.Mult: lambda m, n: m * n,
    ast.FloorDiv: lambda m, n: m // n,
}
_FUNCTIONS: Final = {"max": maximum, "min": minimum}
_UNNAMED: Final = "unnamed_size_"


@lru_cache(maxsize=4096)
def parse_size(text: str) -> Size:
    """The size that `str` of one wrote, or that of a name; anything else is itself a name."""
    if text.isidentifier():
        return NamedSize(text)
    try:
        return _parsed(_tree(text), lambda name: NamedSize(name.replace(_UNNAMED, "?")), _FUNCTIONS)
    except (SyntaxError, KeyError, ValueError, ZeroDivisionError):
        return NamedSize(text)


def is_size_text(text: str) -> bool:
    """Whether `str` of an expression of names would write this text."""
    size = parse_size(text)
    return isinstance(size, NamedSize) and size.name is None and str(size) == text and "?" not in text


def evaluate_size(text: str, sizes: Mapping[str, Any], functions: Mapping[str, Any]) -> Any:
    """The expression `text` of sizes by their names; `functions` has `max` and `min` of these.

    Raises `KeyError` for a name that `sizes` lacks.
    """
    return _parsed(_tree(text), sizes.__getitem__, functions)


def _tree(text: str) -> ast.expr:
    return ast.parse(text.replace("?", _UNNAMED), mode="eval").body


def _parsed(node: ast.expr, named: Callable[[str], Any], functions: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        return named(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _parsed(node.operand, named, functions) * -1
    if isinstance(node, ast.BinOp):
        left, right = (_parsed(part, named, functions) for part in (node.left, node.right))
        return _OPERATORS[type(node.op)](left, right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
        m, n = (_parsed(part, named, functions) for part in node.args)
        return functions[node.func.id](m, n)
    raise ValueError("not a size")

"""Symbolic dimensions: sizes that have a name before anything is traced, `a, b = symbolic_shape("a, b")`.

Input: names, integers and arithmetic on them. Output: dimensions of `ShapeDtype`. Idea: a `SymbolicDim` is
the text of an expression in the normal form of `dialects/symbolic_sizes.py`, which is what a spec takes for a
dynamic dimension, together with the scope whose constraints it obeys.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn

from ...dialects import symbolic_sizes
from ...dialects.symbolic_sizes import Excess, Monomial, NamedSize, Quotient, Size, evaluate_size, parse_size
from ..errors import ArgumentError, ConcretizationError, InconclusiveDimensionOperation
from .locations import user_location_text
from .size_assumptions import SizeAssumptions

_CALLS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "max": symbolic_sizes.maximum,
    "min": symbolic_sizes.minimum,
    "floordiv": symbolic_sizes.quotient,
    "mod": lambda m, n: m - symbolic_sizes.quotient(m, n) * n,
}


class SymbolicScope:
    """Names of dimensions that may be used together, and the constraints that hold for them."""

    def __init__(self, constraints_str: str | Sequence[str] = ()) -> None:
        """Constraints such as `a >= b`, `b <= 16` and `a*b == c`, each a text."""
        texts = (constraints_str,) if isinstance(constraints_str, str) else tuple(constraints_str)
        self.constraints = texts
        self.where = user_location_text()
        self.assumptions = SizeAssumptions()
        for text in texts:
            self._assume(text)

    def _assume(self, text: str) -> None:
        left, sign, right = _sides(text)
        if sign == "==":
            if isinstance(left, int) or len(left.terms) != 1:
                raise ArgumentError(
                    f"cannot use the constraint {text!r}: its left side must be one product",
                    where=user_location_text(),
                    hint="write the sum on the right: 'a*b == c + d'",
                )
            self.assumptions.add_equal(left, right)
            return
        difference = left - right if sign == ">=" else right - left
        if isinstance(difference, NamedSize):
            self.assumptions.add_nonnegative(difference)
        elif difference < 0:
            raise ArgumentError(f"the constraint {text!r} never holds", where=user_location_text())

    def dimension(self, size: Size) -> Any:
        """A size of this scope: an integer as it is, else a `SymbolicDim`."""
        size = self.assumptions.normal(size)
        return size if isinstance(size, int) else SymbolicDim(size, self)

    def __repr__(self) -> str:
        held = f" with constraints {', '.join(self.constraints)}" if self.constraints else ""
        return f"SymbolicScope made at {self.where}{held}"


class SymbolicDim(str):
    """A size that is an expression of names; it computes, compares and prints as that, and is a text."""

    scope: SymbolicScope

    def __new__(cls, size: NamedSize, scope: SymbolicScope) -> SymbolicDim:
        made = super().__new__(cls, str(size))
        made.scope = scope
        return made

    @property
    def size(self) -> NamedSize:
        """The expression."""
        size = parse_size(str(self))
        assert isinstance(size, NamedSize)
        return size

    def __repr__(self) -> str:
        return expression_text(self.size)

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, SymbolicDim) and other.scope is not self.scope:
            return False
        return str.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __index__(self) -> NoReturn:
        raise ConcretizationError(
            f"the symbolic dimension {self!r} has no integer value",
            where=user_location_text(),
            hint="use it in shapes, or give the dimension a static size",
        )

    __int__ = __index__

    def _with(self, other: Any, function: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
        if isinstance(other, SymbolicDim):
            check_same_scope(self, other)
            size: Size = other.size
        else:
            try:
                size = operator.index(other)
            except TypeError:
                return NotImplemented
        return self.scope.dimension(function(size, self.size) if swapped else function(self.size, size))

    def __add__(self, other: Any) -> Any:
        return self._with(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return self._with(other, operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Any:
        return self._with(other, operator.mul)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return self._with(other, _CALLS["floordiv"])

    def __rfloordiv__(self, other: Any) -> Any:
        return self._with(other, _CALLS["floordiv"], swapped=True)

    def __mod__(self, other: Any) -> Any:
        return self._with(other, _CALLS["mod"])

    def __rmod__(self, other: Any) -> Any:
        return self._with(other, _CALLS["mod"], swapped=True)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __neg__(self) -> Any:
        return self * -1

    def __pow__(self, exponent: int) -> Any:
        power: Any = 1
        for _ in range(exponent):
            power = self * power
        return power

    def __ge__(self, other: Any) -> bool:
        return self._at_least(self - other, f"{self!r} >= {other!r}")

    def __lt__(self, other: Any) -> bool:
        return not self._at_least(self - other, f"{self!r} < {other!r}")

    def __le__(self, other: Any) -> bool:
        return self._at_least(other - self, f"{self!r} <= {other!r}")

    def __gt__(self, other: Any) -> bool:
        return not self._at_least(other - self, f"{self!r} > {other!r}")

    def _at_least(self, difference: Any, question: str) -> bool:
        """Whether a difference is not negative."""
        if isinstance(difference, int):
            return difference >= 0
        if self.scope.assumptions.least_of(difference.size) >= 0:
            return True
        if self.scope.assumptions.least_of(-difference.size) > 0:
            return False
        raise InconclusiveDimensionOperation(
            f"'{question}' is not known for all sizes",
            where=user_location_text(),
            hint="state it: symbolic_shape(..., constraints=['a >= b'])",
        )


def check_same_scope(one: SymbolicDim, other: SymbolicDim) -> None:
    """Raise `ArgumentError` for dimensions of two scopes, whose names have nothing to do with each other."""
    if one.scope is not other.scope:
        raise ArgumentError(
            f"'{one!r}' and '{other!r}' are of different scopes: {one.scope} and {other.scope}",
            where=user_location_text(),
            hint="make them by one call of symbolic_shape, or pass scope=",
        )


def assumptions_of(leaves: Iterable[Any]) -> SizeAssumptions | None:
    """What is known of the symbolic dimensions of specs, None where there are none."""
    first: SymbolicDim | None = None
    for leaf in leaves:
        for n in getattr(leaf, "shape", ()):
            if isinstance(n, SymbolicDim):
                first = first or n
                check_same_scope(first, n)
    return None if first is None else first.scope.assumptions


def _sides(constraint: str) -> tuple[Size, str, Size]:
    """The two expressions of a constraint, and the sign between them."""
    parts = re.split(r"(>=|<=|==)", constraint)
    if len(parts) != 3:
        raise ArgumentError(
            f"cannot read the constraint {constraint!r}: expected >=, <= or == between two expressions",
            where=user_location_text(),
            hint="write 'a >= b', 'b <= 16' or 'a*b == c'",
        )
    return size_of_expression(parts[0]), parts[1], size_of_expression(parts[2])


_COMPARISONS: Final = {">=": operator.ge, "<=": operator.le, "==": operator.eq}


def holds(constraint: str, sizes: Mapping[str, int]) -> bool:
    """Whether a constraint holds for these sizes, or has names of which none is known."""
    left, sign, right = _sides(constraint)
    values = [
        evaluate_size(str(side), sizes, {"max": max, "min": min})
        for side in (left, right)
        if isinstance(side, int) or side.names() <= sizes.keys()
    ]
    return len(values) < 2 or bool(_COMPARISONS[sign](*values))


def size_of_expression(text: str) -> Size:
    """The size that a text such as `2*n + 1`, `floordiv(n, 2)` or `n^2` writes."""
    try:
        size = evaluate_size(_powers(text.strip()), _Names(), _CALLS)
    except (SyntaxError, ValueError, KeyError, ZeroDivisionError):
        size = None
    if not isinstance(size, (int, NamedSize)):
        raise ArgumentError(
            f"cannot read the dimension {text.strip()!r}",
            where=user_location_text(),
            hint="write an integer, a name, or an expression such as '2*n + 1' or 'floordiv(n, 2)'",
        )
    return size


class _Names(dict[str, NamedSize]):
    """A size for every name."""

    def __missing__(self, name: str) -> NamedSize:
        return NamedSize(name)


def _powers(text: str) -> str:
    """`n^3` as `(n*n*n)`."""

    def product(match: re.Match[str]) -> str:
        count = int(match[2])
        return f"({'*'.join([match[1]] * count)})" if 0 < count < 64 else match[0]

    return re.sub(r"(\w+)\s*(?:\^|\*\*)\s*(\d+)", product, text)


# -- text ------------------------------------------------------------------------------------------


def expression_text(size: Size | str | None) -> str:
    """A size as JAX prints it: the last name first, quotients as `floordiv(a, b)`."""
    if isinstance(size, str):
        size = parse_size(size)
    if not isinstance(size, NamedSize):
        return str(size)
    text = ""
    for monomial, factor in sorted(size.terms, key=_order, reverse=True):
        parts = _factors(monomial)
        if abs(factor) != 1 or not parts:
            parts.insert(0, str(abs(factor)))
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + "*".join(parts)
    return text


def _factors(monomial: Monomial) -> list[str]:
    texts = sorted(map(_atom_text, monomial))
    counts = {text: texts.count(text) for text in texts}
    return [text if n == 1 else f"{text}^{n}" for text, n in counts.items()]


def _order(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    return len(term[0]), _factors(term[0])


def _atom_text(atom: Any) -> str:
    if isinstance(atom, Quotient):
        return f"floordiv({expression_text(atom[0])}, {expression_text(atom[1])})"
    return f"max({expression_text(atom[0])}, 0)" if isinstance(atom, Excess) else str(atom)

"""Dynamic dimensions as Python values: `x.shape[0]` of a traced array whose first axis is `?`.

A `Dim` computes (`n + 1`, `n * m`, `n // 2`), prints as the expression it is, and equals another exactly
when both are the same expression; whether two different expressions are equal is not known while
tracing, and asking is an error instead of a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..errors import ConcretizationError
from .locations import user_location_text
from .operators import binary

if TYPE_CHECKING:
    from .frames import Frame

_WITH_ARRAYS: Final = {
    "+": binary("add"),
    "-": binary("subtract"),
    "*": binary("multiply"),
    "//": binary("floor_divide"),
}


class Dim:
    """A size that is known only when the program runs."""

    __slots__ = ("frame", "text", "value")

    def __init__(self, frame: Frame, value: Any, text: str) -> None:
        self.frame = frame
        self.value = value
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim) and other.text == self.text:
            return True
        if isinstance(other, (Dim, int)):
            self._undecided(f"{self} == {other}")
        return NotImplemented

    def _undecided(self, question: str) -> NoReturn:
        raise ConcretizationError(
            f"'{question}' is not known while tracing: {self.text} is a dynamic dimension",
            where=user_location_text(),
            hint="give the dimension a static size, or the same name as the one it must equal",
        )

    def __lt__(self, other: object) -> bool:
        self._undecided(f"{self} < {other}")

    def __le__(self, other: object) -> bool:
        self._undecided(f"{self} <= {other}")

    def __gt__(self, other: object) -> bool:
        self._undecided(f"{self} > {other}")

    def __ge__(self, other: object) -> bool:
        self._undecided(f"{self} >= {other}")

    def __bool__(self) -> bool:
        self._undecided(f"bool({self})")

    def __index__(self) -> int:
        raise ConcretizationError(
            f"dynamic dimension {self.text} has no integer value while tracing",
            where=user_location_text(),
            hint="pass the dimension itself where adze takes a size, or give it a static size",
        )

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.__index__())

    def __add__(self, other: Any) -> Any:
        return self._combine("size_add", "+", other)

    def __radd__(self, other: Any) -> Any:
        return self._combine("size_add", "+", other, swap=True)

    def __sub__(self, other: Any) -> Any:
        return self._combine("size_sub", "-", other)

    def __rsub__(self, other: Any) -> Any:
        return self._combine("size_sub", "-", other, swap=True)

    def __mul__(self, other: Any) -> Any:
        return self._combine("size_mul", "*", other)

    def __rmul__(self, other: Any) -> Any:
        return self._combine("size_mul", "*", other, swap=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._combine("size_div", "//", other)

    def _combine(self, op: str, sign: str, other: Any, swap: bool = False) -> Any:
        if isinstance(other, (Dim, int)):
            if isinstance(other, int) and (
                (other == 1 and sign in ("*", "//") and not (swap and sign == "//"))
                or (other == 0 and sign in ("+", "-") and not (swap and sign == "-"))
            ):
                return self
            if isinstance(other, Dim) and other.text == self.text and sign == "-":
                return 0
            left, right = (other, self) if swap else (self, other)
            return self.frame.size_op(op, sign, left, right)
        return _WITH_ARRAYS[sign](self, other)  # a Dim meets an array: it becomes a 0-d integer array


def maximum(m: Any, n: Any) -> Any:
    """`max(m, n)` of sizes."""
    return _extremum("size_max", "max", max, m, n)


def minimum(m: Any, n: Any) -> Any:
    """`min(m, n)` of sizes."""
    return _extremum("size_min", "min", min, m, n)


def _extremum(op: str, sign: str, function: Any, m: Any, n: Any) -> Any:
    if isinstance(m, Dim) and isinstance(n, Dim) and m.text == n.text:
        return m
    owner = m if isinstance(m, Dim) else n
    return owner.frame.size_op(op, sign, m, n) if isinstance(owner, Dim) else function(m, n)


def product(shape: Any) -> Any:
    """The number of elements of a shape."""
    total: Any = 1
    for n in shape:
        total = n * total if isinstance(n, Dim) else total * n
    return total

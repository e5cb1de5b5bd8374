"""Dynamic dimensions as Python values: `x.shape[0]` of a traced array whose first axis is `?`.

Idea: a `Dim` computes (`n + 1`, `n * m`, `n // 2`), and prints as the expression it is, in the normal form
of `dialects/symbolic_sizes.py`: two are equal where their expressions are, `n + n` and `2 * n` among them.
What cannot be decided for all sizes of arguments is unknown while tracing, so asking raises an error.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from ...dialects import symbolic_sizes
from ...dialects.symbolic_sizes import NamedSize, Size, least, parse_size
from ..errors import ConcretizationError, InconclusiveDimensionOperation
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

    __slots__ = ("frame", "size", "text", "value")

    def __init__(self, frame: Frame, value: Any, text: str) -> None:
        self.frame = frame
        self.value = value
        self.text = text
        self.size = named_size(text)

    def __repr__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Dim, int)):
            return NotImplemented
        return self._is_zero(self.size - as_size(other), f"{self} == {other}")

    def _is_zero(self, difference: Size, question: str) -> bool:
        if isinstance(difference, int):
            return difference == 0
        if self._least(difference) > 0 or self._least(-difference) > 0:
            return False
        self._undecided(question)

    def _is_negative(self, difference: Size, question: str) -> bool:
        if self._least(-difference) > 0:
            return True
        if self._least(difference) >= 0:
            return False
        self._undecided(question)

    def _least(self, size: Size) -> float:
        return _least(self.frame, size)

    def _undecided(self, question: str) -> NoReturn:
        raise InconclusiveDimensionOperation(
            f"'{question}' is not known while tracing: {self.text} is a dynamic dimension",
            where=user_location_text(),
            hint="give the dimension a static size, or the same name as the one it must equal",
        )

    def __lt__(self, other: Any) -> bool:
        return self._is_negative(self.size - as_size(other), f"{self} < {other}")

    def __le__(self, other: Any) -> bool:
        return not self._is_negative(as_size(other) - self.size, f"{self} <= {other}")

    def __gt__(self, other: Any) -> bool:
        return self._is_negative(as_size(other) - self.size, f"{self} > {other}")

    def __ge__(self, other: Any) -> bool:
        return not self._is_negative(self.size - as_size(other), f"{self} >= {other}")

    def __bool__(self) -> bool:
        return not self._is_zero(self.size, f"bool({self})")

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

    def __rfloordiv__(self, other: Any) -> Any:
        return self._combine("size_div", "//", other, swap=True)

    def __mod__(self, other: Any) -> Any:
        return self - self // other * other

    def __rmod__(self, other: Any) -> Any:
        return other - other // self * self

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __neg__(self) -> Any:
        return self * -1

    def __pos__(self) -> Dim:
        return self

    def __pow__(self, exponent: int) -> Any:
        return product((self,) * operator.index(exponent))

    def _combine(self, op: str, sign: str, other: Any, swap: bool = False) -> Any:
        if isinstance(other, np.integer):
            other = int(other)
        if not isinstance(other, (Dim, int)):
            return _WITH_ARRAYS[sign](self, other)  # a Dim meets an array: it becomes a 0-d integer array
        left, right = (other, self) if swap else (self, other)
        return _computed(self.frame, op, _FUNCTIONS[op], left, right)


def _computed(frame: Frame, op: str, function: Callable[[Size, Size], Size], left: Any, right: Any) -> Any:
    """What arithmetic on sizes gives: an integer or an operand where it is that, else a new `Dim`."""
    size = _decided(frame, op, as_size(left), as_size(right))
    if size is None:
        size = function(as_size(left), as_size(right))
    if frame.program.assumptions is not None:
        size = frame.program.assumptions.normal(size)
    if isinstance(size, int):
        return size
    for operand in (left, right):
        if isinstance(operand, Dim) and operand.size == size:
            return operand
    return frame.size_op(op, left, right, str(size))


def _decided(frame: Frame, op: str, m: Size, n: Size) -> Size | None:
    """The greater or lesser of two sizes, where assumptions tell which one it is."""
    if frame.program.assumptions is None or op not in ("size_max", "size_min"):
        return None
    greater, lesser = (m, n) if op == "size_max" else (n, m)
    if _least(frame, greater - lesser) >= 0:
        return m
    return n if _least(frame, lesser - greater) >= 0 else None


def _least(frame: Frame, size: Size) -> float:
    """A number that the size is never less than, as far as it is known in the program of `frame`."""
    assumptions = frame.program.assumptions
    return least(size) if assumptions is None else assumptions.least_of(assumptions.normal(size))


def as_size(size: Any) -> Size:
    """A dimension as its expression, an integer as it is."""
    return size.size if isinstance(size, Dim) else int(size)


def named_size(text: str) -> NamedSize:
    """The expression that the text of a dimension stands for."""
    size = parse_size(str(text))
    return size if isinstance(size, NamedSize) else NamedSize(text)


def size_of_text(text: str, sizes: Mapping[str, Any]) -> Any:
    """The size that an expression such as `2*n` stands for, of sizes by name; None where one has no name."""
    try:
        return symbolic_sizes.evaluate_size(text, sizes, {"max": maximum, "min": minimum})
    except KeyError:
        return None


_FUNCTIONS: Final[dict[str, Callable[[Size, Size], Size]]] = {
    "size_add": lambda m, n: m + n,
    "size_sub": lambda m, n: m - n,
    "size_mul": lambda m, n: m * n,
    "size_div": symbolic_sizes.quotient,
    "size_max": symbolic_sizes.maximum,
    "size_min": symbolic_sizes.minimum,
}


def maximum(m: Any, n: Any) -> Any:
    """`max(m, n)` of sizes."""
    return _extremum("size_max", max, m, n)


def minimum(m: Any, n: Any) -> Any:
    """`min(m, n)` of sizes."""
    return _extremum("size_min", min, m, n)


def _extremum(op: str, function: Any, m: Any, n: Any) -> Any:
    owner = m if isinstance(m, Dim) else n
    return _computed(owner.frame, op, _FUNCTIONS[op], m, n) if isinstance(owner, Dim) else function(m, n)


def product(shape: Any) -> Any:
    """The number of elements of a shape."""
    total: Any = 1
    for n in shape:
        total = n * total if isinstance(n, Dim) else total * n
    return total

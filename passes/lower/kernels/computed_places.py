"""Which numbers in the code of a kernel are sums of multiples of the places of its loops.

Input: a value of the code of an element, the sizes of the loops, and what is known of numbers that show at
the call. Output: an `Affine`, or None.
Idea: a reversed array is read at `999 - i`, and indices that count are clamped to where they are anyway. What
the loops' sizes say about the least and the greatest value decides clamps, comparisons, quotients and
remainders. So elements that lie side by side are found where they were written as elements at any place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias, TypeVar

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Operation, Type, Value
from .counted_sizes import MOST, Counted, Size

INDEX: Final = "linalg.index"

_CASTS: Final = frozenset(
    f"arith.{name}" for name in ("index_cast", "index_castui", "extsi", "extui", "trunci")
)
_UNSIGNED: Final = frozenset(
    f"arith.{name}" for name in ("index_castui", "extui", "minui", "maxui", "divui", "remui")
)
_SIGNED_ORDER: Final = ("slt", "sle", "sgt", "sge")
_UNSIGNED_ORDER: Final = ("ult", "ule", "ugt", "uge")
_EQUALITY: Final = ("eq", "ne")
_Key = TypeVar("_Key", bound="int | Counted")


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant`, for loops the factor that their place is multiplied with, and for numbers that show at the
    call the factor that they are multiplied with; no factor is 0."""

    constant: int
    factors: Mapping[int, int]
    numbers: Mapping[Counted, int] = field(default_factory=dict)

    @property
    def is_constant(self) -> bool:
        """Whether this is a number that is known."""
        return not self.factors and not self.numbers

    def factor(self, loop: int) -> int:
        """By how much the number grows from one place of a loop to the next."""
        return self.factors.get(loop, 0)

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """This number and a multiple of another one."""
        factors = _sum(self.factors, other.factors, times)
        numbers = _sum(self.numbers, other.numbers, times)
        return Affine(self.constant + times * other.constant, factors, numbers)

    def range(self, sizes: Sequence[Size]) -> tuple[int, int]:
        """The least and the greatest value where no loop is empty."""
        low, high = (self._end(sizes, is_low) for is_low in (True, False))
        return low, high

    def _end(self, sizes: Sequence[Size], is_low: bool) -> int:
        """The least or the greatest value, by the greatest places of loops that bring it there."""
        end, numbers = self.constant, dict(self.numbers)
        for loop, factor in self.factors.items():
            size = sizes[loop]
            if (factor < 0) != is_low:
                continue
            if isinstance(size, Counted):
                end -= factor
                numbers[size] = numbers.get(size, 0) + factor
            else:
                end += factor * (size - 1)
        for number, factor in numbers.items():
            least = 1 if number in sizes else -MOST
            end += factor * (least if (factor > 0) == is_low else MOST)
        return end


def _sum(left: Mapping[_Key, int], right: Mapping[_Key, int], times: int) -> dict[_Key, int]:
    """The factors of a sum."""
    found = {key: left.get(key, 0) + times * right.get(key, 0) for key in dict.fromkeys((*left, *right))}
    return {key: factor for key, factor in found.items() if factor}


Known: TypeAlias = "dict[Value, Affine | None]"


@dataclass(frozen=True, slots=True)
class Places:
    """The sizes of the loops, and for each loop of an op those that it goes over, the last one fastest."""

    sizes: Sequence[Size]
    loops: Sequence[Sequence[int]]

    def of(self, value: Value, known: Known) -> Affine | None:
        """What a value is, None where it is no such sum; `known` remembers, and says what numbers are."""
        if value not in known:
            owner = value.owner
            found = None if isinstance(owner, mlir.ir.Block) else self._applied(owner.operation, known)
            known[value] = found if found is not None and self._fits(found, value.type) else None
        return known[value]

    def _fits(self, number: Affine, type_: Type) -> bool:
        """Whether every value is one of the type, so that nothing wraps around."""
        low, high = number.range(self.sizes)
        bits = mlir.ir.IntegerType(type_).width if isinstance(type_, mlir.ir.IntegerType) else 64
        return -(2 ** (bits - 1)) <= low and high < 2 ** (bits - 1)

    def _applied(self, operation: Operation, known: Known) -> Affine | None:
        name = operation.name
        if name == INDEX:
            return self._place(int(mlir.ir.IntegerAttr(operation.attributes["dim"]).value))
        if name == "arith.constant":
            attribute = operation.attributes["value"]
            if not isinstance(attribute, mlir.ir.IntegerAttr):
                return None
            return Affine(int(mlir.ir.IntegerAttr(attribute).value), {})
        if name == "arith.select":
            return self._chosen(operation, known)
        if not name.startswith("arith.") or len(operation.operands) > 2:
            return None
        operands = [self.of(operand, known) for operand in operation.operands]
        numbers = [number for number in operands if number is not None]
        if len(numbers) != len(operands):
            return None
        if name in _UNSIGNED and any(number.range(self.sizes)[0] < 0 for number in numbers):
            return None
        if name in _CASTS:
            return numbers[0]
        return self._combined(name, *numbers) if len(numbers) == 2 else None

    def _place(self, loop: int) -> Affine | None:
        """The place of a loop of the op."""
        factors: dict[int, int] = {}
        step: int | None = 1
        for each in reversed(self.loops[loop]):
            size = self.sizes[each]
            if step is None:
                return None
            if isinstance(size, Counted) or size > 1:
                factors[each] = step
            step = None if isinstance(size, Counted) else step * size
        return Affine(0, factors)

    def _combined(self, name: str, left: Affine, right: Affine) -> Affine | None:
        if name in ("arith.addi", "arith.subi"):
            return left.plus(right, 1 if name == "arith.addi" else -1)
        if name == "arith.muli":
            if not left.is_constant and not right.is_constant:
                return None
            number, times = (right, left.constant) if left.is_constant else (left, right.constant)
            return Affine(0, {}).plus(number, times)
        if name in ("arith.minsi", "arith.minui", "arith.maxsi", "arith.maxui"):
            low, high = left.plus(right, -1).range(self.sizes)
            smaller = left if high <= 0 else right if low >= 0 else None
            if smaller is None:
                return None
            return smaller if "min" in name else (right if smaller is left else left)
        if name in ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui"):
            parts = self._divided(left, right)
            return parts and parts["rem" in name]
        return None

    def _divided(self, number: Affine, by: Affine) -> tuple[Affine, Affine] | None:
        """The quotient by a positive number, and the remainder."""
        divisor = by.constant
        if not by.is_constant or divisor < 1 or number.numbers:
            return None
        whole = {loop: f // divisor for loop, f in number.factors.items() if f % divisor == 0}
        left = {loop: f for loop, f in number.factors.items() if f % divisor}
        quotient = Affine(number.constant // divisor, whole)
        remainder = Affine(number.constant % divisor, left)
        low, high = remainder.range(self.sizes)
        # Of numbers below zero, the quotient is rounded toward zero.
        if low < 0 or high >= divisor or number.range(self.sizes)[0] < 0:
            return None
        return quotient, remainder

    def _chosen(self, operation: Operation, known: Known) -> Affine | None:
        """What is selected, where the condition is the same for all places."""
        condition, yes, no = operation.operands
        owner = condition.owner
        if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.cmpi":
            return None
        left, right = (self.of(operand, known) for operand in owner.operation.operands)
        if left is None or right is None:
            return None
        number = int(mlir.ir.IntegerAttr(owner.operation.attributes["predicate"]).value)
        order = (*_EQUALITY, *_SIGNED_ORDER, *_UNSIGNED_ORDER)[number]
        is_unsigned = order in _UNSIGNED_ORDER
        if is_unsigned and any(each.range(self.sizes)[0] < 0 for each in (left, right)):
            return None
        holds = _decided(order, *left.plus(right, -1).range(self.sizes))
        return None if holds is None else self.of(yes if holds else no, known)


def _decided(order: str, low: int, high: int) -> bool | None:
    """Whether a difference of two numbers, between two ends, has the sign that a comparison asks for."""
    if order in _EQUALITY:
        is_equal = True if low == high == 0 else False if low > 0 or high < 0 else None
        return is_equal if order == "eq" or is_equal is None else not is_equal
    always, never = {
        "lt": (high < 0, low >= 0),
        "le": (high <= 0, low > 0),
        "gt": (low > 0, high <= 0),
        "ge": (low >= 0, high < 0),
    }[order[1:]]
    return True if always else False if never else None

"""Which loops a loop of IREE's was, by what its place is divided by.

Input: an op, one of its loops, and the size of it as a product. Output: the sizes of the loops that it was,
and which quotients and remainders are the places of one of them.
Idea: sizes that show at the call divide each other as far as they are products of the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...ir.aliases import Operation, Value
from .computed_places import INDEX
from .counted_sizes import Counted, Size

_QUOTIENTS: Final = ("arith.divsi", "arith.divui")
_REMAINDERS: Final = ("arith.remsi", "arith.remui")
PLACES: Final = (INDEX, *_QUOTIENTS, *_REMAINDERS)
"""The ops that compute places of loops."""


class Product(NamedTuple):
    """A product of a number that is known and of some that show at the call, in their order."""

    known: int
    counted: tuple[Counted, ...] = ()

    def times(self, other: Product) -> Product:
        """The product of both."""
        return Product(self.known * other.known, tuple(sorted(self.counted + other.counted)))

    def over(self, other: Product) -> Product | None:
        """The quotient, None where it is not known to be one without a remainder."""
        left = Counter(self.counted)
        left.subtract(other.counted)
        if other.known < 1 or self.known % other.known or min(left.values(), default=0) < 0:
            return None
        return Product(self.known // other.known, tuple(sorted(left.elements())))

    @property
    def size(self) -> Size | None:
        """The product as one size, None where it is a product of several."""
        if not self.counted:
            return self.known
        return self.counted[0] if self.known == len(self.counted) == 1 else None


_ONE: Final = Product(1)


class _Part(NamedTuple):
    """`place // first % second` of a loop; without `second` the quotient."""

    first: Product
    second: Product | None


@dataclass(frozen=True, slots=True)
class Parts:
    """The loops that a loop of an op was, the last one fastest; `numbers`: products outside of its code."""

    root: Operation
    loop: int
    whole: Product
    numbers: Mapping[Value, Product]

    @property
    def sizes(self) -> list[Size] | None:
        """Their sizes, None where it was one loop for all that is known."""
        found: list[Size] = []
        for low, high in pairwise(self._ends):
            quotient = high.over(low)
            size = quotient.size if quotient is not None else None
            if size is None:
                return None
            found.insert(0, size)
        return found or None

    @property
    def places(self) -> dict[Value, int]:
        """The values that are the place of one of these loops, if there are several."""
        sizes, ends = self.sizes, self._ends
        if sizes is None or len(sizes) == 1:
            return {}
        of_parts = {pair: len(sizes) - 1 - n for n, pair in enumerate(pairwise(ends))}
        found = {}
        for value, (first, second) in self._found.items():
            pair = (first, self.whole if second is None else first.times(second))
            if pair in of_parts:
                found[value] = of_parts[pair]
        return found

    @property
    def _ends(self) -> list[Product]:
        """What the place is divided by, with 1 and the size around."""
        divisors = {part.first for part in self._found.values()}
        divisors |= {first.times(second) for first, second in self._found.values() if second is not None}
        ends = {_ONE, self.whole, *divisors}
        return sorted(ends, key=lambda end: (len(end.counted), end.known))

    @property
    def _found(self) -> dict[Value, _Part]:
        """The quotients and remainders of the place."""
        found: dict[Value, _Part] = {}
        for each in self.root.regions[0].blocks[0].operations:
            operation = each.operation
            if operation.name == INDEX:
                if int(mlir.ir.IntegerAttr(operation.attributes["dim"]).value) == self.loop:
                    found[operation.results[0]] = _Part(_ONE, None)
            elif operation.name in (*_QUOTIENTS, *_REMAINDERS) and operation.operands[0] in found:
                part = found[operation.operands[0]]
                divisor = self._product(operation.operands[1])
                left = part.second.over(divisor) if divisor and part.second is not None else None
                if divisor is None or divisor.known < 1 or (part.second is not None and left is None):
                    continue
                is_quotient = operation.name in _QUOTIENTS
                found[operation.results[0]] = (
                    _Part(part.first.times(divisor), left) if is_quotient else _Part(part.first, divisor)
                )
        return found

    def _product(self, value: Value) -> Product | None:
        """A number that a place is divided by, as a product, None for one that is not known."""
        if value in self.numbers:
            return self.numbers[value]
        owner = value.owner
        if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
            return None
        return Product(int(mlir.ir.IntegerAttr(owner.operation.attributes["value"]).value))

"""Windows of buffers: which part of which buffer a view shows, and which windows have elements in common.

Input: a memref of a bufferized kernel. Output: its `Box`, or None where the view is not plain. Idea: offsets
are a value and a number, so that those of two windows that move together can be compared.
"""

from __future__ import annotations

from math import gcd
from typing import Final

from .....dialects import mlir
from .....dialects.dataclass import dataclass
from ....ir.aliases import Value

VIEWS: Final = ("memref.subview", "memref.collapse_shape", "memref.expand_shape", "memref.cast")
_DYNAMIC: Final = -(2**63)


@dataclass(frozen=True, eq=False)
class Offset:
    """An offset as `sign * value + number`; without a value it is the number."""

    value: Value | None
    sign: int
    number: int

    def moves_with(self, other: Offset) -> bool:
        """Whether the two differ by a known number."""
        if self.value is None or other.value is None:  # a value of MLIR compares with values alone
            return self.value is other.value
        return bool(self.value == other.value) and self.sign == other.sign


@dataclass(frozen=True, eq=False)
class Box:
    """A window of a buffer: offsets, sizes (None where the buffer has unknown ones) and strides.

    The stride of a single position is 0.
    """

    base: Value
    offsets: tuple[Offset, ...]
    sizes: tuple[int | None, ...]
    strides: tuple[int, ...]

    def is_apart_from(self, other: Box) -> bool:
        """Whether the windows have no element in common: along one axis they are known to be apart."""
        return any(
            mine.offset.moves_with(theirs.offset)
            and (mine.ends_before(theirs) or theirs.ends_before(mine) or mine.is_between(theirs))
            for mine, theirs in zip(self._axes(), other._axes(), strict=True)
        )

    def is_same(self, other: Box) -> bool:
        """Whether the windows are known to be one."""
        pairs = zip(self.offsets, other.offsets, strict=True)
        return (
            self.sizes == other.sizes
            and self.strides == other.strides
            and all(a.moves_with(b) and a.number == b.number for a, b in pairs)
        )

    def _axes(self) -> list[_Positions]:
        return [_Positions(*each) for each in zip(self.offsets, self.sizes, self.strides, strict=True)]


@dataclass(frozen=True, eq=False)
class _Positions:
    """The positions of a window along one axis."""

    offset: Offset
    size: int | None
    stride: int

    def ends_before(self, other: _Positions) -> bool:
        """Whether the last one is before the first of the other, whose offset moves with this one."""
        return (
            self.size is not None and self.offset.number + (self.size - 1) * self.stride < other.offset.number
        )

    def is_between(self, other: _Positions) -> bool:
        """Whether both strides step over the positions of the other, as those of odd and even rows do."""
        common = gcd(self.stride, other.stride)
        return common > 1 and (self.offset.number - other.offset.number) % common != 0


def box_of(value: Value) -> Box | None:
    """The window of a buffer that a value is, None where that is not plain."""
    if is_own(value):
        zero, rank = Offset(None, 1, 0), len(value.type.shape)
        sizes = tuple(None if n == _DYNAMIC else n for n in value.type.shape)
        return Box(value, (zero,) * rank, sizes, tuple(0 if n == 1 else 1 for n in sizes))
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "memref.subview":
        return None
    view = value.owner.operation
    base, *dynamic = view.operands
    sizes, strides = (tuple(view.attributes[name]) for name in ("static_sizes", "static_strides"))
    if not is_own(base) or _DYNAMIC in (*sizes, *strides):
        return None
    values = iter(dynamic)
    offsets = tuple(
        offset_of(next(values)) if n == _DYNAMIC else Offset(None, 1, n)
        for n in view.attributes["static_offsets"]
    )
    return Box(base, offsets, sizes, tuple(0 if n == 1 else s for n, s in zip(sizes, strides, strict=True)))


def offset_of(value: Value) -> Offset:
    """An index as a value and a number, through additions and subtractions of numbers."""
    number, sign = 0, 1
    while not isinstance(value.owner, mlir.ir.Block):
        operation = value.owner.operation
        known = number_of(value)
        if known is not None:
            return Offset(None, 1, number + sign * known)
        if operation.name not in ("arith.addi", "arith.subi"):
            break
        left, right = operation.operands
        is_difference = operation.name == "arith.subi"
        first, second = number_of(left), number_of(right)
        if second is not None:
            number += sign * (-second if is_difference else second)
            value = left
        elif first is not None:
            number += sign * first
            value, sign = right, -sign if is_difference else sign
        else:
            break
    return Offset(value, sign, number)


def number_of(value: Value) -> int | None:
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "arith.constant":
        return None
    return int(value.owner.operation.attributes["value"].value)


def base_of(value: Value) -> Value:
    """The buffer of which a value is a view."""
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.operation.name in VIEWS:
        value = value.owner.operation.operands[0]
    return value


def is_own(value: Value) -> bool:
    """Whether this is a buffer of its own: an argument of the kernel or an allocation."""
    owner = value.owner
    if isinstance(owner, mlir.ir.Block):
        return bool(owner.owner.operation.name == "func.func")
    return bool(owner.operation.name == "memref.alloc")

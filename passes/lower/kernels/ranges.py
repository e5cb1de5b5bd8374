"""The pass `simplify-ranges`: clamps and checks of indices that are inside anyway are dropped.

Input: the code of a kernel, or a program in IREE's phase `flow`. Output: the same, where a comparison that is
decided by the ranges of integers is a constant, and a minimum or maximum that is decided an operand. MLIR's
own pass for this is not in the wheel.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Block, Operation, Value
from .loops.walk import nested, operations_inside

Range = tuple[int, int]

DEEPEST: Final = 100  # steps back from a number, behind which nothing is known
_CASTS: Final = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")
_EXTREMA: Final = ("arith.minsi", "arith.minui", "arith.maxsi", "arith.maxui")
_ARITHMETIC: Final = ("arith.addi", "arith.subi", "arith.muli")
_KERNEL: Final = "flow.executable"
_EQ, _NE, _SLT, _SLE, _SGT, _SGE = range(6)


@dataclass(frozen=True)
class SimplifyRanges(Pass):
    """Drop clamps and checks that the ranges of integers decide from the kernels of IREE's phase `flow`."""

    name = "simplify-ranges"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether an op was replaced."""
        with module.context, mlir.ir.Location.unknown():
            mlir.load_dialects(module.context)
            kernels = [each.operation for each in module.body.operations if each.operation.name == _KERNEL]
            replaced = [_simplify(list(nested(kernel))) for kernel in kernels]
        return any(replaced)


def _simplify(operations: Sequence[Operation]) -> int:
    """Replace what the ranges decide, and erase what nothing uses then; how many ops were replaced."""
    replaced = _replace(operations)
    if replaced:
        for operation in reversed(operations):
            if operation.name.startswith("arith.") and not any(map(_is_used, operation.results)):
                operation.erase()
    return replaced


def _is_used(value: Value) -> bool:
    return next(iter(value.uses), None) is not None


def simplify_ranges(module: mlir.ir.Module) -> int:
    """Replace what the ranges decide, in place; how many ops were replaced."""
    return _replace(operations_inside(module))


def _replace(operations: Iterable[Operation]) -> int:
    ranges, replaced = _Ranges(), 0
    for operation in operations:
        if operation.name == "arith.cmpi" and _is_integer(operation.operands[0]):
            decided = ranges.decided(operation)
            if decided is not None:
                with mlir.ir.InsertionPoint(operation), operation.location:
                    flag = mlir.arith.constant(mlir.ir.IntegerType.get_signless(1), int(decided))
                operation.results[0].replace_all_uses_with(flag)
                replaced += 1
        elif operation.name == "arith.select":
            selected = _selected(operation)
            if selected is not None:
                operation.results[0].replace_all_uses_with(selected)
                replaced += 1
        elif operation.name in _EXTREMA and _is_integer(operation.results[0]):
            chosen = ranges.chosen(operation)
            if chosen is not None and _is_used(operation.results[0]):
                operation.results[0].replace_all_uses_with(chosen)
                replaced += 1
    return replaced


def _selected(operation: Operation) -> Value | None:
    """What is selected by a condition that is a constant."""
    condition, yes, no = operation.operands
    owner = condition.owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
        return None
    flag = owner.operation.attributes["value"]
    if not isinstance(flag, mlir.ir.BoolAttr):
        return None
    return yes if flag.value else no


def _is_integer(value: Value) -> bool:
    """Whether its order is that of signed numbers: an i1 holds 0 and 1, though its bit is a sign."""
    type_ = value.type
    is_number = isinstance(type_, mlir.ir.IntegerType) and type_.width > 1
    return is_number or isinstance(type_, mlir.ir.IndexType)


class _Ranges:
    """The range of each integer, computed once."""

    def __init__(self) -> None:
        self._known: dict[Value, Range] = {}
        self._depth = 0

    def of(self, value: Value) -> Range:
        """The least and the greatest number that `value` may be, as a signed number of its width."""
        known = self._known.get(value)
        if known is not None:
            return known
        least, most = _width_range(value)
        if self._depth == DEEPEST:
            return least, most
        self._known[value] = least, most  # of what depends on itself
        self._depth += 1
        owner = value.owner
        if isinstance(owner, mlir.ir.Block):
            low, high = self._of_argument(owner, value)
        else:
            low, high = self._of_result(owner.operation)
        self._depth -= 1
        # A number beyond its width wraps: then nothing is known.
        known = self._known[value] = (low, high) if least <= low and high <= most else (least, most)
        return known

    def decided(self, operation: Operation) -> bool | None:
        """What a comparison always is, None where that depends."""
        (a, b), (c, d) = (self.of(v) for v in operation.operands)
        predicate = int(operation.attributes["predicate"].value)
        if predicate > _SGE:  # unsigned
            if min(a, c) < 0:
                return None
            predicate -= 4
        always, never = {
            _EQ: (a == b == c == d, b < c or d < a),
            _NE: (b < c or d < a, a == b == c == d),
            _SLT: (b < c, a >= d),
            _SLE: (b <= c, a > d),
            _SGT: (a > d, b <= c),
            _SGE: (a >= d, b < c),
        }[predicate]
        return True if always else False if never else None

    def chosen(self, operation: Operation) -> Value | None:
        """The operand that a minimum or maximum always is."""
        x, y = operation.operands
        (a, b), (c, d) = self.of(x), self.of(y)
        if operation.name.endswith("ui") and min(a, c) < 0:
            return None
        if b <= c:
            low, high = x, y
        elif d <= a:
            low, high = y, x
        else:
            return None
        return low if "min" in operation.name else high

    def _of_argument(self, block: Block, value: Value) -> Range:
        loop = block.owner.operation
        if loop.name == "scf.for" and value == block.arguments[0]:
            (low, _), (_, stop) = self.of(loop.operands[0]), self.of(loop.operands[1])
            return low, max(stop - 1, low)
        return _width_range(value)

    def _of_result(self, operation: Operation) -> Range:
        name, unknown = operation.name, _width_range(operation.results[0])
        if name == "arith.constant":
            value = operation.attributes["value"]
            return (value.value, value.value) if isinstance(value, mlir.ir.IntegerAttr) else unknown
        if not _is_integer(operation.results[0]):
            return unknown  # of a bool: its order and its sums are not those of 0 and 1
        if name in _CASTS:
            return self._of_cast(operation, unknown)
        if name in _EXTREMA:
            return self._of_extremum(operation, unknown)
        if name in _ARITHMETIC:
            (a, b), (c, d) = (self.of(v) for v in operation.operands)
            if name == "arith.addi":
                return a + c, b + d
            if name == "arith.subi":
                return a - d, b - c
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
        if name == "arith.select":
            return self._of_select(operation)
        if name == "arith.remsi":
            (a, _), (c, d) = (self.of(v) for v in operation.operands)
            return (0 if a >= 0 else 1 - c, c - 1) if c == d and c > 0 else unknown
        if name == "arith.andi":
            most = [high for low, high in (self.of(v) for v in operation.operands) if low >= 0]
            return (0, min(most)) if most else unknown
        return unknown

    def _of_cast(self, operation: Operation, unknown: Range) -> Range:
        source = operation.operands[0]
        low, high = self.of(source)
        if operation.name in ("arith.extsi", "arith.index_cast") and not _is_integer(source):
            return -high, -low
        if operation.name in ("arith.extui", "arith.index_castui") and low < 0:
            type_ = source.type
            if isinstance(type_, mlir.ir.IntegerType) and type_.width < 64:
                return 0, (1 << type_.width) - 1
            return unknown
        return low, high

    def _of_extremum(self, operation: Operation, unknown: Range) -> Range:
        (a, b), (c, d) = (self.of(v) for v in operation.operands)
        if operation.name == "arith.minui" and min(a, c) < 0:
            return (0, d) if c >= 0 else (0, b) if a >= 0 else unknown
        if operation.name.endswith("ui") and min(a, c) < 0:
            return unknown
        if "min" in operation.name:
            return min(a, c), min(b, d)
        return max(a, c), max(b, d)

    def _of_select(self, operation: Operation) -> Range:
        condition, yes, no = operation.operands
        (a, b), (c, d) = self.of(yes), self.of(no)
        owner = condition.owner
        if not isinstance(owner, mlir.ir.Block) and owner.operation.name == "arith.cmpi":
            predicate = int(owner.operation.attributes["predicate"].value)
            left, right = owner.operation.operands
            if predicate == _SLT and left == no and self.of(right) == (0, 0):
                c = max(c, 0)  # `x + n if x < 0 else x`: how a negative index counts from the end
                if c > d:
                    return a, b
                (low, _) = self.of(left)
                if low >= 0:
                    return c, d
        return min(a, c), max(b, d)


def _width_range(value: Value) -> Range:
    """All numbers of a type; an `index` has 64 bits."""
    type_ = value.type
    width = type_.width if isinstance(type_, mlir.ir.IntegerType) else 64
    return (0, 1) if width == 1 else (-(1 << width - 1), (1 << width - 1) - 1)

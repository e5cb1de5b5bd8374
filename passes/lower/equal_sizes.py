"""Sizes of an argument that a function checks to be equal: those of a square matrix.

Input: the block of a lowered function. Output: the sets of an argument's axes that have one size, and the
checks of them at the start of the block, where they use the sizes as they came. So all else may use one value
for every axis of a set, and IREE sees that the sizes are equal. While it did not, IREE 3.13 crashed on while
loops in while loops over such a matrix (`docs/iree_notes.md`).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..ir.aliases import Block, Operation, Value

Axis = tuple[int, int]
"""The number of an argument, and an axis of it."""


@dataclass(frozen=True)
class Check:
    """A check at the top of a function that two sizes of an argument are equal."""

    operation: Operation
    axes: tuple[Axis, Axis]

    @property
    def message(self) -> mlir.ir.Attribute:
        """What it says where they are not."""
        return self.operation.attributes["msg"]


def checks_of(block: Block) -> list[Check]:
    """The checks of a function that compare sizes of one argument."""
    return [c for o in block.operations if (c := _check(block, o.operation)) is not None]


def _check(block: Block, operation: Operation) -> Check | None:
    if operation.name != "cf.assert":
        return None
    compared = operation.operands[0].owner
    if isinstance(compared, mlir.ir.Block) or compared.name != "arith.cmpi":
        return None
    predicate = mlir.ir.IntegerAttr(compared.attributes["predicate"]).value
    axes = [_axis(block, v) for v in compared.operands]
    first, second = axes
    if predicate != int(mlir.arith.CmpIPredicate.eq) or first is None or second is None:
        return None
    if first[0] != second[0]:
        return None
    return Check(operation, (first, second))


def _axis(block: Block, size: Value) -> Axis | None:
    """The argument and the axis whose size a value is."""
    owner = size.owner
    if isinstance(owner, mlir.ir.Block) or owner.name != "tensor.dim":
        return None
    source, place = owner.operands
    if source.owner != block or isinstance(place.owner, mlir.ir.Block):
        return None
    if place.owner.name != "arith.constant":
        return None
    number = mlir.ir.BlockArgument(source).arg_number
    return number, mlir.ir.IntegerAttr(place.owner.attributes["value"]).value


def leaders(checks: list[Check]) -> Mapping[Axis, Axis]:
    """For each axis that is checked, the first one of its set."""
    leader: dict[Axis, Axis] = {}
    for check in checks:
        first, second = sorted(leader.get(axis, axis) for axis in check.axes)
        members = [axis for axis, its in leader.items() if its == second]
        leader.update({axis: first for axis in (*members, *check.axes, second)})
    return leader


def check_first(checks: list[Check], sizes: Mapping[Axis, Value]) -> None:
    """State checks again, of sizes as they came, at the insertion point, and drop the old ones."""
    for check in checks:
        first, second = check.axes
        is_equal = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, sizes[first], sizes[second])
        with check.operation.location:
            mlir.cf.assert_(is_equal, mlir.ir.StringAttr(check.message).value)
        check.operation.erase()

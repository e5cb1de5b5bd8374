"""Horizontal fusion: reductions that index the same large array by the same loops become one op.

Input: the large reductions of a block, in order. Output: fewer, with more results.
Idea: a reduction joins an earlier one where its operands are defined before that one, or can be moved there;
so none that needs the other's result does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..builder import LinalgBuilder, Operation, Value
from .generics import Generic, defining_op, emit_reduction, inline_body, is_large

if TYPE_CHECKING:
    from iree.compiler import ir

LARGE_INPUTS: Final = 4  # more large arrays than this are not read at a time
MOST_RESULTS: Final = 4  # of one op

MOVABLE: Final = frozenset(
    {"arith.constant", "tensor.empty", "linalg.fill", "tensor.expand_shape", "tensor.collapse_shape"}
)


def fuse_horizontally(b: LinalgBuilder, block: ir.Block, reductions: Sequence[Generic]) -> None:
    """Let each of `reductions`, all of `block`, join an earlier one if it can."""
    order = _Order(block)
    fused: list[Generic] = []
    for reduction in reductions:
        operands = reduction.operation.operands
        for number, earlier in enumerate(fused):
            if _may_join(reduction, earlier) and order.can_precede(operands, earlier.key):
                order.move_before(operands, earlier.operation)
                position = order.position[earlier.key]
                fused[number] = _joined(b, earlier, reduction)
                order.position[fused[number].key] = position
                break
        else:
            fused.append(reduction)


def _may_join(reduction: Generic, earlier: Generic) -> bool:
    """Whether both read a large array alike, and none by two maps (which IREE computes wrongly)."""
    accesses = {*earlier.accesses, *reduction.accesses}
    return (
        reduction.kept == earlier.kept
        and reduction.loops == earlier.loops
        and any(is_large(v) for v, _ in {*reduction.accesses} & {*earlier.accesses})
        and sum(is_large(v) for v, _ in accesses) <= LARGE_INPUTS
        and len({v for v, _ in accesses}) == len(accesses)
        and len(earlier.inits) + len(reduction.inits) <= MOST_RESULTS
    )


def _joined(b: LinalgBuilder, first: Generic, second: Generic) -> Generic:
    """One op that does what `first` and `second` do, in the place of the first."""
    accesses = list(dict.fromkeys((*first.accesses, *second.accesses)))

    def body(*scalars: Value) -> list[Value]:
        elements = dict(zip(accesses, scalars, strict=False))
        totals = iter(scalars[len(accesses) :])
        yielded: list[Value] = []
        for reduction in (first, second):
            arguments = [elements[access] for access in reduction.accesses]
            arguments += [next(totals) for _ in reduction.inits]
            yielded += inline_body(reduction.body, arguments, range(reduction.loops))
        return yielded

    return emit_reduction(b, [first, second], accesses, body)


class _Order:
    """Where in a block each value is defined. Values are the keys: the bindings change the hash of ops."""

    def __init__(self, block: ir.Block) -> None:
        self.position: dict[Value, float] = {}
        for number, operation in enumerate(block.operations):
            for result in operation.operation.results:
                self.position[result] = number

    def can_precede(self, values: Sequence[Value], anchor: Value) -> bool:
        """Whether `values` are defined before `anchor`, or may be moved there."""
        for value in values:
            operation = defining_op(value)
            if operation is None or self.position[value] < self.position[anchor]:
                continue
            if operation.name not in MOVABLE or not self.can_precede(operation.operands, anchor):
                return False
        return True

    def move_before(self, values: Sequence[Value], anchor: Operation) -> None:
        """Move the ops that define `values` before `anchor`, unless they are there already."""
        position = self.position[anchor.results[0]]
        for value in values:
            operation = defining_op(value)
            if operation is not None and self.position[value] >= position:
                self.move_before(operation.operands, anchor)
                operation.move_before(anchor)
                self.position[value] = position - 0.5

"""Several folds in one pass: those that walk the same large array the same way become one op.

In: the large folds of a block, in order. Out: fewer, with more results. A fold joins an earlier one where
what it reads is there already, or can be moved there; so none that needs the other's result does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .generics import Generic, copied, emit_fold, is_large, owner
from .rearrangement import RearrangementForms

LARGE_INPUTS: Final = 4  # more large arrays than this are not walked at a time
MERGED: Final = 4  # so many folds are done in one pass at most

MOVABLE: Final = frozenset(
    {"arith.constant", "tensor.empty", "linalg.fill", "tensor.expand_shape", "tensor.collapse_shape"}
)


def merge(lowering: RearrangementForms, block: Any, folds: Sequence[Generic]) -> None:
    """Let each of `folds`, all of `block`, join an earlier one if it can."""
    order = _Order(block)
    merged: list[Generic] = []
    for fold in folds:
        for number, earlier in enumerate(merged):
            if _may_join(fold, earlier) and order.reaches(fold.operation.operands, earlier.key):
                order.move_before(fold.operation.operands, earlier.operation)
                place = order.position[earlier.key]
                merged[number] = _joined(lowering, earlier, fold)
                order.position[merged[number].key] = place
                break
        else:
            merged.append(fold)


def _may_join(fold: Generic, earlier: Generic) -> bool:
    """Whether both walk a large array alike, and none in two ways (which IREE computes wrongly)."""
    reads = {*earlier.reads, *fold.reads}
    return (
        fold.kept == earlier.kept
        and fold.loops == earlier.loops
        and any(is_large(v) for v, _ in {*fold.reads} & {*earlier.reads})
        and sum(is_large(v) for v, _ in reads) <= LARGE_INPUTS
        and len({v for v, _ in reads}) == len(reads)
        and len(earlier.inits) + len(fold.inits) <= MERGED
    )


def _joined(lowering: RearrangementForms, first: Generic, second: Generic) -> Generic:
    """One op that does what `first` and `second` do, in the place of the first."""
    reads = list(dict.fromkeys((*first.reads, *second.reads)))

    def body(*scalars: Any) -> list[Any]:
        known = dict(zip(reads, scalars, strict=False))
        totals = iter(scalars[len(reads) :])
        yielded: list[Any] = []
        for fold in (first, second):
            elements = [known[each] for each in fold.reads]
            elements += [next(totals) for _ in fold.inits]
            yielded += copied(fold.body, elements, range(fold.loops))
        return yielded

    return emit_fold(lowering, [first, second], reads, body)


class _Order:
    """Where in a block each value is made. Values are the keys: the bindings change the hash of ops."""

    def __init__(self, block: Any) -> None:
        self.position: dict[Any, float] = {}
        for number, operation in enumerate(block.operations):
            for result in operation.operation.results:
                self.position[result] = number

    def reaches(self, values: Sequence[Any], place: Any) -> bool:
        """Whether `values` are there before `place`, or may be made there."""
        for value in values:
            maker = owner(value)
            if maker is None or self.position[value] < self.position[place]:
                continue
            if maker.name not in MOVABLE or not self.reaches(maker.operands, place):
                return False
        return True

    def move_before(self, values: Sequence[Any], anchor: Any) -> None:
        """Move what makes `values` before `anchor`, unless it is there already."""
        place = self.position[anchor.results[0]]
        for value in values:
            maker = owner(value)
            if maker is not None and self.position[value] >= place:
                self.move_before(maker.operands, anchor)
                maker.move_before(anchor)
                self.position[value] = place - 0.5

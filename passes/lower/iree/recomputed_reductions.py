"""Reductions that depend on reductions, kept out of each other's kernels where that would come out wrong.

Input: a lowered module. Output: the same, where a reduction that another one depends on is used through a
barrier, which copies nothing: it has a kernel of its own. `runtime/compile/faults/recomputed_reductions.py`
says which kernels with two of them come out wrong; only for those is this pass run.

Symptom: the earlier one of two reductions in one kernel is added up once for each step of the later one.
Seen in: IREE 3.13.
Smallest: `t = sum(y * y, -1); w = y * t[:, None]; u = sum(w * y, -1)`, where `t` is needed elsewhere too.
Goes when: `tests/runtime/compile/test_kernels.py::test_unchecked_they_are_wrong` fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.compile.reductions import is_reduction
from ...base import Pass
from ...ir.aliases import Block, Operation, Value
from ...ir.functions import functions
from ..barriers import BARRIER, compute_barrier


@dataclass(frozen=True)
class SeparateReductions(Pass):
    """Put a barrier behind every reduction that another one depends on, so that no kernel has both."""

    name = "separate-reductions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            separate_reductions(module)


def has_chains(module: mlir.ir.Module) -> bool:
    """Whether a fold depends on another one of the same block."""
    return any(
        _has_chain(block) for function in functions(module).values() for block in _blocks(function.operation)
    )


def separate_reductions(module: mlir.ir.Module) -> None:
    """Let every fold that another one depends on be read through a barrier."""
    for fold in list(_followed_folds(module)):
        for result in fold.results:
            readers = [(use.owner, use.operand_number) for use in result.uses]
            if isinstance(result.type, mlir.ir.RankedTensorType) and readers:
                hidden = _barrier(fold, result)
                for reader, number in readers:
                    reader.operation.operands[number] = hidden


def _followed_folds(module: mlir.ir.Module) -> Iterator[Operation]:
    """Each fold that a later one of its block depends on, once."""
    for function in functions(module).values():
        for block in _blocks(function.operation):
            yield from _followed(block)


def _blocks(operation: Operation) -> Iterator[Block]:
    for region in operation.regions:
        for block in region.blocks:
            yield block
            for inner in block.operations:
                if not inner.operation.name.startswith("linalg."):
                    yield from _blocks(inner.operation)


def _followed(block: Block) -> list[Operation]:
    upstream: dict[Value, frozenset[Operation]] = {}  # the reductions that a value depends on
    feeding: dict[Operation, None] = {}
    for child in block.operations:
        operation = child.operation
        before: frozenset[Operation] = frozenset()
        if operation.name != BARRIER:
            before = before.union(*(upstream.get(v, before) for v in operation.operands))
        if is_reduction(operation):
            feeding.update(dict.fromkeys(before))
            before |= {operation}
        if before:
            upstream.update(dict.fromkeys(operation.results, before))
    return list(feeding)


def _has_chain(block: Block) -> bool:
    """Whether `_followed` finds any."""
    behind: set[Value] = set()  # what depends on a reduction
    for child in block.operations:
        operation = child.operation
        if operation.name == BARRIER:
            continue
        depends = any(value in behind for value in operation.operands)
        is_fold = is_reduction(operation)
        if depends and is_fold:
            return True
        if depends or is_fold:
            behind.update(operation.results)
    return False


def _barrier(operation: Operation, value: Value) -> Value:
    """A barrier on `value` right after `operation`."""
    with mlir.ir.InsertionPoint.after(operation), operation.location:
        return compute_barrier(value)

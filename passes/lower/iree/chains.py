"""Folds that depend on folds, kept out of each other's kernels where IREE 3.13 would compute them wrongly.

A fold is an op that combines elements along some of its loops. `runtime/compile/kernels.py` says which
kernels with two of them come out wrong; behind a barrier, which copies nothing, the earlier one has a kernel
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ....dialects import mlir
from ....runtime.compile.kernels import is_fold
from ...base import Pass
from ...ir.functions import functions
from .barriers import BARRIER, compute_barrier


@dataclass(frozen=True)
class SeparateReductions(Pass):
    """Put a barrier behind every reduction that another one depends on, so that no kernel has both."""

    name = "separate-reductions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            keep_folds_apart(module)


def has_chains(module: Any) -> bool:
    """Whether a fold depends on another one of the same block."""
    return any(True for _ in _followed_folds(module))


def keep_folds_apart(module: Any) -> None:
    """Let every fold that another one depends on be read through a barrier."""
    for fold in list(_followed_folds(module)):
        for result in fold.results:
            readers = [(use.owner, use.operand_number) for use in result.uses]
            if isinstance(result.type, mlir.ir.RankedTensorType) and readers:
                hidden = _barrier(fold, result)
                for reader, number in readers:
                    reader.operation.operands[number] = hidden


def _followed_folds(module: Any) -> Iterator[Any]:
    """Each fold that a later one of its block depends on, once."""
    for function in functions(module).values():
        for block in _blocks(function.operation):
            yield from _followed(block)


def _blocks(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            yield block
            for inner in block.operations:
                if not inner.operation.name.startswith("linalg."):
                    yield from _blocks(inner.operation)


def _followed(block: Any) -> list[Any]:
    upstream: dict[Any, frozenset[Any]] = {}  # the folds that a value depends on
    found: dict[Any, None] = {}
    for child in block.operations:
        operation = child.operation
        before: frozenset[Any] = frozenset()
        if operation.name != BARRIER:
            before = before.union(*(upstream.get(v, before) for v in operation.operands))
        if is_fold(operation):
            found.update(dict.fromkeys(before))
            before |= {operation}
        if before:
            upstream.update(dict.fromkeys(operation.results, before))
    return list(found)


def _barrier(operation: Any, value: Any) -> Any:
    """A barrier on `value` right after `operation`."""
    with mlir.ir.InsertionPoint.after(operation), operation.location:
        return compute_barrier(value)

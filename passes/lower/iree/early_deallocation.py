"""Functions with loops or branches, made such that IREE leaves the lifetimes of their buffers alone.

Input: the lowered module. Output: the same; each function with an `scf` op gets two more blocks behind its
work. IREE's pass that inserts deallocations takes every result of a loop or branch for a buffer of its own,
though several are parts of one (https://github.com/iree-org/iree/pull/24841). It skips functions of more than
one block; buffers are freed when the last reference to them goes, as without it.

Symptom: the buffer of one result of a loop or branch is freed while another result is still used.
Seen in: IREE 3.13.
Smallest: none is known. Without the pass 68 random programs of loops (from seed 1048576 on, without loop
    kernels) and the second test named below are right; the symptom was that of a scan which carries several
    arrays of one shape, whose results are used after one another.
Goes when: without the pass `keep-lifetimes` in `PIPELINE` all seeds of
    `tests/frontend/control/test_random_loops.py::test_compiled_is_evaluated` pass, and
    `tests/passes/lower/forms/test_loops.py::test_stacks_of_equal_shape_are_arrays_of_their_own`.
"""

from __future__ import annotations

from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Block
from ...ir.functions import functions

_STRUCTURED: Final = ("scf.for", "scf.while", "scf.if")


@dataclass(frozen=True)
class KeepLifetimes(Pass):
    """Add blocks to functions with loops or branches, so that IREE inserts no deallocations there."""

    name = "keep-lifetimes"
    needs = _STRUCTURED
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            keep_lifetimes(module)


def keep_lifetimes(module: mlir.ir.Module) -> None:
    """End every function that has a loop or a branch with a loop of blocks that nothing repeats."""
    for function in functions(module).values():
        blocks = function.operation.regions[0].blocks
        if len(blocks) == 1 and any(o.operation.name in _STRUCTURED for o in blocks[0].operations):
            _end_with_blocks(blocks[0])


def _end_with_blocks(work: Block) -> None:
    """`work`; do {} while (never); return."""
    returned = work.operations[len(work.operations) - 1]
    waiting = mlir.ir.Block.create_after(work)
    last = mlir.ir.Block.create_after(waiting)
    with mlir.ir.InsertionPoint(last):
        mlir.func.ReturnOp(list(returned.operands))
    returned.operation.erase()
    with mlir.ir.InsertionPoint(waiting):
        # Behind a barrier: the blocks would be merged if it were known that nothing is repeated.
        never = mlir.arith.constant(mlir.ir.IntegerType.get_signless(1), 0)
        unknown = mlir.util.OptimizationBarrierOp([never.type], [never]).results[0]
        mlir.cf.CondBranchOp(unknown, [], [], waiting, last)
    with mlir.ir.InsertionPoint(work):
        mlir.cf.BranchOp([], waiting)

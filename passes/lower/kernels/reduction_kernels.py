"""The pass `reduction-kernels`: kernels that IREE has fused and that reduce become loops of our own.

Input: a program in IREE's phase `flow`. Output: the same program; a kernel that reduces rows or columns
(`reduction_reader.py`) is an executable of our own, called as before.
Idea: what is fused stays as IREE decided; how the loops go over memory is ours (`reduced_rows.py`,
`reduced_columns.py`), where the tuning has loops that are better.
"""

from __future__ import annotations

import functools

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target
from ...base import Pass
from ...ir.aliases import Operation
from ..tuning.column_tiles import ColumnLoops, column_loops
from ..tuning.row_tiles import row_loops
from .reduced_columns import Columns, kept_keys
from .reduced_rows import Rows
from .reduction_programs import ReductionProgram
from .reduction_reader import read
from .tensor_sizes import GENERIC, kinds_of
from .written_kernels import WrittenKernel, write_kernels


@dataclass(frozen=True)
class ReductionKernels(Pass):
    """Write the kernels of IREE's phase `flow` that reduce rows or columns as loops over their elements."""

    name = "reduction-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        return write_kernels(module, read_reduction, _code)


def read_reduction(function: Operation) -> ReductionProgram | None:
    """The program of a kernel's function, in which what is subtracted from a sum is added to it negated."""
    for operation in [each.operation for block in function.regions[0].blocks for each in block.operations]:
        if operation.name == GENERIC and "reduction" in kinds_of(operation):
            _add_negated(operation)
    return read(function)


def _add_negated(reduction: Operation) -> None:
    """`sum - x` as `sum + (-x)`, which IREE had folded: sums of negated numbers are sums."""
    block = reduction.regions[0].blocks[0]
    for returned in list(block.operations)[-1].operands:
        if isinstance(returned.owner, mlir.ir.Block) or returned.owner.operation.name != "arith.subf":
            continue
        left, right = returned.owner.operation.operands
        if isinstance(left.owner, mlir.ir.Block) and len(list(returned.uses)) == 1:
            with mlir.ir.InsertionPoint(returned.owner), returned.owner.location:
                total = mlir.arith.addf(left, mlir.arith.negf(right))
            returned.replace_all_uses_with(total)
            returned.owner.operation.erase()


def _code(target: Target, program: ReductionProgram) -> WrittenKernel | None:
    """The code of a program, None where IREE's is as good."""
    operations, repeated = program.operations, program.repeated
    if program.is_of_rows:
        on_stack = len(repeated) - len(program.places)
        takes = any(step.gathered for step in program.steps)
        rows = row_loops(
            target, program.known_sizes, program.bits, operations, kept=on_stack, takes_elements=takes
        )
        return functools.partial(Rows, program, rows) if rows else None
    if repeated:
        return None
    columns = loops_of_columns(target, program)
    return functools.partial(Columns, program, columns) if columns else None


def loops_of_columns(target: Target, program: ReductionProgram) -> ColumnLoops | None:
    """The loops of a program of columns, None where IREE's code is as good."""
    return column_loops(
        target,
        (program.count(program.outer), program.count(program.summed), program.known_sizes[-1]),
        program.bits,
        program.operations,
        scans=len(program.scans),
        kept=len(kept_keys(program)),
    )

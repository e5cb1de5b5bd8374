"""The pass `reduction-kernels`: kernels that IREE has fused and that reduce become loops of our own.

Input: a program in IREE's phase `flow`. Output: the same program; a kernel that reduces rows or columns
(`reduction_reader.py`) is an executable of our own, called as before.
Idea: what is fused stays as IREE decided; how the loops go over memory is ours (`reduced_rows.py`,
`reduced_columns.py`), where the tuning has loops that are better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....dialects import mlir
from ....runtime.targets import Target
from ...base import Pass
from ..tuning.column_tiles import column_loops
from ..tuning.row_tiles import row_loops
from .builder import Array
from .reduced_columns import Columns, kept_keys
from .reduced_rows import Rows
from .reduction_programs import ReductionProgram
from .reduction_reader import read
from .written_kernels import write_kernels


@dataclass(frozen=True)
class ReductionKernels(Pass):
    """Write the kernels of IREE's phase `flow` that reduce rows or columns as loops over their elements."""

    name = "reduction-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        return write_kernels(module, read, _code)


def _code(target: Target, program: ReductionProgram) -> Callable[[Sequence[Array]], Rows | Columns] | None:
    """The code of a program for its memrefs, None where IREE's is as good."""
    operations, repeated = program.operations, program.repeated
    if program.is_of_rows:
        on_stack = len(repeated) - len(program.places)
        rows = row_loops(target, program.sizes, program.bits, operations, kept=on_stack)
        return (lambda arrays: Rows(program, rows, arrays)) if rows else None
    if repeated:
        return None
    columns = column_loops(
        target,
        (program.count(program.outer), program.count(program.summed), program.sizes[-1]),
        program.bits,
        operations,
        scans=len(program.scans),
        kept=len(kept_keys(program)),
    )
    return (lambda arrays: Columns(program, columns, arrays)) if columns else None

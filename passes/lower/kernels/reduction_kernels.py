"""The pass `reduction-kernels`: kernels that IREE has fused and that reduce become loops of our own.

Input: a program in IREE's phase `flow`. Output: the same program; a kernel that reduces rows or columns
(`reduction_reader.py`) is an executable of our own, called as before.
Idea: what is fused stays as IREE decided; how the loops go over memory is ours (`reduced_rows.py`,
`reduced_columns.py`), where the tuning has loops that are better.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ....dialects import mlir
from ....runtime.targets import Target, TargetKind
from ...base import Pass
from ...ir.aliases import Operation, Value
from ..plan import target_of
from ..tuning.column_tiles import column_loops
from ..tuning.row_tiles import row_loops
from .builder import Array
from .executable import add_beside
from .reduced_columns import Columns, kept_keys
from .reduced_rows import Rows
from .reduction_programs import ReductionProgram
from .reduction_reader import read

EXECUTABLE: Final = "flow.executable"


class KernelWarning(RuntimeWarning):
    """A kernel of our own could not be written, which is a fault of adze: the program is slower than it was
    to be."""


@dataclass(frozen=True)
class ReductionKernels(Pass):
    """Write the kernels of IREE's phase `flow` that reduce rows or columns as loops over their elements."""

    name = "reduction-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        target = target_of(module)
        if target.kind is not TargetKind.CPU:
            return False
        is_changed = False
        with module.context, mlir.ir.Location.unknown():
            for executable in list(module.body.operations):
                if executable.operation.name == EXECUTABLE and _write(target, executable.operation):
                    executable.operation.erase()
                    is_changed = True
        return is_changed


def _write(target: Target, executable: Operation) -> bool:
    """Write an executable beside one of IREE's, if it has a kernel that reduces; whether it has."""
    exports = [o.operation for o in executable.regions[0].blocks[0].operations]
    functions = [
        each.operation
        for inner in exports
        if inner.name == "builtin.module"
        for each in inner.regions[0].blocks[0].operations
    ]
    if len(functions) != 1 or functions[0].name != "func.func":
        return False
    program = read(functions[0])
    written = _code(target, program) if program else None
    if program is None or written is None:
        return False
    mlir.load_dialects(executable.context)

    def emit(memrefs: Sequence[Value]) -> None:
        written([Array(memref) for memref in memrefs]).run()

    try:
        add_beside(executable, program.arguments, written([]).workgroups, emit)
    except Exception as error:  # of any kind: IREE's kernel computes the same
        what = "rows" if program.is_of_rows else "columns"
        warnings.warn(
            f"a kernel of {what} was not written, and IREE's is slower: {type(error).__name__}: {error}",
            KernelWarning,
            stacklevel=2,
        )
        return False
    return True


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

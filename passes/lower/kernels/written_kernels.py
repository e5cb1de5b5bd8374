"""Kernels that IREE has divided a program into, written again as code of our own.

Input: a program in IREE's phase `flow`, how to read what a kernel computes, and the code for it. Output: the
same program; a kernel that was read, and for which there is code, is an executable of our own, called as
before.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from ....dialects import mlir
from ....runtime.targets import Target, TargetKind
from ...ir.aliases import Operation, Value
from ..plan import target_of
from .builder import Array, Number, Place
from .dispatches import EXECUTABLE, function_of
from .executable import Size, add_beside
from .reduction_programs import ReductionProgram


class WrittenCode(Protocol):
    """The code of a workgroup, for the arrays of a kernel and the numbers of its workload."""

    @property
    def workgroups(self) -> tuple[Place, ...]:
        """How many workgroups there are, which the numbers tell alone."""

    def run(self) -> None:
        """Emit the code."""


Read: TypeAlias = "Callable[[Operation], ReductionProgram | None]"
WrittenKernel: TypeAlias = "Callable[[Sequence[Array], Sequence[Number]], WrittenCode]"
Code: TypeAlias = "Callable[[Target, ReductionProgram], WrittenKernel | None]"


class KernelWarning(RuntimeWarning):
    """A kernel of our own could not be written, which is a fault of adze: the program is slower than it was
    to be."""


def write_kernels(module: mlir.ir.Module, read: Read, code: Code) -> bool:
    """Write the kernels of a program that are read and for which there is code; whether there were any."""
    target = target_of(module)
    if target.kind is not TargetKind.CPU:
        return False
    is_changed = False
    with module.context, mlir.ir.Location.unknown():
        for executable in list(module.body.operations):
            if executable.operation.name != EXECUTABLE:
                continue
            if _write(target, executable.operation, read, code):
                executable.operation.erase()
                is_changed = True
    return is_changed


def _write(target: Target, executable: Operation, read: Read, code: Code) -> bool:
    """Write an executable beside one of IREE's, if there is code for its kernel; whether there is."""
    function = function_of(executable)
    program = read(function) if function is not None else None
    written = code(target, program) if program else None
    if program is None or written is None:
        return False
    mlir.load_dialects(executable.context)

    def emit(memrefs: Sequence[Value], numbers: Sequence[Value]) -> None:
        written([Array(memref) for memref in memrefs], [Number(n) for n in numbers]).run()

    def workgroups(numbers: Sequence[Value]) -> list[Size]:
        counts = written([], [Number(n) for n in numbers]).workgroups
        return [count if isinstance(count, int) else count.value for count in counts]

    try:
        add_beside(executable, program.parameters, workgroups, emit)
    except Exception as error:  # of any kind: IREE's kernel computes the same
        what = f"a kernel of {program.kind} was not written, and IREE's is slower"
        warnings.warn(f"{what}: {type(error).__name__}: {error}", KernelWarning, stacklevel=2)
        return False
    return True

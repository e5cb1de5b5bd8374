"""The pass `limit-unrolling`: LLVM unrolls only those loops of kernels that gain by it.

Input: a program in IREE's phase `flow` that has loops as kernels. Output: the same program, with hints at
loops that LLVM is not to unroll. In such a program LLVM vectorizes and unrolls loops of all kernels, also of
those that were written for vectors and registers, which only grow by that. Loops of few iterations gain,
since their counters become constants, and so do loops of a program that do little in an iteration. So does
a median, whose kernel is short: kernels of few loops, which LLVM compiles soon anyway, are left to it. MLIR
carries the hint to the branch that a loop becomes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import TargetKind
from ...base import Pass
from ...ir.aliases import Operation, Value
from ...ir.functions import EXECUTABLE
from ..plan import target_of
from .loops.embed import has_loop_kernels, is_loop_kernel
from .loops.walk import nested, operations_named

MOST_UNROLLED: Final = 16
"""Iterations of a loop that LLVM may unroll: matrices of four rows in a Kalman filter want it."""
MOST_OPERATIONS: Final = 24
"""Operations of a longer loop of a program that LLVM may unroll, its inner loops counted: those of shortest
paths and of LU factors took a fifth longer otherwise."""

_LOOP: Final = "scf.for"
_CONSTANT: Final = "arith.constant"
_HINT: Final = "llvm.loop_annotation"
_NOT_UNROLLED: Final = "#llvm.loop_annotation<unroll = <disable = true>>"


@dataclass(frozen=True)
class LimitUnrolling(Pass):
    """Let LLVM unroll only short or small loops of kernels, in programs in which it unrolls loops."""

    name = "limit-unrolling"
    leaves_adze = False
    least_loops: str = "32"

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a loop got the hint."""
        if target_of(module).kind is not TargetKind.CPU or not has_loop_kernels(module):
            return False
        with module.context:
            mlir.load_dialect("llvm")
            hint = mlir.ir.Attribute.parse(_NOT_UNROLLED)
            kept = list(_kept_loops(module, int(self.least_loops)))
            for loop in kept:
                loop.attributes[_HINT] = hint
        return bool(kept)


def _kept_loops(module: mlir.ir.Module, least: int) -> Iterator[Operation]:
    """The loops that LLVM is not to unroll, of adze's kernels with `least` loops or more."""
    for executable in module.body.operations:
        kernel = executable.operation
        if kernel.name != EXECUTABLE:
            continue
        may_be_small = is_loop_kernel(kernel)
        loops = operations_named(kernel, _LOOP)
        for loop in loops if len(loops) >= least else ():
            if not (_is_short(loop) or (may_be_small and _is_small(loop))):
                yield loop


def _is_short(loop: Operation) -> bool:
    """Whether a loop is known to have few iterations."""
    start, stop, step = (_number(value) for value in list(loop.operands)[:3])
    if start is None or stop is None or step is None:
        return False
    return stop - start <= MOST_UNROLLED * step


def _is_small(loop: Operation) -> bool:
    """Whether a loop has few operations, those of inner loops counted."""
    return all(count < MOST_OPERATIONS for count, _ in enumerate(nested(loop)))


def _number(value: Value) -> int | None:
    """The number that a constant is, None for other values."""
    owner = getattr(value.owner, "operation", None)  # None: the argument of a block
    if owner is None or owner.name != _CONSTANT:
        return None
    return int(mlir.ir.IntegerAttr(owner.attributes["value"]).value)

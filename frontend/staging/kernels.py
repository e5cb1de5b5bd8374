"""The kernels of a program: IREE divides it, adze's passes for kernels run, and IREE goes on.

Input: a lowered program; from the runtime, which changes no IR itself, bytecode of IREE's phase `flow`.
Output: that program changed by `AFTER_FLOW`, as bytecode, or as text for people.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from ...dialects import mlir
from ...passes.base import Pass
from ...passes.lower.outline_layers import InlineLayers
from ...passes.lower.tuning.gpu_facts import is_tiled
from ...passes.lower.tuning.hints import ModuleHints
from ...passes.pipeline import AFTER_FLOW, AFTER_FLOW_OF_GPUS
from ...runtime.compile.compiler import CompileOptions, TuneKernels, divided_into_kernels
from ...runtime.targets import Target, TargetKind

KERNELS: Final = "kernels"
"""The name of the stage, for users."""
_WORTHWHILE: Final = 1 << 12  # operations of a program's largest kernel that repay a look at its kernels


def tuning_of(target: Target, hints: ModuleHints) -> TuneKernels | None:
    """What the compile of a program does to its kernels; None where that gains nothing."""
    is_worthwhile = not hints.is_static or hints.largest_work >= _WORTHWHILE
    if target.kind is TargetKind.CPU:
        return tune_kernels if is_worthwhile else None
    return tune_kernels_of_gpus if is_tiled(target) and is_worthwhile else None


def inline_layers(program: bytes) -> bytes | None:
    """A program of the phase `flow` with its equal layers inlined."""
    return tune_kernels(program, [step for step in AFTER_FLOW if isinstance(step, InlineLayers)])


def tune_kernels(program: bytes, passes: Sequence[Pass] = AFTER_FLOW) -> bytes | None:
    """A program of the phase `flow` behind adze's passes for kernels; None where they change nothing."""
    with mlir.new_context(foreign_ops=False, is_light=True) as context, mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(program, context)
        changes = [step.run(module) for step in passes]
        if not any(changes):
            return None
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def tune_kernels_of_gpus(program: bytes) -> bytes | None:
    """As `tune_kernels`, of a program for GPUs."""
    return tune_kernels(program, AFTER_FLOW_OF_GPUS)


def kernels_text(
    module: bytes, target: Target, hints: ModuleHints, options: CompileOptions, *, locations: bool
) -> str:
    """The kernels of a lowered module as IREE divides it, with their tiles, as MLIR text."""
    program = divided_into_kernels(module, target, options)
    tune = tuning_of(target, hints)
    program = (tune(program) if tune else None) or program
    with mlir.new_context(foreign_ops=False, is_light=True) as context:
        parsed = mlir.ir.Module.parse(program, context)
        return str(parsed.operation.get_asm(enable_debug_info=locations))

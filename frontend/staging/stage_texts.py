"""A traced program at each stage as text, and what the passes say of its loops.

Input: a traced program, the name of a stage, a target. Output: MLIR text, or lines.
"""

from __future__ import annotations

from typing import Final

from ...dialects import mlir
from ...passes.analysis.verify import location_text
from ...passes.autodiff.deferred import complete
from ...passes.lower.kernels.loops.replace import LoopKernels, loop_remarks
from ...passes.partition.combine import CombineCollectives
from ...passes.partition.divide import divide
from ...passes.partition.traffic import bytes_sent, exchanges, stated_grids
from ...passes.pipeline import LOWERED, OPTIMIZE, PIPELINE, SIMPLIFIED, between, for_target, run_pipeline
from ...runtime.settings import read_settings
from ...runtime.targets import Target, parse_target
from ..errors import ArgumentError
from ..tracing.locations import located, user_location_text
from ..tracing.trace import TracedProgram
from .kernels import KERNELS, kernels_text
from .lowering import TRACED, lowered_module
from .modules import bytecode, clone_module, module_text

PARTITIONED: Final = "partitioned"

STAGES: Final = {"simplified": SIMPLIFIED, "linalg": LOWERED}
"""Stages by the names that users know: each is what the pass leaves."""


def text_at(program: TracedProgram, stage: str, target: str | Target, *, locations: bool = False) -> str:
    """The program as MLIR text at a stage, lowered for `target`."""
    if stage == TRACED:
        complete(program.module)
        return module_text(program.module, locations=locations)
    if stage == PARTITIONED:
        return _partitioned(program, locations)
    if stage == KERNELS:
        lowered = lowered_module(program, target)
        source, hints, options = bytecode(lowered.module), lowered.hints(), lowered.options()
        return kernels_text(source, lowered.target, hints, options, locations=locations)
    last = STAGES.get(stage, stage)
    if last not in (step.name for step in PIPELINE):
        names = ", ".join(step.name for step in PIPELINE)
        raise ArgumentError(
            f"there is no stage {stage!r}: expected traced, simplified, partitioned, linalg or kernels",
            where=user_location_text(),
            hint=f"or the name of a pass: {names}",
        )
    if last == LOWERED:
        return module_text(lowered_module(program, target).module, locations=locations)
    module = clone_module(program.module)
    steps = for_target(between(None, last), parse_target(target), loop_kernels=read_settings().loop_kernels)
    run_pipeline(module, steps)
    return module_text(module, locations=locations)


def _partitioned(program: TracedProgram, locations: bool) -> str:
    """The program of one rank, and behind it what the ranks send."""
    module = module_of_one_rank(program)
    found = exchanges(module, program.symbol)
    text = module_text(module, locations=locations).rstrip()
    CombineCollectives().run(module)
    together = sum(each.times or 1 for each in exchanges(module, program.symbol))
    lines = [f"// {each}" for each in found]
    lines.append(f"// a rank sends {bytes_sent(found)} bytes a call, in {together} collectives")
    return "\n".join((text, *lines)) + "\n"


def module_of_one_rank(program: TracedProgram) -> mlir.ir.Module:
    """What each rank runs of a program that states shardings; `ArgumentError` for one that states none."""
    module = clone_module(program.module)
    run_pipeline(module, OPTIMIZE)
    grids = stated_grids(module)
    if len(grids) != 1:
        what = "names no mesh of ranks" if not grids else f"names {len(grids)} meshes"
        raise ArgumentError(
            f"the program {what}, so that there is no program of one rank",
            where=user_location_text(),
            hint="state shardings: adze.jit(f, in_shardings=NamedSharding(mesh, PartitionSpec('data')))",
        )
    types, results = program.parameters, program.result_types
    with located():
        divide(module, program.symbol, grids.pop(), [None] * len(types), [None] * len(results))
    return module


def remarks_on_loops(program: TracedProgram, target: str | Target) -> list[str]:
    """A line for each loop that the host sees: where it is, whether it becomes a kernel, and why."""
    module = clone_module(program.module)
    steps = for_target(
        between(None, LoopKernels.name), parse_target(target), loop_kernels=read_settings().loop_kernels
    )
    run_pipeline(module, steps)
    return [f"{location_text(location)}: {text}" for location, text in loop_remarks(module)]

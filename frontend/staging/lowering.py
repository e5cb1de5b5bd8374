"""The pipeline of a traced program: adze IR in, linalg for one target out.

Input: a traced program and a target. Output: the module that IREE compiles, and what is known of it.
"""

from __future__ import annotations

import copy
import hashlib
import math
from dataclasses import replace
from typing import Any, Final

from ...dialects.communicator import bound
from ...dialects.dataclass import dataclass
from ...dialects.interrupts import kept_interrupts
from ...passes.autodiff.deferred import complete
from ...passes.base import Pass
from ...passes.lower.collective_sites import collective_sites, job_of
from ...passes.lower.constant_expressions import computes_nothing_constant
from ...passes.lower.host_calls import localized
from ...passes.lower.kernels.loops.embed import has_loop_kernels
from ...passes.lower.plan import hints_of, is_vectorized
from ...passes.lower.tuning.hints import ModuleHints
from ...passes.partition.direct import DirectCollectives
from ...passes.partition.divide import divide
from ...passes.partition.layouts import Layout, Spec, part_of
from ...passes.partition.traffic import stated_grids
from ...passes.pipeline import OPTIMIZE, PIPELINE, SIMPLIFIED, Observer, for_target, run_pipeline
from ...runtime.compile.compiler import (
    NO_CONSTANT_EXPRESSIONS,
    UNROLL_LOOPS,
    VECTORIZE_LOOPS,
    CompileOptions,
)
from ...runtime.distributed.division import Axes, Division
from ...runtime.distributed.programs import Job
from ...runtime.execute.host_calls import HostSite
from ...runtime.settings import read_settings
from ...runtime.targets import Target, parse_target
from ..tracing.locations import located
from ..tracing.trace import TracedProgram
from .modules import StageDumps, clone_module, module_text

TRACED: Final = "traced"


@dataclass(frozen=True)
class LoweredModule:
    """A lowered module, the program that it is of, and what the passes found out on the way.

    `ir_sha256` is of its simplified adze IR, `sites` are the functions of this process that it calls.
    """

    program: TracedProgram
    module: Any
    target: Target
    ir_sha256: str
    sites: tuple[HostSite, ...] = ()
    job: Job | None = None

    def hints(self) -> ModuleHints:
        """What the pass `plan` found out about its work."""
        return hints_of(self.module)

    def options(self) -> CompileOptions:
        """The compile options that the lowering asks for."""
        vectorizes = has_loop_kernels(self.module) or is_vectorized(self.module)
        flags = VECTORIZE_LOOPS if vectorizes else (UNROLL_LOOPS,) if self._has_named_sizes() else ()
        if computes_nothing_constant(self.module):
            flags = (*flags, NO_CONSTANT_EXPRESSIONS)
        return CompileOptions(data_tiling=self.hints().data_tiling, extra_flags=flags)

    def _has_named_sizes(self) -> bool:
        """Whether a size of an argument shows at the call."""
        return any(None in parameter.type.static_shape for parameter in self.program.parameters)


def lowered_module(
    traced: TracedProgram, target: str | Target, observer: Observer | None = None
) -> LoweredModule:
    """Run the pipeline for `target`: simplify and rewrite to linalg."""
    with located():
        chosen = parse_target(target)
    dumps = _dumps(traced)
    dumps.write(TRACED, traced.module)
    program, division = _of_one_rank(traced)
    module = clone_module(program.module)
    sites: tuple[HostSite, ...] = ()
    ir_sha256, job = "", None

    def observe(step: Pass, module: Any, seconds: float) -> None:
        nonlocal ir_sha256, job, sites
        dumps.write(step.name, module)
        if step.name == SIMPLIFIED:
            ir_sha256 = hashlib.sha256(module_text(module).encode()).hexdigest()
        if step.name == DirectCollectives.name:
            sites, job = (*sites, *collective_sites(module, chosen)), job_of(module, chosen, division)
        if observer is not None:
            observer(step, module, seconds)

    steps = for_target(PIPELINE, chosen, loop_kernels=read_settings().loop_kernels)
    with kept_interrupts():
        sites = localized(module)
        run_pipeline(module, steps, observer=observe)
    return LoweredModule(program, module, chosen, ir_sha256, sites, job)


def _of_one_rank(traced: TracedProgram) -> tuple[TracedProgram, Division | None]:
    """The program of each rank of the job that this process is of, or builds for, if it states shardings.

    It takes and returns the parts of the rank, as the division says. Where it keeps arrays, or has named
    sizes or several functions, it takes and returns whole arrays, of which each rank takes its parts.
    """
    communicator = bound()
    if communicator is None or communicator.size == 1:
        return traced, None
    grids = [g for g in stated_grids(traced.module) if math.prod(g.sizes) == communicator.size]
    if not grids:
        return traced, None
    grid = grids[0]
    program = copy.copy(traced.program)
    program.module = clone_module(traced.module)
    run_pipeline(program.module, OPTIMIZE)
    parameters, results = traced.parameters, traced.result_types
    stays_whole = traced.held or traced.others or not all(p.type.is_static for p in parameters)
    arguments: list[Spec | None] = [((),) * p.type.rank if stays_whole else None for p in parameters]
    wanted: list[Spec | None] = [((),) * t.rank if stays_whole else None for t in results]
    with located():
        divided = divide(program.module, traced.symbol, grid, arguments, wanted)
    if stays_whole:
        return replace(traced, program=program), None
    parts = [part_of(t, layout) for t, layout in zip(results, divided.results, strict=True)]
    of_rank = replace(
        traced,
        program=program,
        parameters=[
            replace(p, type=part_of(p.type, layout))
            for p, layout in zip(parameters, divided.arguments, strict=True)
        ],
        result_types=parts,
        result_shapes=[t.static_shape for t in parts],
        bounds={},
    )
    inputs, outputs = (tuple(map(_axes, each)) for each in (divided.arguments, divided.results))
    return of_rank, Division(grid.sizes, grid.names, inputs, outputs)


def _axes(layout: Layout) -> Axes:
    return tuple(tuple(axis.name for axis in dim) for dim in layout)


def _dumps(traced: TracedProgram) -> StageDumps:
    root = read_settings().dump_dir
    if root is None:
        return StageDumps(None)
    complete(traced.module)
    digest = hashlib.sha256(module_text(traced.module).encode()).hexdigest()[:8]
    return StageDumps(root / f"{traced.symbol}-{digest}")

"""The pipeline: one ordered tuple of passes from a traced program to what IREE compiles.

`jit`, `adze ir`, `adze opt`, the dumps of `ADZE_DUMP_DIR` and `docs/architecture.md` all read `PIPELINE`;
nothing else in adze knows the order. A pass is a frozen dataclass whose fields are its options; `registry.py`
has all passes by name. The verifier runs after every pass that leaves adze IR.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ..dialects import mlir
from ..dialects.collector import paused_collector
from ..dialects.dataclass import dataclass
from ..dialects.dialect import OPS
from ..dialects.errors import AdzeError, OutOfMemoryError
from ..runtime.targets import Target
from .analysis.check_nans import CheckNans
from .analysis.shared import counts, shared, sharing
from .analysis.verify import Verified, verify
from .base import Pass, names_of
from .ir.functions import functions
from .lower.choose_branches import ChooseBranches
from .lower.constant_expressions import ConstantExpressions
from .lower.convert import Convert
from .lower.early_checks import EarlyChecks
from .lower.early_slices import EarlySlices
from .lower.fuse_reductions import FuseReductions
from .lower.hold_channels import HoldChannels
from .lower.hold_state import HoldState
from .lower.host_numbers import HostNumbers
from .lower.inline_bodies import InlineBodies
from .lower.invariants import HoistInvariants
from .lower.iree.complex_choices import ComplexChoices
from .lower.iree.dropped_loop_state import UseLoopState
from .lower.iree.early_deallocation import KeepLifetimes
from .lower.iree.ended_loops import EndedLoops
from .lower.iree.folded_offsets import BoundSizes
from .lower.iree.packed_squares import DistinctSizes
from .lower.iree.sign_extensions import SignExtensions
from .lower.iree.started_reductions import StartedReductions
from .lower.iree.two_index_maps import MarkBarriers
from .lower.kernels.called_functions import CallFunctions
from .lower.kernels.constant_divisors import DivideByConstants
from .lower.kernels.convolutions.replace import ConvolutionKernels
from .lower.kernels.element_kernels import ElementKernels
from .lower.kernels.join_numbers import JoinNumbers
from .lower.kernels.loops.replace import LoopKernels
from .lower.kernels.loops.select import SelectLoops
from .lower.kernels.loops.split_lanes import SplitLanes
from .lower.kernels.matrix_sweeps import MatrixSweeps
from .lower.kernels.partial_columns import PartialColumns
from .lower.kernels.ranges import SimplifyRanges
from .lower.kernels.reduction_kernels import ReductionKernels
from .lower.kernels.routines import ExpandRoutines, RoutineKernels
from .lower.kernels.row_moves import RowMoves
from .lower.kernels.small_ops import GroupSmallOps
from .lower.kernels.stacks import StackKernels
from .lower.kernels.stencil_kernels import StencilKernels
from .lower.kernels.unrolled_loops import LimitUnrolling
from .lower.kernels.unused_numbers import DropNumbers
from .lower.merge_elementwise import MergeElementwise
from .lower.outline_layers import InlineLayers
from .lower.overlap_collectives import OverlapCollectives
from .lower.plan import Plan, hints_of
from .lower.tuning.conflicts import resolve_tiles
from .lower.tuning.gpu_column_tiles import TileColumns
from .lower.tuning.hints import ModuleHints
from .lower.tuning.kernel_tiles import TileKernels
from .optimize.dead_results import eliminate_dead_results
from .optimize.inline import inline
from .optimize.simplify import simplify
from .partition.combine import CombineCollectives
from .partition.direct import DirectCollectives

Observer = Callable[["Pass", "mlir.ir.Module", float], None]


@dataclass(frozen=True)
class Inline(Pass):
    """Replace calls of private functions by their bodies."""

    name = "inline"

    def run(self, module: mlir.ir.Module) -> None:
        inline(module)


@dataclass(frozen=True)
class Simplify(Pass):
    """Fold constants, apply op algebra, share equal ops, drop unused ops and functions."""

    name = "simplify"

    def run(self, module: mlir.ir.Module) -> None:
        simplify(module)


@dataclass(frozen=True)
class DropDeadResults(Pass):
    """Drop the results of loops and branches that nothing uses, and what only these follow from."""

    name = "drop-dead-results"
    needs = names_of(*(op for op in OPS if op.refers_to_functions))

    def run(self, module: mlir.ir.Module) -> bool:
        return eliminate_dead_results(module)


@dataclass(frozen=True)
class ResolveTiles(Pass):
    """Of reductions that may become one kernel, let only the last one keep its tiles."""

    name = "resolve-tiles"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        if _has_tiles(module):
            resolve_tiles(module)
        return False


PIPELINE: Final[tuple[Pass, ...]] = (
    Inline(),
    Simplify(),
    DropDeadResults(),
    CombineCollectives(),
    DirectCollectives(),
    Plan(),
    ChooseBranches(),
    HoistInvariants(),
    EarlySlices(),
    ExpandRoutines(),
    RoutineKernels(),
    SplitLanes(),
    SelectLoops(),
    MatrixSweeps(),
    JoinNumbers(),
    GroupSmallOps(),
    MarkBarriers(),
    LoopKernels(),
    ConvolutionKernels(),
    RowMoves(),
    Convert(),
    OverlapCollectives(),
    FuseReductions(),
    StartedReductions(),
    ResolveTiles(),
    ConstantExpressions(),
    CallFunctions(),
    MergeElementwise(),
    InlineBodies(),
    EndedLoops(),
    SignExtensions(),
    ComplexChoices(),
    EarlyChecks(),
    HostNumbers(),
    UseLoopState(),
    BoundSizes(),
    KeepLifetimes(),
    HoldChannels(),
    HoldState(),
)
"""From a traced program to what IREE compiles."""

AFTER_FLOW: Final[tuple[Pass, ...]] = (
    InlineLayers(),
    DistinctSizes(),
    DivideByConstants(),
    SimplifyRanges(),
    StencilKernels(),
    PartialColumns(),
    ReductionKernels(),
    ElementKernels(),
    StackKernels(),
    DropNumbers(),
    LimitUnrolling(),
    TileKernels(),
)
"""What runs on the kernels that IREE divides a program into, in its phase `flow`; IREE goes on from there."""

AFTER_FLOW_OF_GPUS: Final[tuple[Pass, ...]] = (InlineLayers(), TileColumns())
"""The same of programs for GPUs."""

SIMPLIFIED: Final = DropDeadResults.name
"""The pass behind which a program is lowered, identified, differentiated again or evaluated."""

LOWERED: Final = PIPELINE[-1].name


_ONLY_ADZE: Final = (Inline, Simplify, DropDeadResults, CombineCollectives, DirectCollectives, CheckNans)
"""Passes that need no dialects but adze's and `func`: evaluating and differentiating run no others."""


def between(first: str | None, last: str | None) -> tuple[Pass, ...]:
    """The passes of the pipeline behind the one called `first`, up to the one called `last`."""
    names = [step.name for step in PIPELINE]
    start = 0 if first is None else names.index(first) + 1
    return PIPELINE[start : len(names) if last is None else names.index(last) + 1]


OPTIMIZE: Final = between(None, SIMPLIFIED)
LOWER: Final = between(SIMPLIFIED, None)
CHECK_NANS: Final[tuple[Pass, ...]] = (Inline(), CheckNans())
"""What comes before the pipeline where NaN are looked for."""


def for_target(passes: Sequence[Pass], target: Target, *, loop_kernels: bool = True) -> tuple[Pass, ...]:
    """`passes` for `target`; without `loop_kernels` every loop stays on the host."""
    return tuple(_configured(step, target, loop_kernels) for step in passes)


def _configured(step: Pass, target: Target, loop_kernels: bool) -> Pass:
    if isinstance(step, (DirectCollectives, Plan)):
        return replace(step, target=target.name)
    if isinstance(step, (ChooseBranches, SplitLanes, SelectLoops, JoinNumbers, GroupSmallOps)):
        return replace(step, kernels="on" if loop_kernels else "off")
    return step


def run_pipeline(
    module: mlir.ir.Module,
    passes: Sequence[Pass],
    *,
    check: bool = True,
    observer: Observer | None = None,
) -> None:
    """Run `passes` in order, verifying after each that changed adze IR unless `check` is false."""
    in_adze = True
    verified: Verified = set()
    with paused_collector(), sharing(module) as found:
        for step in passes:
            started = time.perf_counter()
            changed = _run(step, module)
            seconds = time.perf_counter() - started
            if changed is not False:
                found.forget()
            in_adze = in_adze and step.leaves_adze
            if check and in_adze and changed is not False:
                verify(module, verified)
            if observer is not None:
                observer(step, module, seconds)


def _run(step: Pass, module: mlir.ir.Module) -> bool | None:
    """What a pass says of whether it changed the module, which it leaves alone without the ops it needs."""
    if step.needs and shared(counts, module).keys().isdisjoint(step.needs):
        return False
    if not isinstance(step, _ONLY_ADZE):
        mlir.load_dialects(module.context)
    try:
        return step.run(module)
    except MemoryError as error:
        if isinstance(error, AdzeError):
            raise
        raise OutOfMemoryError(f"pass '{step.name}': there is not enough memory: {error}") from None


def lower(module: mlir.ir.Module, target: Target) -> ModuleHints:
    """Rewrite `module` to linalg on tensors for `target`, in place; what its compile should know."""
    run_pipeline(module, for_target(LOWER, target), check=False)
    return hints_of(module)


def _has_tiles(module: mlir.ir.Module) -> bool:
    return any(
        "compilation_info" in operation.attributes
        for function in functions(module).values()
        for block in function.regions[0].blocks
        for operation in block.operations
        if operation.operation.name == "linalg.generic"
    )

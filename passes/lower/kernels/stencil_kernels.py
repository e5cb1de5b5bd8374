"""The pass `stencil-kernels`: elementwise kernels that read each other at other places become one.

Input: a program in IREE's phase `flow`. Output: the same program; kernels whose results only each other use,
and which go over rows alike, are one executable of our own (`stencils.py`).
Idea: IREE fuses what reads its operand at the same place. A stencil of a stencil reads its neighbours too, so
each is a kernel, and arrays travel through memory between them. Here a workgroup goes along a block of rows
of the last result, and computes of the other arrays the rows that come next, of which it keeps a few.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target, TargetKind
from ...base import Pass
from ...ir.aliases import Operation
from ..plan import target_of
from ..tuning.stencil_tiles import stencil_loops
from .dispatches import (
    called_by,
    dispatches,
    erase_executables,
    executables_of,
    functions_of,
    kernel_of,
)
from .executable import DISPATCH, Kernel, Kernels, Result
from .reduction_programs import ReductionProgram
from .stencils import Stage, cheapest, read_stage
from .written_kernels import KernelWarning


@dataclass(frozen=True)
class StencilKernels(Pass):
    """Write elementwise kernels of IREE's phase `flow` that read each other at other places as one."""

    name = "stencil-kernels"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        target = target_of(module)
        if target.kind is not TargetKind.CPU:
            return False
        with module.context, mlir.ir.Location.unknown():
            replaced = _fuse_all(target, module)
            erase_executables(module, replaced)
        return bool(replaced)


def _fuse_all(target: Target, module: mlir.ir.Module) -> set[str]:
    """Write the kernels of all functions; the symbols of executables that nothing uses any more."""
    executables = executables_of(module)
    replaced: set[str] = set()
    read: dict[str, ReductionProgram | None] = {}
    for function in functions_of(module):
        for block in function.regions[0].blocks:
            operations = [each.operation for each in block.operations if each.operation.name == DISPATCH]
            stages = [s for each in operations if (s := _stage(each, executables, read)) is not None]
            for group in _groups(stages):
                called = [called_by(stage.dispatch) for stage in group]
                if _write(target, module, group):
                    replaced.update(called)
    return replaced - {called_by(each) for each in dispatches(functions_of(module))}


def _stage(
    operation: Operation, executables: dict[str, Operation], read: dict[str, ReductionProgram | None]
) -> Stage | None:
    """What a dispatch computes, if it has an elementwise kernel with one result in a buffer of its own.

    `read` has the programs of executables that other dispatches call.
    """
    name = called_by(operation)
    if name in read and read[name] is None:
        return None
    function = kernel_of(operation, executables)
    if function is None or len(operation.results) != 1:
        return None
    if name not in read:
        read[name] = read_stage(function)
    program = read[name]
    if program is None or len(program.arguments) != len(operation.operands) + 1:
        return None
    return Stage(operation, program)


def _groups(stages: Sequence[Stage]) -> Iterator[list[Stage]]:
    """The stages that become one kernel, the last one being the only one whose result others use."""
    taken: list[Stage] = []
    for root in reversed(stages):
        if root in taken:
            continue
        group = [root]
        while True:
            more = [s for s in stages if s not in group and s not in taken and _belongs(s, group)]
            if not more:
                break
            group += more
        taken += group
        if len(group) > 1:
            yield [stage for stage in stages if stage in group]


def _belongs(stage: Stage, group: Sequence[Stage]) -> bool:
    """Whether only stages of a group use the result, element by element along the same axes."""
    result = stage.dispatch.results[0]
    users = [use.owner.operation for use in result.uses]
    readers = [each for each in group if any(each.dispatch == user for user in users)]
    if not users or any(all(user != each.dispatch for each in readers) for user in users):
        return False
    rank = len(stage.program.sizes)
    whole = tuple(range(rank))
    return all(
        len(reader.program.sizes) == rank and source.axes == whole == loops and set(source.strides) <= {1}
        for reader in readers
        for source, loops in reader.reads(result)
    )


def _write(target: Target, module: mlir.ir.Module, group: list[Stage]) -> bool:
    """Write one kernel for a group, if the tuning has loops for it; whether it has."""
    stencil = cheapest(group)
    bits = max(stage.program.bits for stage in group)
    loops = stencil_loops(target, stencil.shape, bits, max(stencil.operations.values()))
    if loops is None:
        return False
    mlir.load_dialects(module.context)
    last = group[-1].dispatch
    results = (Result(last.results[0].type), *(Result(type_) for type_ in stencil.kept_types(loops)))
    before = len(module.body.operations)
    kernel = Kernel(
        "stencil",
        results,
        lambda given, written: stencil.emit(loops, given, written),
        key=before,
        workgroups=stencil.workgroups(loops),
    )
    try:
        with mlir.ir.InsertionPoint(last):
            computed, *_ = Kernels(module).call(kernel, stencil.operands)
    except Exception as error:  # of any kind: IREE's kernels compute the same
        for each in list(module.body.operations)[: len(module.body.operations) - before]:
            each.operation.erase()  # what was begun stands in front
        what = "a kernel of a stencil was not written, and IREE's are slower"
        warnings.warn(f"{what}: {type(error).__name__}: {error}", KernelWarning, stacklevel=2)
        return False
    last.results[0].replace_all_uses_with(computed)
    for stage in reversed(group):
        stage.dispatch.erase()
    return True

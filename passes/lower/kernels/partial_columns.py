"""The pass `partial-columns`: workgroups share the rows of kernels that reduce a few long columns.

Input: a program in IREE's phase `flow`. Output: the same program; such a kernel is several of ours, one for
each scan of its rows. Each workgroup scans some of the rows. What it reduces them to lies in memory, and the
next kernel begins with combining that, in the order of the rows.
Idea: a block of columns is the work of one workgroup, so a batch norm of 64 channels would be that of one
thread. In how many parts the rows are scanned follows from their sizes alone, so that results do not depend
on the number of threads.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.targets import Target, TargetKind
from ...base import Pass
from ...ir.aliases import Operation, Type, Value
from ..plan import target_of
from ..tuning.column_tiles import ColumnLoops, row_parts
from .builder import Array, Number, when
from .dispatches import (
    called_by,
    dispatches,
    erase_executables,
    executables_of,
    functions_of,
    kernel_of,
)
from .element_code import Code, Scope, combined, from_memory, in_memory
from .executable import Kernel, Kernels, Result, workgroup_id
from .reduced_columns import Block, buffers_of, element_kept
from .reduction_kernels import loops_of_columns, read_reduction
from .reduction_programs import ReductionProgram, Step
from .written_kernels import KernelWarning


@dataclass(frozen=True)
class PartialColumns(Pass):
    """Let workgroups share the rows of kernels of IREE's phase `flow` that reduce a few long columns."""

    name = "partial-columns"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether a kernel was written."""
        target = target_of(module)
        if target.kind is not TargetKind.CPU:
            return False
        with module.context, mlir.ir.Location.unknown():
            executables = executables_of(module)
            replaced: set[str] = set()
            read: dict[str, ReductionProgram | None] = {}
            for dispatch in list(dispatches(functions_of(module))):
                parts = _parts(target, dispatch, executables, read)
                if parts is not None and _write(module, dispatch, parts):
                    replaced.add(parts.name)
            used = {called_by(each) for each in dispatches(functions_of(module))}
            del executables  # so that nothing of Python refers to what is erased
            erase_executables(module, replaced - used)
        return bool(replaced)


@dataclass(frozen=True)
class Parts:
    """The kernels of one program: how many parts its rows are divided into."""

    name: str
    program: ReductionProgram
    loops: ColumnLoops
    count: int

    @property
    def depth(self) -> int:
        """How many kernels there are before the last one."""
        return len(self.program.reductions)

    def workgroups(self, number: int) -> tuple[int, int]:
        """How many kernel `number` has along the columns, and along the rows."""
        scans_rows = number < self.depth or any(step.is_full for step, _ in self.program.stores)
        blocks = -(-self.program.static_sizes[-1] // (self.loops.width * self.loops.vectors))
        return blocks, self.count if scans_rows else 1

    def types(self, number: int) -> list[Type]:
        """What kernel `number` writes: what each part comes to, or at last the results."""
        if number == self.depth:
            return list(self.program.arguments[-len(self.program.stores) :])
        shape = [self.count, self.program.static_sizes[-1]]
        elements = [element_kept(step) for step in self.program.reductions[number]]
        return [mlir.ir.RankedTensorType.get(shape, element) for element in elements]

    def emit(self, number: int, given: Sequence[Value], written: Sequence[Value]) -> None:
        """The code of a workgroup of kernel `number`; behind the operands is what the ones before wrote."""
        program = self.program
        before = [step for steps in program.reductions[:number] for step in steps]
        operands = len(given) - len(before)
        results = [Array(memref) for memref in written]
        arrays = [Array(memref) for memref in given]
        partial = dict(zip(before, arrays[operands:], strict=True))
        code = Code(program, [*arrays[:operands], *results], self.loops.width)
        start = Number(workgroup_id(0)) * (self.loops.width * self.loops.vectors)
        group = Number(workgroup_id(1))
        # The cache has the end of what was scanned before.
        part = self.count - 1 - group if number % 2 else group
        rows = prod(program.static_sizes[at] for at in program.summed) // self.count
        buffers = buffers_of(program, self.loops)
        block = PartialBlock(code, self.loops, Scope(code, {}), start, buffers, first=part * rows, count=rows)
        for steps in program.reductions[:number]:
            block.combine({step: partial[step] for step in steps})
        if number < self.depth:
            block.reduce_part(program.reductions[number], part, results)
            return
        with when(group < 1):
            block.store_columns()
        block.store_elements()


@dataclass(frozen=True, slots=True)
class PartialBlock(Block):
    """The code of a block of columns of some rows."""

    def combine(self, partial: Mapping[Step, Array]) -> None:
        """Know what all rows are reduced to, from what their parts are."""
        for vector in self.vectors():
            above = self.columns(vector, ())
            for step, array in partial.items():
                total = self.code.lifted(above.initial(step))
                for part in range(array.type.shape[0]):
                    number = from_memory(array.vector(self.code.width, part, vector.column), step.result.type)
                    total = combined(step, total, number)
                self.keep(step, vector, total)
        self.prepared.update(partial)

    def reduce_part(self, steps: Sequence[Step], part: Number, written: Sequence[Array]) -> None:
        """Scan the rows of this part, and write what they are reduced to."""
        self.reduce(steps)
        for vector in self.vectors():
            above = self.columns(vector, ())
            for step, array in zip(steps, written, strict=True):
                array[part, vector.column] = in_memory(self.total(above, step), array)


def _parts(
    target: Target,
    dispatch: Operation,
    executables: Mapping[str, Operation],
    read: dict[str, ReductionProgram | None],
) -> Parts | None:
    """The kernels that replace the one of a dispatch; None where that one is to stay. `read` has the programs
    of executables that other dispatches call."""
    name = called_by(dispatch)
    if name in read and read[name] is None:
        return None
    function = kernel_of(dispatch, executables)
    if function is None:
        return None
    if name not in read:
        read[name] = read_reduction(function)
    program = read[name]
    if program is None or program.is_of_rows or not program.summed or program.repeated:
        return None
    if None in program.known_sizes:
        return None
    loops = loops_of_columns(target, program)
    types = [str(value.type) for value in (*dispatch.operands, *dispatch.results)]
    stored = sorted(argument for _, argument in program.stores)
    results = range(len(dispatch.operands), len(types))
    if loops is None or types != [str(type_) for type_ in program.arguments] or stored != list(results):
        return None
    sizes = program.static_sizes
    outer, rows = (prod(sizes[at] for at in over) for over in (program.outer, program.summed))
    count = row_parts(loops, outer, rows, sizes[-1])
    return Parts(name, program, loops, count) if count > 1 else None


def _write(module: mlir.ir.Module, dispatch: Operation, parts: Parts) -> bool:
    """Call the kernels in place of a dispatch; whether they were written."""
    mlir.load_dialects(module.context)
    before = len(module.body.operations)
    kernels, calls = Kernels(module), [tuple(dispatch.operands)]
    try:
        with mlir.ir.InsertionPoint(dispatch):
            for kernel in _kernels(parts):
                calls.append(kernels.call(kernel, [value for values in calls for value in values]))
    except Exception as error:  # of any kind: IREE's kernel computes the same
        for values in reversed(calls[1:]):
            values[0].owner.operation.erase()
        for each in list(module.body.operations)[: len(module.body.operations) - before]:
            each.operation.erase()  # what was begun stands in front
        what = "a kernel of parts of columns was not written, and IREE's is slower"
        warnings.warn(f"{what}: {type(error).__name__}: {error}", KernelWarning, stacklevel=2)
        return False
    for old, new in zip(dispatch.results, calls[-1], strict=True):
        old.replace_all_uses_with(new)
    dispatch.erase()
    return True


def _kernels(parts: Parts) -> Iterator[Kernel]:
    for number in range(parts.depth + 1):

        def emit(given: Sequence[Value], written: Sequence[Value], number: int = number) -> None:
            parts.emit(number, given, written)

        results = tuple(Result(type_) for type_ in parts.types(number))
        yield Kernel("columns", results, emit, key=(parts.name, number), workgroups=parts.workgroups(number))

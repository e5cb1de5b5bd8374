"""Modules in, `.vmfb` bytes out: the door to IREE's compiler.

Input: MLIR (bytecode or text, as bytes), a `Target` and `CompileOptions`. Output: a `CompiledModule`, or a
`CompileError` that names the op and its source line. Every compile has its own session, since IREE latches
the flags of a session at its first use, and bytes are all that crosses over: a module object of another MLIR
context would crash the compiler. Nothing of IREE is imported before the first compile.
"""

from __future__ import annotations

import enum
import functools
import re
import shlex
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from ...dialects.dataclass import dataclass
from ..errors import CompileError
from ..targets import Target, TargetKind
from .channels import with_ranks
from .diagnostics import Diagnostic
from .faults.copied_operands import without_wrong_copies
from .faults.crossed_wakeups import with_awaited_operations
from .faults.empty_bindings import with_room
from .faults.empty_grids import without_empty_grids
from .faults.flushed_halves import with_own_halves
from .faults.gathered_counts import with_sent_counts
from .faults.private_results import WAY_IS_CHOSEN, kernel_with_private_results
from .faults.repeated_references import deduplicated, may_branch
from .faults.repeated_rows import kernel_with_repeated_rows
from .faults.replayed_copies import with_new_copies
from .faults.squares_of_lanes import kernel_with_squares_of_lanes
from .faults.strided_bindings import with_strided_bindings
from .faults.too_many_operands import passes_too_many
from .faults.unaligned_slices import with_unaligned_slices
from .faults.unawaited_loops import with_awaited_loops
from .faults.unawaited_threads import kernel_with_unawaited_threads
from .invocation import FLAGS_REFUSED, Invocation
from .kernels import fault_of_kernels
from .libraries import (
    KERNELS_ARE_COMPILED,
    KERNELS_ARE_LLVM,
    calls_a_library,
    with_libraries,
    without_libraries,
)
from .temporary_files import TemporaryFilesError, check_files_in_memory, check_temporary_files
from .unshared_rows import with_unshared_rows

# No type is ever changed behind the program's back, and neither paths nor debug text enter the bytes: the
# same input gives the same file wherever it is built.
# And input of another framework is never looked for: the dialects of all that IREE knows would be loaded.
_ALWAYS: Final = (
    "--iree-input-type=none",
    "--iree-input-demote-f64-to-f32=false",
    "--iree-input-demote-i64-to-i32=false",
    "--iree-input-demote-f32-to-f16=false",
    "--iree-input-promote-f16-to-f32=false",
    "--iree-input-promote-bf16-to-f32=false",
    "--iree-vm-bytecode-module-strip-source-map=true",
    "--iree-vm-bytecode-module-strip-debug-ops",
    "--iree-hal-executable-debug-level=0",
    "--iree-llvmcpu-debug-symbols=false",
)
UNROLL_LOOPS: Final = "--iree-llvmcpu-loop-unrolling=true"
"""LLVM's unroller, for programs with sizes that show at the call, whose kernels get IREE's own tiles: what
stores or loads a vector element by element is otherwise a loop that takes each through memory."""
VECTORIZE_LOOPS: Final = (
    "--iree-llvmcpu-loop-vectorization=true",
    "--iree-llvmcpu-slp-vectorization=true",
    UNROLL_LOOPS,
    "--iree-llvmcpu-loop-interleaving=true",
)
"""LLVM's vectorizer, for programs with loops as kernels. It keeps the order of all float operations but of
those that say `reassoc`, so other kernels of the program compute what they compute without it."""

NO_CONSTANT_EXPRESSIONS: Final = "--iree-opt-const-expr-hoisting=false"
"""For programs that compute nothing of constants alone: IREE does not look for it."""

_KERNEL_PHASE: Final = "flow"
_NO_SUCH_TYPE: Final = ("failed to legalize operation", "failed to convert SPIR-V type")
WITHOUT_TILES: Final = "IREE refused the tiles of kernels"
MACHINE_PHASE: Final = "vm"
"""The phase in which a program is code for IREE's virtual machine."""
DEVICE_PHASE: Final = "hal"
"""The phase in which a program calls its device."""


Finish: TypeAlias = Callable[[Invocation, list[Diagnostic], bool], "bytes | None"]
"""What compiles a program from its present phase on; whether it has branches comes last."""
TuneKernels: TypeAlias = Callable[[bytes], "bytes | None"]
"""From a program that is divided into kernels (the phase `flow`) to the same with tiles; None: no tiles."""


class ExecutionModel(enum.Enum):
    """How the compiled program drives the device.

    `ASYNC_INTERNAL` is a plain function to its caller. `INLINE_DYNAMIC` has the least overhead, but only
    hosts that link IREE's inline HAL (`iree-run-module` does) can load it: its Python runtime cannot.
    """

    ASYNC_INTERNAL = "async-internal"
    INLINE_DYNAMIC = "inline-dynamic"


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Everything about a compile that is not the module or the target.

    `verifies_passes` changes no bytes: a fault of IREE is then noticed behind the pass that has it and not at
    the end of its phase, and a large compile takes twice as long.
    """

    optimization: str = "O3"
    data_tiling: bool = False
    stack_allocation_limit: int = 65536
    execution_model: ExecutionModel = ExecutionModel.ASYNC_INTERNAL
    strip_assertions: bool = False
    extra_flags: tuple[str, ...] = ()
    verifies_passes: bool = False

    def flags(self) -> tuple[str, ...]:
        """The IREE flags of these options, in a fixed order."""
        return (
            *_ALWAYS,
            f"--iree-opt-level={self.optimization}",
            f"--iree-dispatch-creation-data-tiling={_flag(self.data_tiling)}",
            f"--iree-llvmcpu-stack-allocation-limit={self.stack_allocation_limit}",
            f"--iree-execution-model={self.execution_model.value}",
            f"--iree-opt-strip-assertions={_flag(self.strip_assertions)}",
            *self.extra_flags,
        )


@dataclass(frozen=True, slots=True)
class CompiledModule:
    """A compiled program: its bytes, and how they came about.

    `variant` names the form of the module that IREE took and `rejected` the forms that it refused before,
    each with the reason; both stay empty unless `compile_with_fallback` was asked to choose.
    """

    vmfb: bytes
    target: Target
    options: CompileOptions
    diagnostics: tuple[Diagnostic, ...] = ()
    seconds: float = 0.0
    variant: str = ""
    rejected: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """A form of a module: `produce` makes its bytes when its turn comes; `options` replace the common.

    With `is_checked`, a fault of its kernels is found before IREE makes them (`faults/`). `tune` gives the
    kernels tiles; with `needs_tune` the program is refused where IREE refuses what it returns.
    """

    name: str
    produce: Callable[[], bytes]
    options: CompileOptions | None = None
    is_checked: bool = False
    tune: TuneKernels | None = None
    needs_tune: bool = False


def compile_bytecode(
    module: bytes,
    target: Target,
    options: CompileOptions | None = None,
    *,
    reproducer_dir: Path | None = None,
    is_checked: bool = False,
    tune: TuneKernels | None = None,
    needs_tune: bool = False,
    has_alternatives: bool = False,
) -> CompiledModule:
    """Compile `module` (MLIR bytecode or text) in this process.

    A failure is a CompileError; with `reproducer_dir` it leaves a folder there with the module and the
    one-line command that shows the failure again. With `is_checked` a kernel that IREE would compute wrongly
    is a failure too. Kernels that IREE refuses with the tiles of `tune` are compiled without them, unless the
    program `needs_tune`. A program that `has_alternatives` is refused rather than compiled to slow kernels.
    """
    options = options or CompileOptions()
    started = time.perf_counter()
    check_files_in_memory(len(module))
    diagnostics: list[Diagnostic] = []
    flags = (*target.flags, *options.flags())
    chosen = without_libraries(flags) or flags
    with Invocation(chosen, diagnostics, verifies_passes=options.verifies_passes) as invocation:
        finish: Finish = _finished_with_libraries if chosen is flags else _finished_without_libraries
        if not target.converts_halves:
            finish = _finished_with_own_halves
        if changes_device_calls(target):
            finish = functools.partial(_finished_with_changes, target)
        if target.kind in (TargetKind.CUDA, TargetKind.ROCM):
            finish = functools.partial(_finished_without_private_results, finish)
            finish = functools.partial(_finished_without_wrong_copies, finish)
        if target.is_spirv:
            finish = functools.partial(_finished_without_wrong_lanes, finish, has_alternatives)
        vmfb = _compile_in_process(module, invocation, diagnostics, is_checked, tune, finish, needs_tune)
    if vmfb is None:
        raise compile_error(module, target, options, diagnostics, reproducer_dir)
    return CompiledModule(vmfb, target, options, tuple(diagnostics), time.perf_counter() - started)


def compile_with_fallback(
    variants: Sequence[Variant],
    target: Target,
    options: CompileOptions | None = None,
    *,
    reproducer_dir: Path | None = None,
) -> CompiledModule:
    """Compile the first of `variants` that IREE accepts.

    Tuned forms come first and the plain form last: IREE refuses some combinations of per-op configurations
    that nothing but trying tells; what is the same as before is not tried again. The last failure is the one
    raised, and one that each other form would have is the last: that the target lacks a dtype.
    """
    rejected: list[tuple[str, str]] = []
    tried: set[tuple[bytes, str]] = set()
    started = time.perf_counter()
    for position, variant in enumerate(variants, start=1):
        is_last = position == len(variants)
        try:
            module, settings = variant.produce(), variant.options or options
            asked = (module, repr((settings, variant.tune, variant.needs_tune)))
            if asked in tried and not is_last:
                continue
            tried.add(asked)
            compiled = compile_bytecode(
                module,
                target,
                settings,
                reproducer_dir=reproducer_dir if is_last else None,
                is_checked=variant.is_checked,
                tune=variant.tune,
                needs_tune=variant.needs_tune,
                has_alternatives=not is_last,
            )
        except CompileError as error:
            if is_last or isinstance(error, TemporaryFilesError) or names_missing_dtype(error, target):
                raise
            rejected.append((variant.name, error.message))
            continue
        seconds = time.perf_counter() - started
        return replace(compiled, variant=variant.name, rejected=tuple(rejected), seconds=seconds)
    raise ValueError("compile_with_fallback needs at least one variant")


def names_missing_dtype(error: CompileError, target: Target) -> bool:
    """Whether IREE refused an op for float64, which `target` has no arithmetic for, in any form.

    Integers of 64 bits are made of halves where a device lacks them: another form may need none.
    """
    is_about_types = any(text in error.message for text in _NO_SUCH_TYPE)
    return is_about_types and "f64" in target.missing_dtypes and "f64" in error.message


# --- in process --------------------------------------------------------------------------------------------


def _compile_in_process(
    module: bytes,
    invocation: Invocation,
    diagnostics: list[Diagnostic],
    is_checked: bool,
    tune: TuneKernels | None,
    finish: Finish,
    needs_tune: bool = False,
) -> bytes | None:
    if not invocation.begin(module):
        return None
    branches = may_branch(module)
    if not is_checked and tune is None:
        return finish(invocation, diagnostics, branches)
    if not invocation.advance(_KERNEL_PHASE):
        return None
    kernels = invocation.bytecode()
    tuned = tune(kernels) if tune else None
    if tuned is None and needs_tune:
        diagnostics.append(Diagnostic("error", "its kernels did not change", None))
        return None
    if tuned is not None:
        said = len(diagnostics)
        if not (is_checked and fault_of_kernels(tuned)) and invocation.replace(tuned):
            program = finish(invocation, diagnostics, branches)
            if program is not None:
                return program
        refused = [each.message for each in diagnostics[said:] if each.severity == "error"]
        reason = refused[0] if refused else "a fault of kernels"
        if needs_tune:
            diagnostics.append(Diagnostic("error", reason, None))
            return None
        diagnostics[said:] = [Diagnostic("remark", f"{WITHOUT_TILES}: {reason}", None)]
    fault = fault_of_kernels(kernels) if is_checked else None
    if fault:
        diagnostics.append(Diagnostic("error", fault, None))
        return None
    if tuned is not None and not invocation.replace(kernels, _KERNEL_PHASE):
        return None
    return finish(invocation, diagnostics, branches)


def _finished_without_libraries(
    invocation: Invocation, diagnostics: list[Diagnostic], branches: bool
) -> bytes | None:
    """The program, without libraries unless its kernels call one (`libraries.py`)."""
    if not invocation.advance(KERNELS_ARE_LLVM):
        return None
    program = invocation.bytecode()
    check_temporary_files(len(program))
    if _passes_too_many(program, diagnostics):
        return None
    said = len(diagnostics)
    if calls_a_library(program) or not invocation.advance(KERNELS_ARE_COMPILED):
        del diagnostics[said:]
        if not invocation.replace(with_libraries(program), KERNELS_ARE_LLVM):
            return None
    return _finished(invocation, diagnostics, branches)


def _finished_with_libraries(
    invocation: Invocation, diagnostics: list[Diagnostic], branches: bool
) -> bytes | None:
    """The program, whose kernels get libraries where they are for a CPU."""
    if not invocation.advance(KERNELS_ARE_LLVM):
        return None
    program = invocation.bytecode()
    check_temporary_files(len(program))
    if _passes_too_many(program, diagnostics):
        return None
    return _finished(invocation, diagnostics, branches)


def _finished_with_own_halves(
    invocation: Invocation, diagnostics: list[Diagnostic], branches: bool
) -> bytes | None:
    """The program, whose kernels convert float16 by operations of adze (`faults/flushed_halves.py`)."""
    if not invocation.advance(KERNELS_ARE_LLVM):
        return None
    program = invocation.bytecode()
    check_temporary_files(len(program))
    if _passes_too_many(program, diagnostics):
        return None
    changed = with_own_halves(program)
    if changed is not program and not invocation.replace(changed, KERNELS_ARE_LLVM):
        return None
    return _finished(invocation, diagnostics, branches)


def _passes_too_many(program: bytes, diagnostics: list[Diagnostic]) -> bool:
    """Whether IREE's runtime would not take what a kernel is passed, which is an error then."""
    too_many = passes_too_many(program)
    if too_many is not None:
        diagnostics.append(Diagnostic("error", f"a kernel would be passed {too_many}", None))
    return too_many is not None


def changes_device_calls(target: Target) -> bool:
    """Whether programs for the target are changed where they call their device (`with_changed_calls`)."""
    return target.kind in (TargetKind.VULKAN, TargetKind.CUDA)


def with_changed_calls(program: bytes, target: Target) -> bytes:
    """A program of `DEVICE_PHASE` without the faults that the target's driver has (`faults/`): kernels may
    get empty arrays, copies are recorded for each call, iterations and operations are waited for. Channels
    between devices are of its ranks."""
    if target.kind is TargetKind.VULKAN:
        return with_awaited_operations(with_new_copies(with_room(program)))
    if target.has_channels:
        program = with_sent_counts(with_ranks(program))
    return with_awaited_loops(without_empty_grids(with_room(program)))


def _fault_of_threads(chosen: bytes, machine: bytes) -> str | None:
    """Why a program whose kernels LLVM compiles for threads would be wrong, None for a right one.

    `chosen` is the program of the phase `WAY_IS_CHOSEN`, `machine` that of `KERNELS_ARE_LLVM`.
    """
    kernel = kernel_with_private_results(chosen, machine)
    if kernel is None:
        return None
    return f"in the kernel {kernel} each thread would keep a result of its own that all compute"


def _fault_of_lanes(chosen: bytes) -> str | None:
    """Why a program of `WAY_IS_CHOSEN` with kernels of SPIR-V would be wrong, None for a right one."""
    rows, squares = kernel_with_repeated_rows(chosen), kernel_with_squares_of_lanes(chosen)
    if rows is not None:
        return f"in the kernel {rows} lanes would share sums of what each of them computes a part of"
    if squares is not None:
        return (
            f"in the kernel {squares} lanes would reduce elements that are not theirs, along two axes at once"
        )
    return None


def _finished_without_wrong_copies(
    finish: Finish, invocation: Invocation, diagnostics: list[Diagnostic], branches: bool
) -> bytes | None:
    """What `finish` makes of the program without the fault of `faults/copied_operands.py`."""
    if not invocation.advance(WAY_IS_CHOSEN):
        return None
    chosen = invocation.bytecode()
    if _passes_too_many(chosen, diagnostics):
        return None
    changed = without_wrong_copies(chosen)
    if changed is not chosen and not invocation.replace(changed):
        return None
    return finish(invocation, diagnostics, branches)


def _finished_without_wrong_lanes(
    finish: Finish,
    has_alternatives: bool,
    invocation: Invocation,
    diagnostics: list[Diagnostic],
    branches: bool,
) -> bytes | None:
    """What `finish` makes of the program without lanes that would reduce other elements."""
    if not invocation.advance(WAY_IS_CHOSEN):
        return None
    chosen = invocation.bytecode()
    if _passes_too_many(chosen, diagnostics):
        return None
    unshared = with_unshared_rows(chosen, only_cheap=has_alternatives)
    fault = _fault_of_lanes(unshared)
    if fault is not None:
        diagnostics.append(Diagnostic("error", fault, None))
        return None
    changed = with_unaligned_slices(with_strided_bindings(unshared))
    if changed is not chosen and not invocation.replace(changed):
        return None
    program = finish(invocation, diagnostics, branches)
    kernel = None if program is None else kernel_with_unawaited_threads(program)
    if kernel is not None:
        fault = f"in the kernel {kernel} threads would load what others store, and not wait for them"
        diagnostics.append(Diagnostic("error", fault, None))
        return None
    return program


def _finished_with_changes(
    target: Target, invocation: Invocation, diagnostics: list[Diagnostic], branches: bool
) -> bytes | None:
    """The program, changed on the way."""
    if not invocation.advance(DEVICE_PHASE):
        return None
    program = invocation.bytecode()
    changed = with_changed_calls(program, target)
    if changed is not program and not invocation.replace(changed):
        return None
    return _finished(invocation, diagnostics, branches)


def _finished_without_private_results(
    finish: Finish, invocation: Invocation, diagnostics: list[Diagnostic], branches: bool
) -> bytes | None:
    """What `finish` makes of the program; None for one with the fault of `faults/private_results.py`."""
    if not invocation.advance(WAY_IS_CHOSEN):
        return None
    chosen = invocation.bytecode()
    if not invocation.advance(KERNELS_ARE_LLVM):
        return None
    fault = _fault_of_threads(chosen, invocation.bytecode())
    if fault is None:
        return finish(invocation, diagnostics, branches)
    diagnostics.append(Diagnostic("error", fault, None))
    return None


def _finished(invocation: Invocation, diagnostics: list[Diagnostic], branches: bool) -> bytes | None:
    """The program, compiled from the present phase on."""
    if branches:
        if not invocation.advance(MACHINE_PHASE):
            return None
        program = invocation.bytecode()
        changed = deduplicated(program)
        if changed is not program and not invocation.replace(changed):
            return None
    return invocation.program() if invocation.advance(MACHINE_PHASE) else None


def divided_into_kernels(module: bytes, target: Target, options: CompileOptions) -> bytes:
    """`module` as far as IREE's phase `flow`, in which its kernels stand; MLIR bytecode."""
    diagnostics: list[Diagnostic] = []
    with Invocation((*target.flags, *options.flags()), diagnostics) as invocation:
        if invocation.begin(module) and invocation.advance(_KERNEL_PHASE):
            return invocation.bytecode()
    raise compile_error(module, target, options, diagnostics, None)


# --- errors ------------------------------------------------------------------------------------------------

_OP_NAME: Final = re.compile(r"'([a-z_]+(?:\.[\w.]+)+)' op|operation '([\w.]+)'|op '?([a-z_]+\.[\w.]+)'?")
_NOT_YOURS: Final = "what adze makes should compile: this is a fault of adze or IREE, not of your program"
_HOW_TO_REPORT: Final = "with ADZE_DUMP_DIR=folder it leaves what a report of it needs there"


def compile_error(
    module: bytes,
    target: Target,
    options: CompileOptions,
    diagnostics: Sequence[Diagnostic],
    reproducer_dir: Path | None,
) -> CompileError:
    """The error of a failed compile, which leaves a reproducer in `reproducer_dir`."""
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    first = errors[0] if errors else Diagnostic("error", "it gave no reason", None)
    message = first.message.split("\n", 1)[0]
    named = _OP_NAME.search(first.message)
    op = next((name for name in named.groups() if name), None) if named else None
    reproducer = (
        write_reproducer(module, target, options, diagnostics, reproducer_dir) if reproducer_dir else None
    )
    again = f"to see it again: sh {reproducer / 'command.sh'}" if reproducer else _HOW_TO_REPORT
    hint = again if message.startswith(FLAGS_REFUSED) else f"{_NOT_YOURS}; {again}"
    if "failed to link executable" in message:
        message = (
            "the linker failed; an undefined symbol on standard error is a function IREE has no code for"
        )
    return CompileError(
        f"IREE could not compile the program for {target}: {message}",
        where=first.where,
        hint=hint,
        op=op,
        diagnostics=tuple(str(diagnostic) for diagnostic in diagnostics),
        reproducer=reproducer,
    )


def write_reproducer(
    module: bytes,
    target: Target,
    options: CompileOptions,
    diagnostics: Sequence[Diagnostic],
    folder: Path,
) -> Path | None:
    """Write module, command and diagnostics into a new folder below `folder`; None where that fails."""
    name = "input.mlirbc" if module.startswith(b"ML\xefR") else "input.mlir"
    command = ["iree-compile", name, "-o", "output.vmfb", *target.flags, *options.flags()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        reproducer = Path(tempfile.mkdtemp(prefix="failed-compile-", dir=folder))
        (reproducer / name).write_bytes(module)
        (reproducer / "command.sh").write_text(f'cd "$(dirname "$0")" && {shlex.join(command)}\n')
        (reproducer / "diagnostics.txt").write_text("\n".join(map(str, diagnostics)) + "\n")
    except OSError:
        return None  # the compile error matters more than the lack of its reproducer
    return reproducer


def _flag(value: bool) -> str:
    return "true" if value else "false"

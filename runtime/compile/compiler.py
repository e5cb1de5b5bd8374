"""Modules in, `.vmfb` bytes out: the door to IREE's compiler.

Input: MLIR (bytecode or text, as bytes), a `Target` and `CompileOptions`. Output: a `CompiledModule`, or a
`CompileError` that names the op and its source line. Every compile has its own session, since IREE latches
the flags of a session at its first use, and bytes are all that crosses over: a module object of another MLIR
context would crash the compiler. Nothing of IREE is imported before the first compile.
"""

from __future__ import annotations

import ctypes
import enum
import os
import re
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from ..errors import CompileError
from ..targets import Target
from .faults.repeated_references import deduplicated, may_branch
from .kernels import fault_of_kernels

# No type is ever changed behind the program's back, and neither paths nor debug text enter the bytes: the
# same input gives the same file wherever it is built.
_ALWAYS: Final = (
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
# The stem of the source's name enters the bytes (as the name of linked executables), so it is always this.
_SOURCE_NAME: Final = "module.mlir"
_FLAGS_REFUSED: Final = "flags refused"
_KERNEL_PHASE: Final = "flow"
_WITHOUT_TILES: Final = "IREE refused the tiles of kernels"
_MACHINE_PHASE: Final = "vm"


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
    """Everything about a compile that is not the module or the target."""

    optimization: str = "O3"
    data_tiling: bool = False
    stack_allocation_limit: int = 65536
    execution_model: ExecutionModel = ExecutionModel.ASYNC_INTERNAL
    strip_assertions: bool = False
    extra_flags: tuple[str, ...] = ()

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
class Diagnostic:
    """One thing that IREE said: `severity` is error, warning, remark or note."""

    severity: str
    message: str
    where: str | None

    def __str__(self) -> str:
        return f"{self.where + ': ' if self.where else ''}{self.severity}: {self.message}"


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
    kernels tiles.
    """

    name: str
    produce: Callable[[], bytes]
    options: CompileOptions | None = None
    is_checked: bool = False
    tune: TuneKernels | None = None


def compile_bytecode(
    module: bytes,
    target: Target,
    options: CompileOptions | None = None,
    *,
    reproducer_dir: Path | None = None,
    is_checked: bool = False,
    tune: TuneKernels | None = None,
) -> CompiledModule:
    """Compile `module` (MLIR bytecode or text) in this process.

    A failure is a CompileError; with `reproducer_dir` it leaves a folder there with the module and the
    one-line command that shows the failure again. With `is_checked` a kernel that IREE would compute wrongly
    is a failure too. Kernels that IREE refuses with the tiles of `tune` are compiled without them.
    """
    options = options or CompileOptions()
    started = time.perf_counter()
    diagnostics: list[Diagnostic] = []
    vmfb = _compile_in_process(module, (*target.flags, *options.flags()), diagnostics, is_checked, tune)
    if vmfb is None:
        raise _compile_error(module, target, options, diagnostics, reproducer_dir)
    return CompiledModule(vmfb, target, options, tuple(diagnostics), time.perf_counter() - started)


def compile_in_subprocess(
    module: bytes,
    target: Target,
    options: CompileOptions | None = None,
    *,
    reproducer_dir: Path | None = None,
    timeout: float | None = None,
) -> CompiledModule:
    """As `compile_bytecode`, in a process of its own: an abort of the compiler is an error like any other."""
    options = options or CompileOptions()
    started = time.perf_counter()
    flags = (*target.flags, *options.flags())
    diagnostics: list[Diagnostic] = []
    with tempfile.TemporaryDirectory(prefix="adze-compile-") as folder:

        def run(source: bytes, *phase: str) -> bytes:
            left = None if timeout is None else timeout - (time.perf_counter() - started)
            try:
                produced = _run_compiler(source, Path(folder), (*phase, *flags), diagnostics, left)
            except subprocess.TimeoutExpired:
                raise CompileError(f"compiling for {target} took longer than {timeout} seconds") from None
            if produced is None:
                raise _compile_error(module, target, options, diagnostics, reproducer_dir)
            return produced

        if may_branch(module):
            program = run(module, f"--compile-to={_MACHINE_PHASE}", "--emit-mlir-bytecode")
            vmfb = run(deduplicated(program), f"--compile-from={_MACHINE_PHASE}")
        else:
            vmfb = run(module)
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
    that nothing but trying tells. The last failure is the one raised.
    """
    rejected: list[tuple[str, str]] = []
    started = time.perf_counter()
    for position, variant in enumerate(variants, start=1):
        is_last = position == len(variants)
        try:
            compiled = compile_bytecode(
                variant.produce(),
                target,
                variant.options or options,
                reproducer_dir=reproducer_dir if is_last else None,
                is_checked=variant.is_checked,
                tune=variant.tune,
            )
        except CompileError as error:
            if is_last:
                raise
            rejected.append((variant.name, error.message))
            continue
        seconds = time.perf_counter() - started
        return replace(compiled, variant=variant.name, rejected=tuple(rejected), seconds=seconds)
    raise ValueError("compile_with_fallback needs at least one variant")


def compiler_executable() -> Path:
    """The `iree-compile` of the installed compiler package."""
    import iree.compiler

    return Path(iree.compiler.__path__[0]) / "_mlir_libs" / "iree-compile"


def _run_compiler(
    source: bytes,
    folder: Path,
    flags: Sequence[str],
    diagnostics: list[Diagnostic],
    timeout: float | None,
) -> bytes | None:
    """What `iree-compile` makes of `source`, None where it fails; `diagnostics` gets what it said."""
    read, written = folder / _SOURCE_NAME, folder / "output"
    written.unlink(missing_ok=True)
    read.write_bytes(source)
    command = [str(compiler_executable()), str(read), "-o", str(written), *flags]
    done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    text = done.stderr.decode(errors="replace")
    diagnostics += parse_diagnostics(text)
    if done.returncode == 0 and written.exists():
        return written.read_bytes()
    if not any(diagnostic.severity == "error" for diagnostic in diagnostics):
        last = text.strip().splitlines()[-1] if text.strip() else "it said nothing"
        diagnostics.append(
            Diagnostic("error", f"the compiler ended with code {done.returncode}: {last}", None)
        )
    return None


# --- in process --------------------------------------------------------------------------------------------

# The process that has the threads that IREE compiles with, once it has compiled.
_threads_of: int | None = None

_SEVERITIES: Final = {0: "note", 1: "warning", 2: "error", 3: "remark"}
_DIAGNOSTIC_CALLBACK: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p
)


def _compile_in_process(
    module: bytes,
    flags: tuple[str, ...],
    diagnostics: list[Diagnostic],
    is_checked: bool,
    tune: TuneKernels | None,
) -> bytes | None:
    if not module.strip():
        diagnostics.append(Diagnostic("error", "the module is empty", None))
        return None
    if not _is_parsed(module, diagnostics):
        return None
    branches = may_branch(module)
    if not is_checked and tune is None:
        return _compile_from(module, None, flags, diagnostics, branches)
    kernels = _run_phases(module, flags, diagnostics, last=_KERNEL_PHASE)
    tuned = tune(kernels) if kernels and tune else None
    if tuned is not None:
        refused: list[Diagnostic] = []
        program = _compile_kernels(tuned, flags, refused, branches, is_checked)
        if program is not None:
            diagnostics += refused
            return program
        reasons = [each.message for each in refused if each.severity == "error"]
        diagnostics.append(Diagnostic("remark", f"{_WITHOUT_TILES}: {' '.join(reasons[:1])}", None))
    return kernels and _compile_kernels(kernels, flags, diagnostics, branches, is_checked)


def _compile_kernels(
    kernels: bytes, flags: tuple[str, ...], diagnostics: list[Diagnostic], branches: bool, is_checked: bool
) -> bytes | None:
    """Compile a program of the phase `flow`; with `is_checked` a fault of its kernels is an error."""
    fault = fault_of_kernels(kernels) if is_checked else None
    if fault:
        diagnostics.append(Diagnostic("error", fault, None))
        return None
    return _compile_from(kernels, _KERNEL_PHASE, flags, diagnostics, branches)


def _compile_from(
    program: bytes | None,
    first: str | None,
    flags: tuple[str, ...],
    diagnostics: list[Diagnostic],
    branches: bool,
) -> bytes | None:
    """Compile from behind the phase `first` to the end."""
    if program and branches:
        program = _run_phases(program, flags, diagnostics, first=first, last=_MACHINE_PHASE)
        program, first = program and deduplicated(program), _MACHINE_PHASE
    return program and _run_phases(program, flags, diagnostics, first=first)


def divided_into_kernels(module: bytes, target: Target, options: CompileOptions) -> bytes:
    """`module` as far as IREE's phase `flow`, in which its kernels stand; MLIR bytecode."""
    diagnostics: list[Diagnostic] = []
    flags = (*target.flags, *options.flags())
    kernels = _run_phases(module, flags, diagnostics, last=_KERNEL_PHASE)
    if kernels is None:
        raise _compile_error(module, target, options, diagnostics, None)
    return kernels


def _is_parsed(module: bytes, diagnostics: list[Diagnostic]) -> bool:
    """Whether a module is MLIR of dialects that IREE has.

    Its own parser lets an op of a foreign dialect through and crashes on it later. A session's context that
    is told not to is never freed (observed: 4 MB a compile); this one is.
    """
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context:
        try:
            ir.Module.parse(module, context)
        except ir.MLIRError as error:
            found = error.error_diagnostics
            diagnostics += [Diagnostic("error", d.message, _place(str(d.location))) for d in found]
            return False
    return True


def _run_phases(
    module: bytes,
    flags: tuple[str, ...],
    diagnostics: list[Diagnostic],
    *,
    first: str | None = None,
    last: str | None = None,
) -> bytes | None:
    """Compile from behind the phase `first`, up to the phase `last` (then MLIR bytecode comes out)."""
    from iree.compiler import api
    from iree.compiler.api import ctypes_dl

    session = api.Session()
    if not _has_threads():
        session.context.enable_multithreading(False)
    try:
        try:
            session.set_flags(*flags)
        except ValueError as error:
            text = " ".join(str(error).split())
            diagnostics.append(Diagnostic("error", f"{_FLAGS_REFUSED}: {text}", None))
            return None
        invocation = session.invocation()
        # Alive until the session is closed: ctypes does not keep the callback for us. A handler set through
        # the MLIR bindings would abort the process, as compiling runs without the interpreter's lock.
        callback = _DIAGNOSTIC_CALLBACK(
            lambda severity, text, length, _: diagnostics.append(
                _diagnostic(_SEVERITIES[severity], ctypes.string_at(text, length).decode(errors="replace"))
            )
        )
        library: Any = ctypes_dl._dylib
        enable = library.ireeCompilerInvocationEnableCallbackDiagnostics
        enable.restype = None
        enable.argtypes = [ctypes.c_void_p, ctypes.c_int, _DIAGNOSTIC_CALLBACK, ctypes.c_void_p]
        enable(invocation._inv_p, 0, callback, None)
        for phase, which in ((first, "From"), (last, "To")):
            if phase is not None:
                limit = getattr(library, f"ireeCompilerInvocationSetCompile{which}Phase")
                limit.restype = None
                limit.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
                limit(invocation._inv_p, phase.encode())
        source = api.Source.wrap_buffer(session, module, buffer_name=_SOURCE_NAME)
        if not invocation.parse_source(source) or not invocation.execute():
            return None
        output = api.Output.open_membuffer()
        try:
            if last is None:
                invocation.output_vm_bytecode(output)
            else:
                invocation.output_ir_bytecode(output)
            return bytes(output.map_memory())
        except ValueError as error:  # a module without a program in it
            diagnostics.append(Diagnostic("error", str(error), None))
            return None
        finally:
            output.close()
    finally:
        session.close()


def _has_threads() -> bool:
    """Whether the compiler may use its threads here: a forked child would wait for its parent's for ever."""
    global _threads_of
    if _threads_of is None:
        from iree.compiler.api import ctypes_dl

        _threads_of = os.getpid()
        # Initialized once more than shut down, the compiler does not wait for its threads when a child ends.
        os.register_at_fork(after_in_child=ctypes_dl._dylib.ireeCompilerGlobalInitialize)
    return _threads_of == os.getpid()


# --- diagnostics -------------------------------------------------------------------------------------------

_PLACE: Final = re.compile(r'^loc\("-":(\d+):(\d+)\)')
_LOCATED: Final = re.compile(r"^(?P<where>(?:[^\s:][^:\n]*|<unknown>):\d+:\d+): (?P<rest>.*)", re.DOTALL)
_CONSOLE_LINE: Final = re.compile(
    r"^(?:(?P<where>[^\s][^\n]*?:\d+:\d+): )?(?P<severity>error|warning|remark): "
)
_OP_NAME: Final = re.compile(r"'([a-z_]+(?:\.[\w.]+)+)' op|operation '([\w.]+)'|op '?([a-z_]+\.[\w.]+)'?")


def _place(location: str) -> str | None:
    """Line and column of a location in the text of a module."""
    found = _PLACE.search(location)
    return f"{_SOURCE_NAME}:{found[1]}:{found[2]}" if found else None


def _diagnostic(severity: str, text: str) -> Diagnostic:
    located = _LOCATED.match(text)
    if located is None:
        return Diagnostic(severity, text.strip(), None)
    where = located["where"]
    return Diagnostic(severity, located["rest"].strip(), None if where.startswith("<unknown>") else where)


def parse_diagnostics(text: str) -> list[Diagnostic]:
    """The diagnostics in what `iree-compile` wrote to its standard error."""
    found: list[Diagnostic] = []
    for line in text.splitlines():
        match = _CONSOLE_LINE.match(line)
        if match is None:
            continue
        where = match["where"]
        if where is not None and where.startswith("<unknown>"):
            where = None
        found.append(Diagnostic(match["severity"], line[match.end() :].strip(), where))
    return found


_NOT_YOURS: Final = "what adze makes should compile: this is a fault of adze or IREE, not of your program"
_HOW_TO_REPORT: Final = "with ADZE_DUMP_DIR=folder it leaves what a report of it needs there"


def _compile_error(
    module: bytes,
    target: Target,
    options: CompileOptions,
    diagnostics: Sequence[Diagnostic],
    reproducer_dir: Path | None,
) -> CompileError:
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    first = errors[0] if errors else Diagnostic("error", "it gave no reason", None)
    message = first.message.split("\n", 1)[0]
    named = _OP_NAME.search(first.message)
    op = next((name for name in named.groups() if name), None) if named else None
    reproducer = (
        write_reproducer(module, target, options, diagnostics, reproducer_dir) if reproducer_dir else None
    )
    again = f"to see it again: sh {reproducer / 'command.sh'}" if reproducer else _HOW_TO_REPORT
    hint = again if message.startswith(_FLAGS_REFUSED) else f"{_NOT_YOURS}; {again}"
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
        made = Path(tempfile.mkdtemp(prefix="failed-compile-", dir=folder))
        (made / name).write_bytes(module)
        (made / "command.sh").write_text(f'cd "$(dirname "$0")" && {shlex.join(command)}\n')
        (made / "diagnostics.txt").write_text("\n".join(map(str, diagnostics)) + "\n")
    except OSError:
        return None  # the compile error matters more than the lack of its reproducer
    return made


def _flag(value: bool) -> str:
    return "true" if value else "false"

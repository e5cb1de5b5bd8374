"""Compiling in a process of its own, which an abort of the compiler ends alone.

Input: as `compiler.py`, whose compile in this process is the usual one. Output: the same bytes, but that a
program with much code has one library here (`executables.py`). Idea: each phase behind which IREE's faults
are looked for (`faults/`) is a run of its own.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ..errors import CompileError
from ..targets import Target
from .compiler import (
    DEVICE_PHASE,
    MACHINE_PHASE,
    CompiledModule,
    CompileOptions,
    changes_device_calls,
    compile_error,
    fault_of_lanes,
    fault_of_threads,
    has_lanes,
    has_threads,
    with_changed_calls,
)
from .diagnostics import SOURCE_NAME, Diagnostic, parse_diagnostics
from .faults.copied_operands import without_wrong_copies
from .faults.private_results import WAY_IS_CHOSEN
from .faults.repeated_references import deduplicated, may_branch
from .faults.strided_bindings import with_strided_bindings
from .libraries import (
    DEVICES_ARE_KNOWN,
    EMPTY,
    KERNELS_ARE_LLVM,
    calls_a_library,
    changed_flags,
    with_libraries,
)


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
    source = module
    started = time.perf_counter()
    flags = (*target.flags, *options.flags())
    diagnostics: list[Diagnostic] = []
    begin: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="adze-compile-") as folder:

        def run(module: bytes, *phases: str) -> bytes:
            left = None if timeout is None else timeout - (time.perf_counter() - started)
            try:
                produced = _run_compiler(module, Path(folder), (*phases, *flags), diagnostics, left)
            except subprocess.TimeoutExpired:
                raise CompileError(f"compiling for {target} took longer than {timeout} seconds") from None
            if produced is None:
                raise compile_error(source, target, options, diagnostics, reproducer_dir)
            return produced

        def advanced(module: bytes, phase: str) -> bytes:
            nonlocal begin
            program = run(module, *begin, f"--compile-to={phase}", "--emit-mlir-bytecode")
            begin = (f"--compile-from={phase}",)
            return program

        def refuse_if(fault: str | None) -> None:
            if fault is not None:
                diagnostics.append(Diagnostic("error", fault, None))
                raise compile_error(source, target, options, diagnostics, reproducer_dir)

        branches = may_branch(module)
        lean = changed_flags(flags, run(EMPTY, f"--compile-to={DEVICES_ARE_KNOWN}").decode())
        if lean is not None:
            flags = lean
            module = advanced(module, KERNELS_ARE_LLVM)
            module = with_libraries(module) if calls_a_library(module) else module
        if has_lanes(target):
            module = advanced(module, WAY_IS_CHOSEN)
            refuse_if(fault_of_lanes(module))
            module = with_strided_bindings(module)
        if has_threads(target):
            chosen = without_wrong_copies(advanced(module, WAY_IS_CHOSEN))
            module = advanced(chosen, KERNELS_ARE_LLVM)
            refuse_if(fault_of_threads(chosen, module))
        if changes_device_calls(target):
            module = with_changed_calls(advanced(module, DEVICE_PHASE), target)
        if branches:
            module = deduplicated(advanced(module, MACHINE_PHASE))
        vmfb = run(module, *begin)
    return CompiledModule(vmfb, target, options, tuple(diagnostics), time.perf_counter() - started)


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
    read, written = folder / SOURCE_NAME, folder / "output"
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

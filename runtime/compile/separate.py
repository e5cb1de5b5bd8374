"""Compiling in a process of its own, which an abort of the compiler ends alone.

Input: as `compiler.py`, whose compile in this process is the usual one. Output: the same bytes, but that a
program with much code has one library here (`executables.py`).
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
    with_changed_calls,
)
from .diagnostics import SOURCE_NAME, Diagnostic, parse_diagnostics
from .faults.repeated_references import deduplicated, may_branch
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
                raise compile_error(module, target, options, diagnostics, reproducer_dir)
            return produced

        branches = may_branch(module)
        from_phase: tuple[str, ...] = ()
        lean = changed_flags(flags, run(EMPTY, f"--compile-to={DEVICES_ARE_KNOWN}").decode())
        if lean is not None:
            flags = lean
            module = run(module, f"--compile-to={KERNELS_ARE_LLVM}", "--emit-mlir-bytecode")
            module = with_libraries(module) if calls_a_library(module) else module
            from_phase = (f"--compile-from={KERNELS_ARE_LLVM}",)
        if changes_device_calls(target):
            program = run(module, *from_phase, f"--compile-to={DEVICE_PHASE}", "--emit-mlir-bytecode")
            module = with_changed_calls(program, target)
            from_phase = (f"--compile-from={DEVICE_PHASE}",)
        if branches:
            program = run(module, *from_phase, f"--compile-to={MACHINE_PHASE}", "--emit-mlir-bytecode")
            vmfb = run(deduplicated(program), f"--compile-from={MACHINE_PHASE}")
        else:
            vmfb = run(module, *from_phase)
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

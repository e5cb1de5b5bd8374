"""Compiling in a process of its own, which an abort of the compiler ends alone.

Input: as `compile_bytecode`. Output: the same bytes and errors. Idea: the process is one of Python that calls
`compile_bytecode` itself, so that libraries of kernels and fences of IREE's faults (`faults/`) are the same.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from ..errors import CompileError
from ..targets import Target
from .compiler import CompiledModule, CompileOptions, compile_bytecode, compile_error
from .diagnostics import Diagnostic

_COMPILE: Final = "from adze.runtime.compile.separate import serve; serve()"


def compile_in_subprocess(
    module: bytes,
    target: Target,
    options: CompileOptions | None = None,
    *,
    reproducer_dir: Path | None = None,
    timeout: float | None = None,
) -> CompiledModule:
    """As `compile_bytecode`, in a process of its own: an abort of the compiler is an error like any other.

    After `timeout` seconds the process is ended, which is a CompileError too.
    """
    options = options or CompileOptions()
    started = time.perf_counter()
    asked = pickle.dumps((module, target, options, reproducer_dir))
    command = [sys.executable, "-P", "-c", _COMPILE]
    try:
        done = subprocess.run(command, input=asked, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        raise CompileError(f"compiling for {target} took longer than {timeout} seconds") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"]
        problem = f"the compiler ended with code {done.returncode}: {lines[-1]}"
        raise compile_error(
            module, target, options, [Diagnostic("error", problem, None)], reproducer_dir
        ) from None
    answer = pickle.loads(done.stdout)
    if isinstance(answer, CompileError):
        raise answer
    assert isinstance(answer, CompiledModule)
    return replace(answer, seconds=time.perf_counter() - started)


def serve() -> None:
    """Compile what standard input asks for, and write the result, or the CompileError, to standard output."""
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)  # what the compiler or its linker prints is no part of the answer
        module, target, options, reproducer_dir = pickle.load(sys.stdin.buffer)
        answer: CompiledModule | CompileError
        try:
            answer = compile_bytecode(module, target, options, reproducer_dir=reproducer_dir)
        except CompileError as error:
            answer = error
        pickle.dump(answer, output)

"""Compiling in a process of its own: the bytes and errors of a compile in this one, and aborts as errors."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.runtime.compile import executables, separate
from adze.runtime.compile.compiler import CompileOptions, compile_bytecode
from adze.runtime.compile.separate import compile_in_subprocess
from adze.runtime.errors import CompileError
from adze.runtime.targets import parse_target

from ...selection import quick_first

CPU = parse_target("cpu")
SAME = b"func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"


def layers(x: Any, weights: Any) -> Any:
    for w in weights:
        x = anp.tanh(x @ w)
    return adze.lax.while_loop(lambda c: c.sum() > 1, lambda c: c / 2, x)


def filled(*shape: int) -> np.ndarray:
    return np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)


def module_for(target: str, *sizes: int) -> bytes:
    weights = [filled(n, m) for n, m in itertools.pairwise(sizes)]
    return adze.trace(layers, filled(16, sizes[0]), weights).lower(target).mlir().encode()


@pytest.mark.parametrize("target", quick_first(["vulkan:lavapipe", "cuda:sm_80", "rocm:gfx942", "metal"], 2))
def test_programs_of_gpus_have_the_same_bytes(target: str) -> None:
    """Their kernels are looked at on the way, and what calls the device is changed."""
    module = module_for(target, 32, 8)
    usual = compile_bytecode(module, parse_target(target))
    assert compile_in_subprocess(module, parse_target(target)).vmfb == usual.vmfb


def test_a_program_with_much_code_has_the_same_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = "from adze.runtime.compile import executables; executables._LEAST_OF_A_PART = 20_000; "
    monkeypatch.setattr(executables, "_LEAST_OF_A_PART", 20_000)
    monkeypatch.setattr(separate, "_COMPILE", shorter + separate._COMPILE)
    module = module_for("cpu", 200, 130, 70, 30)
    usual = compile_bytecode(module, CPU).vmfb
    assert usual.count(b"\x7fELF") > 2
    assert compile_in_subprocess(module, CPU).vmfb == usual


def test_an_abort_of_the_compiler_is_an_error() -> None:
    options = CompileOptions(extra_flags=("--iree-llvmcpu-target-cpu=zenver5",))
    with pytest.raises(CompileError, match=r"the compiler ended with code \S+: LLVM ERROR: "):
        compile_in_subprocess(SAME, CPU, options)


def test_what_the_compiler_prints_is_no_part_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    printing = "import os; from adze.runtime.compile import separate; compile = separate.compile_bytecode; "
    printing += "separate.compile_bytecode = lambda *a, **k: (os.system('echo said'), compile(*a, **k))[1]; "
    monkeypatch.setattr(separate, "_COMPILE", printing + separate._COMPILE)
    assert compile_in_subprocess(SAME, CPU).vmfb == compile_bytecode(SAME, CPU).vmfb


def test_a_compile_that_takes_too_long_is_stopped() -> None:
    with pytest.raises(CompileError, match=r"took longer than 0.01 seconds"):
        compile_in_subprocess(SAME, CPU, timeout=0.01)

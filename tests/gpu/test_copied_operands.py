"""Copies to the memory of a workgroup that IREE makes wrongly: of complex numbers, and of equal factors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import adze
from adze import ShapeDtype
from adze.runtime.artifact.device_code.kernels import ptx_of
from adze.runtime.compile import compiler
from adze.runtime.compile.separate import compile_in_subprocess
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

SQUARE = ShapeDtype((64, 64), np.complex64)


@pytest.mark.parametrize("target", ["cuda:sm_80", pytest.param("rocm:gfx942", marks=pytest.mark.thorough)])
def test_transposes_of_complex_numbers_compile(target: str) -> None:
    assert adze.trace(lambda x: (x.T + x, x.real.T), SQUARE).lower(target).compile().vmfb


RUN = """
import adze.numpy as xp

rng = np.random.default_rng(0)
for dtype in (np.complex64, np.complex128):
    for shape in ((32, 32), (64, 96), (33, 64), (3, 64, 32)):
        x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
        x.flat[:3] = complex(0, -0.0), complex(np.nan, np.inf), complex(-np.inf, 1)

        def each(x, n):
            return [n.swapaxes(x, -1, -2), n.swapaxes(x.imag, -1, -2), n.conj(n.swapaxes(x, 0, -1)),
                    n.swapaxes(x, -1, -2) * 2 + 1]

        got = adze.jit(lambda x: each(x, xp), device="cuda:0")(x)
        for at, (one, want) in enumerate(zip(got, each(x, np))):
            is_right = np.array_equal(np.asarray(one), want, equal_nan=True)
            if not is_right:
                said[f"{dtype.__name__}{shape} {at}"] = "wrong"
x = (rng.standard_normal((2, 1024)) + 1j * rng.standard_normal((2, 1024))).astype(np.complex64)
got = np.asarray(adze.jit(xp.fft.fft, device="cuda:0")(x))
if not np.allclose(got, np.fft.fft(x), rtol=1e-4, atol=1e-3):
    said["fft"] = float(np.max(abs(got - np.fft.fft(x))))
"""


@needs_compiler
@pytest.mark.thorough
def test_transposes_of_complex_numbers_are_right() -> None:
    assert on_ptx_machine(RUN) == {}


UNFENCED = """
import numpy as np
import adze
from adze.runtime.compile import compiler

compiler.without_wrong_copies = lambda program: program
adze.trace(lambda x: x.T, adze.ShapeDtype((32, 32), np.complex64)).lower("cuda:sm_80").compile()
"""


@pytest.mark.thorough
def test_iree_still_dies() -> None:
    environment = {**os.environ, "ADZE_CACHE": "0"}
    command = [sys.executable, "-c", UNFENCED]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600, check=False)
    assert done.returncode == -signal.SIGSEGV


def test_a_process_of_its_own_lives() -> None:
    lowered = adze.trace(lambda x: x.T, adze.ShapeDtype((32, 32), np.complex64)).lower("cuda:sm_80")
    assert compile_in_subprocess(lowered.mlir().encode(), parse_target("cuda:sm_80")).vmfb


def loads_of_sums(*shape: int, dtype: str = "float32") -> int:
    """How often a thread of `x @ x.T` loads what threads write too."""
    lowered = adze.trace(lambda x: x @ x.swapaxes(-1, -2), ShapeDtype(shape, np.dtype(dtype)))
    code = "\n".join(ptx_of(lowered.lower("cuda:sm_80").compile().vmfb))
    assert "ld.shared" in code
    return len(re.findall(r"ld\.global\.(?!nc)", code))


@pytest.mark.parametrize(
    ("shape", "dtype"), [((64, 64), "float32"), ((4, 64, 128), "float64"), ((128, 64), "int32")]
)
def test_sums_begin_in_registers(shape: tuple[int, ...], dtype: str) -> None:
    assert loads_of_sums(*shape, dtype=dtype) == 0


@pytest.mark.thorough
def test_iree_still_begins_sums_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "without_wrong_copies", lambda program: program)
    monkeypatch.setenv("ADZE_CACHE", "0")
    assert loads_of_sums(64, 64) > 0


GRAM = """
import adze.numpy as xp

rng = np.random.default_rng(0)
for dtype in ("float32", "float64", "int32", "float16", "int8"):
    for shape in ((64, 64), (3, 64, 32), (128, 64)):
        x = (rng.standard_normal(shape) * 3).astype(dtype)
        junk = [np.full(n, np.nan, np.float32) for n in (4096, 16384)]
        for _ in range(2):
            kept = [adze.device_put(each, "cuda:0") for each in junk]
            del kept  # their memory is what results get
            got = adze.jit(lambda x: (x @ x.swapaxes(-1, -2), x.swapaxes(-1, -2) @ x), device="cuda:0")(x)
            for at, (one, want) in enumerate(zip(got, (x @ x.swapaxes(-1, -2), x.swapaxes(-1, -2) @ x))):
                one, want = np.asarray(one).astype("f8"), want.astype("f8")
                off = np.max(abs(one - want)) / np.max(abs(want))
                if not off < (1e-2 if dtype == "float16" else 1e-5):
                    said[f"{dtype}{shape} {at}"] = str(off)
"""


@needs_compiler
@pytest.mark.thorough
def test_products_of_a_matrix_with_itself_are_right() -> None:
    assert on_ptx_machine(GRAM) == {}

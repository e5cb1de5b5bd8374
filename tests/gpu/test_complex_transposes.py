"""Transposes of complex numbers on GPUs whose sizes 32 divides: IREE's copies of them end the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import adze
from adze import ShapeDtype

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

SQUARE = ShapeDtype((64, 64), np.complex64)


@pytest.mark.parametrize("target", ["cuda:sm_80", pytest.param("rocm:gfx942", marks=pytest.mark.thorough)])
def test_they_compile(target: str) -> None:
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
def test_they_are_transposes() -> None:
    assert on_ptx_machine(RUN) == {}


UNFENCED = """
import numpy as np
import adze
from adze.runtime.compile import compiler

compiler.without_promoted_complex = lambda program: program
adze.trace(lambda x: x.T, adze.ShapeDtype((32, 32), np.complex64)).lower("cuda:sm_80").compile()
"""


@pytest.mark.thorough
def test_iree_still_dies() -> None:
    environment = {**os.environ, "ADZE_CACHE": "0"}
    command = [sys.executable, "-c", UNFENCED]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600, check=False)
    assert done.returncode == -signal.SIGSEGV

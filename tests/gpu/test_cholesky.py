"""Cholesky factors on CUDA: a kernel of our own, run as C in both orders of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.runtime.artifact.device_code.kernels import gpu_kernels

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
rng = np.random.default_rng(0)
factor = lambda a: adze.numpy.linalg.cholesky(a)
for dtype in ("float32", "float64"):
    for shape in SHAPES:
        half = rng.standard_normal(shape)
        a = (half @ np.swapaxes(half, -1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)
        got = np.asarray(adze.jit(factor, device="cuda:0")(a))
        want = np.linalg.cholesky(a.astype(float))
        off = np.abs(got - want).max() / np.abs(want).max()
        said[f"{dtype}{list(shape)}"] = float(off / np.finfo(dtype).eps)

bad = np.stack([np.eye(5), np.diag([1.0, 1.0, 0.0, 1.0, 1.0]), np.diag([1.0, np.nan, 1.0, 1.0, 1.0])])
factors = np.asarray(adze.jit(factor, device="cuda:0")(bad))
said["bad"] = (np.isnan(factors) == np.tri(5, dtype=bool)).all(axis=(1, 2)).tolist()
said["upper"] = (np.triu(factors, 1) == 0).all().tolist()
said["good"] = np.isfinite(np.asarray(adze.jit(factor, device="cuda:0")(bad)[0])).all().tolist()
"""


def check_factors(shapes: list[tuple[int, ...]]) -> None:
    said = on_ptx_machine(f"SHAPES = {shapes}{MACHINE}")
    assert said.pop("bad") == [False, True, True] and said.pop("good")
    assert said.pop("upper")
    assert len(said) == 2 * len(shapes)
    assert all(off < 8 for off in said.values()), said


@needs_compiler
def test_factors_are_numpys() -> None:
    check_factors([(1, 1), (2, 3, 17, 17)])


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_factors_of_all_sizes_are_numpys(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 110 rows of float64 and 128 of float32 by one kernel, and more by ops."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    check_factors([(2, 2), (3, 33, 33), (64, 64), (128, 128), (130, 130)])


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 64), (np.float64, 110), (np.float32, 128)])
def test_a_factor_is_two_kernels(dtype: Any, size: int) -> None:
    """One makes the matrix symmetric."""
    program = adze.trace(xp.linalg.cholesky, ShapeDtype((size, size), dtype)).lower("cuda:sm_80").compile()
    assert len(gpu_kernels(program.vmfb)) == 2

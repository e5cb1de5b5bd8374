"""Cumulative ops on CUDA: kernels of our own, and passes over rows whose number is not known.

IREE's scan was wrong on an NVIDIA H200.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.forms import cumulative
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import TargetKind

from .fake_cuda import needs_compiler, on_ptx_machine

MACHINE = """
from adze import lax
import ml_dtypes

FUNCTIONS = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum}
ROWS = [((9,), 0), ((3, 37), 1), ((2, 5000), 1), ((1, 1), 0)]
SHAPES = [*ROWS, ((3, 37), 0), ((5, 1, 3), 1), ((2, 300, 3), 1)]
BFLOAT16 = ml_dtypes.bfloat16
cases, rng = [], np.random.default_rng(0)
for n, dtype in enumerate(DTYPES):
    for m, (shape, axis) in enumerate(SHAPES):
        names = list(FUNCTIONS)[: 2 if dtype.startswith("complex") else 4]
        name = names[(n + m) % len(names)]
        x = rng.choice([-1, 1], shape) * (1.001 if name == "cumprod" else rng.integers(0, 50, shape))
        x = x * 1j if dtype.startswith("complex") else x
        x = x.astype(BFLOAT16 if dtype == "bfloat16" else dtype)
        if dtype.startswith("float") and name == "cummax":
            x[..., -1] = np.nan
        cases.append((name, axis, bool((n + m) % 2), x))

def running(*arrays):
    return [getattr(lax, name)(x, axis=axis, reverse=r) for (name, axis, r, _), x in zip(cases, arrays)]

results = adze.jit(running, device="cuda:0")(*[case[3] for case in cases])
for (name, axis, reverse, x), result in zip(cases, results):
    wide = {"f": np.float64, "V": np.float64, "c": np.complex128}.get(x.dtype.kind)
    wide = x if wide is None else x.astype(wide)
    wide = np.flip(wide, axis) if reverse else wide
    want = FUNCTIONS[name].accumulate(wide, axis=axis, dtype=wide.dtype)
    want = (np.flip(want, axis) if reverse else want).astype(x.dtype)
    # Each of the products of equal parts rounds alike, so that errors add up: by 1.8e-5 of 5,000.
    of_floats = max(1e-5, 1e-7 * x.shape[axis]) if x.dtype.itemsize > 2 else 1e-2
    tolerance = 0 if x.dtype.kind in "iu" else of_floats
    if not np.allclose(np.asarray(result), want, rtol=tolerance, atol=10 * tolerance, equal_nan=True):
        said[f"{name} {axis} {reverse} {x.dtype}{x.shape}"] = str(np.asarray(result).ravel()[:8])
"""
FEW = "float32", "int8"
MANY = "float16", "bfloat16", "float64", "uint8", "int16", "uint32", "int64", "complex64", "complex128"


@pytest.mark.gpu
@needs_compiler
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_kernels_give_what_numpy_gives(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of rows and columns, short and cut into parts, whichever thread goes first."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"DTYPES = {FEW}{MACHINE}") == {}


@pytest.mark.gpu
@pytest.mark.thorough
@needs_compiler
def test_kernels_give_what_numpy_gives_in_all_dtypes() -> None:
    assert on_ptx_machine(f"DTYPES = {MANY}{MACHINE}") == {}


@pytest.mark.gpu
@pytest.mark.parametrize(("shape", "count"), [((256, 1024), 1), ((3, 5), 1), ((1, 1 << 20), 2)])
def test_cuda_has_one_kernel_or_two(shape: tuple[int, int], count: int) -> None:
    program = adze.trace(lambda x: xp.cumsum(x, axis=1), ShapeDtype(shape)).lower("cuda:sm_80").compile()
    assert len(gpu_kernels(program.vmfb)) == count


def running(x: Any) -> list[Any]:
    return [xp.cumsum(x, axis=1), lax.cummax(x, axis=1, reverse=True), lax.cumprod(x, axis=1)]


@pytest.mark.parametrize("shape", [(3, 37), (5, 64), (2, 1)])
def test_the_passes_give_what_numpy_gives(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of rows whose number is not known, on the CPU."""

    class AsOnCuda:
        CUDA = TargetKind.CPU

    monkeypatch.setattr(cumulative, "TargetKind", AsOnCuda)
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = np.random.default_rng(0).standard_normal(shape)
    got = adze.trace(running, ShapeDtype(("n", shape[1]), np.float64)).lower("cpu").compile()(x)
    want = [
        np.cumsum(x, axis=1),
        np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1],
        np.cumprod(x, axis=1),
    ]
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12, atol=1e-13)


@pytest.mark.gpu
def test_cuda_has_no_scan() -> None:
    def text_for(target: str, rows: int | str) -> str:
        return str(adze.trace(lambda x: xp.cumsum(x, axis=1), ShapeDtype((rows, 100))).lower(target))

    assert "iree_linalg_ext.scan" in text_for("vulkan:ampere", 4)
    assert not any("iree_linalg_ext.scan" in text_for("cuda:sm_80", rows) for rows in (4, "n"))

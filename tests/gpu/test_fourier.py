"""Fourier transforms on CUDA: one kernel for rows that fit in a workgroup, run as C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.dialects.types import TensorType
from adze.passes.lower.kernels.fourier import gpu_rows
from adze.passes.lower.kernels.fourier.plans import radices
from adze.passes.lower.tuning.gpu_fourier import row_share
from adze.runtime.artifact.device_code.kernels import gpu_kernels

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
import adze.numpy as xp

rng = np.random.default_rng(0)
dtype, part = np.dtype(DTYPE), np.dtype(f"f{np.dtype(DTYPE).itemsize // 2}")

def drawn(*shape):
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)

cases = [("fft", drawn(1 if n > 500 else 7, n), -1) for n in SIZES]
cases += [("ifft", drawn(2, 3, n), -1) for n in SOME]
cases += [("fft", drawn(2, n, 21), 1) for n in SOME] + [("ifft", drawn(n, 5), 0) for n in SOME]
cases += [("rfft", drawn(3, n).real, -1) for n in SOME] + [("irfft", drawn(3, n), -1) for n in SOME]

def each(n, *xs):
    return [getattr(n.fft, name)(x, axis=axis) for (name, _, axis), x in zip(cases, xs)]

arrays = [x for _, x, _ in cases]
for (name, x, axis), got, want in zip(
    cases, adze.jit(lambda *xs: each(xp, *xs), device="cuda:0")(*arrays), each(np, *arrays)
):
    off = np.max(abs(np.asarray(got) - want)) / np.max(abs(want))
    if got.shape != want.shape or not off <= 8 * np.finfo(part).eps:
        said[f"{name} {x.dtype}{x.shape} {axis}"] = float(off)
"""

ODDITIES = """
import adze.numpy as xp

def on_gpu(function, *arrays):
    return np.asarray(adze.jit(function, device="cuda:0")(*arrays))

rng = np.random.default_rng(0)
x = (rng.standard_normal((4, 16)) + 1j * rng.standard_normal((4, 16))).astype(np.complex64)
said["two axes"] = bool(np.allclose(on_gpu(xp.fft.ifft2, x), np.fft.ifft2(x), atol=1e-6))
batched = on_gpu(adze.vmap(lambda row: xp.fft.fft(row * 2)), x)
said["batched"] = bool(np.allclose(batched, np.fft.fft(2 * x), atol=1e-5))
said["empty"] = on_gpu(xp.fft.fft, x[:0]).shape == (0, 16)
r = rng.standard_normal(64)
slope = adze.grad(lambda r: xp.sum(xp.abs(xp.fft.rfft(r)) ** 2 * xp.arange(33.0)))
said["gradient"] = bool(np.allclose(on_gpu(slope, r), slope(r), rtol=1e-12))
x[0, 3], x[1, 0], x[2] = np.nan, np.inf, 0
got = on_gpu(xp.fft.fft, x)
said["special"] = bool(np.isnan(got[0]).all() and not np.isfinite(got[1]).any() and not got[2].any())
said["others"] = bool(np.isfinite(got[3]).all())
"""


ALL = ([*range(2, 12), 13], [17, 15, 22, 30, 49, 64], [128, 243, 256, 625, 169], [8192, 4096, 2048, 1000])


def wrong(dtype: str, sizes: Sequence[int], some: Sequence[int]) -> dict[str, Any]:
    return on_ptx_machine(f"DTYPE, SIZES, SOME = {dtype!r}, {sizes!r}, {some!r}{MACHINE}")


@needs_compiler
def test_rows_and_columns_are_transformed() -> None:
    assert wrong("complex64", [60], [12]) == {}


@needs_compiler
@pytest.mark.thorough
@pytest.mark.parametrize("order", ["forward", "reversed"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("sizes", ALL)
def test_transforms_of_all_sizes_are_right(
    sizes: list[int], dtype: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever thread goes first; of primes, and of rows that no workgroup has memory for."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert wrong(dtype, sizes, sizes[-1:]) == {}


@needs_compiler
@pytest.mark.thorough
def test_what_transforms_are_part_of_is_right() -> None:
    assert all(on_ptx_machine(ODDITIES).values())


@pytest.mark.parametrize(
    ("function", "shape", "count"),
    [(xp.fft.fft, (64, 256), 1), (xp.fft.fft2, (64, 64), 2), (xp.fft.fft, ("n", 8), None)],
)
def test_rows_that_fit_are_one_kernel(function: Any, shape: tuple[Any, ...], count: int | None) -> None:
    spec = ShapeDtype(shape, np.complex64)
    kernels = gpu_kernels(adze.trace(function, spec).lower("cuda:sm_80").compile().vmfb)
    names = [kernel.name for kernel in kernels if "kernel_fft" in kernel.name]
    assert (len(kernels), len(names)) == (count, count) if count else not names


def test_rows_that_do_not_fit_have_no_kernel() -> None:
    def fits(name: str, *shape: int | None, dtype: Any = np.complex64) -> bool:
        return gpu_rows.fits(name, [TensorType(shape, np.dtype(dtype))])

    assert fits("fft", 3, 4096) and fits("ifft", 2048, dtype=np.complex128)
    assert not fits("fft", 3, 8192) and not fits("fft", 4096, dtype=np.complex128)
    assert not fits("fft", 3, 17) and not fits("fft", 0, 16) and not fits("fft", None, 16)
    assert not fits("fft", 3, 1) and not fits("rfft", 3, 16, dtype=np.float32)
    assert fits("fft_columns", 1024, 8) and not fits("fft_columns", 4096, 8)


@pytest.mark.parametrize("size", [2, 64, 1000, 4096])
@pytest.mark.parametrize("count", [1, 3, 1000])
@pytest.mark.parametrize("of_columns", [False, True])
def test_workgroups_are_no_larger_than_a_gpu_has_them(size: int, count: int, of_columns: bool) -> None:
    share = row_share(size, count, 4, radices(size, 8), of_columns=of_columns)
    if share is None:
        assert of_columns and size == 4096
        return
    assert share.threads <= 1024 and share.rows * size * 8 <= 1 << 15

"""Transforms of one signal by small products, as loops in kernels do them: against NumPy's, and which are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.frontend.library.fft.by_lanes import LENGTHS, has_lanes, transform_by_lanes

RANDOM = np.random.default_rng(0)


def signal(n: int, dtype: Any = np.complex128) -> np.ndarray:
    return (RANDOM.normal(size=n) + 1j * RANDOM.normal(size=n)).astype(dtype)


def close(actual: Any, expected: np.ndarray, eps: float) -> None:
    assert np.asarray(actual).shape == expected.shape
    assert np.linalg.norm(np.asarray(actual) - expected) <= 8 * eps * np.linalg.norm(expected)


@pytest.mark.parametrize("n", sorted(LENGTHS))
def test_lengths_are_products_of_their_radices(n: int) -> None:
    assert np.prod(LENGTHS[n]) == n
    z = signal(n)
    re, im = adze.jit(transform_by_lanes)(z.real.copy(), z.imag.copy())
    close(np.asarray(re) + 1j * np.asarray(im), np.fft.fft(z), 2e-16)


@pytest.mark.parametrize(("n", "dtype"), [(256, np.complex64), (512, np.complex128), (1024, np.complex64)])
def test_loops_transform_there_and_back(n: int, dtype: Any) -> None:
    phases = np.exp(1j * RANDOM.normal(size=n)).astype(dtype)
    z = signal(n, dtype)

    def step(_: Any, z: Any) -> Any:
        return xp.fft.ifft(xp.fft.fft(z) * phases)

    traced = adze.trace(lambda z: lax.fori_loop(0, 4, step, z), z)
    expected = np.fft.ifft(np.fft.fft(z.astype(np.complex128)) * phases.astype(np.complex128) ** 4)
    close(traced.lower("cpu").compile()(z), expected, 4 * np.finfo(dtype).eps)
    products = traced.mlir("select-loops").count("adze.dot_general")
    assert products == (8 if has_lanes(n) else 16)


def test_real_signals_batches_and_derivatives_in_loops() -> None:
    n = 512
    x, rows = RANDOM.normal(size=2 * n), np.stack([signal(n), signal(n)])

    def smoothed(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda _, x: xp.fft.irfft(xp.fft.rfft(x) * 0.5), x)

    def turned(z: Any) -> Any:
        return lax.fori_loop(0, 2, lambda _, z: xp.fft.fft(z) / n, z)

    close(adze.jit(smoothed)(x), x / 8, 2e-16)
    close(adze.jit(adze.vmap(turned))(rows), np.fft.fft(np.fft.fft(rows)) / n**2, 2e-16)
    slope = adze.jit(adze.grad(lambda x: (smoothed(x) * x[::-1]).sum()))(x)
    close(slope, x[::-1] / 4, 2e-16)


def test_numbers_that_are_not_finite_do_not_vanish() -> None:
    z = signal(1024, np.complex64)
    z[7] = np.nan
    loop = adze.jit(lambda z: lax.fori_loop(0, 2, lambda _, z: xp.fft.fft(z), z))
    assert np.isnan(np.asarray(loop(z))).all()

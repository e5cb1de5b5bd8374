"""Fourier transforms against NumPy's: every length, norm and axis; derivatives, batches, compiled; misuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import AdzeError
from adze import numpy as xp

LENGTHS = (1, 2, 3, 5, 8, 12, 60, 64, 67, 100, 128, 251, 257, 360, 509, 1000, 1024, 2018)
GENERATOR = np.random.default_rng(0)
X = GENERATOR.normal(size=(3, 4, 6))
Z = X + 1j * GENERATOR.normal(size=X.shape)


def close(actual: Any, expected: Any, eps: float = 2e-16) -> None:
    result = np.asarray(actual)
    assert result.shape == expected.shape
    size = max(float(np.linalg.norm(expected)), 1e-300)
    assert float(np.linalg.norm(result - expected)) <= 8 * eps * size


@pytest.mark.each_value
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", LENGTHS)
def test_transforms_of_any_length(n: int, norm: Any) -> None:
    x = GENERATOR.normal(size=(2, n))
    z = x + 1j * GENERATOR.normal(size=(2, n))
    for name in ("fft", "ifft"):
        close(getattr(xp.fft, name)(z, norm=norm), getattr(np.fft, name)(z, norm=norm))
    for name in ("rfft", "ihfft"):
        close(getattr(xp.fft, name)(x, norm=norm), getattr(np.fft, name)(x, norm=norm))
    for name in ("irfft", "hfft"):
        close(getattr(xp.fft, name)(z, n, norm=norm), getattr(np.fft, name)(z, n, norm=norm))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.int32, np.bool_, np.complex128])
def test_dtypes_are_numpys_and_integers_single(dtype: Any) -> None:
    x = np.arange(12).astype(dtype)
    result, expected = xp.fft.fft(x), np.fft.fft(x)
    expected = expected.astype(np.complex64) if x.dtype.kind in "bi" else expected
    assert result.dtype == expected.dtype
    close(result, expected, eps=float(np.finfo(expected.dtype).eps))


@pytest.mark.each_value
@pytest.mark.parametrize("name", ["fftn", "ifftn", "fft2", "ifft2", "rfftn", "irfftn", "rfft2", "irfft2"])
@pytest.mark.parametrize("options", [{}, {"axes": (0, 2)}, {"s": (5, 4), "axes": (1, 2)}, {"norm": "ortho"}])
def test_transforms_over_several_axes(name: str, options: dict[str, Any]) -> None:
    given = X if name.startswith("rfft") else Z
    close(getattr(xp.fft, name)(given, **options), getattr(np.fft, name)(given, **options))


def test_frequencies_and_shifts() -> None:
    for n in (1, 4, 7):
        close(xp.fft.fftfreq(n, 0.5, dtype=np.float64), np.fft.fftfreq(n, 0.5))
        close(xp.fft.rfftfreq(n, dtype=np.float64), np.fft.rfftfreq(n))
    for axes in (None, 1, (0, 2)):
        close(xp.fft.fftshift(X, axes), np.fft.fftshift(X, axes))
        close(xp.fft.ifftshift(X, axes), np.fft.ifftshift(X, axes))


@pytest.mark.parametrize("n", [6, 67, 96, 263])
def test_derivatives_and_batches(n: int) -> None:
    x = GENERATOR.normal(size=(2, n))
    z = x + 1j * GENERATOR.normal(size=(2, n))
    adze.check_grads(lambda y: xp.fft.fft(y, axis=1), (z,))
    adze.check_grads(lambda y: xp.sum(xp.abs(xp.fft.rfft(y)) ** 2, axis=-1), (x,), rtol=1e-5, atol=1e-5)
    adze.check_grads(lambda y: xp.fft.irfft(y, n), (z[:, : n // 2 + 1],))
    close(adze.vmap(xp.fft.fft)(z), np.fft.fft(z), eps=1e-15)


@pytest.mark.thorough
def test_compiled_is_numpys() -> None:
    def everything(x: Any, z: Any) -> Any:
        power = adze.grad(lambda y: xp.sum(xp.abs(xp.fft.rfft(y)) ** 2))(x)
        return xp.fft.fft(z), xp.fft.rfft(x), xp.fft.irfft(z, 201), xp.fft.fft2(z), power

    x = GENERATOR.normal(size=(3, 200))
    z = x + 1j * GENERATOR.normal(size=x.shape)
    fft, rfft, irfft, fft2, power = adze.jit(everything)(x, z)
    close(fft, np.fft.fft(z))
    close(rfft, np.fft.rfft(x))
    close(irfft, np.fft.irfft(z, 201))
    close(fft2, np.fft.fft2(z))
    edge = np.fft.irfft(np.fft.rfft(x) * np.r_[1, np.full(99, 1), 1], 200)
    weight = np.fft.rfft(x)
    weight[:, [0, -1]] *= 2
    close(power, 200 * np.fft.irfft(weight, 200), eps=1e-15)
    close(edge, x)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: xp.fft.fft(X, 0), "fft: the number of points must be positive, got 0"),
        (
            lambda: xp.fft.fft(X, norm="unitary"),
            "fft: norm is 'unitary', expected 'backward', 'ortho' or 'forward'",
        ),
        (lambda: xp.fft.fft(X, axis=3), "fft: axis 3 is out of range for an array of 3 dimensions"),
        (lambda: xp.fft.rfft(Z), "rfft: expected a real array, got c128[3,4,6]"),
        (lambda: xp.fft.fft2(X, s=(3,)), "fft2: 1 lengths for 2 axes"),
        (lambda: xp.fft.fft(np.float64(1)), "fft: expected an array of at least 1 dimension, got f64[]"),
        (lambda: xp.fft.fftfreq(0), "fftfreq: n must be positive, got 0"),
    ],
)
def test_misuse_says_what_was_expected(call: Any, text: str) -> None:
    with pytest.raises(AdzeError) as raised:
        call()
    assert text in str(raised.value)

"""Kernels of Fourier transforms: in the interpreter, for vectors of all widths, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects.types import TensorType
from adze.frontend.library.fft import last_axis
from adze.passes.lower.kernels.fourier.plans import LARGEST_RADIX, best_split, radices, starts

from ....selection import quick_first
from .linear_algebra import TARGETS, run_routine

RNG = np.random.default_rng(5)

each_target = pytest.mark.parametrize("target", TARGETS)
each_dtype = pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: d.__name__)


def signal(*shape: int, dtype: Any = np.complex128) -> Any:
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(dtype)


def near(got: Any, want: Any, units: float = 8.0) -> bool:
    got = np.asarray(got)
    return bool(np.abs(got - want).max() <= units * float(np.finfo(got.dtype).eps) * np.abs(want).max())


def run(kernel: str, x: np.ndarray, shape: tuple[int, ...], dtype: Any, target: str) -> np.ndarray:
    (y,) = run_routine(kernel, [x], [TensorType(shape, np.dtype(dtype))], target)
    return y


@pytest.mark.one_in(2)
@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("size", quick_first([16, 17 * 4, 20, 30, 64, 77, 96, 130, 31 * 4], 7))
def test_rows(size: int, dtype: Any, target: str) -> None:
    x = signal(2, size, dtype=dtype)
    assert near(run("fft", x, x.shape, dtype, target), np.fft.fft(x))
    assert near(run("ifft", x, x.shape, dtype, target), size * np.fft.ifft(x))


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("shape", [(2, 8), (13, 9), (2, 24, 19), (8, 40)])
def test_columns(shape: tuple[int, ...], dtype: Any, target: str) -> None:
    x = signal(*shape, dtype=dtype)
    assert near(run("fft_columns", x, shape, dtype, target), np.fft.fft(x, axis=-2))
    assert near(run("ifft_columns", x, shape, dtype, target), shape[-2] * np.fft.ifft(x, axis=-2))


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("size", quick_first([32, 40, 132, 154], 2))
def test_real_rows(size: int, dtype: Any, target: str) -> None:
    points = size // 2 + 1
    real = RNG.standard_normal((3, size)).astype(np.dtype(dtype).type(0).real.dtype)
    spectrum = signal(3, points, dtype=dtype)
    weights = np.where(np.isin(np.arange(points), (0, points - 1)), 1, 2)
    forward, back = np.fft.rfft(real), size * np.fft.irfft(spectrum, size)
    assert near(run("rfft", real, spectrum.shape, dtype, target), forward)
    assert near(run("irfft", spectrum, real.shape, real.dtype, target), back)
    # The transposes: of the sum of the real parts of products.
    back = size * np.fft.irfft(spectrum.conj() / weights, size)
    assert near(run("rfft_transposed", spectrum, real.shape, real.dtype, target), back)
    twice = weights * forward.conj()
    assert near(run("irfft_transposed", real, spectrum.shape, dtype, target), twice)


@pytest.mark.parametrize("size", [1, 2, 5, 64, 93, 360, 65536, 961])
def test_plans(size: int) -> None:
    assert last_axis.is_smooth(size)
    for lanes, most in ((4, 4), (16, 8)):
        split = best_split(size, lanes, most)
        assert split.first * split.second == size
        assert split.width <= min(split.first, split.second, lanes)
        assert np.prod(radices(size, most)) == size
    assert not last_axis.is_smooth(size * 37)


def test_the_frontend_knows_the_largest_radix() -> None:
    assert last_axis.LARGEST_RADIX == LARGEST_RADIX


def test_starts_cover_everything_within_bounds() -> None:
    assert starts(19, 8) == [0, 8, 11]
    assert starts(8, 8) == [0]


def transforms(x: Any, y: Any, points: Any, weights: Any) -> dict[str, Any]:
    """Rows, columns, real rows, a prime, and derivatives; what the evaluator computes in ops."""

    def power(x: Any) -> Any:
        return xp.sum(xp.abs(xp.fft.rfft(x) * points) ** 2)

    def energy(points: Any) -> Any:
        return xp.sum(xp.fft.irfft(points) ** 2 * xp.real(weights))

    return {
        "rows": xp.fft.fft(x, norm="ortho"),
        "prime": xp.fft.ifft(x[:, :101]),
        "columns": xp.fft.fft2(xp.reshape(x, (2, 16, 9)), axes=(0, 1)),
        "batched": adze.vmap(xp.fft.ifft)(x),
        "real": adze.grad(power)(y),
        "points": adze.grad(energy)(points),
        "jvp": adze.jvp(xp.fft.fft, (x,), (x * 1j,))[1],
    }


def test_compiled_transforms_are_those_of_the_evaluator() -> None:
    x, y = signal(2, 144), RNG.standard_normal((2, 160))
    points, weights = signal(2, 81), signal(2, 160)
    arguments = (x, y, points, weights)
    compiled = adze.trace(transforms, *arguments).lower().compile()(*arguments)
    for name, want in transforms(*arguments).items():
        assert near(np.asarray(compiled[name]), np.asarray(want), 64.0), name

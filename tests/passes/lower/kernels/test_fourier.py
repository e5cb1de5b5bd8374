"""Kernels of Fourier transforms: in the interpreter, for vectors of all widths, and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.dialects.types import TensorType
from adze.passes.lower.kernels.fourier.cyclic_plans import best_chirp, best_cyclic
from adze.passes.lower.kernels.fourier.plans import best_split, is_smooth, radices, starts

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


@pytest.mark.one_in(3)
@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize(
    "shape",
    quick_first([(19, 5), (3, 2, 7, 6), (9, 37), (5, 2), (33, 3), (17, 12), (6, 83), (7, 74)], 3),
)
def test_groups_of_rows(shape: tuple[int, ...], dtype: Any, target: str) -> None:
    """As many rows as vectors have lanes; the last group overlaps the one before it."""
    x = signal(*shape, dtype=dtype)
    assert near(run("fft", x, x.shape, dtype, target), np.fft.fft(x))
    assert near(run("ifft", x, x.shape, dtype, target), shape[-1] * np.fft.ifft(x))


@pytest.mark.one_in(2)
@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("shape", quick_first([(37,), (1, 2), (13,), (1, 83), (2, 151), (111,)], 2))
def test_a_row_of_any_size(shape: tuple[int, ...], dtype: Any, target: str) -> None:
    x = signal(*shape, dtype=dtype)
    assert near(run("fft", x, x.shape, dtype, target), np.fft.fft(x), 12.0)
    assert near(run("ifft", x, x.shape, dtype, target), shape[-1] * np.fft.ifft(x), 12.0)


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize("shape", [(2, 8), (13, 9), (2, 24, 19), (8, 40), (53, 9), (94, 8)])
def test_columns(shape: tuple[int, ...], dtype: Any, target: str) -> None:
    x = signal(*shape, dtype=dtype)
    assert near(run("fft_columns", x, shape, dtype, target), np.fft.fft(x, axis=-2))
    assert near(run("ifft_columns", x, shape, dtype, target), shape[-2] * np.fft.ifft(x, axis=-2))


@pytest.mark.each_value
@each_target
@each_dtype
@pytest.mark.parametrize(
    "shape", quick_first([(1, 40), (19, 6), (3, 154), (2, 132), (17, 32), (9, 74), (1, 74), (5, 4)], 3)
)
def test_real_rows(shape: tuple[int, int], dtype: Any, target: str) -> None:
    rows, size = shape
    points = size // 2 + 1
    real = RNG.standard_normal((rows, size)).astype(np.dtype(dtype).type(0).real.dtype)
    spectrum = signal(rows, points, dtype=dtype)
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
    assert is_smooth(size)
    for lanes, most in ((4, 4), (16, 8)):
        split = best_split(size, lanes, most)
        assert split.first * split.second == size
        assert split.width <= min(split.first, split.second, lanes)
        assert np.prod(radices(size, most)) == size
    assert not is_smooth(size * 37)


@pytest.mark.parametrize("size", [37, 74, 83, 251, 1009, 1369, 10007])
def test_cyclic_plans(size: int) -> None:
    """The convolutions are the transform, as their sums say: in float64, of random numbers."""
    x = signal(size)
    chirped = best_chirp(size, float)
    chirp = chirped.chirp() @ [1, 1j]
    padded = np.zeros(chirped.length, complex)
    padded[:size] = x * chirp
    response = chirped.response() @ [1, 1j]
    convolved = np.fft.ifft(np.fft.fft(padded) * response) * chirped.length
    assert near(convolved[:size] * chirp, np.fft.fft(x), 32.0)
    plan = best_cyclic(size, float)
    assert plan.in_powers == (size in (37, 251, 1009))
    if plan.in_powers:
        powers = plan.powers()
        assert sorted(powers) == list(range(1, size))
        others = np.fft.ifft(np.fft.fft(x[powers]) * (plan.response() @ [1, 1j])) * plan.length
        spectrum = np.empty(size, complex)
        spectrum[powers[-np.arange(size - 1)]] = x[0] + others
        spectrum[0] = x.sum()
        assert near(spectrum, np.fft.fft(x), 32.0)


@pytest.mark.one_in(4)
@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize(
    "shape",
    quick_first([(40, 251), (251,), (20, 74), (20, 16), (3, 1009), (2, 10007), (600, 83), (5, 4096)], 2),
)
def test_errors_are_a_few_units(shape: tuple[int, ...], dtype: Any) -> None:
    """Of compiled transforms, against those of the longest float; in the mean they grow with the steps."""
    x = signal(*shape, dtype=dtype)
    want = np.fft.fft(x.astype(np.clongdouble))
    got = np.asarray(adze.jit(xp.fft.fft)(x))
    assert got.dtype == dtype
    errors = np.abs(got - want) / np.sqrt(np.mean(np.abs(want) ** 2)) / np.finfo(dtype).eps
    assert np.sqrt(np.mean(errors**2)) < 2.5
    assert errors.max() < 12


def test_rows_that_are_not_finite_stay_alone() -> None:
    x = signal(19, 37)
    x[3, 5], x[18, 0] = np.nan, np.inf
    got = np.asarray(adze.jit(xp.fft.fft)(x))
    finite = np.isfinite(x).all(axis=1)
    assert np.isfinite(got[finite]).all() and near(got[finite], np.fft.fft(x[finite]))
    assert not np.isfinite(got[~finite]).any()


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
        "prime by powers": adze.grad(lambda x: xp.real(xp.sum(xp.fft.fft(x[:, :37]) ** 2)))(x),
        "odd real": xp.fft.irfft(xp.fft.rfft(y[:, :83]), 83),
        "short": adze.jvp(xp.fft.rfft, (y.reshape(32, 10),), (y.reshape(32, 10) + 1,))[1],
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

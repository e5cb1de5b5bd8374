"""Derivatives of samples: through location and scale, and of gamma samples in their parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import random

KEY = random.key(11)


def test_location_and_scale() -> None:
    def mean_square(location: Any, scale: Any) -> Any:
        return anp.mean((location + scale * random.normal(KEY, (1000,))) ** 2)

    z = np.asarray(random.normal(KEY, (1000,))).astype(np.float64)
    by_location, by_scale = adze.grad(mean_square, argnums=(0, 1))(np.float32(0.5), np.float32(2.0))
    assert np.allclose(by_location, 2 * np.mean(0.5 + 2 * z), rtol=1e-5)
    assert np.allclose(by_scale, 2 * np.mean((0.5 + 2 * z) * z), rtol=1e-5)


PARAMETERS = [1e-3, 0.03, 0.5, 1.0, 1.4, 1.6, 3.0, 10.0, 100.0, 1e4]


def samples_and_slopes(function: Any, a: float, dtype: Any, count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Samples of one parameter, and the derivative of each."""
    ones, parameter = np.ones(count, dtype), np.full(count, a, dtype)
    samples, slopes = adze.jvp(lambda x: function(KEY, x), (parameter,), (ones,))
    return np.asarray(samples).astype(np.float64), np.asarray(slopes).astype(np.float64)


@pytest.mark.one_in(3)
@pytest.mark.oracle
@pytest.mark.parametrize("a", PARAMETERS)
def test_a_gamma_sample_moves_as_the_quantile_it_is(a: float) -> None:
    """Central differences of SciPy's quantiles at the sample's own probability, from the nearer tail."""
    stats = pytest.importorskip("scipy.stats")
    samples, slopes = samples_and_slopes(random.gamma, a, np.float64)
    usable = samples > 1e-290
    samples, slopes = samples[usable], slopes[usable]
    step = 1e-6 * a
    below, above = stats.gamma(a).cdf(samples), stats.gamma(a).sf(samples)

    def quantile(b: float) -> np.ndarray:
        return np.where(below < 0.5, stats.gamma(b).ppf(below), stats.gamma(b).isf(above))

    differences = (quantile(a + step) - quantile(a - step)) / (2 * step)
    assert usable.any() or a < 0.01
    assert np.allclose(slopes, differences, rtol=1e-4, atol=0)


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-8)])
def test_slopes_against_exact_integrals(dtype: Any, tolerance: float, thorough: bool) -> None:
    mpmath = pytest.importorskip("mpmath")
    for a in PARAMETERS:
        count = 4 if thorough else 2
        _, slopes = samples_and_slopes(random.loggamma, a, dtype, count)
        logarithms = np.asarray(random.loggamma(KEY, np.full(count, a, dtype)))
        for logarithm, slope in zip(logarithms.astype(np.float64), slopes, strict=True):
            exact = exact_slope(mpmath, float(dtype(a)), logarithm)
            assert abs(slope - exact) <= tolerance * abs(exact), (a, logarithm)


def exact_slope(mpmath: Any, a: float, logarithm: float) -> float:
    """`d log x / da` in 40 digits."""
    with mpmath.workdps(40):
        x, shape = mpmath.exp(mpmath.mpf(logarithm)), mpmath.mpf(a)
        ends = (0, x) if mpmath.gammainc(shape, 0, x, regularized=True) < 0.5 else (x, mpmath.inf)
        sign = 1 if ends[0] == 0 else -1
        h = mpmath.mpf(10) ** -12 * shape

        def probability(b: Any) -> Any:
            return sign * mpmath.gammainc(b, *ends, regularized=True)

        slope = (probability(shape + h) - probability(shape - h)) / (2 * h)
        density_of_logarithm = mpmath.exp(shape * mpmath.log(x) - x - mpmath.loggamma(shape))
        return float(-slope / density_of_logarithm)


@pytest.mark.thorough
@pytest.mark.oracle
def test_slopes_equal_jax() -> None:
    jax = pytest.importorskip("jax")
    several = (0.05, 0.7, 2.5, 30.0)
    drawn = [samples_and_slopes(random.gamma, a, np.float32, 20) for a in several]
    samples, slopes = (np.stack(part) for part in zip(*drawn, strict=True))
    parameters = np.repeat(np.float32(several)[:, None], 20, axis=1)
    expected = jax.lax.random_gamma_grad(parameters, samples.astype(np.float32))
    assert np.allclose(slopes, expected, rtol=2e-3, atol=1e-30)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_mean_moves_with_the_parameter(dtype: Any) -> None:
    """The mean of Gamma(a) is `a`, so that the mean slope is 1; its standard error is below 0.01."""
    _, slopes = samples_and_slopes(random.gamma, 3.0, dtype, 20000)
    assert abs(np.mean(slopes) - 1) < 0.04


def test_reverse_mode_through_a_function_of_gamma_samples() -> None:
    """The mean of Beta(a, b) is `a / (a + b)`, whose derivatives the samples' mean has too."""

    def mean(a: Any, b: Any) -> Any:
        return anp.mean(random.beta(KEY, a, b, (20000,)))

    by_a, by_b = adze.grad(mean, argnums=(0, 1))(np.float32(2.0), np.float32(3.0))
    assert abs(float(by_a) - 3 / 25) < 0.004
    assert abs(float(by_b) + 2 / 25) < 0.004


def test_the_derivative_of_the_slope_follows_the_sample() -> None:
    """The mean of Gamma(a) is linear in `a`, so that the mean of second derivatives is 0."""

    def mean(a: Any) -> Any:
        return anp.mean(random.gamma(KEY, a, (20000,), np.float64))

    second = adze.grad(adze.grad(mean))(np.ones(()) * 3)
    assert abs(float(second)) < 0.02


@pytest.mark.thorough
def test_compiled_derivatives_are_the_eager_ones() -> None:
    def mean(a: Any) -> Any:
        return anp.mean(random.gamma(KEY, a, (8,)))

    eager = adze.grad(mean)(np.float32(1.3))
    assert np.allclose(adze.jit(adze.grad(mean))(np.float32(1.3)), eager, rtol=1e-5)

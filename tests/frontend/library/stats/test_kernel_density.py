"""`gaussian_kde` beside SciPy's: values, integrals, samples, derivatives, trees and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import adze
import adze.scipy.stats as stats

RNG = np.random.default_rng(4)
ONE = RNG.standard_normal(9)
TWO = np.array([[1.0, 0.4], [0.2, 2.0]]) @ RNG.standard_normal((2, 12)) + 100
WEIGHTS = RNG.uniform(0.1, 3, 12)

densities = pytest.mark.parametrize(
    ("samples", "method", "weights"),
    [(ONE, None, None), (ONE, 0.4, WEIGHTS[:9]), (TWO, "silverman", WEIGHTS), (TWO, "scott", None)],
)


@densities
def test_values_and_integrals_are_those_of_scipy(samples: Any, method: Any, weights: Any) -> None:
    ours, theirs = (kind(samples, method, weights) for kind in (stats.gaussian_kde, scipy.stats.gaussian_kde))
    d = theirs.d
    assert (ours.d, ours.n) == (theirs.d, theirs.n)
    points = np.concatenate([np.atleast_2d(samples)[:, :3] + 0.3, np.full((d, 1), 102.0)], axis=1)
    centre, spread = points[:, 0], np.eye(d) * 0.7 + 0.1
    pairs = [
        (ours.neff, theirs.neff),
        (ours.covariance, theirs.covariance),
        (ours.inv_cov, theirs.inv_cov),
        (ours(points), theirs(points)),
        (adze.jit(ours.pdf)(points), theirs.pdf(points)),
        (ours.logpdf(points), theirs.logpdf(points)),
        (ours.evaluate(points[:, 0]), theirs.evaluate(points[:, 0])),
        (ours.integrate_gaussian(centre, spread), theirs.integrate_gaussian(centre, spread)),
        (ours.integrate_kde(ours), theirs.integrate_kde(theirs)),
    ]
    if d == 1:
        pairs.append((ours.integrate_box_1d(-1, 0.5), theirs.integrate_box_1d(-1, 0.5)))
    for mine, expected in pairs:
        np.testing.assert_allclose(np.asarray(mine), expected, rtol=1e-9)


def test_a_bandwidth_of_a_function() -> None:
    ours, theirs = (
        kind(ONE, lambda density: 2 / density.n) for kind in (stats.gaussian_kde, scipy.stats.gaussian_kde)
    )
    np.testing.assert_allclose(np.asarray(ours(ONE)), theirs(ONE), rtol=1e-12)


def test_a_density_is_a_tree_with_derivatives_and_batches() -> None:
    def likelihood(samples: Any, point: Any) -> Any:
        return stats.gaussian_kde(samples).logpdf(point)[0]

    point, step = TWO[:, 0] + 0.5, 1e-6
    slope = np.asarray(adze.jit(adze.grad(likelihood))(TWO, point))
    direction = RNG.standard_normal(TWO.shape)
    ends = [scipy.stats.gaussian_kde(TWO + side * step * direction).logpdf(point)[0] for side in (1, -1)]
    np.testing.assert_allclose((slope * direction).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    both = adze.vmap(stats.gaussian_kde)(np.stack([TWO, TWO * 2]))
    values = adze.vmap(lambda density, at: density(at)[0])(both, np.stack([point, point * 2]))
    expected = [scipy.stats.gaussian_kde(TWO * k)(point * k)[0] for k in (1, 2)]
    np.testing.assert_allclose(np.asarray(values), expected, rtol=1e-8)


def test_samples_have_the_moments_of_the_density() -> None:
    density = stats.gaussian_kde(TWO, weights=WEIGHTS)
    drawn = np.asarray(adze.jit(lambda density: density.resample(adze.random.key(3), (100, 200)))(density))
    assert drawn.shape == (2, 100, 200) and drawn.dtype == np.float64
    assert np.asarray(density.resample(adze.random.key(3))).shape == (2,)
    shares = WEIGHTS / WEIGHTS.sum()
    mean = TWO @ shares
    spread = np.asarray(density.covariance) + np.cov(TWO, aweights=shares, bias=True)
    flat = drawn.reshape(2, -1)
    np.testing.assert_allclose(flat.mean(axis=1), mean, atol=5 * np.sqrt(spread.max() / flat.shape[1]))
    np.testing.assert_allclose(np.cov(flat), spread, atol=0.05 * spread.max())


def test_dtypes_and_far_points() -> None:
    density = stats.gaussian_kde(ONE.astype(np.float32))
    assert density(np.float32([0.5])).dtype == np.float32
    far = np.asarray(density.logpdf(np.float32([1e4])))
    assert np.isfinite(far).all() and far[0] < -1e6
    assert np.asarray(stats.gaussian_kde([1, 2, 4])(2)).shape == (1,)


def test_named_numbers_of_samples() -> None:
    density = adze.trace(lambda x, at: stats.gaussian_kde(x)(at), adze.ShapeDtype(("n",), "float64"), 0.5)
    program = density.lower("cpu").compile()
    for count in (2, 9, 40):
        samples = RNG.standard_normal(count)
        expected = scipy.stats.gaussian_kde(samples)(0.5)
        np.testing.assert_allclose(np.asarray(program(samples, 0.5)), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: stats.gaussian_kde(1.0), "expected two samples or more, (n,) or (d, n), got f32[1,1]"),
        (
            lambda: stats.gaussian_kde(ONE, "wide"),
            "bw_method is 'wide', expected one of 'scott', 'silverman', a",
        ),
        (lambda: stats.gaussian_kde(ONE, None, WEIGHTS), "weights f64[12] do not fit samples f64[1,9]"),
        (lambda: stats.gaussian_kde(TWO)(np.ones((3, 4))), "points f64[3,4] do not fit 2 variables"),
        (
            lambda: stats.gaussian_kde(TWO).integrate_box_1d(0, 1),
            "integrate_box_1d expects one variable, got 2",
        ),
        (lambda: stats.gaussian_kde(ONE).integrate_box_1d(0, [1.0]), "the bounds are f32[] and f64[1]"),
        (lambda: stats.gaussian_kde(TWO).integrate_gaussian([1.0], 1.0), "do not fit 2 variables"),
        (lambda: stats.gaussian_kde(TWO).integrate_kde(stats.gaussian_kde(ONE)), "variables, got one of 1"),
        (lambda: stats.gaussian_kde(TWO).integrate_kde(3), "expected a gaussian_kde of 2 variables, got int"),
        (
            lambda: stats.gaussian_kde(TWO).set_bandwidth(0.3),
            "write gaussian_kde(dataset, bw_method, weights)",
        ),
    ],
    ids=range(10),
)
def test_errors(call: Any, text: str) -> None:
    with pytest.raises(Exception) as raised:
        call()
    assert text in str(raised.value) and type(raised.value).__module__ == "adze.frontend.errors"
    assert "test_kernel_density.py" in str(raised.value)

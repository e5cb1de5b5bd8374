"""Distributions of numbers that are no parameters, or at NaN: NaN, as in SciPy, and never a number."""

from __future__ import annotations

import numpy as np
import pytest

import adze
import adze.scipy.stats as stats

X = np.array([-1.0, 0.3, 2.0])
SHAPES: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(
        ("norm", "cauchy", "logistic", "laplace", "gumbel_r", "gumbel_l", "expon", "uniform"), ()
    ),
    "gamma": (2.5,),
    "chi2": (3.0,),
    "beta": (2.0, 3.5),
    "pareto": (1.5,),
    "t": (4.0,),
    "truncnorm": (-1.0, 2.0),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_scale_that_is_not_positive_gives_nan(name: str) -> None:
    distribution = getattr(stats, name)
    for function in distribution.__all__:
        for scale in (0.0, -1.5, np.nan):
            found = np.asarray(getattr(distribution, function)(X, *SHAPES[name], scale=scale))
            assert np.isnan(found).all(), (function, scale)


@pytest.mark.parametrize("name", ["norm", "gamma", "chi2", "beta", "pareto", "expon", "t", "gumbel_l"])
def test_functions_of_nan_are_nan(name: str) -> None:
    distribution = getattr(stats, name)
    for function in distribution.__all__:
        assert np.isnan(getattr(distribution, function)(np.nan, *SHAPES[name])), function


def test_shapes_that_are_no_parameters_give_nan() -> None:
    for function in (stats.gamma.cdf, stats.gamma.sf, stats.chi2.cdf, stats.chi2.logsf):
        assert np.isnan(function(np.float64([0.5, 0.5]), np.float64([0, -1]))).all()
    assert np.isnan(stats.gennorm.cdf(0.5, 0.0)) and stats.gennorm.cdf(0.0, 1.5) == 0.5


def test_the_slope_of_a_probability_is_the_density_at_the_ends_of_the_support() -> None:
    at = np.array([0.0, 1.0])
    assert adze.vmap(adze.grad(stats.uniform.cdf))(at).tolist() == [1, 1]
    assert adze.vmap(adze.grad(stats.expon.sf))(at[:1]).tolist() == [-1]
    assert adze.grad(lambda v: stats.pareto.cdf(v, 3.0))(1.0) == 3
    np.testing.assert_allclose(
        adze.grad(lambda v: stats.gennorm.cdf(v, 1.5))(np.float64(0)), stats.gennorm.pdf(np.float64(0), 1.5)
    )

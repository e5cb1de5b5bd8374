"""Distributions and statistics of samples: values of SciPy within and beyond the supports, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

import adze
import adze.scipy.stats as stats

X = np.array([-3.0, -0.7, 0.0, 0.3, 0.5, 1.0, 2.0, 7.5])
K = np.array([-1.0, 0, 1, 2, 5, 6, 1.5])
Q = np.array([0.0, 1e-9, 0.2, 0.5, 0.9, 1.0])

CONTINUOUS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(
        ("norm", "cauchy", "logistic", "laplace", "gumbel_r", "gumbel_l", "expon", "uniform"), ()
    ),
    "gamma": (2.5,),
    "chi2": (3.0,),
    "beta": (2.0, 3.5),
    "pareto": (1.5,),
    "t": (4.0,),
    "gennorm": (1.7,),
    "vonmises": (2.0,),
    "wrapcauchy": (0.4,),
    "truncnorm": (-1.0, 2.0),
}
DISCRETE: dict[str, tuple[float, ...]] = {
    "bernoulli": (0.3,),
    "binom": (5, 0.3),
    "betabinom": (5, 2.0, 3.0),
    "geom": (0.3,),
    "nbinom": (4, 0.3),
    "poisson": (2.5,),
}
WITHOUT_LOCATION = ("gennorm", "vonmises", "wrapcauchy")


def points(function: str, name: str) -> np.ndarray:
    if function in ("ppf", "isf"):
        return Q[1:] if name == "bernoulli" else Q  # SciPy's quantile of 0 is below the support
    return X if name in CONTINUOUS else K


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_values_are_those_of_scipy(name: str) -> None:
    shapes = (CONTINUOUS | DISCRETE)[name]
    ours, theirs = getattr(stats, name), getattr(scipy.stats, name)
    located = [()] if name in (*WITHOUT_LOCATION, *DISCRETE) else [(), (0.3, 1.7)]
    for function in ours.__all__:
        if function == "entropy":
            continue
        for place in located:
            x = points(function, name)
            with np.errstate(all="ignore"):
                wanted = getattr(theirs, function)(x, *shapes, *place)
            result = getattr(ours, function)(x, *shapes, *place)
            assert result.dtype == np.float64
            np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-300, err_msg=f"{name}.{function}")
            if place:
                continue
            single = getattr(ours, function)(x.astype(np.float32), *shapes, *place)
            assert single.dtype == np.float32
            np.testing.assert_allclose(single, wanted, rtol=2e-3, atol=1e-5, err_msg=f"{name}.{function}")


@pytest.mark.parametrize("name", [*CONTINUOUS, "poisson", "nbinom"])
def test_gradients_are_differences(name: str) -> None:
    """With respect to the point (of densities) and to each parameter, away from the ends of the support."""
    shapes = (CONTINUOUS | DISCRETE)[name]
    distribution = getattr(stats, name)
    log = distribution.logpdf if name in CONTINUOUS else distribution.logpmf
    x, step = 1.3 if name in ("pareto",) else 0.4, 1e-6
    arguments = [np.float64(v) for v in ((2.0 if name in DISCRETE else x), *shapes)]
    for position in range(name in DISCRETE, len(arguments)):
        slope = adze.grad(log, position)(*arguments)
        moved = [[a + sign * step * (i == position) for i, a in enumerate(arguments)] for sign in (1, -1)]
        difference = (np.asarray(log(*moved[0])) - np.asarray(log(*moved[1]))) / (2 * step)
        np.testing.assert_allclose(slope, difference, rtol=1e-5, atol=1e-7)


def test_gradients_outside_the_support_are_no_nan() -> None:
    for name in ("gamma", "beta", "expon", "pareto", "uniform", "chi2"):
        slope = adze.grad(lambda x, n=name: getattr(stats, n).pdf(x, *CONTINUOUS[n]))(-2.0)
        assert slope.item() == 0, name


def test_they_are_compiled_and_batched_and_take_keywords() -> None:
    def several(x: Any) -> Any:
        return [
            stats.norm.logpdf(x, scale=2.0, loc=1.0),
            stats.gamma.pdf(x, a=2.0, scale=0.5),
            stats.poisson.logpmf(x, mu=2.0),
        ]

    compiled, evaluated = adze.jit(several)(X), several(X)
    for left, right in zip(compiled, evaluated, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-10)
    mapped = adze.vmap(stats.norm.logpdf, in_axes=(0, None))(X, 0.5)
    np.testing.assert_allclose(mapped, stats.norm.logpdf(X, 0.5), rtol=1e-12)
    assert stats.norm.pdf(0.0).dtype == np.float32 and stats.norm.pdf(0.0).weak_type
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        stats.gamma.logpdf(1.0)


@pytest.mark.oracle
def test_distributions_of_vectors() -> None:
    rng = np.random.default_rng(0)
    x, mean, cov = rng.normal(size=(3, 2)), np.ones(2), np.array([[2, 0.5], [0.5, 1]])
    wanted = scipy.stats.multivariate_normal.logpdf(x, mean, cov)
    normal = stats.multivariate_normal
    np.testing.assert_allclose(normal.logpdf(x, mean, cov), wanted, rtol=1e-12)
    np.testing.assert_allclose(normal.logpdf(x, mean, np.stack([cov] * 3)), wanted, rtol=1e-12)
    np.testing.assert_allclose(normal.pdf(x[0], mean, cov), np.exp(wanted[0]), rtol=1e-12)
    alone = scipy.stats.multivariate_normal.logpdf(0.3, 0.1, 2.0)
    np.testing.assert_allclose(normal.logpdf(np.float64(0.3), 0.1, 2.0), alone, rtol=1e-12)
    p, alpha = np.array([0.2, 0.3, 0.5]), np.array([1.0, 2, 3])
    density = scipy.stats.dirichlet.logpdf(p, alpha)
    np.testing.assert_allclose(stats.dirichlet.logpdf(p, alpha), density, rtol=1e-12)
    np.testing.assert_allclose(stats.dirichlet.logpdf(p[:2], alpha), density, rtol=1e-12)
    assert stats.dirichlet.pdf(p + 0.1, alpha).item() == 0
    counts = np.array([[1, 2, 3], [1, 1, 1]])
    result = stats.multinomial.logpmf(counts, 6, p)
    np.testing.assert_allclose(result, scipy.stats.multinomial.logpmf(counts, 6, p), rtol=1e-12)
    with pytest.raises(ValueError, match="does not fit 2 variables"):
        normal.logpdf(x, mean, np.eye(3))


@pytest.mark.oracle
def test_entropy_of_poisson() -> None:
    mu = np.array([0.1, 2.5, 50.0, 99.0, 101.0, 1000.0])
    np.testing.assert_allclose(stats.poisson.entropy(mu), scipy.stats.poisson.entropy(mu), rtol=1e-9)


@pytest.mark.oracle
def test_statistics_of_samples() -> None:
    r = np.array([[3, 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])
    for method in ("average", "min", "max", "dense", "ordinal"):
        for axis in (0, 1, None):
            wanted = scipy.stats.rankdata(r, method, axis=axis)
            np.testing.assert_array_equal(np.ravel(stats.rankdata(r, method, axis=axis)), np.ravel(wanted))
    for axis in (0, 1, None):
        ours, theirs = stats.mode(r, axis=axis), scipy.stats.mode(r, axis=axis)
        np.testing.assert_array_equal(ours.mode, theirs.mode)
        np.testing.assert_array_equal(ours.count, theirs.count)
        np.testing.assert_allclose(stats.sem(r, axis), scipy.stats.sem(r, axis), rtol=1e-6)
    assert stats.mode(r, axis=None, keepdims=True).mode.shape == (1, 1)
    with pytest.raises(ValueError, match="method is 'best'"):
        stats.rankdata(r, "best")

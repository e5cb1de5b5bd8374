"""Each sampler draws from its distribution: Kolmogorov-Smirnov and chi-square tests with fixed keys.

A correct sampler fails one of them with probability LEVEL; as the keys are fixed, always or never.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import random

pytestmark = pytest.mark.oracle

stats = pytest.importorskip("scipy.stats")

COUNT = 20000
LEVEL = 1e-4
KEY = random.key(2024)

CONTINUOUS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "uniform": (lambda k: random.uniform(k, (COUNT,), None, -2, 5), lambda: stats.uniform(-2, 7)),
    "normal": (lambda k: random.normal(k, (COUNT,)), lambda: stats.norm()),
    "normal f64": (lambda k: random.normal(k, (COUNT,), np.float64), lambda: stats.norm()),
    "normal c64": (
        lambda k: np.asarray(random.normal(k, (COUNT // 2,), np.complex64)).view(np.float32),
        lambda: stats.norm(scale=math.sqrt(0.5)),
    ),
    "truncated_normal": (
        lambda k: random.truncated_normal(k, -0.5, 2.0, (COUNT,)),
        lambda: stats.truncnorm(-0.5, 2.0),
    ),
    "exponential": (lambda k: random.exponential(k, (COUNT,)), lambda: stats.expon()),
    "gumbel": (lambda k: random.gumbel(k, (COUNT,)), lambda: stats.gumbel_r()),
    "gumbel high": (lambda k: random.gumbel(k, (COUNT,), mode="high"), lambda: stats.gumbel_r()),
    "laplace": (lambda k: random.laplace(k, (COUNT,)), lambda: stats.laplace()),
    "logistic": (lambda k: random.logistic(k, (COUNT,)), lambda: stats.logistic()),
    "cauchy": (lambda k: random.cauchy(k, (COUNT,)), lambda: stats.cauchy()),
    "pareto": (lambda k: random.pareto(k, 3.0, (COUNT,)), lambda: stats.pareto(3)),
    "rayleigh": (lambda k: random.rayleigh(k, 2.0, (COUNT,)), lambda: stats.rayleigh(scale=2)),
    "weibull_min": (
        lambda k: random.weibull_min(k, 2.0, 1.5, (COUNT,)),
        lambda: stats.weibull_min(1.5, scale=2),
    ),
    "maxwell": (lambda k: random.maxwell(k, (COUNT,)), lambda: stats.maxwell()),
    "lognormal": (lambda k: random.lognormal(k, 0.5, (COUNT,)), lambda: stats.lognorm(0.5)),
    "wald": (lambda k: random.wald(k, 1.5, (COUNT,)), lambda: stats.invgauss(1.5)),
    "triangular": (lambda k: random.triangular(k, -1, 0, 3, (COUNT,)), lambda: stats.triang(0.25, -1, 4)),
    **{
        f"gamma {a}": (
            lambda k, a=a: random.gamma(k, a, (COUNT,), np.float64),
            lambda a=a: stats.gamma(a),
        )
        for a in (0.03, 0.5, 0.999, 1.0, 2.5, 1000.0)
    },
    "gamma f32": (lambda k: random.gamma(k, 1.7, (COUNT,)), lambda: stats.gamma(1.7)),
    "loggamma": (lambda k: random.loggamma(k, 1.7, (COUNT,)), lambda: stats.loggamma(1.7)),
    "beta": (lambda k: random.beta(k, 0.5, 2.0, (COUNT,)), lambda: stats.beta(0.5, 2)),
    "chisquare": (lambda k: random.chisquare(k, 3.0, (COUNT,)), lambda: stats.chi2(3)),
    "f": (lambda k: random.f(k, 3.0, 8.0, (COUNT,)), lambda: stats.f(3, 8)),
    "t": (lambda k: random.t(k, 3.0, (COUNT,)), lambda: stats.t(3)),
    "generalized_normal": (
        lambda k: random.generalized_normal(k, 1.5, (COUNT,)),
        lambda: stats.gennorm(1.5),
    ),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name: str) -> None:
    sampler, distribution = CONTINUOUS[name]
    samples = np.asarray(sampler(KEY)).astype(np.float64)
    assert samples.shape == (COUNT,)
    assert stats.kstest(samples, distribution().cdf).pvalue > LEVEL


def frequencies_fit(samples: Any, probabilities: np.ndarray) -> None:
    """Chi-square test of the values 0, 1, ...; all beyond the last probability are counted together."""
    values = np.asarray(samples).ravel()
    rest = 1 - probabilities.sum()
    expected = np.append(probabilities, rest) if rest > 1e-9 else probabilities / probabilities.sum()
    counted = np.bincount(np.minimum(values, len(expected) - 1), minlength=len(expected))
    assert counted[expected == 0].sum() == 0
    kept = expected > 0
    result = stats.chisquare(counted[kept], expected[kept] / expected[kept].sum() * values.size)
    assert result.pvalue > LEVEL


@pytest.mark.parametrize("rate", [0.2, 4.0, 9.99, 10.0, 30.0, 500.0])
def test_poisson(rate: float) -> None:
    samples = np.asarray(random.poisson(KEY, rate, (COUNT,)))
    law = stats.poisson(rate)
    low = int(law.ppf(0.001))
    assert samples.min() >= 0
    probabilities = law.pmf(np.arange(low, int(law.ppf(0.999)) + 1))
    probabilities[0] = law.cdf(low)
    frequencies_fit(np.maximum(samples, low) - low, probabilities)


def test_poisson_of_several_rates_is_that_of_each() -> None:
    rates = np.array([0.5, 40.0], np.float32)
    samples = np.asarray(random.poisson(KEY, rates, (COUNT, 2)))
    for i, rate in enumerate(rates):
        assert abs(samples[:, i].mean() - rate) < 5 * math.sqrt(rate / COUNT)


def test_geometric() -> None:
    frequencies_fit(random.geometric(KEY, 0.3, (COUNT,)) - 1, stats.geom(0.3, loc=-1).pmf(np.arange(20)))


@pytest.mark.parametrize(("n", "p"), [(20, 0.1), (20, 0.75), (60, 0.5), (1000, 0.02), (100000, 0.3)])
def test_binomial(n: int, p: float) -> None:
    samples = np.asarray(random.binomial(KEY, n, p, (COUNT,))).astype(np.int64)
    law = stats.binom(n, float(np.float32(p)))
    low = int(law.ppf(0.001))
    probabilities = law.pmf(np.arange(low, int(law.ppf(0.999)) + 1))
    probabilities[0] = law.cdf(low)
    frequencies_fit(np.maximum(samples, low) - low, probabilities)


def test_multinomial() -> None:
    chances = np.array([0.2, 0.5, 0.0, 0.3])
    samples = np.asarray(random.multinomial(KEY, 6, chances.astype(np.float32), shape=(COUNT, 4)))
    assert np.all(samples.sum(axis=-1) == 6)
    counts = [c for c in np.ndindex(7, 7, 1) if sum(c) <= 6]
    probabilities = np.array([stats.multinomial(6, chances).pmf([*c, 6 - sum(c)]) for c in counts])
    numbers = {c: i for i, c in enumerate(counts)}
    frequencies_fit(np.array([numbers[tuple(row)] for row in samples[:, :3].astype(int)]), probabilities)


@pytest.mark.parametrize("method", ["cholesky", "eigh", "svd"])
def test_multivariate_normal(method: str) -> None:
    """Lengths in the metric of the covariance are chi-square, and coordinates normal."""
    mean = np.array([1.0, -2.0, 0.5])
    covariance = np.array([[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 3]])
    samples = np.asarray(random.multivariate_normal(KEY, mean, covariance, (COUNT,), method=method))
    centred = samples - mean
    lengths = np.sum(centred @ np.linalg.inv(covariance) * centred, axis=-1)
    assert stats.kstest(lengths, stats.chi2(3).cdf).pvalue > LEVEL
    for i in range(3):
        assert stats.kstest(centred[:, i], stats.norm(0, math.sqrt(covariance[i, i])).cdf).pvalue > LEVEL
    assert np.allclose(np.cov(centred.T), covariance, atol=0.1)


def test_double_sided_maxwell() -> None:
    samples = np.asarray(random.double_sided_maxwell(KEY, 1.0, 2.0, (COUNT,)))
    assert stats.kstest(np.abs(samples - 1), stats.maxwell(scale=2).cdf).pvalue > LEVEL
    frequencies_fit((samples > 1).astype(np.int64), np.array([0.5, 0.5]))


def test_coins_and_signs() -> None:
    frequencies_fit(random.bernoulli(KEY, 0.3, (COUNT,)).astype(np.int32), np.array([0.7, 0.3]))
    high = random.bernoulli(KEY, 0.3, (COUNT,), mode="high").astype(np.int32)
    frequencies_fit(high, np.array([0.7, 0.3]))
    frequencies_fit((random.rademacher(KEY, (COUNT,)) + 1) // 2, np.array([0.5, 0.5]))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integers(dtype: str) -> None:
    samples = random.randint(KEY, (COUNT,), 3, 20, dtype)
    assert samples.dtype == np.dtype(dtype)
    frequencies_fit(np.asarray(samples).astype(np.int64) - 3, np.full(17, 1 / 17))


@pytest.mark.parametrize(("dtype", "shift"), [("uint8", 0), ("int16", 8), ("uint32", 24), ("uint64", 56)])
def test_integers_of_the_whole_range(dtype: str, shift: int) -> None:
    info = np.iinfo(dtype)
    end = min(int(info.max) + 1, 2**64 - 1)  # of no more than 64 bits
    samples = np.asarray(random.randint(KEY, (COUNT,), int(info.min), end, dtype))
    top = samples.astype(np.uint64) - np.array(info.min).astype(np.uint64)
    frequencies_fit((top >> np.uint64(shift)).astype(np.int64), np.full(256, 1 / 256))


def test_bits_are_even() -> None:
    samples = np.asarray(random.bits(KEY, (COUNT,)))
    for shift in (0, 8, 16, 24):
        frequencies_fit(((samples >> shift) & 255).astype(np.int64), np.full(256, 1 / 256))


def test_each_permutation_is_as_likely() -> None:
    keys = random.split(KEY, COUNT)
    orders = np.asarray(adze.vmap(lambda k: random.permutation(k, 4))(keys))
    assert np.array_equal(np.sort(orders, axis=1), np.broadcast_to(np.arange(4), (COUNT, 4)))
    numbers = orders @ np.array([64, 16, 4, 1])
    _, numbered = np.unique(numbers, return_inverse=True)
    frequencies_fit(numbered, np.full(24, 1 / 24))


WEIGHTS = np.array([0.1, 0.2, 0.0, 0.3, 0.4], np.float32)


def test_choice_with_weights() -> None:
    frequencies_fit(random.choice(KEY, 5, (COUNT,), p=WEIGHTS), WEIGHTS.astype(np.float64))
    frequencies_fit(random.choice(KEY, 5, (COUNT,)), np.full(5, 0.2))


def test_choice_without_replacement() -> None:
    """The first of two is drawn by the weights, the second by those of what is left."""
    keys = random.split(KEY, COUNT)
    pairs = np.asarray(adze.vmap(lambda k: random.choice(k, 5, (2,), replace=False, p=WEIGHTS))(keys))
    weights = WEIGHTS.astype(np.float64)
    joint = weights[:, None] * weights[None, :] / (1 - weights[:, None])
    np.fill_diagonal(joint, 0)
    frequencies_fit(pairs @ np.array([5, 1]), joint.ravel())


def test_shuffle_permutes_each_vector_on_its_own() -> None:
    x = np.tile(np.arange(3), (COUNT, 1))
    shuffled = np.asarray(random.shuffle(KEY, x, axis=1))
    assert np.array_equal(np.sort(shuffled, axis=1), x)
    _, numbered = np.unique(shuffled @ np.array([9, 3, 1]), return_inverse=True)
    frequencies_fit(numbered, np.full(6, 1 / 6))


def test_categories() -> None:
    with np.errstate(divide="ignore"):
        logits = np.log(WEIGHTS) + 3
    frequencies_fit(random.categorical(KEY, logits, shape=(COUNT,)), WEIGHTS.astype(np.float64))


def test_dirichlet() -> None:
    alpha = np.array([0.5, 1, 2], np.float32)
    samples = np.asarray(random.dirichlet(KEY, alpha, (COUNT,)))
    assert np.allclose(samples.sum(axis=-1), 1, atol=1e-6)
    for i, a in enumerate(alpha):
        assert stats.kstest(samples[:, i], stats.beta(a, alpha.sum() - a).cdf).pvalue > LEVEL


@pytest.mark.parametrize("p", [1, 2])
def test_ball(p: int) -> None:
    points = np.asarray(random.ball(KEY, 3, p, (COUNT,)))
    radius = (np.abs(points) ** p).sum(axis=-1) ** (1 / p)
    assert stats.kstest(radius**3, stats.uniform.cdf).pvalue > LEVEL
    frequencies_fit((points > 0) @ np.array([4, 2, 1]), np.full(8, 1 / 8))


def test_orthogonal_matrices_have_the_distribution_of_haar() -> None:
    """An entry of a Haar matrix is a coordinate of a point of the sphere: its square is a beta sample."""
    q = np.asarray(random.orthogonal(KEY, 4, (4000,), np.float64))
    assert np.allclose(q @ q.swapaxes(-1, -2), np.eye(4), atol=1e-14)
    for i, j in ((0, 0), (1, 2), (3, 3)):
        assert stats.kstest(q[:, i, j] ** 2, stats.beta(0.5, 1.5).cdf).pvalue > LEVEL
        frequencies_fit((q[:, i, j] > 0).astype(np.int64), np.array([0.5, 0.5]))
    frequencies_fit((np.linalg.det(q) > 0).astype(np.int64), np.array([0.5, 0.5]))


FLOAT_SAMPLERS: dict[str, Callable[..., Any]] = {
    "uniform": lambda k, d: random.uniform(k, (3, 2), d),
    "normal": lambda k, d: random.normal(k, (3, 2), d),
    "truncated_normal": lambda k, d: random.truncated_normal(k, -1, 1, (3, 2), d),
    "exponential": lambda k, d: random.exponential(k, (3, 2), d),
    "gumbel": lambda k, d: random.gumbel(k, (3, 2), d),
    "laplace": lambda k, d: random.laplace(k, (3, 2), d),
    "logistic": lambda k, d: random.logistic(k, (3, 2), d),
    "cauchy": lambda k, d: random.cauchy(k, (3, 2), d),
    "pareto": lambda k, d: random.pareto(k, 2.0, (3, 2), d),
    "rayleigh": lambda k, d: random.rayleigh(k, 2.0, (3, 2), d),
    "weibull_min": lambda k, d: random.weibull_min(k, 2.0, 1.0, (3, 2), d),
    "maxwell": lambda k, d: random.maxwell(k, (3, 2), d),
    "lognormal": lambda k, d: random.lognormal(k, 1.0, (3, 2), d),
    "wald": lambda k, d: random.wald(k, 2.0, (3, 2), d),
    "triangular": lambda k, d: random.triangular(k, 0.0, 1.0, 2.0, (3, 2), d),
    "gamma": lambda k, d: random.gamma(k, 2.0, (3, 2), d),
    "loggamma": lambda k, d: random.loggamma(k, 0.5, (3, 2), d),
    "beta": lambda k, d: random.beta(k, 2.0, 0.5, (3, 2), d),
    "chisquare": lambda k, d: random.chisquare(k, 2.0, (3, 2), d),
    "f": lambda k, d: random.f(k, 2.0, 3.0, (3, 2), d),
    "t": lambda k, d: random.t(k, 2.0, (3, 2), d),
    "generalized_normal": lambda k, d: random.generalized_normal(k, 2.0, (3, 2), d),
    "dirichlet": lambda k, d: random.dirichlet(k, [1.0, 2.0], (3,), d),
    "ball": lambda k, d: random.ball(k, 2, 2, (3,), d),
    "orthogonal": lambda k, d: random.orthogonal(k, 3, (), d, 2),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FLOAT_SAMPLERS)
def test_dtypes_and_shapes(name: str) -> None:
    """Each float dtype has its own samples, close to nothing but themselves: finite and of the dtype."""
    for dtype in (None, np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        samples = FLOAT_SAMPLERS[name](KEY, dtype)
        assert samples.shape == (3, 2)
        assert samples.dtype == (np.float32 if dtype is None else np.dtype(dtype))
        assert np.all(np.isfinite(np.asarray(samples).astype(np.float64)))


def test_parameters_in_double_precision_make_samples_so() -> None:
    assert random.gamma(KEY, np.array([1.0, 2.0])).dtype == np.float64
    assert random.uniform(KEY, (2,), minval=np.float64(1) * np.zeros(2)).dtype == np.float64
    assert random.gamma(KEY, np.array([1.0, 2.0]), dtype=np.float32).dtype == np.float32


def test_parameters_alone_give_the_shape() -> None:
    two, three = np.ones((2, 1), np.float32), np.ones(3, np.float32)
    for sample in (
        random.beta(KEY, two, three),
        random.weibull_min(KEY, two, three),
        random.triangular(KEY, -two, 0.0, three),
        random.truncated_normal(KEY, -two, three),
        random.f(KEY, two, three),
    ):
        assert sample.shape == (2, 3)
        assert len(np.unique(np.asarray(sample))) == 6
    for sample in (random.t(KEY, three), random.generalized_normal(KEY, three), random.poisson(KEY, three)):
        assert sample.shape == (3,)


def test_edges_of_parameters() -> None:
    tiny = random.loggamma(KEY, 1e-6, (100,))
    assert np.all(np.isfinite(np.asarray(tiny)))
    assert np.asarray(random.gamma(KEY, 0.0)) == 0
    assert np.isnan(np.asarray(random.gamma(KEY, -1.0)))
    assert np.all(np.asarray(random.beta(KEY, 1e-4, 1e-4, (100,))) <= 1)
    assert np.asarray(random.uniform(KEY, (0, 3))).shape == (0, 3)
    assert not np.any(np.asarray(random.bernoulli(KEY, 0.0, (1000,))))
    assert np.all(np.asarray(random.bernoulli(KEY, 1.0, (1000,))))

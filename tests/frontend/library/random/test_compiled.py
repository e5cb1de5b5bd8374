"""Compiled samplers give the eager samples: equal integers, floats to rounding; one module for each group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import random

KEY = random.key(5)
LOGITS = np.log(np.array([[0.1, 0.6, 0.3], [0.5, 0.25, 0.25]], np.float32))
COVARIANCE = np.array([[2, 0.5], [0.5, 1]], np.float32)
RATES = np.array([0.5, 4.0, 60.0], np.float32)


def exact_ones(key: Any) -> dict[str, Any]:
    k = random.split(key, 10)
    return {
        "uniform": random.uniform(k[0], (50,)),
        "uniform f64": random.uniform(k[0], (50,), np.float64),
        "uniform f16": random.uniform(k[0], (50,), np.float16),
        "randint": random.randint(k[1], (50,), -7, 1000),
        "randint u8": random.randint(k[1], (50,), 0, 256, np.uint8),
        "randint i64": random.randint(k[1], (50,), -(2**62), 2**62, np.int64),
        "bernoulli": random.bernoulli(k[2], 0.3, (50,)),
        "rademacher": random.rademacher(k[3], (50,)),
        "permutation": random.permutation(k[4], 20),
        "independent": random.permutation(k[4], np.arange(12).reshape(4, 3), independent=True),
        "choice": random.choice(k[5], 9, (4,), replace=False),
        "weighted": random.choice(k[5], 3, (50,), p=np.array([0.2, 0.3, 0.5], np.float32)),
        "categorical": random.categorical(k[6], LOGITS, shape=(20, 2)),
        "poisson": random.poisson(k[7], RATES, (20, 3)),
        "geometric": random.geometric(k[8], 0.2, (50,)),
        "binomial": random.binomial(k[9], np.array([5, 100], np.float32), 0.3, (20, 2)),
    }


def rounded_ones(key: Any) -> dict[str, Any]:
    k = random.split(key, 20)
    a = np.array([0.05, 0.8, 1.0, 7.0, 300.0], np.float32)
    return {
        "normal": random.normal(k[0], (50,)),
        "normal f64": random.normal(k[0], (50,), np.float64),
        "truncated": random.truncated_normal(k[1], -1.0, 2.0, (50,)),
        "exponential": random.exponential(k[2], (50,)),
        "gumbel": random.gumbel(k[3], (50,)),
        "laplace": random.laplace(k[4], (50,)),
        "logistic": random.logistic(k[5], (50,)),
        "cauchy": random.cauchy(k[6], (50,)),
        "weibull": random.weibull_min(k[7], 2.0, 1.5, (50,)),
        "loggamma": random.loggamma(k[8], a, (10, 5)),
        "gamma f64": random.gamma(k[9], a.astype(np.float64), (10, 5)),
        "dirichlet": random.dirichlet(k[11], a, (4,)),
        "multivariate": random.multivariate_normal(k[12], np.zeros(2, np.float32), COVARIANCE, (5,)),
        "ball": random.ball(k[13], 3, 2, (5,)),
        "orthogonal": random.orthogonal(k[14], 3, (2,)),
    }


def few(key: Any) -> dict[str, Any]:
    """One of each way to make a sample: from bits, by a formula, by sorting, by a loop that asks again."""
    k = random.split(key, 5)
    return {
        "randint": random.randint(k[0], (50,), -7, 1000),
        "normal": random.normal(k[1], (50,)),
        "permutation": random.permutation(k[2], 20),
        "poisson": random.poisson(k[3], RATES[1:2], (4, 1)),
        "split": k[4],
    }


@pytest.mark.thorough
def test_one_sample_of_each_kind_is_the_eager_one() -> None:
    compiled, eager = adze.jit(few)(KEY), few(KEY)
    for name, expected in eager.items():
        assert compiled[name].dtype == expected.dtype, name
        tolerance = 2e-5 if name == "normal" else 0
        np.testing.assert_allclose(
            np.asarray(compiled[name]), np.asarray(expected), rtol=tolerance, atol=tolerance, err_msg=name
        )


@pytest.mark.thorough
def test_samples_without_rounding_are_equal() -> None:
    compiled, eager = adze.jit(exact_ones)(KEY), exact_ones(KEY)
    for name, expected in eager.items():
        assert compiled[name].dtype == expected.dtype, name
        assert np.array_equal(np.asarray(compiled[name]), np.asarray(expected)), name


@pytest.mark.thorough
def test_other_samples_are_equal_to_rounding() -> None:
    compiled, eager = adze.jit(rounded_ones)(KEY), rounded_ones(KEY)
    for name, expected in eager.items():
        assert compiled[name].dtype == expected.dtype, name
        tolerance = 2e-5 if expected.dtype == np.float32 else 1e-12
        got, wanted = np.asarray(compiled[name]), np.asarray(expected)
        assert np.allclose(got, wanted, rtol=tolerance, atol=tolerance), name


def parametrised(key: Any, a: Any) -> tuple[Any, ...]:
    first, second, third, fourth = random.split(key, 4)
    return (
        random.gamma(first, a),
        random.geometric(second, 0.2 * a),
        random.categorical(third, a * LOGITS[0]),
        random.permutation(fourth, anp.arange(5) * 3),
    )


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_mapping_over_keys_and_parameters_is_a_loop(compiled: bool) -> None:
    keys = random.split(KEY, 4)
    parameters = np.array([0.5, 1.0, 2.0, 3.5], np.float32)
    mapped = adze.vmap(parametrised)
    got = (adze.jit(mapped) if compiled else mapped)(keys, parameters)
    looped = [parametrised(k, a) for k, a in zip(np.asarray(keys), parameters, strict=True)]
    for part, expected in zip(got, zip(*looped, strict=True), strict=True):
        wanted = np.stack([np.asarray(e) for e in expected])
        assert part.dtype == wanted.dtype
        assert np.allclose(np.asarray(part), wanted, rtol=2e-6, atol=0)


def test_counts_of_each_key_and_rate_are_those_of_a_loop() -> None:
    keys, rates = random.split(KEY, 3), np.array([0.5, 9.0, 70.0], np.float32)
    got = adze.vmap(random.poisson)(keys, rates)
    assert np.asarray(got).tolist() == [int(random.poisson(k, r)) for k, r in zip(keys, rates, strict=True)]


def test_one_key_for_all_slices_draws_the_same_for_each() -> None:
    drawn = adze.vmap(lambda x: x + random.normal(KEY), in_axes=0)(np.zeros(3, np.float32))
    assert np.array_equal(np.asarray(drawn), np.full(3, np.asarray(random.normal(KEY))))


@pytest.mark.thorough
def test_loops_of_samples_whose_number_is_known_when_the_program_runs() -> None:
    def draw(key: Any, a: Any) -> tuple[Any, ...]:
        k = random.split(key, 3)
        return random.gamma(k[0], a), random.poisson(k[1], 8 * a), random.binomial(k[2], 30, 0.1 * a)

    key, sizes = adze.ShapeDtype((2,), np.uint32), adze.ShapeDtype(("n",))
    program = adze.trace(draw, key, sizes).lower().compile()
    for n in (1, 5):
        a = np.linspace(0.3, 3, n, dtype=np.float32)
        for got, expected in zip(program(KEY, a), draw(KEY, a), strict=True):
            assert np.allclose(np.asarray(got), np.asarray(expected), rtol=2e-6)

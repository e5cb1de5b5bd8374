"""Samples equal JAX's for the same key and shape: bits exactly, floats to rounding of the same formula.

Each sampler in many ways, by the installed JAX: nearly all is thorough. `make test` compares one call of each
sampler with frozen values (`test_documented_agreement.py`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adze import random

pytestmark = pytest.mark.oracle

jax = pytest.importorskip("jax")

KEY = np.array([0x12345678, 0x9ABCDEF0], np.uint32)
LOGITS = np.log(np.random.default_rng(1).random((3, 4, 5), np.float32))
WEIGHTS = np.array([0.1, 0.2, 0.0, 0.3, 0.4], np.float32)
X = np.arange(60, dtype=np.float32).reshape(3, 4, 5)


def jax_key() -> Any:
    return jax.numpy.asarray(KEY)


def both(name: str, *args: Any, **kwargs: Any) -> tuple[np.ndarray, np.ndarray]:
    got = np.asarray(getattr(random, name)(KEY, *args, **kwargs))
    expected = np.asarray(getattr(jax.random, name)(jax_key(), *args, **kwargs))
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    return got, expected


def exact(name: str, *args: Any, **kwargs: Any) -> None:
    got, expected = both(name, *args, **kwargs)
    assert np.array_equal(got, expected), f"{np.mean(got != expected):.2%} differ"


ERF_INV = 64
"""Roundings of what has an `erf_inv` in it: JAX's is a polynomial that loses digits far from 0."""


def rounded(name: str, *args: Any, roundings: int = 8, **kwargs: Any) -> None:
    """Equal to some roundings of numbers of the size of the samples or of 1, whichever is larger.

    Formulas such as `-log(-log(u))` pass through 0, where an error of the inner step remains.
    """
    got, expected = both(name, *args, **kwargs)
    eps = float(jax.numpy.finfo(got.dtype).eps)
    wide = expected.astype(np.float64)
    error = np.abs(got.astype(np.float64) - wide) / np.maximum(np.abs(wide), 1)
    assert np.max(error, initial=0) <= roundings * eps


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31 - 1])
def test_keys(seed: int) -> None:
    assert np.array_equal(random.key(seed), jax.random.PRNGKey(seed))
    assert np.array_equal(random.key(seed), jax.random.key_data(jax.random.key(seed)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("num", [1, 2, 5, (2, 3), ()])
def test_split(num: Any) -> None:
    exact("split", num)


@pytest.mark.parametrize("data", [0, 1, 2**31, 2**32 - 1])
def test_fold_in(data: int) -> None:
    exact("fold_in", data)


@pytest.mark.thorough
def test_bits() -> None:
    for shape in ((), (0,), (3, 4, 5), (2001,)):
        exact("bits", shape, np.uint32)
    for dtype in (np.uint8, np.uint16):
        exact("bits", (37,), dtype)


@pytest.mark.thorough
def test_sixty_four_bits() -> None:
    with jax.enable_x64(True):
        exact("bits", (9,), np.uint64)
        exact("uniform", (9,), np.float64)
        exact("randint", (9,), -(2**60), 2**61, np.int64)
        exact("randint", (9,), 0, np.uint64(2**63), np.uint64)
        rounded("normal", (1000,), np.float64, roundings=ERF_INV)
        rounded("exponential", (1000,), np.float64, roundings=64)


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_uniform(dtype: str) -> None:
    exact("uniform", (2000,), jax.numpy.dtype(dtype))


@pytest.mark.thorough
def test_uniform_between_bounds() -> None:
    exact("uniform", (500,), np.float32, -2.0, 6.0)
    exact("uniform", (5, 3), np.float32, np.zeros(3, np.float32), np.array([1, 2, 4], np.float32))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "roundings"),
    [
        ("normal", ERF_INV),
        ("exponential", 8),
        ("gumbel", 8),
        ("laplace", 8),
        ("logistic", 16),
        ("cauchy", 8),
        ("maxwell", ERF_INV),
    ],
)
def test_transformed_uniform_numbers(name: str, roundings: int) -> None:
    rounded(name, (2000,), roundings=roundings)
    narrow = "bfloat16" if name in ("normal", "exponential", "laplace") else "float16"
    rounded(name, (2000,), jax.numpy.dtype(narrow), roundings=roundings)


@pytest.mark.thorough
def test_normal_numbers_are_closer_to_the_truth_than_jax() -> None:
    """Says which of the two is off where they differ by `ERF_INV` roundings."""
    special = pytest.importorskip("scipy.special")
    shape = (20000,)
    lowest = float(np.nextafter(np.float32(-1), np.float32(0)))
    u = np.asarray(random.uniform(KEY, shape, np.float32, lowest, 1.0)).astype(np.float64)
    truth = math.sqrt(2) * special.erfinv(u)
    got, other = both("normal", shape)
    scale = np.maximum(np.abs(truth), 1) * np.finfo(np.float32).eps
    assert np.max(np.abs(got - truth) / scale) < 4
    assert np.max(np.abs(other - truth) / scale) > 16


@pytest.mark.thorough
def test_complex_normal_numbers() -> None:
    got, expected = both("normal", (500,), np.complex64)
    assert np.max(np.abs(got - expected)) < 1e-5


@pytest.mark.thorough
def test_transformed_numbers_with_parameters() -> None:
    one_to_four = np.array([1, 2, 3, 4], np.float32)
    rounded("truncated_normal", -1.0, 2.0, (2000,), roundings=ERF_INV)
    rounded("truncated_normal", -one_to_four, one_to_four, (500, 4), roundings=ERF_INV)
    rounded("rayleigh", one_to_four, (500, 4))
    rounded("pareto", one_to_four, (500, 4), roundings=32)
    rounded("weibull_min", 2.0, 3.0, (2000,))
    rounded("lognormal", one_to_four, (500, 4), roundings=4 * ERF_INV)
    rounded("wald", one_to_four, (500, 4), roundings=4 * ERF_INV)
    rounded("triangular", 0.0, 0.25, 1.0, (2000,))
    rounded("gumbel", (2000,), mode="high")


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_integers(dtype: str) -> None:
    info = np.iinfo(dtype)
    lows = np.array([max(-5, info.min), 0, 5, 0, info.min], np.int32 if dtype[0] == "i" else np.uint32)
    highs = np.array([100, 256, 1, 2**31 - 1, 100], np.int32)
    exact("randint", (300, 5), lows, highs, dtype)
    exact("randint", (300,), 0, 256, dtype)


@pytest.mark.thorough
def test_coins() -> None:
    exact("bernoulli")
    exact("bernoulli", 0.3, (2000,))
    exact("bernoulli", np.array([0.1, 0.5, 0.9], np.float32), (700, 3))
    exact("bernoulli", 0.3, (2000,), mode="high")
    exact("rademacher", (2000,))
    exact("rademacher", (50,), np.float32)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("n", [0, 1, 10, 1625, 1626])
def test_permutation_of_a_range(n: int) -> None:
    exact("permutation", n)


@pytest.mark.thorough
@pytest.mark.parametrize("axis", [0, -1])
def test_permutation_of_an_array(axis: int) -> None:
    exact("permutation", X, axis)
    exact("permutation", X, axis, independent=True)


@pytest.mark.thorough
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("p", [None, WEIGHTS])
def test_choice(replace: bool, p: Any) -> None:
    exact("choice", 5, (2, 2), replace, p)
    exact("choice", X, (2, 2), replace, p, axis=-1)
    exact("choice", np.arange(5, dtype=np.int32) * 3, (), replace, p)
    if replace:
        exact("choice", 5, (2000,), replace, p)
    if p is None:
        exact("choice", X, (3,), replace, axis=1)


@pytest.mark.thorough
@pytest.mark.parametrize("axis", [0, -2])
def test_categories(axis: int) -> None:
    batch = tuple(np.delete(LOGITS.shape, axis).tolist())
    exact("categorical", LOGITS, axis)
    exact("categorical", LOGITS, axis, (50, *batch))
    exact("categorical", LOGITS, axis, (2, *batch), replace=False)
    exact("categorical", LOGITS, axis, mode="high")


@pytest.mark.thorough
def test_poisson() -> None:
    exact("poisson", np.array([0.1, 9.9, 0, math.nan, -1], np.float32), (200, 5))
    exact("poisson", np.array([10, 40, 500, 1000], np.float32), (500, 4))
    exact("poisson", 3.0, (500,), np.uint8)


def test_poisson_keeps_the_last_proposal_that_passed_as_jax_does() -> None:
    """So that a sample depends on how many are drawn with it."""
    alone, others = random.poisson(KEY, 40.0, (3,)), random.poisson(KEY, 40.0, (2000,))
    assert not np.array_equal(np.asarray(alone), np.asarray(others)[:3])


SHAPES = np.array([0.05, 0.5, 0.999, 1, 2.5, 60, 1000], np.float32)


@pytest.mark.thorough
def test_gamma_samples() -> None:
    """Each sample has keys of its own, and asks again as often as JAX does."""
    rounded("loggamma", SHAPES, (400, 7), roundings=32)
    rounded("gamma", SHAPES, (400, 7), roundings=ERF_INV)
    rounded("loggamma", 1e-6, (100,))
    with jax.enable_x64(True):
        rounded("gamma", SHAPES.astype(np.float64), (400, 7), roundings=256)


@pytest.mark.thorough
def test_functions_of_gamma_samples() -> None:
    rounded("beta", SHAPES, 2.0, (300, 7), roundings=32)
    rounded("dirichlet", SHAPES, (300,), roundings=32)
    rounded("chisquare", SHAPES, (300, 7), roundings=ERF_INV)
    rounded("f", np.full((300, 7), 3, np.float32), np.tile(SHAPES[::-1] + 1, (300, 1)), roundings=ERF_INV)
    rounded("t", SHAPES[1:], (300, 6), roundings=2 * ERF_INV)
    rounded("generalized_normal", SHAPES[1:5], (300, 4), roundings=ERF_INV)
    rounded("ball", 3, 2.0, (300,), roundings=32)


@pytest.mark.thorough
def test_a_generalized_normal_number_survives_where_jax_underflows() -> None:
    got, expected = both("generalized_normal", 300.0, (500,))
    assert np.all(got != 0) and np.any(expected == 0)
    kept = np.abs(expected) > 0.8
    assert np.allclose(got[kept], expected[kept], rtol=1e-5)


@pytest.mark.thorough
def test_binomial() -> None:
    trials = np.array([5, 20, 100, 1000, 0], np.float32)
    exact("binomial", trials, np.array([0.1, 0.9, 0.3, 0.5, 0.2], np.float32), (400, 5))
    got, expected = both(
        "binomial",
        np.array([5, 20, -1, math.inf, math.nan, 3], np.float32),
        np.array([-0.1, math.nan, 0.3, 0.5, 0.2, 1.0], np.float32),
    )
    assert np.array_equal(got, expected, equal_nan=True)


@pytest.mark.thorough
def test_multinomial() -> None:
    chances = np.array([[0.2, 0.3, 0.5], [0.1, 0.0, 0.9]], np.float32)
    exact("multinomial", np.array([10.0, 1000.0], np.float32), chances)
    exact("multinomial", 10.0, chances, shape=(50, 2, 3))


COVARIANCE = np.array([[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 3]], np.float32)


@pytest.mark.thorough
def test_multivariate_normal() -> None:
    mean = np.arange(3, dtype=np.float32)
    rounded("multivariate_normal", mean, COVARIANCE, (1000,), roundings=ERF_INV)
    both_batched = np.zeros((2, 1, 3), np.float32), np.stack([COVARIANCE] * 4)
    rounded("multivariate_normal", *both_batched, roundings=ERF_INV)


@pytest.mark.thorough
def test_double_sided_maxwell() -> None:
    scales = np.array([1, 2, 3], np.float32)
    rounded("double_sided_maxwell", 1.0, scales, (400,), roundings=ERF_INV)
    rounded("double_sided_maxwell", 1.0, scales, roundings=ERF_INV)


def test_arguments_that_jax_has_too() -> None:
    exact("randint", (5,), 0, 9, None)
    rounded("gumbel", (5,), mode=None)
    assert np.array_equal(random.clone(KEY), KEY)
    assert np.array_equal(random.wrap_key_data(random.key_data(KEY)), KEY)
    assert np.array_equal(random.key(7, impl="threefry2x32"), jax.random.PRNGKey(7, impl="threefry2x32"))


@pytest.mark.thorough
def test_geometric() -> None:
    exact("geometric", 0.3, (1000,))


@pytest.mark.thorough
@pytest.mark.parametrize(("shape", "n", "m"), [((), 4, None), ((2,), 3, 5), ((), 6, 2)])
def test_orthogonal(shape: tuple[int, ...], n: int, m: int | None) -> None:
    got, expected = both("orthogonal", n, shape, m=m)
    assert np.max(np.abs(got - expected)) < 1e-5

"""The table of docs/random.md that says what equals JAX's is true, row by row, and leaves no sampler out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adze import random

from ....oracles import Frozen

pytestmark = pytest.mark.oracle

KEY = np.array([0xDEADBEEF, 0x00C0FFEE], np.uint32)
FLAT = np.array([1, 2, 3.5], np.float32)
CHANCES = np.array([0.2, 0.3, 0.5], np.float32)
COVARIANCE = np.array([[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 3]], np.float32)
WIDE = (500, 3)

CALLS: dict[str, tuple[Any, ...]] = {
    "split": (5,),
    "fold_in": (77,),
    "bits": (WIDE,),
    "uniform": (WIDE, np.float32, -1.0, 3.0),
    "randint": (WIDE, -4, 1000),
    "bernoulli": (0.3, WIDE),
    "rademacher": (WIDE,),
    "permutation": (300,),
    "categorical": (np.log(CHANCES), -1, (500,)),
    "choice": (3, (500,), True, CHANCES),
    "geometric": (0.3, WIDE),
    "poisson": (FLAT, WIDE),
    "binomial": (np.array([5, 20, 100], np.float32), CHANCES, WIDE),
    "multinomial": (10.0, CHANCES),
    "exponential": (WIDE,),
    "gumbel": (WIDE,),
    "laplace": (WIDE,),
    "logistic": (WIDE,),
    "cauchy": (WIDE,),
    "pareto": (FLAT, WIDE),
    "rayleigh": (FLAT, WIDE),
    "weibull_min": (2.0, FLAT, WIDE),
    "triangular": (0.0, 0.25, 1.0, WIDE),
    "normal": (WIDE,),
    "truncated_normal": (-1.0, 2.0, WIDE),
    "lognormal": (0.5, WIDE),
    "maxwell": (WIDE,),
    "double_sided_maxwell": (1.0, FLAT, (500,)),
    "wald": (FLAT, WIDE),
    "gamma": (FLAT, WIDE),
    "loggamma": (FLAT, WIDE),
    "beta": (FLAT, 2.0, WIDE),
    "dirichlet": (FLAT, (500,)),
    "chisquare": (FLAT, WIDE),
    "f": (FLAT, FLAT[::-1].copy(), (3,)),
    "t": (FLAT, WIDE),
    "generalized_normal": (FLAT, WIDE),
    "ball": (3, 2.0, (500,)),
    "orthogonal": (20, (2,)),
    "multivariate_normal": (FLAT, COVARIANCE, (500,)),
}


def by_jax(name: str) -> Any:
    jax = pytest.importorskip("jax", reason="the oracle")
    return getattr(jax.random, name)(jax.numpy.asarray(KEY), *CALLS[name])


ORACLE = Frozen(
    Path(__file__).with_name("documented_agreement.npz"), {name: partial(by_jax, name) for name in CALLS}
)


def off(actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Errors of what has the size of the numbers or of 1, whichever is larger."""
    wide = expected.astype(np.float64)
    return np.abs(actual.astype(np.float64) - wide) / np.maximum(np.abs(wide), 1)


EPSILON = float(np.finfo(np.float32).eps)
AGREEMENT: dict[str, Callable[[np.ndarray, np.ndarray], bool]] = {
    "bit for bit": np.array_equal,
    "bit for bit, unless rounding changes the outcome of a comparison": lambda a, b: bool(
        np.mean(a != b) < 2e-3
    ),
    "to rounding": lambda a, b: bool(np.max(off(a, b)) < 32 * EPSILON),
    "to rounding, and to 6e-6 far from 0": lambda a, b: bool(np.max(off(a, b)) < 6e-6),
    "to rounding, and to 2e-5 far from 0": lambda a, b: bool(np.max(off(a, b)) < 2e-5),
    "to rounding, unless rounding changes the outcome of a comparison": lambda a, b: bool(
        np.mean(off(a, b) > 2e-5) < 2e-3
    ),
    "to the rounding of a factorization": lambda a, b: bool(np.max(off(a, b)) < 2e-5),
}


def documented() -> dict[str, str]:
    """For each function of the table the words of its row."""
    text = (Path(__file__).parents[4] / "docs" / "random.md").read_text()
    table = text.split("## Agreement with JAX")[1].split("They differ in these cases")[0]
    result = {}
    for words, functions in re.findall(r"^\| ([^|]+) \| (`[^|]+) \|$", table, re.MULTILINE):
        for name in re.findall(r"`([a-z_]+)`", functions.split(" by ")[0]):
            result[name] = words.split(", where")[0]
    return result


TABLE = documented()
# Not samplers, or without a counterpart in JAX of today.
BESIDE = {
    "PRNGKey",
    "KeyReuseError",
    "clone",
    "debug_key_reuse",
    "key",
    "key_data",
    "shuffle",
    "wrap_key_data",
}


def test_every_sampler_is_in_the_table() -> None:
    assert set(TABLE) - BESIDE == set(random.__all__) - BESIDE == set(CALLS)
    assert set(TABLE.values()) == set(AGREEMENT)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CALLS)
def test_agrees_as_documented(name: str) -> None:
    result = np.asarray(getattr(random, name)(KEY, *CALLS[name]))
    (expected,) = ORACLE[name]
    assert result.shape == expected.shape and result.dtype == expected.dtype
    assert AGREEMENT[TABLE[name]](result, expected)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CALLS)
def test_the_frozen_value_is_that_of_jax(name: str) -> None:
    ORACLE.check_fresh(name)


@pytest.mark.thorough
@pytest.mark.parametrize("method", ["eigh", "svd"])
def test_other_factors_of_a_covariance_agree_up_to_the_signs_of_the_vectors(method: str) -> None:
    """Lengths do not depend on the signs where the mean is zero and one number is drawn at a time."""
    jax = pytest.importorskip("jax", reason="the oracle")
    scaled = np.diag(np.array([1, 4, 9], np.float32))
    arguments = (np.zeros(3, np.float32), scaled, (500,), np.float32, method)
    result = np.abs(np.asarray(random.multivariate_normal(KEY, *arguments)))
    expected = np.abs(np.asarray(jax.random.multivariate_normal(jax.numpy.asarray(KEY), *arguments)))
    assert np.max(off(result, expected)) < 2e-5


@pytest.mark.thorough
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_orthogonal_matrices_are_those_of_jax(dtype: Any) -> None:
    jax = pytest.importorskip("jax", reason="the oracle")
    with jax.enable_x64(np.finfo(dtype).bits == 64):
        for n, m in ((7, None), (40, 33), (3, 5)):
            result = np.asarray(random.orthogonal(KEY, n, (2,), dtype, m))
            expected = np.asarray(jax.random.orthogonal(jax.numpy.asarray(KEY), n, (2,), dtype, m))
            assert result.shape == expected.shape and result.dtype == expected.dtype
            # JAX's normal numbers differ by 6e-6 from ours in single precision, see docs/random.md.
            assert np.max(np.abs(result - expected)) < 200 * np.finfo(dtype).eps

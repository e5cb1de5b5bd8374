"""`adze.scipy.special` against SciPy: eagerly over wide ranges, and compiled in one module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special as reference

import adze
from adze.scipy import special

RANDOM = np.random.default_rng(0).normal(size=400) * 5
EVERYWHERE = np.concatenate([RANDOM, [0.0, -0.0, 1e-300, 30.0, -30.0, 700.0, np.inf, -np.inf, np.nan]])
POSITIVE = np.concatenate([np.abs(RANDOM) + 1e-3, [1e-30, 1.0, 2.0, 100.0]])
PROBABILITIES = np.concatenate([np.linspace(1e-9, 1 - 1e-9, 101), [0.0, 1.0, 0.5, 1e-30, 1e-200]])
INSIDE = np.concatenate([np.linspace(-1, 1, 101), [1e-30, -1e-12]])

# the function, where it is tried, and the relative error allowed in float64
UNARY = [
    ("erf", EVERYWHERE, 1e-15),
    ("erfc", EVERYWHERE, 2e-14),
    ("erfinv", INSIDE, 1e-14),
    ("gammaln", POSITIVE, 1e-14),
    ("digamma", POSITIVE, 1e-14),
    ("gamma", POSITIVE[POSITIVE < 20], 1e-12),
    ("expit", EVERYWHERE, 1e-15),
    ("logit", PROBABILITIES, 1e-13),
    ("entr", EVERYWHERE, 1e-14),
    ("ndtr", EVERYWHERE, 1e-13),
    ("log_ndtr", EVERYWHERE, 1e-12),
    ("ndtri", PROBABILITIES, 1e-12),
    ("i0e", EVERYWHERE, 1e-13),
    ("i1e", EVERYWHERE, 1e-13),
    ("i0", EVERYWHERE[np.abs(EVERYWHERE) < 600], 1e-12),
    ("i1", EVERYWHERE[np.abs(EVERYWHERE) < 600], 1e-12),
]
BINARY = [("betaln", 1e-12), ("beta", 1e-11), ("xlogy", 1e-14), ("xlog1py", 1e-14), ("rel_entr", 1e-13)]


def assert_close(actual: Any, expected: np.ndarray, tolerance: float) -> None:
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=tolerance, atol=1e-300)


@pytest.mark.parametrize(("name", "where", "tolerance"), UNARY, ids=[u[0] for u in UNARY])
def test_function_of_one_argument_equals_scipy(name: str, where: np.ndarray, tolerance: float) -> None:
    with np.errstate(all="ignore"):
        assert_close(getattr(special, name)(where), getattr(reference, name)(where), tolerance)


@pytest.mark.parametrize(("name", "tolerance"), BINARY, ids=[b[0] for b in BINARY])
def test_function_of_two_arguments_equals_scipy(name: str, tolerance: float) -> None:
    x = np.abs(RANDOM[:200]) + 0.01
    y = np.abs(RANDOM[200:]) + 0.01
    x[0] = 0.0 if name in ("xlogy", "xlog1py", "rel_entr") else 1.0
    assert_close(getattr(special, name)(x, y), getattr(reference, name)(x, y), tolerance)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_signs_at_the_pole_of_gamma_are_scipys(zero: float) -> None:
    for name, *rest in (("gamma",), ("gammasgn",), ("beta", 1.0), ("beta", zero), ("poch", 0.5)):
        assert_close(getattr(special, name)(zero, *rest), getattr(reference, name)(zero, *rest), 0)


@pytest.mark.parametrize("name", ["rel_entr", "kl_div"])
def test_divergences_of_absent_events_have_finite_derivatives(name: str) -> None:
    def of_logits(logits: Any) -> Any:
        return getattr(special, name)(adze.nn.softmax(logits), np.float32([0.5, 0.25, 0.25])).sum()

    slope = adze.grad(of_logits)(np.float32([200.0, 0.0, 0.0]))  # two probabilities underflow
    assert np.isfinite(slope).all()
    _, tangent = adze.jvp(lambda p: getattr(special, name)(p, 0.5), (np.zeros(2),), (np.float64([0, 1]),))
    assert_close(tangent, np.float64([0, 0 if name == "rel_entr" else -1]), 0)


def test_logsumexp_equals_scipy_along_axes_and_with_weights() -> None:
    x = RANDOM.reshape(20, 20) * 100
    for axis in (None, 0, 1, (0, 1)):
        assert_close(special.logsumexp(x, axis=axis), reference.logsumexp(x, axis=axis), 1e-14)
    weights = np.abs(RANDOM.reshape(20, 20))
    assert_close(special.logsumexp(x, axis=1, b=weights), reference.logsumexp(x, axis=1, b=weights), 1e-13)


def test_dtypes_are_kept_and_integers_become_float32() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        assert special.erf(np.ones(3, dtype)).dtype == dtype
        assert special.ndtr(np.ones(3, dtype)).dtype == dtype
    assert special.gammaln(np.arange(1, 4)).dtype == np.float32


@pytest.mark.thorough
def test_compiled_functions_equal_scipy() -> None:
    def everything(inputs: dict[str, Any]) -> dict[str, Any]:
        return {name: getattr(special, name)(x) for name, x in inputs.items()}

    inputs = {name: where[np.isfinite(where)] for name, where, _ in UNARY}
    function: Callable[..., Any] = adze.jit(everything)
    compiled = function(inputs)
    with np.errstate(all="ignore"):
        for name, _, tolerance in UNARY:
            # compiled lgamma and its kin are within a few ulp of the true value, SciPy too
            expected = getattr(reference, name)(inputs[name])
            np.testing.assert_allclose(
                np.asarray(compiled[name]), expected, rtol=max(tolerance, 1e-12), atol=1e-300, err_msg=name
            )

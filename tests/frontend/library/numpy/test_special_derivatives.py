"""Derivatives of reductions and of running functions where elements are NaN, equal, zero or left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp
from adze.dialects.types import BFLOAT16

GAPS = np.array([[1.0, np.nan, 3.0, 2.0], [np.nan, 5.0, np.nan, 5.0]])
NAN_REDUCTIONS = {
    "nansum": [[1, 0, 1, 1], [0, 1, 0, 1]],
    "nanprod": [[6, 0, 2, 3], [0, 5, 0, 5]],
    "nanmean": [[1 / 3, 0, 1 / 3, 1 / 3], [0, 0.5, 0, 0.5]],
    "nanvar": [[-2 / 3, 0, 2 / 3, 0], [0, 0, 0, 0]],
    "nanstd": [[-1 / np.sqrt(6), 0, 1 / np.sqrt(6), 0], [0, 0, 0, 0]],
    "nanmax": [[0, 0, 1, 0], [0, 0.5, 0, 0.5]],
    "nanmin": [[1, 0, 0, 0], [0, 0.5, 0, 0.5]],
    "nanmedian": [[0, 0, 0, 1], [0, 0.5, 0, 0.5]],
    "nancumsum": [[4, 0, 2, 1], [0, 3, 0, 1]],
    "nancumprod": [[11, 0, 3, 3], [0, 7, 0, 5]],
}


@pytest.mark.parametrize("name", NAN_REDUCTIONS)
def test_nan_reduction_has_no_slope_at_nan_and_the_usual_one_elsewhere(name: str) -> None:
    function = getattr(xp, name)
    gradient = adze.grad(lambda x: xp.sum(function(x, axis=1)))(GAPS)
    np.testing.assert_allclose(np.asarray(gradient), NAN_REDUCTIONS[name], atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, BFLOAT16])
def test_nan_spread_has_a_gradient_in_every_dtype(dtype: Any) -> None:
    x = np.array([1.0, np.nan, 3.0], dtype)
    gradient = adze.grad(lambda x: xp.nanstd(x) + xp.nanvar(x))(x)
    np.testing.assert_allclose(np.asarray(gradient, np.float64), [-1.5, 0, 1.5], rtol=1e-2)


def test_spread_of_what_a_mask_leaves() -> None:
    x, mask = np.array([1.0, np.inf, 3.0]), np.array([True, False, True])
    np.testing.assert_allclose(np.asarray(adze.grad(lambda x: xp.var(x, where=mask))(x)), [-1, 0, 1])
    z = np.array([1.0 + 1j, np.nan, 3.0 - 1j])
    gradient = np.asarray(adze.grad(lambda z: xp.nanvar(z))(z))
    np.testing.assert_allclose(gradient, [-1 - 1j, 0, 1 + 1j], atol=1e-15)


def test_deviation_of_equal_elements_is_flat() -> None:
    """It is a length, and a length of zero has slope 0, as a magnitude."""
    np.testing.assert_array_equal(np.asarray(adze.grad(xp.std)(np.full(3, 2.0))), 0)
    np.testing.assert_array_equal(np.asarray(adze.grad(xp.std)(np.ones(1))), 0)
    assert np.isnan(float(xp.std(np.array([np.nan, 1.0]))))


def test_products_with_zeros() -> None:
    x = np.array([0.0, 0.0, 3.0])
    np.testing.assert_array_equal(np.asarray(adze.hessian(xp.prod)(x)), [[0, 3, 0], [3, 0, 0], [0, 0, 0]])
    running = adze.hessian(lambda x: xp.sum(xp.cumprod(x)))(x)
    np.testing.assert_array_equal(np.asarray(running), [[0, 4, 0], [4, 0, 0], [0, 0, 0]])


def test_quantile_of_equal_elements_shares_its_slope() -> None:
    np.testing.assert_array_equal(
        np.asarray(adze.grad(lambda x: xp.quantile(x, 0.25))(np.ones(2))), [0.75, 0.25]
    )
    assert float(xp.quantile(np.array([np.inf, np.inf]), 0.25)) == np.inf


def test_unwrap_moves_with_its_angles_at_half_a_period() -> None:
    steps = np.array([0.0, np.pi, 0.5])
    slopes = adze.vmap(lambda d: adze.jvp(xp.unwrap, (steps,), (d,))[1])(np.eye(3))
    np.testing.assert_array_equal(np.asarray(slopes), np.eye(3))


def test_cumlogsumexp_of_equal_elements() -> None:
    """Slopes are softmaxes, also of equal elements, and of second order."""
    x = np.zeros(3)
    result = adze.vmap(lambda d: adze.jvp(lax.cumlogsumexp, (x,), (d,))[1])(np.eye(3))
    np.testing.assert_allclose(np.asarray(result).T, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    curved = adze.hessian(lambda x: lax.cumlogsumexp(x)[-1])(x)
    np.testing.assert_allclose(np.asarray(curved), np.eye(3) / 3 - 1 / 9, atol=1e-15)


def test_first_step_of_a_logistic_regression_from_zero_weights() -> None:
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((8, 3)), np.arange(8.0) % 2

    def losses(w: Any) -> list[Any]:
        return [
            xp.sum(nn.sigmoid_cross_entropy(x @ w, labels)),
            xp.sum(nn.softplus(x @ w) - labels * (x @ w)),
            -xp.sum(labels * nn.log_sigmoid(x @ w) + (1 - labels) * nn.log_sigmoid(-(x @ w))),
        ]

    for k in range(3):
        result = adze.grad(lambda w, k=k: losses(w)[k])(np.zeros(3))
        np.testing.assert_allclose(np.asarray(result), x.T @ (0.5 - labels), rtol=1e-14)

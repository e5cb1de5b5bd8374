"""Zeta and polygamma at negative numbers, functions beside their poles, and slopes there."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import adze
import adze.scipy.special as special

POINTS = np.array([-2.5, -0.5, -3.3, 2.5, -100.3, -1000.25, 0.3])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_polygamma_follows_the_recurrence_through_negative_numbers(n: int) -> None:
    below, above = (np.asarray(special.polygamma(n, POINTS + k)) for k in (0, 1))
    step = (-1.0) ** n * scipy.special.factorial(n) / POINTS ** (n + 1)
    assert (np.abs(above - below - step) <= 1e-12 * np.maximum(np.abs(below), np.abs(step))).all()
    np.testing.assert_allclose(below[3], scipy.special.polygamma(n, 2.5), rtol=1e-14)


def test_known_values() -> None:
    # Abramowitz and Stegun 6.4.4 and 6.4.7: the reflection about 1/2.
    value = np.pi**2 / 2 + 4 * (1 + 1 / 9 + 1 / 25)
    np.testing.assert_allclose(special.polygamma(1, np.float64(-2.5)), value, rtol=1e-14)
    at_poles = np.asarray(special.zeta(np.float32([2, 3, 2.5]), np.float32([-1, 0, 0])))
    assert at_poles.tolist() == [np.inf] * 3
    assert np.isnan(special.zeta(2.5, -0.5)) and np.isnan(special.zeta(np.nan, 1.0))
    assert special.zeta(2.0, np.inf) == 0 and special.polygamma(1, np.inf) == 0


def test_polygamma_beside_negative_poles() -> None:
    gaps = np.array([1e-10, 1e-20, 1e-5])  # to the pole at 0, where the leading term and the constant are all
    np.testing.assert_allclose(special.polygamma(1, -gaps), 1 / gaps**2 + np.pi**2 / 6, rtol=1e-9)
    np.testing.assert_allclose(special.polygamma(2, -gaps), 2 / gaps**3 - 2.404113806319188, rtol=1e-9)


def test_slopes_in_both_arguments() -> None:
    x, q, h = np.float64(1.3), np.float64(2.2), 1e-5
    in_x, in_q = adze.grad(special.zeta, (0, 1))(x, q)
    zeta = scipy.special.zeta
    np.testing.assert_allclose(in_x, (zeta(x + h, q) - zeta(x - h, q)) / (2 * h), rtol=1e-7)
    np.testing.assert_allclose(in_q, -x * zeta(x + 1, q), rtol=1e-12)
    np.testing.assert_allclose(
        adze.grad(lambda v: special.polygamma(1, v))(np.float64(-2.5)), special.polygamma(2, np.float64(-2.5))
    )
    compiled = adze.jit(adze.vmap(adze.grad(special.zeta)))(np.full(2, 2.0), np.ones(2))
    np.testing.assert_allclose(compiled, [-0.9375482543158437] * 2, rtol=1e-12)


def test_functions_beside_poles() -> None:
    edges = np.array([0, -1, -np.inf, np.nan])
    assert np.asarray(special.poch(edges, np.zeros(4))).tolist() == [1] * 4
    np.testing.assert_allclose(special.poch(np.float64([2, 0]), np.float64([3, 2.5])), [24, 0], atol=1e-300)
    assert np.isnan(special.gammasgn(np.nan)) and not np.signbit(special.exp1(np.inf))
    assert np.isnan(adze.grad(special.entr)(np.nan))
    z = np.complex128([0.2 + 0.3j, 1 - 2j, -2.5 + 1e-3j, 5])
    np.testing.assert_allclose(special.gamma(z), scipy.special.gamma(z), rtol=1e-12)
    np.testing.assert_allclose(special.erfcx(z[:2]), scipy.special.erfcx(z[:2]), rtol=1e-12)


def test_slopes_of_entropies_at_infinity() -> None:
    """Those of JAX; the quotient of two numbers may be out of range."""
    assert adze.grad(special.entr)(np.float64(np.inf)) == -np.inf
    for function, in_q in ((special.rel_entr, 0), (special.kl_div, 1)):
        slopes = adze.vmap(adze.grad(function, (0, 1)))(np.array([1.7, np.inf]), np.array([np.inf, 1.7]))
        assert np.asarray(slopes).tolist() == [[-np.inf, np.inf], [in_q, -np.inf]]
    far = np.array([1e-300, 1e300, 1e-40]), np.array([1e300, 1e-10, 1e300])
    np.testing.assert_allclose(special.rel_entr(*far), scipy.special.rel_entr(*far), rtol=1e-14)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16], ids=lambda d: d.__name__)
def test_entropies_of_narrow_floats(dtype: Any) -> None:
    p, q = np.array([0.25, 0.0, 2.0, 0.5], dtype), np.array([0.5, 1.0, 0.125, 0.0], dtype)
    for name in ("rel_entr", "kl_div"):
        expected = getattr(scipy.special, name)(p.astype(np.float64), q.astype(np.float64))
        seen = getattr(special, name)(p, q)
        assert seen.dtype == dtype
        np.testing.assert_allclose(seen.astype(np.float64), expected, rtol=2e-2)  # three roundings of 0.4 %


def test_slopes_of_incomplete_gamma_functions_at_the_edges() -> None:
    slope = adze.vmap(adze.grad(lambda a, x: special.gammainc(a, x), (0, 1)), in_axes=(None, 0))
    in_a, in_x = slope(1.7, np.array([0.0, np.inf, np.nan, -1.0]))
    assert in_a[:2].tolist() == [0, 0] and in_x[:2].tolist() == [0, 0]
    assert np.isnan(in_a[2:]).all() and np.isnan(in_x[2])

"""Distribution functions are SciPy's, in both tails, and have derivatives."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import adze
import adze.numpy as xp
from adze.scipy import special

SHAPES = np.array([0.5, 1, 3.5, 200])
POINTS = np.array([-1.0, 0, 1e-8, 0.3, 1, 4, 50, 1e6, np.inf, np.nan])
PAIR = np.meshgrid(SHAPES, POINTS)
TRIPLE = np.meshgrid(SHAPES[::2], SHAPES[1::2], POINTS)
ARGUMENTS = {
    "beta": tuple(np.meshgrid([5, 0.5, -2.5, -0.5, 30, 3e7], [2, 0.5, 1, 5, -0.25, 150])),
    "betaln": tuple(np.meshgrid([5, 0.5, -2.5, 8, 30, 2e3], [2, 0.5, 1, 8, -0.25, 150])),
    "binom": tuple(np.meshgrid([5, 0.5, -2.5, 3, -2, -1, 300, 0], [2, 0.5, 1, 5, -1, -2.5, 150, 0])),
    "chdtr": PAIR,
    "chdtrc": PAIR,
    "fdtr": TRIPLE,
    "fdtrc": TRIPLE,
    "gdtr": TRIPLE,
    "gdtrc": TRIPLE,
    "pdtr": PAIR[::-1],
    "pdtrc": PAIR[::-1],
    "psi": (SHAPES,),
    "stdtr": (*np.meshgrid(SHAPES, [*POINTS, -1e-8, 1e-3, 0.1, -0.1]),),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", ARGUMENTS)
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_values_are_those_of_scipy(name: str) -> None:
    """At ends, in far tails and outside of the domain; SciPy's `stdtr(1, 1e-8)` errs in the ninth digit."""
    arguments = ARGUMENTS[name]
    expected = getattr(scipy.special, name)(*arguments)
    result = np.asarray(getattr(special, name)(*arguments))
    assert result.dtype == np.float64
    if name == "stdtr":
        known = (arguments[0] == 1) & (np.abs(arguments[1]) == 1e-8)
        expected = np.where(known, 0.5 + arguments[1] / np.pi, expected)
    np.testing.assert_allclose(result, expected, rtol=1e-11, atol=1e-300)


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_beta_functions_at_ends() -> None:
    """SciPy's values, but that NaN stays NaN, and that the limit is taken where SciPy has NaN."""
    ends = np.array([0, 1e-300, 0.5, 1, 3, 1e15, 1e300, np.inf, np.nan])
    a, b = np.meshgrid(ends, ends)
    for name in ("betaln", "beta"):
        expected = getattr(scipy.special, name)(a, b)
        huge = {"betaln": -np.inf, "beta": 0.0}[name]
        expected = np.where((np.minimum(a, b) >= 1e300) & (np.maximum(a, b) == np.inf), huge, expected)
        expected = np.where(np.isnan(a + b), np.nan, expected)
        np.testing.assert_allclose(getattr(special, name)(a, b), expected, rtol=1e-11, err_msg=name)
    x = np.array([np.nan, np.nan, np.inf, np.inf, np.inf, 1e300, 1e300, 0.0, 1e15, -2.5, -2.5])
    y = np.array([-1.0, 2.0, 0.0, 3.0, -2.5, 1.0, 0.5, 1e-300, 1e300, 0.5, 1e300])
    expected = [np.nan, np.nan, 1, np.inf, 0, 1e300, 1.1283791670955126e150, 1, 0, 0, np.inf]
    np.testing.assert_allclose(special.binom(x, y), expected, rtol=1e-11)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_beta_functions_of_large_and_negative_arguments(dtype: type) -> None:
    """SciPy loses all digits of `binom(-0.5, 1e8)` and beyond: the oracle has sixty."""
    from mpmath import mp

    values = np.array([-1000.25, -30.75, -7.625, -2.5, -0.5, 0.125, 1, 2.25, 8.125, 30, 1000, 1e8])
    a, b = map(np.ravel, np.meshgrid(values, values))
    formulas = {"beta": mp.beta, "binom": mp.binomial}
    with mp.workdps(60):
        for name, formula in formulas.items():
            result = np.asarray(getattr(special, name)(a.astype(dtype), b.astype(dtype)))
            assert result.dtype == dtype
            with np.errstate(over="ignore", under="ignore"):
                expected = np.array([float(formula(mp.mpf(x), mp.mpf(y))) for x, y in zip(a, b, strict=True)])
            size = np.abs(expected)
            is_normal = (size > np.finfo(dtype).tiny) & (size < np.finfo(dtype).max)
            error = np.abs(result[is_normal] - expected[is_normal]) / size[is_normal]
            assert is_normal.sum() > 60
            assert error.max() < 1e4 * np.finfo(dtype).eps, (name, dtype, a[is_normal][error.argmax()])
            np.testing.assert_array_equal(np.sign(result[is_normal]), np.sign(expected[is_normal]))


def test_derivatives_of_beta_functions() -> None:
    """By digamma functions (DLMF 5.12), on both sides of zero."""
    psi = scipy.special.psi
    for a, b in ((0.5, 2.0), (3.0, 1e4), (-2.5, 0.75), (-2.5, 6.0), (-0.5, -1.25)):
        slope = adze.grad(special.betaln)(np.float64(a), np.float64(b))
        np.testing.assert_allclose(slope, psi(a) - psi(a + b), rtol=1e-9)
    for x, y in ((5.5, 2.0), (0.5, 40.25), (-2.5, 40.25), (-2.5, -0.75)):
        slope = adze.grad(special.binom)(np.float64(x), np.float64(y))
        expected = scipy.special.binom(x, y) * (psi(x + 1) - psi(x - y + 1))
        np.testing.assert_allclose(slope, expected, rtol=1e-8)


def test_slopes_of_beta_functions_at_their_ends() -> None:
    """Infinite where an argument is 0; at a zero of the function, those of `1 / gamma` (DLMF 5.7.1)."""
    betaln, beta = (adze.grad(f, (0, 1)) for f in (special.betaln, special.beta))
    assert [float(v) for v in betaln(np.float64(1.7), np.float64(0))] == [0, -np.inf]
    assert beta(np.float64(1.7), np.float64(0))[1] == -np.inf
    gamma = scipy.special.gamma
    for a, b, factor in ((-3.25, 1.25, 2), (-1.5, 0.5, -1), (0.25, -0.25, 1)):
        slope = gamma(a) * gamma(b) * factor
        np.testing.assert_allclose(beta(np.float64(a), np.float64(b)), [slope] * 2, rtol=1e-13)
    in_a = adze.grad(adze.grad(special.beta))(np.float64(-1.5), np.float64(0.5))
    h = 1e-4
    steps = [scipy.special.beta(-1.5 + k * h, 0.5) for k in (-1, 1)]
    np.testing.assert_allclose(in_a, sum(steps) / h**2, rtol=1e-5)


def test_beta_functions_of_halves_are_rounded_once() -> None:
    a, b = np.meshgrid(np.float16([0.5, 3, 12]), np.float16([0.25, 7, 9]))
    for name in ("betaln", "beta", "binom"):
        function = getattr(special, name)
        expected = np.asarray(function(a.astype(np.float32), b.astype(np.float32))).astype(np.float16)
        np.testing.assert_array_equal(np.asarray(function(a, b)), expected)


def test_derivatives_are_densities() -> None:
    for t in (-2.0, -0.1, 0.3, 4.0):
        density = np.exp(
            scipy.special.gammaln(3)
            - scipy.special.gammaln(2.5)
            - 0.5 * np.log(5 * np.pi)
            - 3 * np.log1p(t * t / 5)
        )
        np.testing.assert_allclose(
            adze.grad(lambda t: special.stdtr(5.0, t))(np.float64(t)), density, rtol=1e-9
        )
    slope = adze.grad(lambda x: special.chdtrc(3.0, x))(np.float64(2))
    np.testing.assert_allclose(slope, -np.sqrt(2) * np.exp(-1) / np.sqrt(2 * np.pi), rtol=1e-9)


def test_the_namespace_of_arrays_has_them() -> None:
    """SciPy looks for `special` in the namespace of its arguments."""
    namespace = xp.asarray(1.0).__array_namespace__()
    assert namespace.special.erf is special.erf
    assert set(namespace.special.__all__) == set(special.__all__)

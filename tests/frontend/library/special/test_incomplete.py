"""Incomplete gamma and beta functions, zeta and polygamma: SciPy's values, and their slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as reference
import scipy.stats

import adze
from adze import lax
from adze.dialects.errors import AdzeError
from adze.frontend.library.special.incomplete import betainc_upper
from adze.scipy import special

from ....selection import quick_first

RANDOM = np.random.default_rng(0)
A = 10 ** RANDOM.uniform(-3, 4, 400)
NEAR = A[:200] * np.maximum(1 + RANDOM.normal(size=200) / np.sqrt(A[:200] + 1), 1e-3)
X = np.concatenate([NEAR, 10 ** RANDOM.uniform(-4, 3.5, 200)])
P, Q = 10 ** RANDOM.uniform(-2, 2.5, (2, 300))
U = RANDOM.uniform(0, 1, 300)
ORDERS, STARTS = RANDOM.uniform(1.01, 20, 300), 10 ** RANDOM.uniform(-2, 3, 300)
COUNTS = RANDOM.integers(0, 8, 300)

CASES: dict[str, tuple[tuple[np.ndarray, ...], float]] = {
    "gammainc": ((A, X), 2e-12),
    "gammaincc": ((A, X), 2e-12),
    "betainc": ((P, Q, U), 2e-12),
    "zeta": ((ORDERS, STARTS), 4e-15),
    "polygamma": ((COUNTS, STARTS), 1e-13),
    "kl_div": ((P, Q), 1e-12),
    "boxcox": ((P, np.where(U < 0.2, 0.0, U - 0.5)), 1e-12),
    "boxcox1p": ((P, np.where(U < 0.2, 0.0, U - 0.5)), 1e-12),
    "poch": ((P[:100] / 10, Q[:100] / 10), 1e-11),
    "factorial": ((np.arange(-2.0, 30.0),), 1e-13),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_scipy(name: str) -> None:
    arguments, tolerance = CASES[name]
    result, expected = getattr(special, name)(*arguments), getattr(reference, name)(*arguments)
    # Where the complement is all but 1 the function is exact to roundings of 1.
    atol = 4e-15 if name in ("gammainc", "gammaincc", "betainc") else 0.0
    np.testing.assert_allclose(np.asarray(result), expected, rtol=tolerance, atol=atol)


@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "betainc", "zeta"])
def test_single_and_half_precision(name: str) -> None:
    for dtype, tolerance in ((np.float32, 1e-4), (np.float16, 2e-3)):
        arguments = [a[a < 1000][:100].astype(dtype) for a in CASES[name][0]]
        result = getattr(special, name)(*arguments)
        assert result.dtype == dtype
        with np.errstate(over="ignore"):
            expected = getattr(reference, name)(*(a.astype(np.float64) for a in arguments)).astype(dtype)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=tolerance, atol=tolerance)


def test_a_tail_keeps_its_digits() -> None:
    far = np.array([60.0, 200.0, 600.0])
    np.testing.assert_allclose(
        np.asarray(special.gammaincc(3.0, far)), reference.gammaincc(3.0, far), rtol=1e-12
    )
    np.testing.assert_allclose(
        np.asarray(special.gammainc(far, 3.0)), reference.gammainc(far, 3.0), rtol=1e-12
    )


def test_large_arguments_near_each_other() -> None:
    """Two values by mpmath, and SciPy's; at 1e30 a series would never end."""
    a, x = np.array([1e7, 1000.0]), np.array([9974701.778718652, 747.0177871865296])
    expected = np.array([5.893732333612203e-16, 7.808989042797505e-19])
    np.testing.assert_allclose(np.asarray(special.gammainc(a, x)), expected, rtol=1e-12)
    a = np.repeat([400.0, 1e3, 1e5, 1e10], 7)
    x = a + np.tile([-4.0, -3, -1, 0, 1, 3, 4], 4) * np.sqrt(a)
    for name in ("gammainc", "gammaincc"):
        result = np.asarray(getattr(special, name)(a, x))
        np.testing.assert_allclose(result, getattr(reference, name)(a, x), rtol=1e-11, atol=1e-13)
    for dtype in (np.float32, np.float64):
        far = np.asarray(special.gammainc(dtype(1e30), dtype([1e-30, 1e20, 0.7e30, 1e30, 1.4e30])))
        np.testing.assert_allclose(far, [0, 0, 0, 0.5, 1], atol=1e-7)


def test_the_upper_function_of_small_parameters() -> None:
    """Values by mpmath with forty digits; 1 less the lower function has six of them."""
    a = np.array([1e-10, 1e-300, 1e-5, 0.29, 1e-8, 1e-3])
    x = np.array([1.0, 1.0, 0.5, 1.28, 1e-8, 1.0009])
    expected = mpmath_upper(a, x)
    np.testing.assert_allclose(np.asarray(special.gammaincc(a, x)), expected, rtol=1e-14)
    single = np.asarray(special.gammaincc(np.float32(1e-5), np.float32([1.0, 0.5])))
    np.testing.assert_allclose(single, mpmath_upper(np.float32([1e-5] * 2), np.float32([1, 0.5])), rtol=1e-6)


def mpmath_upper(a: np.ndarray, x: np.ndarray) -> list[float]:
    from mpmath import mp

    with mp.workdps(40):
        pairs = zip(a.tolist(), x.tolist(), strict=True)
        return [float(mp.gammainc(mp.mpf(p), mp.mpf(q), regularized=True)) for p, q in pairs]


def test_betainc_at_the_edges_of_its_parameters() -> None:
    x, edges = np.array([0, 1e-9, 0.5, 1]), np.array([0, 2, np.inf])
    a, b = edges[:, None, None], edges[None, :, None]
    np.testing.assert_allclose(np.asarray(special.betainc(a, b, x)), reference.betainc(a, b, x), rtol=1e-12)


def test_comb_of_large_numbers_and_entropies_of_nan() -> None:
    n, k = np.array([1e10, 1e10, 1e3, 40.5]), np.array([0.5, 0.001, 3.25, 20.25])
    np.testing.assert_allclose(np.asarray(special.comb(n, k)), reference.binom(n, k), rtol=1e-10)
    p, q = np.array([1.0, np.nan, 0.0, -1.0]), np.array([np.nan, 1.0, np.nan, 1.0])
    np.testing.assert_array_equal(np.asarray(special.rel_entr(p, q)), reference.rel_entr(p, q))


def test_a_continued_fraction_ends() -> None:
    with np.errstate(all="ignore"):
        assert special.betainc(np.float32(1e30), np.float32(1e30), np.float32(0.5)) == 0.5
        near = np.asarray(special.betainc(1e6, 1e6, np.array([0.4996, 0.5])))
    np.testing.assert_allclose(near, reference.betainc(1e6, 1e6, [0.4996, 0.5]), rtol=1e-9)


def test_betainc_of_large_parameters() -> None:
    """To what one rounding of `x` and of the mean amounts to; SciPy in float64 is the oracle."""
    dtype = np.float32
    a = np.array([20, 300, 1e4, 1e5, 3e6, 1e9, 1e11]).astype(dtype)[:, None]
    b, z = a * dtype([[0.25, 1, 3]]), np.array([-3, -1, 0, 0.5, 2])[:, None, None]
    mean = a.astype(np.float64) / (a.astype(np.float64) + b)
    deviation = np.sqrt(mean * (1 - mean) / (a.astype(np.float64) + b + 1))
    x = (mean + z * deviation).astype(dtype)
    wide = [v.astype(np.float64) for v in (a, b, x)]
    bound = 20 * np.finfo(dtype).eps * (1 + mean / deviation)
    density = scipy.stats.beta.pdf(wide[2], wide[0], wide[1])
    for function, sign in ((special.betainc, 1), (betainc_upper, -1)):
        value, slope = adze.jvp(lambda x, f=function: f(a, b, x), (x,), (np.ones_like(x),))
        error = np.abs(value - (reference.betainc if sign == 1 else reference.betaincc)(*wide))
        assert (error <= bound).all(), (error / bound).max()
        error = np.abs(sign * np.asarray(slope) * deviation - density * deviation)
        assert (error <= 5 * bound).all(), (error / bound).max()


EDGES = np.array(
    [
        (0, 0),
        (0, 1),
        (1, 0),
        (np.inf, 1),
        (1, np.inf),
        (np.inf, np.inf),
        (-1, 1),
        (1, -1),
        (np.nan, 1),
        (1, np.nan),
    ]
)


def test_edges() -> None:
    for name in ("gammainc", "gammaincc"):
        result = np.asarray(getattr(special, name)(EDGES[:, 0], EDGES[:, 1]))
        np.testing.assert_array_equal(result, getattr(reference, name)(EDGES[:, 0], EDGES[:, 1]))
    x = np.array([-0.1, 0, 1, 1.1, np.nan])
    np.testing.assert_array_equal(np.asarray(special.betainc(2.0, 3.0, x)), reference.betainc(2.0, 3.0, x))
    s, q = np.array([1.0, 2, 2, 0.5, 2]), np.array([1.0, 0, -1, 1, np.nan])
    np.testing.assert_array_equal(np.asarray(special.zeta(s, q)), reference.zeta(s, q))
    assert float(special.zeta(2.0)) == pytest.approx(np.pi**2 / 6, rel=1e-6)
    assert np.asarray(special.gammainc(np.ones((0, 2)), 1.0)).shape == (0, 2)


def test_multigammaln_and_softmax() -> None:
    for d in (1, 3):
        np.testing.assert_allclose(
            np.asarray(special.multigammaln(P + 2, d)), reference.multigammaln(P + 2, d), rtol=1e-12
        )
    for axis in (None, 0):
        x = P.reshape(20, 15)
        np.testing.assert_allclose(
            np.asarray(special.softmax(x, axis)), reference.softmax(x, axis), rtol=1e-12
        )
        np.testing.assert_allclose(
            np.asarray(special.log_softmax(x, axis)), reference.log_softmax(x, axis), rtol=1e-12
        )


THREE, LATER = np.array([0.5, 3.0, 20.0]), np.array([0.7, 2.0, 25.0])
SLOPES: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {
    "gammainc": (special.gammainc, (THREE, LATER)),
    "gammaincc": (special.gammaincc, (THREE, LATER)),
    "betainc": (lambda x: special.betainc(THREE, LATER, x), (np.array([0.2, 0.5, 0.4]),)),
    "zeta": (lambda q: special.zeta(np.array([1.5, 3.0, 4.0]), q), (LATER,)),
    "polygamma": (lambda x: special.polygamma(np.array([0.0, 1, 3]), x), (LATER,)),
    "boxcox": (special.boxcox, (THREE, LATER)),
}


# The upper function is one minus the lower.
@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", quick_first(sorted(SLOPES, key="gammaincc".__eq__), len(SLOPES) - 1))
def test_derivatives_are_those_of_differences(name: str, thorough: bool) -> None:
    function, arguments = SLOPES[name]
    order = 1 if name == "gammainc" and not thorough else 2  # its second derivatives take seconds
    adze.check_grads(function, arguments, order=order, atol=1e-5, rtol=1e-5)


@pytest.mark.thorough  # differences check them too
def test_slopes_of_their_own_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        for name in ("igamma_grad_a", "random_gamma_grad"):
            expected = np.asarray(getattr(jax.lax, name)(THREE, LATER))
            np.testing.assert_allclose(np.asarray(getattr(lax, name)(THREE, LATER)), expected, rtol=1e-7)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (
            lambda a: special.betainc(a, 2.0, 0.5),
            "betainc has no derivative in a; put stop_gradient around it",
        ),
        (
            lambda n: special.polygamma(n, 2.0),
            "polygamma has no derivative in n; put stop_gradient around it",
        ),
    ],
)
def test_a_derivative_that_is_missing_is_an_error(function: Any, text: str) -> None:
    with pytest.raises(AdzeError) as raised:
        adze.grad(function)(3.0)
    assert text in str(raised.value)
    assert float(adze.grad(lambda a: function(lax.stop_gradient(a)) + a)(3.0)) == 1


def test_complex_arguments_are_refused() -> None:
    with pytest.raises(AdzeError, match="gammainc takes real numbers, got complex ones"):
        special.gammainc(1j, 2.0)


@pytest.mark.thorough
def test_compiled_and_mapped_values_are_the_eager_ones() -> None:
    def everything(a: Any, x: Any, u: Any) -> Any:
        slope = adze.grad(lambda x: lax.igamma(a, x))(x)
        return lax.igamma(a, x), lax.igammac(a, x), slope, lax.betainc(a, x, u), lax.polygamma(2.0, x)

    arguments = A[A < 500][:30], X[:30] + 0.5, U[:30]
    compiled = adze.jit(adze.vmap(everything))(*arguments)
    alone = [everything(*(v[i] for v in arguments)) for i in (0, 7)]
    for k, result in enumerate(compiled):
        for i, one in zip((0, 7), alone, strict=True):
            np.testing.assert_allclose(np.asarray(result)[i], np.asarray(one[k]), rtol=1e-10, atol=1e-14)

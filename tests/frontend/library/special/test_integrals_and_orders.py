"""Named integrals and functions of an order: SciPy's values near and far, and their slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as reference

import adze
from adze.dialects.errors import AdzeError
from adze.scipy import special

RANDOM = np.random.default_rng(0)
ENDS = [0.0, -0.0, 1e-10, 1.0, -1.0, 2.0, 4.0, 1.5, 0.5, 30.0, -5.0, 100.0, np.nan]
EVERYWHERE = np.concatenate([RANDOM.normal(size=60) * 5, RANDOM.normal(size=30) * 0.3, ENDS])
BEYOND = np.concatenate([EVERYWHERE, [1e8, np.inf, -np.inf]])
COMPLEX = (RANDOM.normal(size=200) + 1j * RANDOM.normal(size=200)) * 4
POINTS = np.array([0.3, 0.9, 1.2, 3.0, 5.0])
DEGREES, ORDERS = np.array([0, 1, 1, 2, 3, 4, 4, 5]), np.array([0, 0, -1, 2, -3, 2, 4, -5])

# arguments and relative error in float64; absolutely 1e-13
CASES: dict[str, tuple[tuple[Any, ...], float]] = {
    "erfcx": ((BEYOND,), 1e-12),
    "dawsn": ((BEYOND,), 1e-12),
    "wofz": ((COMPLEX,), 1e-11),
    "expi": ((BEYOND,), 1e-12),
    "exp1": ((BEYOND,), 1e-12),
    "expn": ((np.arange(6)[:, None], np.abs(BEYOND)), 1e-11),
    "sici": ((BEYOND[:-1],), 1e-11),
    "fresnel": ((EVERYWHERE,), 1e-9),
    "spence": ((EVERYWHERE,), 1e-12),
    "owens_t": ((RANDOM.normal(size=300) * 3, RANDOM.normal(size=300) * 2), 1e-10),
    "comb": ((np.arange(12.0)[:, None], np.arange(4.0)), 1e-13),
    "loggamma": ((np.concatenate([COMPLEX * 2, [-3.5 + 1e-3j, 0.3, 8, -2.5 - 0.1j]]),), 1e-10),
    "sph_harm_y": ((DEGREES, ORDERS, RANDOM.uniform(0, 3, 8), 0.7), 1e-12),
    "hyp1f1": (
        (RANDOM.uniform(0.2, 3, 50), RANDOM.uniform(0.3, 4, 50), RANDOM.normal(size=50) * 10),
        1e-9,
    ),
    "hyp2f1": ((0.7, RANDOM.uniform(0.3, 4, 50), 2.2, np.append(RANDOM.uniform(-5, 0.95, 49), 0.0)), 1e-9),
}
SLOPES: dict[str, tuple[Any, tuple[np.ndarray, ...]]] = {
    **{name: (getattr(special, name), (POINTS,)) for name in ("erfcx", "dawsn", "exp1", "expi", "spence")},
    "sici": (special.sici, (POINTS[2:],)),
    "fresnel": (special.fresnel, (POINTS,)),
    "expn": (lambda x: (special.expn(3, x), special.expn(0, x)), (POINTS[:2],)),
    "owens_t": (special.owens_t, (POINTS, POINTS[::-1] - 2)),
    "bessel_jn": (lambda z: special.bessel_jn(z, v=3, n_iter=30), (POINTS,)),
    "hyp1f1": (lambda x: special.hyp1f1(1.2, 2.3, x), (POINTS - 2,)),
    "hyp2f1": (lambda x: special.hyp2f1(1.2, 2.3, 0.7, x), (POINTS / 10 - 0.2,)),
    "sph_harm_y": (lambda t: abs(special.sph_harm_y(DEGREES[:5], ORDERS[:5], t, 0.7)), (POINTS,)),
    "wofz": (lambda x: abs(special.wofz(x + 0.5j)), (POINTS,)),
    "loggamma": (lambda x: abs(special.loggamma(x + 0.5j)), (POINTS - 2,)),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_scipy(name: str) -> None:
    arguments, tolerance = CASES[name]
    with np.errstate(all="ignore"):
        wanted = getattr(reference, name)(*arguments)
    results = getattr(special, name)(*arguments)
    pairs = zip(results, wanted, strict=True) if isinstance(results, tuple) else [(results, wanted)]
    for mine, theirs in pairs:
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=tolerance, atol=1e-13)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SLOPES)
def test_slopes_are_differences(name: str) -> None:
    function, arguments = SLOPES[name]
    adze.check_grads(function, arguments, 1)


@pytest.mark.one_in(2)
def test_far_out_erfcx_and_its_slope_keep_their_digits() -> None:
    for dtype in (np.float32, np.float64):
        x = np.array([9.0, 11.0, 100.0, 1e5, 1e10, 1e17, 1e30], dtype)
        value, slope = adze.jvp(special.erfcx, (x,), (np.ones_like(x),))
        tolerance = 1e-12 if dtype is np.float64 else 1e-5
        np.testing.assert_allclose(np.asarray(value), reference.erfcx(x.astype(float)), rtol=tolerance)
        square = 1 / x[1:6].astype(float) ** 2
        series = 1 + sum((-0.5 * square) ** k * np.prod(np.arange(1.0, 2 * k + 2, 2)) for k in range(1, 9))
        exact = -series * square / np.sqrt(np.pi)
        np.testing.assert_allclose(np.asarray(slope)[1:6], exact, rtol=10 * tolerance)


@pytest.mark.parametrize("name", ["erfcx", "dawsn", "exp1", "expi", "spence"])
def test_narrow_floats_keep_their_dtype(name: str) -> None:
    wanted = getattr(reference, name)(POINTS)
    for dtype, tolerance in ((np.float32, 2e-5), (np.float16, 2e-2)):
        value = getattr(special, name)(POINTS.astype(dtype))
        assert value.dtype == dtype
        np.testing.assert_allclose(np.asarray(value, float), wanted, rtol=tolerance, atol=1e-3)
    assert getattr(special, name)(np.arange(1, 3)).dtype == np.float32


def test_orders_known_while_tracing() -> None:
    np.testing.assert_allclose(special.bernoulli(20), reference.bernoulli(20), rtol=1e-6)
    z = np.array([0.0, 0.01, 1, 2.404, 5, 10, 20, -3])
    wanted = np.stack([reference.jv(k, z) for k in range(6)])
    np.testing.assert_allclose(special.bessel_jn(z, v=5), wanted, rtol=1e-9, atol=1e-13)
    counts = special.comb(np.arange(1, 12.0), 3.0, repetition=True)
    np.testing.assert_allclose(counts, reference.comb(np.arange(1, 12), 3, repetition=True), rtol=1e-13)
    traced = adze.jit(lambda n: special.sph_harm_y(n, 1, 0.5, 0.2, n_max=5))(DEGREES)
    np.testing.assert_allclose(traced, reference.sph_harm_y(DEGREES, 1, 0.5, 0.2), atol=1e-6)
    ends = special.owens_t([0.0, 0, 1, 1, -2, 10, 30], [1.0, np.inf, np.inf, 0, 3, 0.5, 2])
    expected = reference.owens_t([0.0, 0, 1, 1, -2, 10, 30], [1.0, np.inf, np.inf, 0, 3, 0.5, 2])
    np.testing.assert_allclose(ends, expected, rtol=1e-6, atol=1e-30)
    assert np.isneginf(float(special.spence(np.inf)))
    at_one = np.asarray(special.hyp2f1(0.5, 0.3, 2.0, np.array([1.0, 1.5])))
    np.testing.assert_allclose(at_one[0], reference.hyp2f1(0.5, 0.3, 2.0, 1.0))
    assert np.isnan(at_one[1])


def test_what_is_not_there_is_refused() -> None:
    for mistake, words in (
        (lambda: special.bernoulli(-1), "n is -1"),
        (lambda: special.bessel_jn(1.0, v=60), "v is 60"),
        (lambda: special.sph_harm_y(1, 0, 0.5, 0.2, diff_n=1), "diff_n is not supported"),
        (lambda: special.dawsn(1j), "takes real numbers"),
        (lambda: adze.grad(lambda a: special.hyp1f1(a, 2.0, 1.0))(0.5), "no derivative in a"),
    ):
        with pytest.raises(AdzeError, match=words):
            mistake()


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.complex64, 1e-5), (np.complex128, 1e-12)])
def test_the_slope_of_wofz_far_away(dtype: type, tolerance: float) -> None:
    from mpmath import mp

    z = np.array([3, 5.5 + 0.1j, 20, 1e3 + 1j, 4.9 - 1j, 5.1 - 0.2j, 12 - 3j, -30 - 1e-3j, 1e6j]).astype(
        dtype
    )
    slope = adze.jvp(special.wofz, (z,), (np.ones_like(z),))[1]
    with mp.workdps(60):
        points = [mp.mpc(v) for v in z.tolist()]
        expected = [2j / mp.sqrt(mp.pi) - 2 * v * mp.exp(-v * v) * mp.erfc(-1j * v) for v in points]
    np.testing.assert_allclose(slope, [complex(v) for v in expected], rtol=tolerance)
    end = dtype([np.inf, -np.inf])
    assert adze.jvp(special.wofz, (end,), (np.ones_like(end),))[1].tolist() == [0, 0]

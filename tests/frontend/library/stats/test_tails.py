"""Tails keep their digits, and so do logarithms of probabilities near 1; slopes are those of SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats as reference

import adze
from adze.scipy import stats

CASES: dict[str, tuple[tuple[float, ...], list[float], list[float]]] = {
    "beta": ((2.0, 3.0), [0.3, 1 - 1e-4], [1e-6, 0.3]),
    "chi2": ((3.0,), [1.0, 30.0, 200.0], [1e-8, 1.0, 30.0]),
    "gamma": ((2.0,), [1.0, 30.0, 200.0], [1e-6, 1.0, 30.0]),
    "pareto": ((3.0,), [1.1, 30.0, 1e5], [1.1, 30.0]),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tail", ["logcdf", "logsf"])
def test_logarithms_near_zero(name: str, tail: str) -> None:
    shapes, of_cdf, of_sf = CASES[name]
    x = np.array(of_cdf if tail == "logcdf" else of_sf)

    def value(x: Any) -> Any:
        return getattr(getattr(stats, name), tail)(x, *shapes)

    theirs = getattr(reference, name)
    np.testing.assert_allclose(np.asarray(value(x)), getattr(theirs, tail)(x, *shapes), rtol=1e-9)
    slope = np.asarray(adze.vmap(adze.grad(value))(x))
    sign = 1 if tail == "logcdf" else -1
    exact = sign * theirs.pdf(x, *shapes) / getattr(theirs, tail[3:])(x, *shapes)
    np.testing.assert_allclose(slope, exact, rtol=1e-8)


def test_the_lower_tail_of_gennorm() -> None:
    x = np.array([-30.0, -8.0, -0.5, 0.0, 0.5, 8.0])
    np.testing.assert_allclose(
        np.asarray(stats.gennorm.cdf(x, 1.5)), reference.gennorm.cdf(x, 1.5), rtol=1e-10
    )
    slope = adze.vmap(adze.grad(lambda x: stats.gennorm.cdf(x, 1.5)))(x)
    np.testing.assert_allclose(np.asarray(slope), reference.gennorm.pdf(x, 1.5), rtol=1e-9)


def test_probabilities_keep_their_digits() -> None:
    """SciPy's values, the last by mpmath with forty digits."""
    z, df = np.meshgrid([-9.0, 0.4, 2.5], [12, 1e6, 1e12, np.inf])
    for name in ("logpdf", "pdf"):
        expected = getattr(reference.t, name)(z, df)
        np.testing.assert_allclose(getattr(stats.t, name)(z, df), expected, rtol=1e-12)
    x = np.array([1e-12, 1e-3, 0.5, 0.999])
    np.testing.assert_allclose(stats.beta.sf(x, 0.3, 2.0), reference.beta.sf(x, 0.3, 2.0), rtol=1e-13)
    outside = np.array([-0.5, 1.5, np.nan])
    assert np.isnan(stats.cauchy.ppf(outside)).all() and np.isnan(stats.cauchy.isf(outside)).all()
    np.testing.assert_allclose(
        stats.truncnorm.logcdf(8.0, 5.0, np.float64(9)), -2.1698230893488788e-09, rtol=1e-12
    )

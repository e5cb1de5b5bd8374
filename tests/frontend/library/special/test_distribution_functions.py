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

"""Special functions, elementwise.

`evaluate` computes in float64, erf and erfc with the C library's functions, which are accurate far into
the tails, the others with SciPy's: the only rules of adze that need it.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ...errors import MissingRuleError
from ...protocols import Builder, Value
from ...types import FLOAT64
from .family import over, scaled, shifted
from .transcendental import OfFloat


class FromC(OfFloat, adds=("function_of_element",)):
    """Family of functions that `evaluate` takes from the C library, one element at a time."""

    function_of_element: ClassVar[np.ufunc]

    @classmethod
    def function(cls, x: np.ndarray) -> np.ndarray:
        return np.asarray(cls.function_of_element(x.astype(FLOAT64))).astype(FLOAT64)


class FromSciPy(OfFloat, adds=("scipy_name", "from_scipy")):
    """Family of functions that `evaluate` takes from `scipy.special`."""

    scipy_name: ClassVar[str]

    @classmethod
    def function(cls, x: np.ndarray) -> np.ndarray:
        return cls.from_scipy(x.astype(FLOAT64))

    @classmethod
    def from_scipy(cls, x: np.ndarray) -> np.ndarray:
        """SciPy's values."""
        try:
            from scipy import special
        except ImportError:
            raise MissingRuleError(
                f"op 'adze.{cls.name}' cannot be evaluated eagerly: SciPy is not installed",
                hint="install scipy, or call the function under adze.jit",
            ) from None
        values: np.ndarray = getattr(special, cls.scipy_name)(x)
        return values


class Erf(FromC):
    """``y = 2 / sqrt(pi) * integral of e ** -t^2 over [0, x];  dy = 2 / sqrt(pi) * e ** -x^2 * dx``."""

    name = "erf"
    function_of_element = np.frompyfunc(math.erf, 1, 1)
    partials = (lambda b, y, x: gaussian(b, x, 2 / math.sqrt(math.pi)),)


class Erfc(FromC):
    """``y = 1 - erf x``, accurate for large `x`;  ``dy = -2 / sqrt(pi) * e ** -x^2 * dx``."""

    name = "erfc"
    function_of_element = np.frompyfunc(math.erfc, 1, 1)
    partials = (lambda b, y, x: gaussian(b, x, -2 / math.sqrt(math.pi)),)


class ErfInv(FromSciPy):
    """``erf y = x;  dy = sqrt(pi) / 2 * e ** y^2 * dx``; `NaN` outside [-1, 1]."""

    name = "erf_inv"
    scipy_name = "erfinv"

    @classmethod
    def function(cls, x: np.ndarray) -> np.ndarray:
        return np.where(x == 0, x, super().function(x))  # SciPy loses the sign of zero

    partials = (lambda b, y, x: scaled(b, b.exp(b.mul(y, y)), math.sqrt(math.pi) / 2),)


class Lgamma(FromSciPy):
    """``y = log |gamma(x)|;  dy = digamma(x) * dx``; infinite at 0, -1, -2, ..."""

    name = "lgamma"
    scipy_name = "gammaln"

    @classmethod
    def function(cls, x: np.ndarray) -> np.ndarray:
        return np.where(x == -np.inf, np.inf, super().function(x))  # as C99; SciPy says -inf

    partials = (lambda b, y, x: b.digamma(x),)


class Digamma(FromSciPy):
    """``y = gamma'(x) / gamma(x)``, whose derivative is the trigamma function; `NaN` at -1, -2, ..."""

    name = "digamma"
    scipy_name = "psi"
    partials = (lambda b, y, x: trigamma(b, x),)


def gaussian(b: Builder, x: Value, factor: float) -> Value:
    """`factor * e ** -x^2`."""
    return scaled(b, b.exp(b.neg(b.mul(x, x))), factor)


def trigamma(b: Builder, x: Value) -> Value:
    """The derivative of digamma, made of other ops so that it has derivatives itself.

    Reflection for `x < 1/2` (Abramowitz and Stegun 6.4.7), recurrence up to 8 (6.4.6), then the
    asymptotic series (6.4.12) with coefficients the Bernoulli numbers. The sine of the reflection is of the
    distance to the nearest pole, which is exact where `pi x` is not (and 1/2 where no sine is used: one of
    zero would make the next derivative NaN).
    """
    half, one = b.full_like(x, 0.5), b.full_like(x, 1)
    is_low = b.compare(x, half, direction="LT")
    z = b.select(is_low, b.sub(one, x), x)
    total = b.full_like(x, 0)
    for _ in range(8):
        total = b.add(total, over(b, 1, b.mul(z, z)))
        z = b.add(z, one)
    r = over(b, 1, z)
    r2 = b.mul(r, r)
    series = b.full_like(x, 0)
    for bernoulli in (-3617 / 510, 7 / 6, -691 / 2730, 5 / 66, -1 / 30, 1 / 42, -1 / 30, 1 / 6):
        series = b.mul(r2, shifted(b, series, bernoulli))
    value = b.add(total, b.mul(r, b.add(shifted(b, series, 1), scaled(b, r, 0.5))))
    distance = b.select(is_low, b.sub(x, b.round(x)), half)
    sine = b.sin(scaled(b, distance, math.pi))
    return b.select(is_low, b.sub(over(b, math.pi**2, b.mul(sine, sine)), value), value)

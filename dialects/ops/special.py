"""Special functions, elementwise.

`evaluate` computes in float64, erf and erfc with the C library's functions, which are accurate far into
the tails, the others with SciPy's: the only rules of adze that need it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ..errors import MissingRuleError
from ..types import FLOAT64
from .transcendental import OfFloat


class FromC(OfFloat):
    """Family of functions that `evaluate` takes from the C library, one element at a time."""

    function_of_element: ClassVar[Any]

    @classmethod
    def function(cls, x: np.ndarray) -> Any:
        return np.asarray(cls.function_of_element(x.astype(FLOAT64))).astype(FLOAT64)


class FromSciPy(OfFloat):
    """Family of functions that `evaluate` takes from `scipy.special`."""

    scipy_name: ClassVar[str]

    @classmethod
    def function(cls, x: np.ndarray) -> Any:
        return cls.from_scipy(x.astype(FLOAT64))

    @classmethod
    def from_scipy(cls, x: np.ndarray) -> Any:
        """SciPy's values."""
        try:
            from scipy import special
        except ImportError:
            raise MissingRuleError(
                f"op 'adze.{cls.name}' cannot be evaluated eagerly: SciPy is not installed",
                hint="install scipy, or call the function under adze.jit",
            ) from None
        return getattr(special, cls.scipy_name)(x)


class Erf(FromC):
    """``y = 2 / sqrt(pi) * integral of e ** -t^2 over [0, x];  dy = 2 / sqrt(pi) * e ** -x^2 * dx``."""

    name = "erf"
    function_of_element = np.frompyfunc(math.erf, 1, 1)


class Erfc(FromC):
    """``y = 1 - erf x``, accurate for large `x`;  ``dy = -2 / sqrt(pi) * e ** -x^2 * dx``."""

    name = "erfc"
    function_of_element = np.frompyfunc(math.erfc, 1, 1)


class ErfInv(FromSciPy):
    """``erf y = x;  dy = sqrt(pi) / 2 * e ** y^2 * dx``; `NaN` outside [-1, 1]."""

    name = "erf_inv"
    scipy_name = "erfinv"

    @classmethod
    def function(cls, x: np.ndarray) -> Any:
        return np.where(x == 0, x, super().function(x))  # SciPy loses the sign of zero


class Lgamma(FromSciPy):
    """``y = log |gamma(x)|;  dy = digamma(x) * dx``; infinite at 0, -1, -2, ..."""

    name = "lgamma"
    scipy_name = "gammaln"

    @classmethod
    def function(cls, x: np.ndarray) -> Any:
        return np.where(x == -np.inf, np.inf, super().function(x))  # as C99; SciPy says -inf


class Digamma(FromSciPy):
    """``y = gamma'(x) / gamma(x)``, whose derivative is the trigamma function; `NaN` at -1, -2, ..."""

    name = "digamma"
    scipy_name = "psi"

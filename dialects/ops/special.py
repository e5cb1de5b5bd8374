"""Special functions, elementwise. `evaluate` takes them from SciPy, the only rule in adze that does."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import MissingRuleError
from .transcendental import OfFloat


class Special(OfFloat):
    """Family of functions whose NumPy-like evaluation is SciPy's `scipy.special.<scipy_name>`."""

    scipy_name: ClassVar[str]

    @classmethod
    def function(cls, x: np.ndarray) -> Any:
        try:
            from scipy import special
        except ImportError:
            raise MissingRuleError(
                f"op 'adze.{cls.name}' cannot be evaluated eagerly: SciPy is not installed",
                hint="install scipy, or call the function under adze.jit",
            ) from None
        return getattr(special, cls.scipy_name)(x)


class Erf(Special):
    """``y = 2 / sqrt(pi) * integral of e ** -t^2 over [0, x];  dy = 2 / sqrt(pi) * e ** -x^2 * dx``."""

    name = "erf"
    scipy_name = "erf"


class Erfc(Special):
    """``y = 1 - erf x``, accurate for large `x`;  ``dy = -2 / sqrt(pi) * e ** -x^2 * dx``."""

    name = "erfc"
    scipy_name = "erfc"


class ErfInv(Special):
    """``erf y = x;  dy = sqrt(pi) / 2 * e ** y^2 * dx``; `NaN` outside [-1, 1]."""

    name = "erf_inv"
    scipy_name = "erfinv"


class Lgamma(Special):
    """``y = log |gamma(x)|;  dy = digamma(x) * dx``; infinite at 0, -1, -2, ..."""

    name = "lgamma"
    scipy_name = "gammaln"


class Digamma(Special):
    """``y = gamma'(x) / gamma(x)``, whose derivative is the trigamma function; `NaN` at -1, -2, ..."""

    name = "digamma"
    scipy_name = "psi"

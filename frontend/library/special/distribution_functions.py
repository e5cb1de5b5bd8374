"""Distribution functions under SciPy's names: incomplete gamma and beta functions of other arguments.

Input: arrays. Output: probabilities in their dtype; derivatives are those of the incomplete functions.
"""

from __future__ import annotations

from typing import Any

from .. import numpy as xp
from ..numpy.promotion import stays_weak
from .incomplete import betainc, gammainc, gammaincc
from .scipy_names import digamma, floats, gammaln


@stays_weak
def chdtr(v: Any, x: Any) -> Any:
    """The probability that a chi-squared variable of `v` degrees of freedom is at most `x`."""
    v, x = floats(v, x)
    return gammainc(v / 2, x / 2)


@stays_weak
def chdtrc(v: Any, x: Any) -> Any:
    """The probability that a chi-squared variable of `v` degrees of freedom exceeds `x`."""
    v, x = floats(v, x)
    return gammaincc(v / 2, x / 2)


@stays_weak
def gdtr(a: Any, b: Any, x: Any) -> Any:
    """The probability that a gamma variable of rate `a` and shape `b` is at most `x`."""
    a, b, x = floats(a, b, x)
    return gammainc(b, a * x)


@stays_weak
def gdtrc(a: Any, b: Any, x: Any) -> Any:
    """The probability that a gamma variable of rate `a` and shape `b` exceeds `x`."""
    a, b, x = floats(a, b, x)
    return gammaincc(b, a * x)


@stays_weak
def pdtr(k: Any, m: Any) -> Any:
    """The probability that a Poisson variable of mean `m` is at most `floor(k)`."""
    k, m = floats(k, m)
    return xp.where(k < 0, xp.nan, gammaincc(xp.floor(k) + 1, m))


@stays_weak
def pdtrc(k: Any, m: Any) -> Any:
    """The probability that a Poisson variable of mean `m` exceeds `floor(k)`."""
    k, m = floats(k, m)
    return xp.where(k < 0, xp.nan, gammainc(xp.floor(k) + 1, m))


@stays_weak
def fdtr(dfn: Any, dfd: Any, x: Any) -> Any:
    """The probability that an F variable of `dfn` and `dfd` degrees of freedom is at most `x`."""
    dfn, dfd, x = floats(dfn, dfd, x)
    is_low, low, high = _tails(dfn, dfd, x)
    return xp.where(is_low, low, 1 - high)


@stays_weak
def fdtrc(dfn: Any, dfd: Any, x: Any) -> Any:
    """The probability that an F variable of `dfn` and `dfd` degrees of freedom exceeds `x`."""
    dfn, dfd, x = floats(dfn, dfd, x)
    is_low, low, high = _tails(dfn, dfd, x)
    return xp.where(is_low, 1 - low, high)


def _tails(dfn: Any, dfd: Any, x: Any) -> tuple[Any, Any, Any]:
    """Whether the lower tail is the smaller one, and both: the smaller one is the one to rely on."""
    scaled = dfn * x
    is_finite = scaled < xp.inf
    inside = xp.where(is_finite, scaled, 0)
    low = xp.where(is_finite, betainc(dfn / 2, dfd / 2, inside / (dfd + inside)), 1)
    return low < 0.5, low, betainc(dfd / 2, dfn / 2, dfd / (dfd + scaled))


@stays_weak
def stdtr(df: Any, t: Any) -> Any:
    """The probability that a Student variable of `df` degrees of freedom is at most `t`."""
    df, t = floats(df, t)
    square = t * t
    is_near, near, far = _tails(xp.ones_like(df), df, square)
    below = xp.where(is_near, 0.5 - near / 2, far / 2)
    return xp.where(t < 0, below, 1 - below)


@stays_weak
def psi(x: Any) -> Any:
    """The derivative of `gammaln`: another name of `digamma`."""
    return digamma(x)


@stays_weak
def binom(x: Any, y: Any) -> Any:
    """The binomial coefficient of real `x >= y >= 0`: `gamma(x + 1) / (gamma(y + 1) gamma(x - y + 1))`."""
    x, y = floats(x, y)
    return xp.exp(gammaln(x + 1) - gammaln(y + 1) - gammaln(x - y + 1))

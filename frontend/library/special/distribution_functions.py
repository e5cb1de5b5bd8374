"""Distribution functions under SciPy's names: incomplete gamma and beta functions of other arguments.

Input: arrays. Output: probabilities in their dtype; derivatives are those of the incomplete functions.
"""

from __future__ import annotations

from typing import Any

from .. import numpy as xp
from ..numpy.promotion import stays_weak
from .beta_functions import betaln
from .incomplete import betainc, gammainc, gammaincc
from .scipy_names import digamma, floats


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
    is_middle = (square * (df + 1) < 0.02 * df) & (df > 0) & (df < xp.inf)
    outside = xp.where(is_middle, 1, t)
    is_near, near, far = _tails(xp.ones_like(df), df, outside * outside)
    below = xp.where(is_near, 0.5 - near / 2, far / 2)
    tails = xp.where(outside < 0, below, 1 - below)
    return xp.where(is_middle, _near_median(xp.where(is_middle, df, 1), xp.where(is_middle, t, 0)), tails)


def _near_median(df: Any, t: Any) -> Any:
    """`stdtr` for small `t`, by the series of its density: a function of `t * t` has no slopes there."""
    u = t * t / df
    term = total = xp.ones_like(t)
    for k in range(9):
        term = term * -(t * t / 2 + (k + 0.5) * u) / (k + 1)
        total = total + term / (2 * k + 3)
    return 0.5 + t * xp.exp(-betaln(df / 2, xp.full_like(df, 0.5))) / xp.sqrt(df) * total


@stays_weak
def psi(x: Any) -> Any:
    """The derivative of `gammaln`: another name of `digamma`."""
    return digamma(x)

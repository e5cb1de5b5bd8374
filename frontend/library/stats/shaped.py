"""Continuous distributions with parameters of shape: their densities, and tails by incomplete functions."""

from __future__ import annotations

import math
from typing import Any

from .. import numpy as xp
from ..special.beta_functions import betaln
from ..special.incomplete import betainc, betainc_upper, gammainc, gammaincc
from ..special.scipy_names import gammaln, i0e, log_ndtr, xlog1py, xlogy
from .distributions import continuous


def _from(least: float, z: Any) -> Any:
    """`z`, and `least` where it is smaller: the slope there is 0, at `least` itself it is that of `z`."""
    return xp.where(z < least, least, z)


def _positive(z: Any) -> Any:
    """`z`, and 1 where it is not positive."""
    return xp.where(z <= 0, 1.0, z)


def _gamma_cdf(z: Any, a: Any) -> Any:
    return xp.where(a > 0, xp.where(z <= 0, 0.0, gammainc(a, _positive(z))), xp.nan)


def _gamma_sf(z: Any, a: Any) -> Any:
    return xp.where(a > 0, xp.where(z <= 0, 1.0, gammaincc(a, _positive(z))), xp.nan)


def _gamma_logpdf(z: Any, a: Any) -> Any:
    value = xlogy(a - 1, xp.where(z < 0, 1.0, z)) - z - gammaln(a)
    return xp.where(z < 0, -xp.inf, value)


gamma = continuous(
    "the gamma distribution",
    ("a",),
    logpdf=_gamma_logpdf,
    cdf=_gamma_cdf,
    sf=_gamma_sf,
)

chi2 = continuous(
    "the chi-squared distribution",
    ("df",),
    logpdf=lambda z, df: _gamma_logpdf(0.5 * z, 0.5 * df) - math.log(2),
    cdf=lambda z, df: _gamma_cdf(0.5 * z, 0.5 * df),
    sf=lambda z, df: _gamma_sf(0.5 * z, 0.5 * df),
)


def _beta_logpdf(z: Any, a: Any, b: Any) -> Any:
    within = (z >= 0) & (z <= 1)
    inner = xp.where(within, z, 0.5)
    value = xlogy(a - 1, inner) + xlog1py(b - 1, -inner) - betaln(a, b)
    value = xp.where(~within & ~xp.isnan(z), -xp.inf, value + 0.0 * z)
    return xp.where((a > 0) & (b > 0), value, xp.nan)


beta = continuous(
    "the beta distribution",
    ("a", "b"),
    logpdf=_beta_logpdf,
    cdf=lambda z, a, b: betainc(a, b, xp.clip(z, 0.0, 1.0)),
    sf=lambda z, a, b: betainc_upper(a, b, xp.clip(z, 0.0, 1.0)),
)

pareto = continuous(
    "the Pareto distribution",
    ("b",),
    logpdf=lambda z, b: xp.where(z < 1, -xp.inf, xp.log(b) - (b + 1) * xp.log(_from(1.0, z))),
    cdf=lambda z, b: -xp.expm1(-b * xp.log(_from(1.0, z))),
    sf=lambda z, b: xp.exp(-b * xp.log(_from(1.0, z))),
    logsf=lambda z, b: -b * xp.log(_from(1.0, z)),
    ppf=lambda q, b: xp.where((q >= 0) & (q <= 1), xp.exp(-xp.log1p(-q) / b), xp.nan),
)


def _student_logpdf(z: Any, df: Any) -> Any:
    """The normal one where `df` is infinite."""
    is_normal = df == xp.inf
    count = xp.where(is_normal, 1.0, df)
    normaliser = -betaln(0.5 * count, 0.5) - 0.5 * xp.log(count)
    value = normaliser - 0.5 * (count + 1) * xp.log1p(z * z / count)
    return xp.where(is_normal, -0.5 * (z * z + math.log(2 * math.pi)), value)


t = continuous("Student's distribution", ("df",), squares_scale=True, logpdf=_student_logpdf)


def _gennorm_cdf(z: Any, p: Any) -> Any:
    """At 0 by the tangent, as powers have no slope there: the density is `1 / (2 gamma(1 + 1 / p))`."""
    tail = 0.5 * gammaincc(1 / p, xp.abs(xp.where(z == 0, 1.0, z)) ** p)
    at_zero = 0.5 * (1 + z * xp.exp(-gammaln(1 + 1 / p)))
    value = xp.where(z == 0, at_zero, xp.where(z < 0, tail, 1 - tail))
    return xp.where(p > 0, value, xp.nan)


gennorm = continuous(
    "the generalized normal distribution",
    ("beta",),
    located=False,
    logpdf=lambda z, p: xp.log(0.5 * p) - gammaln(1 / p) - xp.abs(z) ** p,
    cdf=_gennorm_cdf,
)

vonmises = continuous(
    "the von Mises distribution",
    ("kappa",),
    located=False,
    logpdf=lambda z, kappa: xp.where(
        kappa > 0, kappa * (xp.cos(z) - 1) - xp.log(2 * math.pi * i0e(kappa)), xp.nan
    ),
)


def _wrapped_logpdf(z: Any, c: Any) -> Any:
    value = xp.log1p(-c * c) - xp.log(2 * math.pi * (1 + c * c - 2 * c * xp.cos(z)))
    value = xp.where((z < 0) | (z > 2 * math.pi), -xp.inf, value)
    return xp.where((c > 0) & (c < 1), value, xp.nan)


wrapcauchy = continuous("the wrapped Cauchy distribution", ("c",), located=False, logpdf=_wrapped_logpdf)


def _log_difference(high: Any, low: Any) -> Any:
    """`log(exp(high) - exp(low))`, for `low <= high`; -inf where they are equal, NaN where one is."""
    apart = ~(high <= low)
    ratio = xp.where(apart, low - xp.where(apart, high, 0.0), -1.0)
    return xp.where(apart, high + xp.log(-xp.expm1(ratio)), -xp.inf)


def _log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability between `a` and `b`, from the tail that they are nearer to."""
    left, right = xp.where(a > 0, -b, a), xp.where(a > 0, -a, b)
    return _log_difference(log_ndtr(right), log_ndtr(left))


def _of_interval(a: Any, b: Any, value: Any) -> Any:
    """`value`, NaN where `[a, b]` is no interval."""
    return xp.where(a < b, value, xp.nan)


def _truncated_logpdf(z: Any, a: Any, b: Any) -> Any:
    value = -0.5 * (z * z + math.log(2 * math.pi)) - _log_mass(a, b)
    return _of_interval(a, b, xp.where((z < a) | (z > b), -xp.inf, value))


def _truncated_logcdf(z: Any, a: Any, b: Any) -> Any:
    middle = xp.clip(z, a, b)
    return _of_interval(a, b, _log_share(_log_mass(a, middle), _log_mass(middle, b), _log_mass(a, b)))


def _truncated_logsf(z: Any, a: Any, b: Any) -> Any:
    middle = xp.clip(z, a, b)
    return _of_interval(a, b, _log_share(_log_mass(middle, b), _log_mass(a, middle), _log_mass(a, b)))


def _log_share(part: Any, rest: Any, whole: Any) -> Any:
    """`part - whole` of logarithms; of nearly all by the rest, which keeps its digits."""
    share = part - whole
    is_most = share > -0.5
    return xp.where(is_most, xp.log1p(-xp.exp(xp.where(is_most, rest - whole, -1.0))), share)


truncnorm = continuous(
    "the normal distribution truncated to `[a, b]`",
    ("a", "b"),
    logpdf=_truncated_logpdf,
    logcdf=_truncated_logcdf,
    cdf=lambda z, a, b: xp.exp(_truncated_logcdf(z, a, b)),
    logsf=_truncated_logsf,
    sf=lambda z, a, b: xp.exp(_truncated_logsf(z, a, b)),
)

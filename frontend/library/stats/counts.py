"""Distributions over integers: the logarithms of their probabilities, -inf off the support."""

from __future__ import annotations

from typing import Any

from .. import numpy as xp
from ..special.beta_functions import betaln
from ..special.incomplete import gammaincc
from ..special.scipy_names import gammaln, xlog1py, xlogy
from .distributions import discrete


def _supported(k: Any, least: Any, most: Any, logpmf: Any) -> Any:
    """`logpmf` of a number of the support, -inf where `k` is none of it; a NaN stays one."""
    return xp.where((k < least) | (k > most) | (xp.floor(k) < k), -xp.inf, logpmf)


def _is_chance(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def _bernoulli(k: Any, p: Any) -> Any:
    outside = xp.where(xp.isnan(k), k, -xp.inf)
    return xp.where(k == 0, xp.log1p(-p), xp.where(k == 1, xp.log(p), outside))


def _bernoulli_cdf(k: Any, p: Any) -> Any:
    value = xp.where(k < 0, 0 * p, xp.where(k < 1, 1 - p, 0 * p + 1))
    return xp.where(_is_chance(p) & ~xp.isnan(k), value, xp.nan)


def _bernoulli_ppf(q: Any, p: Any) -> Any:
    return xp.where(_is_chance(q) & _is_chance(p), xp.where(q <= 1 - p, 0 * q, 0 * q + 1), xp.nan)


bernoulli = discrete(
    "a Bernoulli variable",
    ("p",),
    logpmf=_bernoulli,
)
bernoulli.cdf = discrete(
    "a Bernoulli variable",
    ("p",),
    located=False,
    cdf=_bernoulli_cdf,
).cdf
bernoulli.ppf = discrete(
    "a Bernoulli variable",
    ("p",),
    located=False,
    ppf=_bernoulli_ppf,
).ppf


def _binomial(k: Any, n: Any, p: Any) -> Any:
    inner = xp.clip(k, 0, n)
    value = _log_choose(n, inner) + xlogy(inner, p) + xlog1py(n - inner, -p)
    return _supported(k, 0, n, value)


binom = discrete("the binomial distribution", ("n", "p"), logpmf=_binomial)


def _beta_binomial(k: Any, n: Any, a: Any, b: Any) -> Any:
    inner = xp.clip(k, 0, n)
    value = -xp.log(n + 1) - betaln(n - inner + 1, inner + 1)
    value = value + betaln(inner + a, n - inner + b) - betaln(a, b)
    return xp.where((n >= 0) & (a > 0) & (b > 0), _supported(k, 0, n, value), xp.nan)


betabinom = discrete("the beta-binomial distribution", ("n", "a", "b"), logpmf=_beta_binomial)

geom = discrete(
    "the geometric distribution",
    ("p",),
    logpmf=lambda k, p: _supported(k, 1, xp.inf, xlog1py(xp.maximum(k, 1) - 1, -p) + xp.log(p)),
)


def _negative_binomial(k: Any, n: Any, p: Any) -> Any:
    inner = xp.maximum(k, 0)
    value = gammaln(inner + n) - gammaln(inner + 1) - gammaln(n) + xlogy(n, p) + xlog1py(inner, -p)
    return _supported(k, 0, xp.inf, value)


nbinom = discrete("the negative binomial distribution", ("n", "p"), logpmf=_negative_binomial)


def _poisson(k: Any, mu: Any) -> Any:
    inner = xp.maximum(k, 0)
    return _supported(k, 0, xp.inf, xlogy(inner, mu) - gammaln(inner + 1) - mu)


poisson = discrete(
    "the Poisson distribution",
    ("mu",),
    logpmf=_poisson,
    cdf=lambda k, mu: xp.where(k < 0, 0.0, gammaincc(xp.floor(xp.maximum(k, 0)) + 1, mu)),
)

_TERMS = 400
_EXACT_UNTIL = 100.0


def poisson_entropy(mu: Any, loc: Any = 0) -> Any:
    """The entropy of the Poisson distribution: the sum of its terms up to a mean of 100, above that the
    asymptotic series in `1 / mu` (Evans and Boersma 1988)."""
    (mean,) = xp.broadcast_arrays(xp.asarray(mu) * 1.0 + 0 * xp.asarray(loc))
    small = xp.where(mean < _EXACT_UNTIL, mean, 1.0)

    k = xp.reshape(xp.arange(_TERMS, dtype=small.dtype), (-1, *(1,) * small.ndim))
    logpmf = _poisson(k, small)
    exact = -xp.sum(xp.exp(logpmf) * xp.where(xp.isfinite(logpmf), logpmf, 0.0), axis=0)
    large = xp.where(mean < _EXACT_UNTIL, _EXACT_UNTIL, mean)
    r = 1 / large
    series = 0.5 * xp.log(2 * xp.pi * xp.e * large) - r / 12 - r**2 / 24 - 19 * r**3 / 360
    return xp.where(mean < _EXACT_UNTIL, exact, series)


poisson.entropy = poisson_entropy

"""Distributions of a location and a scale alone, whose functions are elementary (or those of the normal
one)."""

from __future__ import annotations

import math
from typing import Any

from ...tracing.interpreter import ops
from .. import numpy as xp
from ..nn import log1mexp, log_sigmoid, softplus
from ..special.scipy_names import log_ndtr, ndtr, ndtri
from .distributions import continuous

norm = continuous(
    "the normal distribution",
    squares_scale=True,
    logpdf=lambda z: -0.5 * (z * z + math.log(2 * math.pi)),
    cdf=lambda z: ndtr(z),
    logcdf=lambda z: log_ndtr(z),
    sf=lambda z: ndtr(-z),
    logsf=lambda z: log_ndtr(-z),
    ppf=lambda q: ndtri(q),
    isf=lambda q: -ndtri(q),
)


def _cauchy_quantile(low: Any, high: Any) -> Any:
    """The quantile of `low = 1 - high`: by the tail that is nearer, where the tangent is exact."""
    middle = xp.where((low < 0.25) | (high < 0.25), 0.5, low)
    tail = xp.minimum(low, high)
    far = 1 / xp.tan(math.pi * xp.where(tail < 0.25, tail, 0.25))
    near = xp.tan(math.pi * (middle - 0.5))
    value = xp.where(low < 0.25, -far, xp.where(high < 0.25, far, near))
    return xp.where(tail < 0, xp.nan, value)


# 1 / (pi (1 + z^2)); the tails by atan2, which keeps small probabilities exact.
cauchy = continuous(
    "the Cauchy distribution",
    logpdf=lambda z: -math.log(math.pi) - xp.log1p(z * z),
    cdf=lambda z: xp.arctan2(1.0, -z) / math.pi,
    sf=lambda z: xp.arctan2(1.0, z) / math.pi,
    ppf=lambda q: _cauchy_quantile(q, 1 - q),
    isf=lambda q: _cauchy_quantile(1 - q, q),
)

logistic = continuous(
    "the logistic distribution",
    named={"ppf": "x", "isf": "x"},
    logpdf=lambda z: -xp.abs(z) - 2 * softplus(-xp.abs(z)),
    cdf=lambda z: ops.logistic(z),
    logcdf=lambda z: log_sigmoid(z),
    sf=lambda z: ops.logistic(-z),
    logsf=lambda z: log_sigmoid(-z),
    ppf=lambda q: xp.log(q) - xp.log1p(-q),
    isf=lambda q: xp.log1p(-q) - xp.log(q),
)

laplace = continuous(
    "the Laplace distribution",
    logpdf=lambda z: -xp.abs(z) - math.log(2),
    cdf=lambda z: xp.where(z < 0, 0.5 * xp.exp(-xp.abs(z)), 1 - 0.5 * xp.exp(-xp.abs(z))),
    sf=lambda z: xp.where(z > 0, 0.5 * xp.exp(-xp.abs(z)), 1 - 0.5 * xp.exp(-xp.abs(z))),
)

gumbel_r = continuous(
    "the Gumbel distribution of maxima",
    named={"ppf": "p"},
    logpdf=lambda z: -z - xp.exp(-z),
    logcdf=lambda z: -xp.exp(-z),
    cdf=lambda z: xp.exp(-xp.exp(-z)),
    sf=lambda z: -xp.expm1(-xp.exp(-z)),
    logsf=lambda z: log1mexp(xp.exp(-z)),
    ppf=lambda q: -xp.log(-xp.log(q)),
    isf=lambda q: -xp.log(-xp.log1p(-q)),
)

gumbel_l = continuous(
    "the Gumbel distribution of minima",
    named={"ppf": "p"},
    logpdf=lambda z: z - xp.exp(z),
    logsf=lambda z: -xp.exp(z),
    sf=lambda z: xp.exp(-xp.exp(z)),
    cdf=lambda z: -xp.expm1(-xp.exp(z)),
    logcdf=lambda z: log1mexp(xp.exp(z)),
    ppf=lambda q: xp.log(-xp.log1p(-q)),
    isf=lambda q: xp.log(-xp.log(q)),
)

expon = continuous(
    "the exponential distribution",
    logpdf=lambda z: xp.where(z < 0, -xp.inf, -z),
    cdf=lambda z: xp.where(z < 0, 0.0, -xp.expm1(-xp.where(z < 0, 0.0, z))),
    logcdf=lambda z: xp.where(z <= 0, -xp.inf, log1mexp(xp.where(z <= 0, 1.0, z))),
    sf=lambda z: xp.where(z < 0, 1.0, xp.exp(-xp.where(z < 0, 0.0, z))),
    logsf=lambda z: xp.where(z < 0, 0.0, -z),
    ppf=lambda q: xp.where(q < 0, xp.nan, -xp.log1p(-q)),
    isf=lambda q: -xp.log(q),
)

uniform = continuous(
    "the uniform distribution on `[0, 1]`",
    logpdf=lambda z: xp.where((z < 0) | (z > 1), -xp.inf, 0.0 * z),
    cdf=lambda z: xp.where(z < 0, 0.0, xp.where(z > 1, 1.0, z)),
    sf=lambda z: xp.where(z < 0, 1.0, xp.where(z > 1, 0.0, 1.0 - z)),
    ppf=lambda q: xp.where((q < 0) | (q > 1), xp.nan, q),
)

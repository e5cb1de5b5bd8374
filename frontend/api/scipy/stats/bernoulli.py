"""`scipy.stats.bernoulli`: functions of the distribution."""

from ...frontend.library.stats.counts import bernoulli as _distribution

cdf = _distribution.cdf
logpmf = _distribution.logpmf
pmf = _distribution.pmf
ppf = _distribution.ppf

__all__ = ["cdf", "logpmf", "pmf", "ppf"]

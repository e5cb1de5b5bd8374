"""`scipy.stats.poisson`: functions of the distribution."""

from ...frontend.library.stats.counts import poisson as _distribution

cdf = _distribution.cdf
entropy = _distribution.entropy
logpmf = _distribution.logpmf
pmf = _distribution.pmf

__all__ = ["cdf", "entropy", "logpmf", "pmf"]

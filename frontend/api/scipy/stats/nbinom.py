"""`scipy.stats.nbinom`: functions of the distribution."""

from ...frontend.library.stats.counts import nbinom as _distribution

logpmf = _distribution.logpmf
pmf = _distribution.pmf

__all__ = ["logpmf", "pmf"]

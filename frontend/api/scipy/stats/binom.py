"""`scipy.stats.binom`: functions of the distribution."""

from ...frontend.library.stats.counts import binom as _distribution

logpmf = _distribution.logpmf
pmf = _distribution.pmf

__all__ = ["logpmf", "pmf"]

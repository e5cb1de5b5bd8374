"""`scipy.stats.multinomial`: functions of the distribution."""

from ...frontend.library.stats.vectors import multinomial as _distribution

logpmf = _distribution.logpmf
pmf = _distribution.pmf

__all__ = ["logpmf", "pmf"]

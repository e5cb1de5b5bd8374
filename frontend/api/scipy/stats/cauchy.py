"""`scipy.stats.cauchy`: functions of the distribution."""

from ...frontend.library.stats.simple import cauchy as _distribution

cdf = _distribution.cdf
isf = _distribution.isf
logcdf = _distribution.logcdf
logpdf = _distribution.logpdf
logsf = _distribution.logsf
pdf = _distribution.pdf
ppf = _distribution.ppf
sf = _distribution.sf

__all__ = ["cdf", "isf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

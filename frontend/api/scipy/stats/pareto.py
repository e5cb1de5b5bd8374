"""`scipy.stats.pareto`: functions of the distribution."""

from ...frontend.library.stats.shaped import pareto as _distribution

cdf = _distribution.cdf
logcdf = _distribution.logcdf
logpdf = _distribution.logpdf
logsf = _distribution.logsf
pdf = _distribution.pdf
ppf = _distribution.ppf
sf = _distribution.sf

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "ppf", "sf"]

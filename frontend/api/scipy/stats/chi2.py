"""`scipy.stats.chi2`: functions of the distribution."""

from ...frontend.library.stats.shaped import chi2 as _distribution

cdf = _distribution.cdf
logcdf = _distribution.logcdf
logpdf = _distribution.logpdf
logsf = _distribution.logsf
pdf = _distribution.pdf
sf = _distribution.sf

__all__ = ["cdf", "logcdf", "logpdf", "logsf", "pdf", "sf"]

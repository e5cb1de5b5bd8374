"""`scipy.stats.logistic`: functions of the distribution."""

from ...frontend.library.stats.simple import logistic as _distribution

cdf = _distribution.cdf
isf = _distribution.isf
logpdf = _distribution.logpdf
pdf = _distribution.pdf
ppf = _distribution.ppf
sf = _distribution.sf

__all__ = ["cdf", "isf", "logpdf", "pdf", "ppf", "sf"]

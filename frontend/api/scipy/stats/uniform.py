"""`scipy.stats.uniform`: functions of the distribution."""

from ...frontend.library.stats.simple import uniform as _distribution

cdf = _distribution.cdf
logpdf = _distribution.logpdf
pdf = _distribution.pdf
ppf = _distribution.ppf

__all__ = ["cdf", "logpdf", "pdf", "ppf"]

"""`scipy.stats.laplace`: functions of the distribution."""

from ...frontend.library.stats.simple import laplace as _distribution

cdf = _distribution.cdf
logpdf = _distribution.logpdf
pdf = _distribution.pdf

__all__ = ["cdf", "logpdf", "pdf"]

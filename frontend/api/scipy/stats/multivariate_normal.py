"""`scipy.stats.multivariate_normal`: functions of the distribution."""

from ...frontend.library.stats.vectors import multivariate_normal as _distribution

logpdf = _distribution.logpdf
pdf = _distribution.pdf

__all__ = ["logpdf", "pdf"]

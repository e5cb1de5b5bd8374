"""`scipy.stats.vonmises`: functions of the distribution."""

from ...frontend.library.stats.shaped import vonmises as _distribution

logpdf = _distribution.logpdf
pdf = _distribution.pdf

__all__ = ["logpdf", "pdf"]

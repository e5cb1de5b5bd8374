"""`scipy.stats.t`: functions of the distribution."""

from ...frontend.library.stats.shaped import t as _distribution

logpdf = _distribution.logpdf
pdf = _distribution.pdf

__all__ = ["logpdf", "pdf"]

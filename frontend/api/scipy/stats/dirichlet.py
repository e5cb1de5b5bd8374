"""`scipy.stats.dirichlet`: functions of the distribution."""

from ...frontend.library.stats.vectors import dirichlet as _distribution

logpdf = _distribution.logpdf
pdf = _distribution.pdf

__all__ = ["logpdf", "pdf"]

"""Interpolation under SciPy's name."""

from ..frontend.library.names import public_names as _public_names
from ..frontend.library.signals.resampling import RegularGridInterpolator as RegularGridInterpolator

__all__ = _public_names(globals())

"""What SciPy names: `adze.scipy.special`."""

from . import special as special

__all__ = ["special"]

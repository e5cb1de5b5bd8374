"""What SciPy names: `adze.scipy.linalg` and `adze.scipy.special`."""

from . import linalg as linalg
from . import special as special

__all__ = ["linalg", "special"]

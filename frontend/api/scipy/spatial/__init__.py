"""Space under SciPy's names: `adze.scipy.spatial.transform`."""

from . import transform as transform

__all__ = ["transform"]

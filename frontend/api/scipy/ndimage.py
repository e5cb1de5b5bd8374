"""Arrays sampled between their elements, under SciPy's name."""

from ..frontend.library.names import public_names as _public_names
from ..frontend.library.signals.resampling import map_coordinates as map_coordinates

__all__ = _public_names(globals())

"""Rotations under SciPy's names."""

from ...frontend.library.names import public_names as _public_names
from ...frontend.library.spatial.rotations import Rotation as Rotation
from ...frontend.library.spatial.rotations import Slerp as Slerp

__all__ = _public_names(globals())

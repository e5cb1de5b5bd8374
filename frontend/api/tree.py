"""Pytrees: `adze.tree.map`, `leaves`, `structure`, `flatten`, `unflatten`, `register`."""

from .frontend.library.names import public_names as _public_names
from .frontend.tree import flatten as flatten
from .frontend.tree import leaves as leaves
from .frontend.tree import map as map
from .frontend.tree import paths as paths
from .frontend.tree import register as register
from .frontend.tree import structure as structure
from .frontend.tree import unflatten as unflatten

__all__ = _public_names(globals())

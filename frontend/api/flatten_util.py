"""A tree as one vector: `ravel_pytree`."""

from .frontend.library.names import public_names as _public_names
from .frontend.library.ravel_tree import ravel_pytree as ravel_pytree

__all__ = _public_names(globals())

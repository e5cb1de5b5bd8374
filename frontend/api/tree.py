"""Pytrees under the names of `jax.tree`: `adze.tree.map`, `leaves`, `structure`, `flatten`, `reduce`, ..."""

from .frontend.library.names import public_names as _public_names
from .frontend.tree import all as all
from .frontend.tree import broadcast as broadcast
from .frontend.tree import flatten as flatten
from .frontend.tree import flatten_with_path as flatten_with_path
from .frontend.tree import leaves as leaves
from .frontend.tree import leaves_with_path as leaves_with_path
from .frontend.tree import map as map
from .frontend.tree import map_with_path as map_with_path
from .frontend.tree import paths as paths
from .frontend.tree import reduce as reduce
from .frontend.tree import reduce_associative as reduce_associative
from .frontend.tree import register as register
from .frontend.tree import static as static
from .frontend.tree import structure as structure
from .frontend.tree import transpose as transpose
from .frontend.tree import unflatten as unflatten

__all__ = _public_names(globals())

"""Functions that say themselves what `vmap` makes of them."""

from .frontend.library.names import public_names as _public_names
from .frontend.transforms.custom_batching import custom_vmap as custom_vmap
from .frontend.transforms.custom_batching import sequential_vmap as sequential_vmap

__all__ = _public_names(globals())

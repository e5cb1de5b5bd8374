"""Reductions by segments, under the names of `jax.ops`."""

from .frontend.library.names import public_names as _public_names
from .frontend.library.segments import segment_max as segment_max
from .frontend.library.segments import segment_min as segment_min
from .frontend.library.segments import segment_prod as segment_prod
from .frontend.library.segments import segment_sum as segment_sum

__all__ = _public_names(globals())

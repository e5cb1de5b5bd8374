"""Images of other sizes, under the names of `jax.image`."""

from .frontend.library.names import public_names as _public_names
from .frontend.library.signals.images import ResizeMethod as ResizeMethod
from .frontend.library.signals.images import resize as resize
from .frontend.library.signals.images import scale_and_translate as scale_and_translate

__all__ = _public_names(globals())

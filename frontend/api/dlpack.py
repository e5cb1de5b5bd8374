"""Arrays of other libraries, without a copy, under the names of `jax.dlpack`."""

from .frontend.library.names import public_names as _public_names
from .frontend.library.numpy.creation import from_dlpack as from_dlpack
from .frontend.library.numpy.dtypes import is_supported_dtype as is_supported_dtype

__all__ = _public_names(globals())

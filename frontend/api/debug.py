"""Finding out where a value went wrong."""

from .frontend.library.names import public_names as _public_names
from .frontend.staging.debug import nans as nans
from .frontend.transforms.callbacks import debug_callback as callback
from .frontend.transforms.callbacks import debug_print as print
from .passes.analysis.check_nans import NanError as NanError

__all__ = _public_names(globals())

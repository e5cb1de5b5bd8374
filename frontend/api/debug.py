"""Finding out where a value went wrong."""

from .frontend.library.names import public_names as _public_names
from .frontend.staging.debug import nans as nans
from .passes.analysis.check_nans import NanError as NanError

__all__ = _public_names(globals())

"""Finding out where a value went wrong."""

from .frontend.staging.debug import nans as nans
from .passes.analysis.check_nans import NanError as NanError

__all__ = ["NanError", "nans"]

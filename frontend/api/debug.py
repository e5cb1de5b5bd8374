"""Finding out where a value went wrong."""

from .frontend.programs.debug import nans as nans
from .passes.check_nans import NanError as NanError

__all__ = ["NanError", "nans"]

"""Mutable arrays: `new_ref` makes one, and functions that read and write it."""

from .frontend.library.names import public_names as _public_names
from .frontend.tracing.references import Ref as Ref
from .frontend.tracing.references import addupdate as addupdate
from .frontend.tracing.references import empty_ref as empty_ref
from .frontend.tracing.references import free_ref as free_ref
from .frontend.tracing.references import freeze as freeze
from .frontend.tracing.references import get as get
from .frontend.tracing.references import new_ref as new_ref
from .frontend.tracing.references import set as set
from .frontend.tracing.references import swap as swap

__all__ = _public_names(globals())

"""Programs of other frameworks as functions: ONNX models."""

from .frontend.imports.errors import ModelError as ModelError
from .frontend.imports.errors import ModelUnsupportedError as ModelUnsupportedError
from .frontend.imports.onnx.model import from_onnx as from_onnx
from .frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())

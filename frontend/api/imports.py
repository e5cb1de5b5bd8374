"""Programs of other frameworks as functions: ONNX, StableHLO; functions as StableHLO."""

from .frontend.imports.einops_backend import register_einops as register_einops
from .frontend.imports.errors import ModelError as ModelError
from .frontend.imports.errors import ModelUnsupportedError as ModelUnsupportedError
from .frontend.imports.onnx.model import OnnxFunction as OnnxFunction
from .frontend.imports.onnx.model import from_onnx as from_onnx
from .frontend.imports.stablehlo.function import StableHLOFunction as StableHLOFunction
from .frontend.imports.stablehlo.function import from_stablehlo as from_stablehlo
from .frontend.imports.stablehlo.program import StableHLOError as StableHLOError
from .frontend.imports.stablehlo_out.function import to_stablehlo as to_stablehlo
from .frontend.library.names import public_names as _public_names

__all__ = _public_names(globals())

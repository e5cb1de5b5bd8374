"""Files of models, whatever their format, as functions: what the command line loads.

Input: the path of an ONNX or a StableHLO file. Output: its function, and the specs that it declares.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ..tracing.specs import ShapeDtype
from .errors import ModelError
from .onnx.model import OnnxFunction, from_onnx
from .stablehlo.function import StableHLOFunction, from_stablehlo

ONNX: Final = (".onnx",)
STABLEHLO: Final = (".mlir", ".mlirbc", ".stablehlo")


def load_model(path: str | Path) -> Callable[..., Any]:
    """The function of a model's file, by the end of its name; raises `ModelError` for other files."""
    suffix = Path(path).suffix.lower()
    if suffix in ONNX:
        return from_onnx(path)
    if suffix in STABLEHLO:
        return from_stablehlo(path)
    raise ModelError(
        f"{str(path)!r} is no file of a model", hint=f"expected {', '.join((*ONNX, *STABLEHLO))} at its end"
    )


def declared_specs(function: object) -> dict[str, ShapeDtype] | None:
    """The specs that a model declares of its arguments, by their names; None for any other function."""
    if isinstance(function, OnnxFunction):
        return function.specs
    if isinstance(function, StableHLOFunction):
        return dict(zip(function.__signature__.parameters, function.specs, strict=True))
    return None

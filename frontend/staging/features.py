"""The op whose dtype a target has no arithmetic for, and what the device family lacks.

Input: a traced module and a target. Output: the op, the line of the user's code and a sentence, or None.
"""

from __future__ import annotations

from typing import Final

from ...dialects import mlir
from ...dialects.codec import Codec
from ...dialects.dataclass import dataclass
from ...dialects.types import TensorType, dtype_name
from ...passes.analysis.verify import location_text
from ...passes.ir.functions import walk
from ...runtime.errors import CompileError
from ...runtime.targets import Target, TargetKind

FEATURES: Final = {
    "f64": "shaderFloat64",
    "complex<f64>": "shaderFloat64",
    "i64": "shaderInt64",
    "ui64": "shaderInt64",
}
"""What Vulkan calls the feature of a device that computes with a dtype."""


@dataclass(frozen=True)
class Blocking:
    """An op (None: an argument) that a target cannot compute, where it was traced, and why."""

    op: str | None
    where: str | None
    reason: str


def blocking_op(module: mlir.ir.Module, target: Target) -> Blocking | None:
    """The first op whose result is of a dtype that `target` lacks, None where there is none."""
    codec = Codec(module.context)
    for _, operation in walk(module):
        for value in operation.operation.results:
            type_ = codec.read_type(value.type)
            if isinstance(type_, TensorType) and dtype_name(type_.dtype) in target.missing_dtypes:
                name, where = operation.operation.name, location_text(operation.location)
                lacks = lacking(target, dtype_name(type_.dtype))
                return Blocking(name, where, f"it computes {type_}, and {lacks}")
    return None


def lacking(target: Target, dtype: str) -> str:
    """That `target` cannot compute with `dtype`, and what Vulkan calls that."""
    feature = (
        f" (the feature {FEATURES[dtype]})" if target.kind is TargetKind.VULKAN and dtype in FEATURES else ""
    )
    return f"{target} has no such arithmetic{feature}"


def explained(error: CompileError, module: mlir.ir.Module, target: Target) -> CompileError:
    """The error of a compile: where `target` lacks a dtype that the module computes with, that it does."""
    found = blocking_op(module, target) if target.missing_dtypes else None
    if found is None:
        return error
    return CompileError(
        f"{found.op} cannot be compiled: {found.reason}",
        where=found.where,
        op=found.op,
        hint="compute in narrower dtypes, or compile for another of `adze targets`",
        diagnostics=error.diagnostics,
        reproducer=error.reproducer,
    )

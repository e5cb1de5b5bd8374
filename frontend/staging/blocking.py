"""What stands in the way of a target: the argument or op whose dtype it has no arithmetic for.

Input: a traced function and a target. Output: a sentence and the line of the user's code, or None.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...dialects.codec import Codec
from ...dialects.types import TensorType, dtype_name
from ...passes.analysis.verify import location_text
from ...passes.ir.functions import walk
from ...runtime.targets import Target
from .stages import Traced


@dataclass(frozen=True)
class Blocking:
    """An op (None: an argument) that a target cannot compute, where it was traced, and why."""

    op: str | None
    where: str | None
    reason: str


def blocking(traced: Traced, target: Target) -> Blocking | None:
    """The first argument or op of a dtype that `target` lacks, None where there is none."""
    for parameter in traced.parameters:
        if dtype_name(parameter.type.dtype) in target.missing_dtypes:
            reason = f"argument '{parameter.name}' is {parameter}, and {target} has no such arithmetic"
            return Blocking(None, traced.defined_at, reason)
    codec = Codec(traced.program.module.context)
    for _, operation in walk(traced.program.module):
        for value in operation.operation.results:
            type_ = codec.read_type(value.type)
            if isinstance(type_, TensorType) and dtype_name(type_.dtype) in target.missing_dtypes:
                name, where = operation.operation.name, location_text(operation.location)
                return Blocking(name, where, f"it computes {type_}, and {target} has no such arithmetic")
    return None

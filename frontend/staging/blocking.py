"""What stands in the way of a target: the argument or op whose dtype it has no arithmetic for.

Input: a traced function and a target. Output: a sentence and the line of the user's code, or None.
"""

from __future__ import annotations

from ...dialects.types import dtype_name
from ...runtime.targets import Target
from .features import Blocking, blocking_op, lacking
from .traced import Traced


def blocking(traced: Traced, target: Target) -> Blocking | None:
    """The first argument or op of a dtype that `target` lacks, None where there is none."""
    for parameter in traced.parameters:
        dtype = dtype_name(parameter.type.dtype)
        if dtype in target.missing_dtypes:
            reason = f"argument '{parameter.name}' is {parameter}, and {lacking(target, dtype)}"
            return Blocking(None, traced.defined_at, reason)
    return blocking_op(traced.program.module, target)

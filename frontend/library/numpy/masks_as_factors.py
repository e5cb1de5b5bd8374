"""Products of booleans and numbers, as XLA computes them: for programs written for JAX.

Input: the factors as the user has them. Output: their product where JAX's program selects, else None.
Idea: XLA replaces `convert(mask) * x` by `select(mask, x, 0)`, so that what a mask leaves out may be NaN or
infinite: `(mask == 0) * float("-inf")` of attention, `mask * log(p)`. It does so where the mask has the shape
of the product; a mask that is broadcast multiplies, and NaN stays NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.types import BOOL, INEXACT, TensorType
from ...tracing.array import Array
from ...tracing.frames import Tracer
from ...tracing.interpreter import ops
from ...tracing.jax_rules import follows_jax
from .arguments import full_like
from .promotion import asarray_of, same_size


def selected(x: Any, y: Any, converted: Any) -> Any:
    """The product of `x` and `y` if one is a mask of its shape; `converted` are both as they are multiplied.

    A mask is an array of booleans, in a trace also one that was converted to numbers (`mask.astype(float)`).
    """
    for mask, other in ((mask_of(x), converted[1]), (mask_of(y), converted[0])):
        if mask is None or other.dtype not in INEXACT or not _have_one_shape(mask, other):
            continue
        return ops.select(asarray_of(mask), other, full_like(other, 0))
    return None


def may_select(x: Any, y: Any) -> bool:
    """Whether a factor is a mask and the program is written for JAX."""
    return (mask_of(x) is not None or mask_of(y) is not None) and follows_jax()


def mask_of(x: Any) -> Any:
    """The booleans that `x` is or was converted from, None for what is no mask."""
    if not isinstance(x, (Tracer, Array, np.ndarray)):
        return None
    if x.dtype == BOOL:
        return x
    if not isinstance(x, Tracer) or x.dtype not in INEXACT or isinstance(x.value.owner, mlir.ir.Block):
        return None
    operation = x.value.owner
    if operation.name != "adze.convert":
        return None
    kind = x.frame.program.codec.read_type(operation.operands[0].type)
    if not isinstance(kind, TensorType) or kind.dtype != BOOL:
        return None
    return Tracer(x.frame, operation.operands[0], kind)


def _have_one_shape(x: Any, y: Any) -> bool:
    return len(x.shape) == len(y.shape) and all(map(same_size, x.shape, y.shape))

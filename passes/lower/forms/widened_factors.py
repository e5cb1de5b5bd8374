"""Factors of products that were widened from halves, which NVIDIA's tensor cores multiply as they are.

Input: a product of float32. Output: its operands as halves again, where both are widened ones: nothing is
lost, since the product of two halves is a float32, and tensor cores add in float32. Attention that computes
in float32 has such a product, of queries and keys.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.types import BFLOAT16, FLOAT16, FLOAT32
from ....runtime.targets import TargetKind
from ..builder import Value
from ..lowering import LoweringContext
from .tensor_ops import convert_elements

MOVES: Final = ("adze.reshape", "adze.transpose")
HALVES: Final = (FLOAT16, BFLOAT16)


def narrowed_factors(
    ctx: LoweringContext, x: Value, y: Value, dtype: np.dtype
) -> tuple[Value, Value, np.dtype]:
    """The operands of a product with results of `dtype`, as halves where they are such, and their dtype."""
    source = ctx.operand_dtype
    is_of_floats = (source, dtype) == (FLOAT32, FLOAT32) and ctx.target.kind is TargetKind.CUDA
    if not is_of_floats or not all(mlir.ir.RankedTensorType(v.type).has_static_shape for v in (x, y)):
        return x, y, source
    first, second = (_dtype_before(ctx, position) for position in (0, 1))
    if first is None or first != second:
        return x, y, source
    # MLIR folds this with the widening.
    narrow = (convert_elements(ctx.builder, source, first, v) for v in (x, y))
    return next(narrow), next(narrow), first


def _dtype_before(ctx: LoweringContext, position: int) -> np.dtype | None:
    """The half that an operand of the op was widened from, None for another one."""
    value = ctx.operation.operands[position]
    while not isinstance(value.owner, mlir.ir.Block):
        operation = value.owner.operation
        if operation.name not in (*MOVES, "adze.convert"):
            return None
        value = operation.operands[0]
        if operation.name == "adze.convert":
            element = mlir.ir.RankedTensorType(value.type).element_type
            return next((half for half in HALVES if ctx.builder.scalars.element_type(half) == element), None)
    return None

"""Lowering of elementwise ops: one `linalg.generic` each, whose body is the op's scalar code.

Input: equally shaped tensors. Output: a tensor of their shape.
Idea: `Scalars` has a method for each op, called as the op is. It takes the dtype of the last operand, the
op's attributes and one element of each operand.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..builder import ScalarRule, Value
from ..lowering import LoweringContext
from ..scalars import Scalars


def lower_elementwise(ctx: LoweringContext, *operands: Value, **attributes: object) -> Value:
    """`linalg.generic` over all elements."""
    dtypes = tuple(t.dtype for t in ctx.operand_tensors)
    return ctx.builder.elementwise(
        scalar_code(ctx.op.name), dtypes, ctx.result_type.dtype, operands, attributes
    )


@cache
def scalar_code(name: str) -> ScalarRule:
    """The rule that emits the code of one element; the same object for each use of an op."""
    method = getattr(Scalars, name, None) or getattr(Scalars, name + "_")

    def rule(scalars: Scalars, dtypes: tuple[np.dtype, ...], *elements: Value, **attributes: object) -> Value:
        return method(scalars, dtypes[-1], *attributes.values(), *elements)

    return rule

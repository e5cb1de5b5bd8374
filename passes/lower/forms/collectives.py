"""Lowerings of collectives outside of a batch: each element of the axis holds the same value."""

from __future__ import annotations

import numpy as np

from ....dialects.types import INT64
from ..builder import Size, Value
from ..lowering import LoweringContext
from ..scalars import Scalars
from .movement import broadcast


def lower_axis_sum(
    ctx: LoweringContext, x: Value, index: Value, *, axis_name: str, length: tuple[Size, ...]
) -> Value:
    """The operand times the length of the axis."""
    count = ctx.builder.size_scalar(length[0])

    def rule(s: Scalars, dtypes: tuple[np.dtype, ...], element: Value) -> Value:
        # Converted inside: outside of dispatches IREE has no splats of complex128.
        return s.mul(dtypes[0], element, s.convert(INT64, dtypes[0], count))

    return ctx.builder.map_elements(ctx.result_type.dtype, rule, x)


def lower_axis_gather(
    ctx: LoweringContext, x: Value, index: Value, *, axis_name: str, length: tuple[Size, ...]
) -> Value:
    """The operand repeated along a new leading axis."""
    b = ctx.builder
    shape = b.shape(x)
    return broadcast(b, x, (length[0], *shape), tuple(range(1, len(shape) + 1)))

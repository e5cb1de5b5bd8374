"""Lowerings of constants, and of sizes as values.

Sizes are computed while lowering where they are known.
"""

from __future__ import annotations

import numpy as np

from ....dialects.ops.control.choices import place
from ....dialects.types import BFLOAT16, FLOAT16, INT32, INT64, from_storage
from ..builder import Size, SizeOperation, Value
from ..lowering import LoweringContext


def lower_constant(ctx: LoweringContext, *, value: np.ndarray, dtype: np.dtype) -> Value:
    """`arith.constant`."""
    return ctx.builder.constant(from_storage(value, dtype))


def lower_platform_index(ctx: LoweringContext, *, platforms: str) -> Value:
    """A constant; in the pipeline `choose-branches` has put it there."""
    return ctx.builder.constant(np.array(place(ctx.target.kind.value, platforms), INT32))


def lower_loop_preference(ctx: LoweringContext, *, label: str) -> Value:
    """No preference; in the pipeline `choose-branches` has decided."""
    return ctx.builder.constant(np.array(0, INT32))


def lower_dim(ctx: LoweringContext, x: Value, *, axis: int) -> Value:
    """The size of an axis, as it is remembered."""
    b = ctx.builder
    return b.size_value(b.shape(x)[axis])


def lower_size_constant(ctx: LoweringContext, *, value: int) -> Value:
    """`arith.constant` of type `index`."""
    return ctx.builder.size_value(value)


def lower_size_arithmetic(ctx: LoweringContext, m: Size, n: Size) -> Value:
    """An op of `arith` on `index` values."""
    name: SizeOperation = ctx.op.name  # type: ignore[assignment]
    return ctx.builder.size_arithmetic(name, m, n)


def lower_size_to_array(ctx: LoweringContext, n: Size, *, dtype: np.dtype) -> Value:
    """A number of the host, converted; a kernel converts it to a float of two bytes, which the host lacks."""
    b = ctx.builder
    if dtype in (FLOAT16, BFLOAT16):
        number = b.host_number(b.size_scalar(n), INT64)
        return b.elementwise(
            lambda scalars, _, x: scalars.convert(INT64, dtype, x), (INT64,), dtype, [number], {}
        )
    return b.host_number(b.scalars.convert(INT64, dtype, b.size_scalar(n)), dtype)


def lower_size_check(ctx: LoweringContext, m: Size, n: Size, *, message: str) -> None:
    """`cf.assert` that two sizes are equal, unless they are known to be."""
    ctx.builder.require_equal(m, n, message)

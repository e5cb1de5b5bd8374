"""Lowering of elementwise ops: one `linalg.generic` each, whose body is the op's scalar code.

Input: equally shaped tensors. Output: a tensor of their shape.
Idea: `Scalars` has a method for each op, called as the op is. It takes the dtype of the last operand, the
op's attributes and one element of each operand.
"""

from __future__ import annotations

import math
from typing import Final

from ....dialects import mlir
from ....dialects.builder.emitter import Reader
from ....dialects.codec import Codec
from ....dialects.ops.constants import Constant
from ....dialects.ops.elementwise.arithmetic import Pow, Rem
from ....dialects.ops.shape.rearrange import BroadcastInDim
from ....dialects.types import FLOATS
from ..builder import Value
from ..lowering import LoweringContext
from ..scalars import scalar_code
from ..scalars.reals import HALVES

OF_OPERANDS: Final = (Pow, Rem)
"""The ops whose code follows from an operand that is a constant, too."""

LEAST: Final = 1.0  # a divisor that no quotient by it is infinite for
MOST: Final = 1024.0  # nor zero, in any format


def lower_elementwise(ctx: LoweringContext, *operands: Value, **attributes: object) -> Value:
    """`linalg.generic` over all elements."""
    dtypes = tuple(t.dtype for t in ctx.operand_tensors)
    halves = _halves(ctx)
    if halves is not None:
        rule, attributes = scalar_code("power_of_halves"), {"halves": halves}
        return ctx.builder.elementwise(rule, dtypes, ctx.result_type.dtype, operands[:1], attributes)
    name = "rem_by_power_of_two" if _divides_by_power_of_two(ctx) else ctx.op.name
    return ctx.builder.elementwise(scalar_code(name), dtypes, ctx.result_type.dtype, operands, attributes)


def _divides_by_power_of_two(ctx: LoweringContext) -> bool:
    """Whether an op is a remainder of floats by 1, 2, 4, ...: another takes a hundred operations."""
    if ctx.op is not Rem or ctx.operand_dtype not in FLOATS:
        return False
    number = _repeated_number(ctx, ctx.operation.operands[1])
    return number is not None and LEAST <= abs(number) <= MOST and math.frexp(number)[0] in (0.5, -0.5)


def _halves(ctx: LoweringContext) -> int | None:
    """Twice the exponent of a power that is a root and few products: another takes 60 operations."""
    if ctx.op is not Pow or ctx.operand_dtype not in FLOATS:
        return None
    number = _repeated_number(ctx, ctx.operation.operands[1])
    return int(2 * number) if number is not None and 2 * number in HALVES else None


def _repeated_number(ctx: LoweringContext, value: Value) -> float | None:
    """The number that all elements of a constant are; None of others."""
    if isinstance(value.owner, mlir.ir.Block):
        return None
    application = Reader(Codec(ctx.builder.context)).read(value.owner.operation)
    if application is not None and application.op is BroadcastInDim:
        return _repeated_number(ctx, application.operands[0])
    if application is None or application.op is not Constant:
        return None
    array = Constant.evaluate(**application.attributes)
    return float(array) if array.ndim == 0 else None

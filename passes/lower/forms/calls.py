"""Lowering of calls: `func.call`, which is inlined or kept by IREE.

The callee is a function of the same module, lowered beside its caller.
"""

from __future__ import annotations

from ....dialects import mlir
from ..builder import Value
from ..lowering import LoweringContext
from .bodies import result_tensor_types


def lower_call(
    ctx: LoweringContext, *operands: Value, callee: str, **attributes: object
) -> tuple[Value, ...]:
    """`func.call` with the declared types of operands and results, signedness erased."""
    b = ctx.builder
    arguments = [
        b.cast(v, b.tensor_type(t.shape, t.dtype)) for v, t in zip(operands, ctx.operand_tensors, strict=True)
    ]
    symbol = mlir.ir.FlatSymbolRefAttr.get(callee, b.context)
    return tuple(mlir.func.CallOp(result_tensor_types(ctx), symbol, arguments).results)

"""Lowering of host calls: a call of a function that the program imports.

Imports take and return tensors of unknown sizes, so that one declaration serves every call of it.
"""

from __future__ import annotations

from typing import Any

from ....dialects import mlir
from ....dialects.errors import MissingRuleError
from ....runtime.execute.host_calls import MODULE
from ....runtime.targets import Target, TargetKind
from ..builder import Value
from ..iree.exported_loop_state import awaited
from ..lowering import LoweringContext


def lower_host_call(ctx: LoweringContext, *values: Value, callback: str, **attributes: Any) -> Any:
    """`func.call @adze_host.call_0`, and its declaration."""
    require_own_runtime(ctx.target, "call Python functions")
    b = ctx.builder
    passed = [
        with_unknown_sizes(ctx, awaited(ctx, v, t.dtype), t.dtype)
        for v, t in zip(values, ctx.operand_tensors, strict=True)
    ]
    results = [b.tensor_type([None] * t.rank, t.dtype) for t in ctx.result_tensors]
    symbol = f"{MODULE}.{callback}"
    call = mlir.func.CallOp(results, symbol, passed)
    ctx.imports[symbol] = mlir.ir.FunctionType.get([v.type for v in passed], results)
    return tuple(
        r if not t.is_static else mlir.tensor.cast(b.tensor_type(t.shape, t.dtype), r)
        for r, t in zip(call.results, ctx.result_tensors, strict=True)
    )


def require_own_runtime(target: Target, action: str) -> None:
    """`MissingRuleError` where programs are not run by adze's runtime, which answers what they import."""
    if target.kind not in (TargetKind.CPU, TargetKind.VULKAN, TargetKind.CUDA):
        raise MissingRuleError(
            f"a program for {target} cannot {action}: it is run by IREE's own tools, in no Python process",
            hint='compile it with target="cpu", "vulkan" or "cuda"',
        )


def with_unknown_sizes(ctx: LoweringContext, value: Value, dtype: Any) -> Value:
    type_ = ctx.builder.tensor_type([None] * mlir.ir.RankedTensorType(value.type).rank, dtype)
    return value if value.type == type_ else mlir.tensor.cast(type_, value)

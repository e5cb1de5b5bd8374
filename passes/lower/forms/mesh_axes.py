"""Lowerings of collectives over a mesh: calls of functions that the program imports.

`runtime/distributed/imports.py` has their names, and says what each does. Over an axis of one rank there is
nothing to import. Where the devices exchange arrays themselves, `channels.py` has what they do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects import mlir
from ....runtime.distributed.imports import MODULE, import_name
from ..builder import Value
from ..iree.exported_loop_state import awaited
from ..lowering import LoweringContext
from .channels import exchanged
from .host_calls import require_own_runtime, with_unknown_sizes
from .movement import broadcast


def lower_vary(ctx: LoweringContext, x: Value, index: Value, **attributes: Any) -> Value:
    """The operand: what varies is not seen in the code."""
    return x


def lower_mesh_index(ctx: LoweringContext, **attributes: Any) -> Any:
    """A call without operands; over one rank, 0."""
    if attributes["mesh"][attributes["axis"]] == 1:
        return ctx.builder.constant(np.zeros((), np.int32))
    return _imported(ctx, "mesh_index", (), attributes)


def lower_mesh_collective(ctx: LoweringContext, x: Value, index: Value, **attributes: Any) -> Any:
    """A call of `x`; over one rank, `x`."""
    if attributes["mesh"][attributes["axis"]] == 1:
        return x if attributes.get("perm", True) else zeros_like(ctx, x)
    if ctx.target.has_channels:
        return exchanged(ctx, x, attributes)
    return _imported(ctx, ctx.op.name, (x,), attributes)


def zeros_like(ctx: LoweringContext, x: Value) -> Value:
    """What a rank gets to which nobody sends."""
    (type_,) = ctx.result_tensors
    return broadcast(ctx.builder, ctx.builder.constant(np.zeros((), type_.dtype)), ctx.builder.shape(x), ())


def _imported(ctx: LoweringContext, op: str, values: tuple[Value, ...], attributes: dict[str, Any]) -> Any:
    require_own_runtime(ctx.target, "send arrays to other ranks")
    b = ctx.builder
    passed = [
        with_unknown_sizes(ctx, awaited(ctx, v, t.dtype), t.dtype)
        for v, t in zip(values, ctx.operand_tensors, strict=False)
    ]
    (type_,) = ctx.result_tensors
    result = b.tensor_type([None] * type_.rank, type_.dtype)
    symbol = f"{MODULE}.{import_name(op, attributes, type_.dtype, type_.rank)}"
    call = mlir.func.CallOp([result], symbol, passed)
    ctx.imports[symbol] = mlir.ir.FunctionType.get([v.type for v in passed], [result])
    (out,) = call.results
    return mlir.tensor.cast(b.tensor_type(type_.shape, type_.dtype), out) if type_.is_static else out

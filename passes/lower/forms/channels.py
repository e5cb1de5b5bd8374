"""Lowerings of collectives that the devices make themselves: IREE's collectives over channels (NCCL).

Input: collectives as `passes/partition/direct.py` leaves them. Output: `flow.collective` ops over the
channel of the ranks along an axis, a global of the program (`passes/lower/hold_channels.py`).
What only moves elements names any element type of their width: NCCL knows fewer types than adze.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ....dialects import mlir
from ....runtime.distributed.imports import channel_group
from ..builder import LinalgBuilder, Value
from ..lowering import LoweringContext

CHANNEL: Final = "!flow.channel"

# The numbers of IREE's `CollectiveElementType` and `CollectiveReductionOp`.
_ADDED: Final = {
    "int8": 0,
    "uint8": 1,
    "int32": 4,
    "uint32": 5,
    "int64": 6,
    "uint64": 7,
    "float32": 9,
    "float64": 10,
}
_MOVED: Final = {1: 0, 2: 8, 4: 4, 8: 6}
"""By the bytes of an element; of two bytes NCCL has only float16."""
_REDUCTIONS: Final = {"sum": 1, "min": 3, "max": 4}


def exchanged(ctx: LoweringContext, x: Value, attributes: Mapping[str, Any]) -> Value:
    """The collective of `x` over a channel."""
    b, (type_,) = ctx.builder, ctx.result_tensors
    out = b.empty(type_.static_shape, type_.dtype)
    if 0 in type_.static_shape:
        return out
    name = ctx.op.name
    stated = {"element_type": _MOVED[type_.dtype.itemsize]}
    more: list[Value] = []
    channel = _channel(b, attributes)
    if name in ("all_reduce", "reduce_scatter"):
        kind = attributes.get("kind", "sum")
        stated = {"element_type": _ADDED[type_.dtype.name], "reduction_op": _REDUCTIONS[kind]}
    if name == "ppermute":
        more = _partners(b, channel, attributes["mesh"][attributes["axis"]], attributes["perm"])
    i32 = mlir.ir.IntegerType.get_signless(32, b.context)
    written: dict[str, mlir.ir.Attribute] = {n: mlir.ir.IntegerAttr.get(i32, v) for n, v in stated.items()}
    tied = mlir.ir.IntegerAttr.get(mlir.ir.IndexType.get(b.context), 0)
    written["tied_operands"] = mlir.ir.ArrayAttr.get([tied], b.context)
    op = "flow.collective." + ("send_recv" if name == "ppermute" else name)
    result = mlir.ir.Operation.create(op, [out.type], [out, x, channel, *more], written).result
    return b.bind_shape(result, type_.static_shape)


def _channel(b: LinalgBuilder, attributes: Mapping[str, Any]) -> Value:
    group = channel_group(attributes["mesh"], attributes["axis"])
    reference = {"global": mlir.ir.FlatSymbolRefAttr.get(group, b.context)}
    type_ = mlir.ir.Type.parse(CHANNEL, b.context)
    return mlir.ir.Operation.create("util.global.load", [type_], [], reference).result


def _partners(b: LinalgBuilder, channel: Value, ranks: int, perm: tuple[tuple[int, int], ...]) -> list[Value]:
    """To whom the rank that runs sends, and from whom it gets, -1 for nobody."""
    index = mlir.ir.IndexType.get(b.context)
    position = mlir.ir.Operation.create("flow.channel.rank", [index], [channel]).result
    targets, sources = dict(perm), {target: source for source, target in perm}
    return [_chosen(b, position, [table.get(i, -1) for i in range(ranks)]) for table in (targets, sources)]


def _chosen(b: LinalgBuilder, position: Value, values: list[int]) -> Value:
    """`values[position]`; arithmetic where they go round a ring."""
    count = len(values)
    shift = values[0] % count
    if all(value == (i + shift) % count for i, value in enumerate(values)):
        moved = mlir.arith.addi(position, b.size_value(shift))
        return mlir.arith.remsi(moved, b.size_value(count))
    chosen = b.size_value(-1)
    for i, value in enumerate(values):
        if value != -1:
            equal = mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, position, b.size_value(i))
            chosen = mlir.arith.select(equal, b.size_value(value), chosen)
    return chosen

"""Lowering of the routine `attention` to IREE's op: one kernel on CUDA, with products on tensor cores.

Input: queries, keys, values and maybe a mask (`dialects/routine_arrays.py`). Output: the attention.
Idea: the kernel keeps the scores of some queries on chip, and goes on with the sums of their exponentials as
it sees more keys (Dao et al., FlashAttention, 2022). Sizes that its tiles do not divide get zeros behind them
(`tuning/fused_attention.py`), keys of zeros that no query sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.routine_arrays import attention_scale
from ....dialects.types import BOOL, TensorType
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..tuning.fused_attention import AttentionSizes, fused_sizes
from .tensor_ops import collapse_axes, expand_axes, extract_slice, pad_tensor

LOOPS: Final = "bmnks"  # batch, queries, features of values and of keys, keys
QUERY, KEY, VALUE, MASK, OUT = "bmk", "bsk", "bsn", "bms", "bmn"


def lower_routine(
    ctx: LoweringContext, *operands: Value, callee: str, kernel: str, results: Sequence[TensorType]
) -> Value:
    """`iree_linalg_ext.attention`: no other routine is left (`kernels/routines.py`)."""
    ir, b, scale = mlir.ir, ctx.builder, attention_scale(kernel)
    assert scale is not None, f"the routine {kernel} has no lowering"
    shape = b.shape(operands[0])
    last = len(shape) - 2
    groups = [list(range(last)), [last], [last + 1]]
    query, key, value, *mask = (collapse_axes(b, x, groups) for x in operands)
    _, queries, features = b.shape(query)
    keys = b.shape(key)[1]
    assert isinstance(queries, int) and isinstance(keys, int) and isinstance(features, int)
    old = AttentionSizes(queries, keys, features)
    new = fused_sizes(old)
    assert new is not None, "a routine that was to be expanded"
    zero = b.scalars.constant(ctx.operand_dtype, 0)
    more = new.features - features
    query = pad_tensor(b, query, [0] * 3, [0, new.queries - queries, more], zero)
    key, value = (pad_tensor(b, x, [0] * 3, [0, new.keys - keys, more], zero) for x in (key, value))
    if mask or new.keys != keys:
        mask = [_seen(b, mask, b.shape(query)[0], old, new)]
    element = ir.RankedTensorType(query.type).element_type
    operands_and_result = (QUERY, KEY, VALUE, "", *[MASK] * len(mask), OUT)
    maps = [b.axes_map(len(LOOPS), list(map(LOOPS.index, axes))) for axes in operands_and_result]
    op = ir.Operation.create(
        "iree_linalg_ext.attention",
        results=[query.type],
        operands=[
            query,
            key,
            value,
            mlir.arith.constant(element, ir.FloatAttr.get(element, scale)),
            *mask,
            b.empty(b.shape(query), ctx.operand_dtype),
        ],
        attributes={"indexing_maps": ir.ArrayAttr.get(maps, b.context)},
        regions=1,
    )
    block = op.regions[0].blocks.append(ir.F32Type.get(), arg_locs=[ir.Location.current])
    with ir.InsertionPoint(block):
        ir.Operation.create("iree_linalg_ext.yield", operands=[block.arguments[0]])
    result = b.bind_shape(op.result, b.shape(query))
    if (new.queries, new.features) != (queries, features):
        # IREE would take the slice of the operands instead.
        sizes = [b.shape(query)[0], queries, features]
        result = extract_slice(b, b.materialise(result), [0] * 3, sizes, [1] * 3)
    return expand_axes(b, result, groups, shape)


def _seen(
    b: LinalgBuilder, mask: Sequence[Value], count: Size, old: AttentionSizes, new: AttentionSizes
) -> Value:
    """Which keys a query sees: those that it saw of `mask`, or all, and of those behind them none.

    What a query that was added has, which may see none, is no part of the result.
    """
    if mask:
        more = [0, new.queries - old.queries, new.keys - old.keys]
        return pad_tensor(b, mask[0], [0] * 3, more, b.scalars.constant(BOOL, 0))

    def body(_: Value) -> Value:
        number, end = mlir.linalg.IndexOp(2).result, b.size_value(old.keys)
        return mlir.arith.cmpi(mlir.arith.CmpIPredicate.ult, number, end)

    init = b.empty([count, new.queries, new.keys], BOOL)
    return b.generic([], [init], [b.identity_map(3)], ["parallel"] * 3, body)

"""Lowering of the routine `attention` to IREE's op: one kernel on CUDA, with products on tensor cores.

Input: queries, keys, values and maybe a mask (`dialects/routine_arrays.py`). Output: the attention.
Idea: the kernel keeps the scores of some queries on chip, and goes on with the sums of their exponentials as
it sees more keys (Dao et al., FlashAttention, 2022).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from ....dialects.routine_arrays import attention_scale
from ....dialects.types import TensorType
from ..builder import Value
from ..lowering import LoweringContext
from .tensor_ops import collapse_axes, expand_axes

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
    return expand_axes(b, b.bind_shape(op.result, b.shape(query)), groups, shape)

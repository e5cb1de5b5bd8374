"""Lowering of `random_bits`: Threefry-2x32 on the row-major position of each element.

One `linalg.generic` over the flat result computes both counter words from `linalg.index` and does the
twenty rounds in 32-bit integers, so that it vectorises; a reshape makes the shape. Several keys are one more
loop around it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....dialects import mlir
from ....dialects.ops.random import threefry_words
from ....dialects.types import INT64, UINT32, TensorType
from ..builder import LinalgBuilder, Size, Value
from ..lowering import LoweringContext
from ..scalars.terms import Term
from .movement import reshape
from .tensor_ops import extract_slice, size_product


def lower_random_bits(ctx: LoweringContext, key: Value, *, shape: Sequence[Size], width: int) -> Value:
    """Unsigned integers of `width` bits, a function of the key and the position alone."""
    b = ctx.builder
    shape = [b.size(n) for n in shape]
    dtype = np.dtype(f"uint{width}")
    if 0 in shape:
        return b.empty(shape, dtype)
    type_ = ctx.operand_types[0]
    assert isinstance(type_, TensorType)
    axes = type_.rank - 1
    for axis, n in enumerate(b.shape(key)[:axes]):
        b.require_equal(shape[axis], n, "random_bits: as many keys as the result has axes for")
    batch = [size_product(b, shape[:axes])] if axes else []
    count = size_product(b, shape[axes:])
    words = reshape(b, key, [*batch, 2])
    first, second = (reshape(b, _column(b, words, batch, k), batch) for k in (0, 1))
    return reshape(b, bits_of_positions(b, first, second, batch, count, width), shape)


def bits_of_positions(
    b: LinalgBuilder, first: Value, second: Value, batch: Sequence[Size], count: Size, width: int
) -> Value:
    """The bits at `count` positions of each key, whose words have the axes `batch`."""

    def body(k0: Value, k1: Value, _: Value) -> Value:
        high, low = _counter(b, mlir.linalg.IndexOp(len(batch)).result, count)
        x0, x1 = threefry_words((Term(k0), Term(k1)), Term(high), Term(low))
        return _to_width(b, x0.value, x1.value, width)

    rank = len(batch) + 1
    init = b.empty([*batch, count], np.dtype(f"uint{width}"))
    of_key = b.axes_map(rank, tuple(range(len(batch))))
    maps = [of_key, of_key, b.identity_map(rank)]
    return b.generic([first, second], [init], maps, ["parallel"] * rank, body)


def _column(b: LinalgBuilder, words: Value, batch: Sequence[Size], k: int) -> Value:
    """Word `k` of each key."""
    ones, zeros = [1] * (len(batch) + 1), [0] * len(batch)
    return extract_slice(b, words, [*zeros, k], [*batch, 1], ones)


def _word(b: LinalgBuilder, value: int) -> Value:
    return b.scalars.constant(UINT32, value)


def _counter(b: LinalgBuilder, position: Value, count: Size) -> tuple[Value, Value]:
    """The high and the low word of a position."""
    arith = mlir.arith
    i32 = b.scalars.element_type(UINT32)
    if isinstance(count, int) and count <= 2**32:
        return _word(b, 0), arith.index_cast(i32, position)
    i64 = b.scalars.element_type(INT64)
    wide = arith.index_cast(i64, position)
    high = arith.shrui(wide, b.scalars.constant(INT64, 32))
    return arith.trunci(i32, high), arith.trunci(i32, wide)


def _to_width(b: LinalgBuilder, high: Value, low: Value, width: int) -> Value:
    arith = mlir.arith
    target = b.scalars.element_type(np.dtype(f"uint{width}"))
    if width == 64:
        wide = arith.shli(arith.extui(target, high), b.scalars.constant(INT64, 32))
        return arith.ori(wide, arith.extui(target, low))
    mixed = arith.xori(high, low)
    return mixed if width == 32 else arith.trunci(target, mixed)

"""Forms that move elements: broadcast, iota (and, beside them, reshape, transpose, slice, pad, ...)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import mlir
from .core import LoweringCore, Size


class MovementForms(LoweringCore):
    """Broadcasting, counting, reordering."""

    def broadcast(self, x: mlir.ir.Value, shape: Sequence[Size], dimensions: Sequence[int]) -> Any:
        """`linalg.generic` that reads axis `k` of `x` at axis `dimensions[k]`, or at 0 where its size is 1."""
        ir = mlir.ir
        shape = [self.size(n) for n in shape]
        rank = len(shape)
        reads = []
        for axis, (dimension, n) in enumerate(zip(dimensions, self.shape(x), strict=True)):
            if n == 1 and shape[dimension] != 1:
                reads.append(ir.AffineExpr.get_constant(0, self.context))
                continue
            self.require_equal(n, shape[dimension], f"adze: broadcast of axis {axis} to an unequal size")
            reads.append(ir.AffineExpr.get_dim(dimension, self.context))
        read = ir.AffineMapAttr.get(ir.AffineMap.get(rank, 0, reads, self.context))
        init = self.empty(shape, self.result_type.dtype)
        return self.generic(
            [x], [init], [read, self.identity_map(rank)], ["parallel"] * rank, lambda value, _: value
        )

    def iota(self, shape: Sequence[Size], axis: int, dtype: np.dtype) -> Any:
        """Counts by `linalg.index`."""
        rank = len(shape)
        i64 = mlir.ir.IntegerType.get_signless(64, self.context)

        def body(_: mlir.ir.Value) -> mlir.ir.Value:
            count = mlir.arith.index_cast(i64, mlir.linalg.index(axis))
            return self.scalars.convert(np.dtype(np.int64), dtype, count)

        return self.generic([], [self.empty(shape, dtype)], [self.identity_map(rank)], ["parallel"] * rank, body)

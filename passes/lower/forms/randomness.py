"""The form of random bits: Threefry-2x32 on the row-major position of each element.

One `linalg.generic` over the flat result computes both counter words from `linalg.index` and does the
twenty rounds in 32-bit integers, so that it vectorises; a reshape gives the shape. Several keys are one more
loop around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.ops.random import PARITY, ROUNDS
from ....dialects.types import INT64, UINT32, TensorType
from ..builder import Size
from .movement import MovementForms


class RandomnessForms(MovementForms):
    """Counter-based random bits."""

    def random_bits(self, key: Any, shape: Sequence[Size], width: int) -> Any:
        """Unsigned integers of `width` bits, a function of the key and the position alone."""
        shape = [self.size(n) for n in shape]
        dtype = np.dtype(f"uint{width}")
        if 0 in shape:
            return self.empty(shape, dtype)
        type_ = self.operand_types[0]
        assert isinstance(type_, TensorType)
        axes = type_.rank - 1
        for axis, n in enumerate(self.shape(key)[:axes]):
            self.require_equal(shape[axis], n, "random_bits: as many keys as the result has axes for")
        batch = [self.product(shape[:axes])] if axes else []
        count = self.product(shape[axes:])
        words = self.reshape(key, [*batch, 2])
        keys = [self.reshape(self._column(words, batch, k), batch) for k in (0, 1)]

        def body(first: Any, second: Any, _: Any) -> Any:
            high, low = self._counter(mlir.linalg.IndexOp(len(batch)).result, count)
            return self._narrowed(*self._threefry(first, second, high, low), width)

        rank = len(batch) + 1
        init = self.empty([*batch, count], dtype)
        of_key = self.axes_map(rank, tuple(range(len(batch))))
        maps = [of_key, of_key, self.identity_map(rank)]
        return self.reshape(self.generic(keys, [init], maps, ["parallel"] * rank, body), shape)

    def _column(self, words: Any, batch: Sequence[Size], k: int) -> Any:
        """Word `k` of each key."""
        ones, zeros = [1] * (len(batch) + 1), [0] * len(batch)
        return self.window(words, [*zeros, k], [*batch, 1], ones)

    def _word(self, value: int) -> Any:
        return self.scalars.constant(UINT32, value)

    def _counter(self, position: Any, count: Size) -> tuple[Any, Any]:
        """The high and the low word of a position."""
        arith = mlir.arith
        i32 = self.scalars.element_type(UINT32)
        if isinstance(count, int) and count <= 2**32:
            return self._word(0), arith.index_cast(i32, position)
        i64 = self.scalars.element_type(INT64)
        wide = arith.index_cast(i64, position)
        high = arith.shrui(wide, self.scalars.constant(INT64, 32))
        return arith.trunci(i32, high), arith.trunci(i32, wide)

    def _threefry(self, first: Any, second: Any, x0: Any, x1: Any) -> tuple[Any, Any]:
        """One block of twenty rounds; see `dialects.ops.randomness.threefry`."""
        arith = mlir.arith
        keys = (first, second, arith.xori(arith.xori(first, second), self._word(PARITY)))
        x0, x1 = arith.addi(x0, keys[0]), arith.addi(x1, keys[1])
        for group in range(5):
            for distance in ROUNDS[group % 2]:
                x0 = arith.addi(x0, x1)
                left = arith.shli(x1, self._word(distance))
                right = arith.shrui(x1, self._word(32 - distance))
                x1 = arith.xori(arith.ori(left, right), x0)
            x0 = arith.addi(x0, keys[(group + 1) % 3])
            x1 = arith.addi(arith.addi(x1, keys[(group + 2) % 3]), self._word(group + 1))
        return x0, x1

    def _narrowed(self, high: Any, low: Any, width: int) -> Any:
        arith = mlir.arith
        target = self.scalars.element_type(np.dtype(f"uint{width}"))
        if width == 64:
            wide = arith.shli(arith.extui(target, high), self.scalars.constant(INT64, 32))
            return arith.ori(wide, arith.extui(target, low))
        mixed = arith.xori(high, low)
        return mixed if width == 32 else arith.trunci(target, mixed)

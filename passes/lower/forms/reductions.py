"""Forms of reductions: `linalg.generic` over the axes as they lie, long full reductions in two stages.

In: a tensor, the axes, the name of the reduction and its value on no elements. Out: the reduced tensor in
the operand's dtype. The combining scalar code carries f16 and bf16 in f32 and rounds once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ....dialects import mlir
from ....dialects.ops.reduction import accumulation_dtype, greatest, least
from ....dialects.types import FLOATS, INT32, INT64, TensorType
from ..builder import Size
from ..tuning import configuration
from .rearrangement import RearrangementForms

_COMBINE: Final = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and_",
    "reduce_or": "or_",
    "cumsum": "add",
    "cumprod": "mul",
    "cummax": "max",
    "cummin": "min",
}


class ReductionForms(RearrangementForms):
    """Reductions over axes, and the positions of extrema."""

    @property
    def operand_dtype(self) -> np.dtype:
        """The declared dtype of the first operand of the op being lowered."""
        first = self.operand_types[0]
        assert isinstance(first, TensorType)
        return first.dtype

    def combine(self, name: str, dtype: np.dtype, left: Any, right: Any) -> Any:
        """The scalar that one step of the reduction or running value `name` makes."""
        return getattr(self.scalars, _COMBINE[name])(dtype, left, right)

    def reduce(self, name: str, x: Any, axes: Sequence[int], identity: Any) -> Any:
        """Fold `x` along `axes`."""
        dtype = self.operand_dtype
        if not axes:
            return x
        carried = accumulation_dtype(dtype) if _COMBINE[name] in ("add", "mul") else dtype
        return self.convert(carried, dtype, self.fold(name, x, axes, identity, dtype, carried))

    def fold(
        self, name: str, x: Any, axes: Sequence[int], identity: Any, dtype: np.dtype, carried: np.dtype
    ) -> Any:
        """Fold `x` of `dtype` along `axes` in one or two stages; the result is of dtype `carried`."""
        if any(self.shape(x)[a] == 0 for a in axes):
            kept = [n for a, n in enumerate(self.shape(x)) if a not in axes]
            return self.repeated_constant(np.asarray(identity).astype(carried), kept)
        if self.readers.get(x, 0) > 1 and not all(isinstance(n, int) for n in self.shape(x)):
            # Observed: IREE fuses what computes `x` for another reader too, whole and on the stack.
            x = self.materialise(x)
        stages = configuration.reduction_stages(self.target, self.shape(x), axes)
        if stages is None:
            return self._fold(name, x, axes, self._start(identity, carried), dtype, carried)
        if stages.split is not None:
            x = self.collapse(x, [axes]) if len(axes) > 1 else x
            return self._fold_vector(name, x, stages.split, identity, dtype, carried)
        partial = self._fold(name, x, stages.first, self._start(identity, carried), dtype, carried)
        rest = tuple(range(len(axes) - len(stages.first)))
        return self.fold(name, partial, rest, identity, carried, carried)

    def _fold_vector(
        self, name: str, x: Any, length: int, identity: Any, dtype: np.dtype, carried: np.dtype
    ) -> Any:
        """A vector as rows of `length` elements, each folded, then their results, then what is left over."""
        (size,) = self.shape(x)
        rows = self.size(self.size_arithmetic("size_div", size, length))
        whole = self.size(self.size_arithmetic("size_mul", rows, length))
        left_over = self.size(self.size_arithmetic("size_sub", size, whole))
        body = x if left_over == 0 else self.window(x, [0], [whole], [1])
        body = self.expand(body, [[0, 1]], [rows, length])
        partial = self._fold(name, body, (1,), self._start(identity, carried), dtype, carried)
        total = self._fold(name, partial, (0,), self._start(identity, carried), carried, carried)
        if left_over == 0:
            return total
        rest = self.window(x, [whole], [left_over], [1])
        return self._fold(name, rest, (0,), lambda _: total, dtype, carried)

    def _start(self, identity: Any, carried: np.dtype) -> Callable[[Sequence[Size]], Any]:
        """What makes the initial value of a fold: a tensor full of the identity."""
        return lambda shape: self.fill(self.scalar_constant(carried, identity), shape, carried)

    def _fold(
        self,
        name: str,
        x: Any,
        axes: Sequence[int],
        start: Callable[[Sequence[Size]], Any],
        dtype: np.dtype,
        carried: np.dtype,
    ) -> Any:
        shape = self.shape(x)
        rank = len(shape)
        kept = [a for a in range(rank) if a not in axes]
        init = start([shape[a] for a in kept])

        def body(element: Any, total: Any) -> Any:
            return self.combine(name, carried, total, self.scalars.convert(dtype, carried, element))

        tiles = configuration.reduction(self.target, shape, axes, dtype)
        return self.generic(
            [x], [init], *self._reduction_loops(rank, axes, kept, 1), body, self.attribute(tiles)
        )

    def _reduction_loops(
        self, rank: int, axes: Sequence[int], kept: Sequence[int], partial: int
    ) -> tuple[list[Any], list[str]]:
        """Maps and iterators of a fold with one whole operand and `partial` ones of the result's shape.

        The loops of the kept axes come first: IREE would put them so, and tiles are given in that order.
        """
        order = [*kept, *(a for a in range(rank) if a in axes)]
        whole = self.axes_map(rank, [order.index(a) for a in range(rank)])
        part = self.axes_map(rank, list(range(len(kept))))
        iterators = ["parallel"] * len(kept) + ["reduction"] * (rank - len(kept))
        return [whole, *[part] * partial], iterators

    def argument_extremum(self, name: str, x: Any, axis: int, index_dtype: np.dtype) -> Any:
        """Two vectorisable passes: the extremum, then the least position of an element equal to it.

        A NaN makes the extremum NaN, which equals nothing; then the elements sought are the NaNs.
        """
        dtype = self.operand_dtype
        if dtype == np.dtype(bool):
            x, dtype = self.convert(dtype, np.dtype(np.int8), x), np.dtype(np.int8)
        fold, identity = ("reduce_max", least) if name == "argmax" else ("reduce_min", greatest)
        # Kept apart: fused into one kernel the two passes are vectorised badly.
        extremum = self.materialise(self.fold(fold, x, (axis,), identity(dtype), dtype, dtype))
        shape = self.shape(x)
        rank, size = len(shape), shape[axis]
        counted = INT32 if isinstance(size, int) and size < 2**31 else INT64
        none = int(np.iinfo(counted).max)
        kept = [a for a in range(rank) if a != axis]
        # The positions are an array: IREE has no code on Vulkan for a reduction that asks for its loop index.
        positions = self.materialise(self._counting(size, counted))

        def body(element: Any, best: Any, here: Any, _: Any) -> Any:
            found = self._is_extremum(dtype, element, best)
            return mlir.arith.select(found, here, self.scalar_constant(counted, none))

        candidates = self.generic(
            [x, extremum, positions],
            [self.empty(shape, counted)],
            [
                self.identity_map(rank),
                self.axes_map(rank, kept),
                self.axes_map(rank, (axis,)),
                self.identity_map(rank),
            ],
            ["parallel"] * rank,
            body,
        )
        position = self.fold("reduce_min", candidates, (axis,), none, counted, counted)
        if not isinstance(size, int):
            position = self.elementwise_as(counted, self._none_to_zero(counted, none), position)
        return self.convert(counted, index_dtype, position)

    def _counting(self, size: Size, dtype: np.dtype) -> Any:
        """The vector 0, 1, 2, ..."""
        element = self.scalars.element_type(dtype)
        return self.generic(
            [],
            [self.empty([size], dtype)],
            [self.identity_map(1)],
            ["parallel"],
            lambda _: mlir.arith.index_cast(element, mlir.linalg.IndexOp(0).result),
        )

    def _none_to_zero(self, counted: np.dtype, none: int) -> Any:
        def rule(_: Any, dtypes: Any, position: Any) -> Any:
            absent = mlir.arith.cmpi(
                mlir.arith.CmpIPredicate.eq, position, self.scalar_constant(counted, none)
            )
            return mlir.arith.select(absent, self.scalar_constant(counted, 0), position)

        return rule

    def _is_extremum(self, dtype: np.dtype, element: Any, best: Any) -> Any:
        if dtype not in FLOATS:
            return mlir.arith.cmpi(mlir.arith.CmpIPredicate.eq, element, best)
        equal = mlir.arith.cmpf(mlir.arith.CmpFPredicate.OEQ, element, best)
        nan = mlir.arith.cmpf(mlir.arith.CmpFPredicate.UNO, element, element)
        return mlir.arith.ori(equal, nan)

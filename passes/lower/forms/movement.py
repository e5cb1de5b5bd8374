"""Forms that move elements: broadcast, iota, reshape, transpose, slice, pad, concatenate, reverse.

Each comes in as a lowered tensor with static and dynamic sizes and goes out as views where a view will do
(`collapse_shape`, `expand_shape`, `extract_slice`), else as one `linalg.generic` that fuses. What inference
could not decide (element counts, bounds) becomes a `cf.assert`: IREE reads out of bounds without one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.types import INT64
from ..builder import Size
from ..iree.overwritten_arguments import OwnershipForms
from ..tuning import configuration
from .rearrangement import RearrangementForms
from .reassociation import matching_groups


class MovementForms(RearrangementForms, OwnershipForms):
    """Broadcasting, counting, reshaping, reordering, cutting, joining."""

    def broadcast(self, x: mlir.ir.Value, shape: Sequence[Size], dimensions: Sequence[int]) -> Any:
        """`linalg.generic` that reads axis `k` of `x` at axis `dimensions[k]`, at 0 where its size is 1."""
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
        maps = [read, self.identity_map(rank)]
        made = self.generic([x], [init], maps, ["parallel"] * rank, lambda value, _: value)
        if x in self.complex_numbers:
            self.complex_numbers[made] = self.complex_numbers[x]
        return made

    def iota(self, shape: Sequence[Size], axis: int, dtype: np.dtype) -> Any:
        """Counts by `linalg.index`."""
        rank = len(shape)
        i64 = mlir.ir.IntegerType.get_signless(64, self.context)

        def body(_: mlir.ir.Value) -> mlir.ir.Value:
            count = mlir.arith.index_cast(i64, mlir.linalg.IndexOp(axis).result)
            return self.scalars.convert(np.dtype(np.int64), dtype, count)

        return self.generic(
            [], [self.empty(shape, dtype)], [self.identity_map(rank)], ["parallel"] * rank, body
        )

    # -- reshape and transpose -----------------------------------------------------------------

    def reshape(self, x: Any, shape: Sequence[Size]) -> Any:
        """`collapse_shape` to the axes that both shapes share, then `expand_shape`; never a copy."""
        shape = [self.size(n) for n in shape]
        source = self.shape(x)
        if 0 in shape or 0 in source:
            self._require_count(source, shape)
            return self._empty_like(x, shape)
        groups, is_exact = matching_groups(source, shape)
        if not is_exact:
            self._require_count(source, shape)
        if not groups:  # no axes on one side: the other has units only
            return self._reshape_scalar(x, shape)
        collapsed = self.collapse(self.retype(x, source), [before for before, _ in groups])
        middle = [self._static_product([shape[a] for a in after]) for _, after in groups]
        sizes = [m if m is not None else n for m, n in zip(middle, self.shape(collapsed), strict=True)]
        needed = [self._expandable(n, after, shape) for n, (_, after) in zip(sizes, groups, strict=True)]
        expanded = self.expand(self.retype(collapsed, needed), [after for _, after in groups], shape)
        return self.retype(expanded, shape)

    def _reshape_scalar(self, x: Any, shape: Sequence[Size]) -> Any:
        if len(shape) == len(self.shape(x)):
            return self.retype(x, shape)
        x = self.retype(x, [1] * len(self.shape(x)))
        if not shape:
            return self.bind_shape(mlir.tensor.collapse_shape(self._typed(x, []), x, []), [])
        expanded = mlir.tensor.expand_shape(self._typed(x, [1] * len(shape)), x, [], [], [1] * len(shape))
        return self.retype(self.bind_shape(expanded, [1] * len(shape)), shape)

    def _expandable(self, n: Size, after: Sequence[int], shape: Sequence[Size]) -> Size:
        """`n` as MLIR wants it for `expand_shape`: dynamic exactly when one of the new axes is."""
        if len(after) == 1:
            return shape[after[0]]
        if isinstance(n, int) and any(not isinstance(shape[a], int) for a in after):
            constant = mlir.arith.constant(mlir.ir.IndexType.get(self.context), n)
            return constant  # not remembered as known, so that `retype` casts to `?`
        return n

    @staticmethod
    def _static_product(sizes: Sequence[Size]) -> int | None:
        total = 1
        for n in sizes:
            if not isinstance(n, int):
                return None
            total *= n
        return total

    def _require_count(self, source: Sequence[Size], target: Sequence[Size]) -> None:
        message = "adze: reshape to a shape with another number of elements"
        self.require_equal(self.product(source), self.product(target), message)

    def _empty_like(self, x: Any, shape: Sequence[Size]) -> Any:
        return self.empty_like_element(mlir.ir.RankedTensorType(x.type).element_type, shape)

    def transpose(self, x: Any, permutation: Sequence[int]) -> Any:
        """One `linalg.generic`; a reshape where only axes of size 1 move."""
        shape = self.shape(x)
        moving = [a for a in permutation if shape[a] != 1]
        if moving == sorted(moving):
            return self.reshape(x, [shape[a] for a in permutation])
        last = len(shape) - 1
        keeps_rows = permutation[last] == last and configuration.moves_rows(
            self.target, shape[last], self.result_type.dtype
        )
        if keeps_rows and self.is_returned:  # other readers read through the map of a generic
            return self._rows_moved(x, permutation[:last], lambda at: at)
        return self.permute(x, permutation)

    def _rows_moved(self, x: Any, order: Sequence[int], turn: Callable[[list[Any]], list[Any]]) -> Any:
        """Whole rows put elsewhere: axis `i` of the result is axis `order[i]`, read where `turn` says.

        As a gather of rows each is copied at once; element by element IREE does not vectorise the moves.
        """
        x = self.readable(x)
        shape = self.shape(x)
        rank = len(order)
        leading = [shape[a] for a in order]
        i64 = self.scalars.element_type(INT64)
        sizes = [self.size_value(n) for n in shape[:rank]]

        def body(_: Any) -> Any:
            at = [mlir.linalg.IndexOp(order.index(a)).result for a in range(rank)]
            linear = None
            for position, n in zip(turn(at), sizes, strict=True):
                linear = position if linear is None else mlir.arith.addi(mlir.arith.muli(linear, n), position)
            return mlir.arith.index_cast(i64, linear)

        where = self.generic(
            [], [self.empty(leading, INT64)], [self.identity_map(rank)], ["parallel"] * rank, body
        )
        rows = self.collapse(x, [list(range(rank)), [rank]])
        where = self.collapse(where, [list(range(rank))])
        init = self._empty_like(x, [self.product(leading), shape[rank]])
        gathered = mlir.ir.Operation.create(
            "iree_linalg_ext.gather",
            results=[init.type],
            operands=[rows, where, init],
            attributes={"dimension_map": mlir.ir.DenseI64ArrayAttr.get([0], self.context)},
        ).result
        gathered = self.materialise(self.bind_shape(gathered, self.shape(init)))
        return self.expand(gathered, [list(range(rank)), [rank]], [*leading, shape[rank]])

    # -- slices, padding, joining --------------------------------------------------------------

    def slice(self, x: Any, start: Sequence[Size], limit: Sequence[Size], strides: Sequence[int]) -> Any:
        """`tensor.extract_slice`, with a run-time check of bounds that inference could not see."""
        start, limit = [self.size(n) for n in start], [self.size(n) for n in limit]
        sizes = []
        for axis, (n, first, last) in enumerate(zip(self.shape(x), start, limit, strict=True)):
            self.require_order(first, last, f"adze: slice of axis {axis} starts after its limit")
            self.require_order(last, n, f"adze: slice of axis {axis} ends beyond the array")
            if not isinstance(first, int):
                self.require_order(0, first, f"adze: slice of axis {axis} starts before the array")
            sizes.append(self._steps(first, last, strides[axis]))
        if 0 in sizes:
            return self._empty_like(x, sizes)
        # Observed: IREE refuses to fuse a strided slice of one element ("expected rank to be smaller ...").
        strides = [1 if n == 1 else stride for n, stride in zip(sizes, strides, strict=True)]
        return self.window(x, start, sizes, strides)

    def _steps(self, first: Size, last: Size, stride: int) -> Size:
        """How many positions `first, first + stride, ...` lie before `last`."""
        distance = self._calculated("size_sub", last, first)
        if stride == 1:
            return distance
        return self._calculated("size_div", self._plus(distance, stride - 1), stride)

    def _calculated(self, name: str, m: Size, n: Size) -> Size:
        if isinstance(n, int) and n == 0 and name in ("size_add", "size_sub"):
            return m
        return self.size(self.size_arithmetic(name, m, n))

    def require_order(self, low: Size, high: Size, message: str) -> None:
        """Emit a run-time check that `low <= high`, unless both are known or they are the same value."""
        low, high = self.size(low), self.size(high)
        if (isinstance(low, int) and isinstance(high, int)) or low == high:
            return  # inference has rejected static contradictions
        predicate = mlir.arith.CmpIPredicate.sle
        holds = mlir.arith.cmpi(predicate, self.size_value(low), self.size_value(high))
        mlir.cf.assert_(holds, message)

    def pad(
        self, x: Any, value: Any, low: Sequence[Size], high: Sequence[Size], interior: Sequence[int]
    ) -> Any:
        """Interior padding first, then cutting, then `tensor.pad`.

        Elements of 64 bits and more go by `insert_slice`. Observed: IREE cannot fill with 128 bits ("splat
        ... but got i128"), and a fill with 64 bits that are no constant breaks some chains of padding and
        slicing ("stream.yield op used resource not listed in explicit captures").
        """
        low, high = [self.size(n) for n in low], [self.size(n) for n in high]
        shape = self.shape(x)
        spread = [self._spread_size(n, k) for n, k in zip(shape, interior, strict=True)]
        total = [
            self._plus(self._plus(n, before), after)
            for n, before, after in zip(spread, low, high, strict=True)
        ]
        for axis, n in enumerate(total):
            self.require_order(0, n, f"adze: pad leaves a negative size of axis {axis}")
        if 0 in total:
            return self._empty_like(x, total)
        if 0 in shape:
            return self.broadcast(value, total, ())
        x = self._spread_out(x, interior, spread, value)
        first = [self._clamped_size(self._negated(n), m) for n, m in zip(low, spread, strict=True)]
        last = [
            self._calculated("size_max", self._calculated("size_min", m, self._plus(m, n)), f)
            for n, m, f in zip(high, spread, first, strict=True)
        ]
        kept = [self._calculated("size_sub", e, f) for e, f in zip(last, first, strict=True)]
        if 0 in kept:
            return self.broadcast(value, total, ())
        if any(not (isinstance(k, int) and k == m) for k, m in zip(kept, spread, strict=True)):
            x = self.window(x, first, kept, [1] * len(kept))
        before = [self._clamped_size(n, t) for n, t in zip(low, total, strict=True)]
        if self.result_type.dtype.itemsize >= 8:
            whole = self.owned(self.broadcast(value, total, ()), self.result_type.dtype)
            return self.insert(x, whole, before, [1] * len(total))
        after = [
            self._calculated("size_sub", self._calculated("size_sub", t, k), b)
            for t, k, b in zip(total, kept, before, strict=True)
        ]
        scalar = mlir.tensor.extract(value, [])
        return self.retype(self.pad_with(x, before, after, scalar), total)

    def _spread_size(self, n: Size, interior: int) -> Size:
        """``n + interior * max(n - 1, 0)``"""
        if interior == 0:
            return n
        gaps = self._calculated("size_max", self._calculated("size_sub", n, 1), 0)
        return self._plus(n, self._times(gaps, interior))

    def _spread_out(self, x: Any, interior: Sequence[int], spread: Sequence[Size], value: Any) -> Any:
        """`x` with `interior` paddings between neighbours: a strided `insert_slice` into a filled tensor.

        Observed: half the time of padding new inner axes and merging them, or of `tensor.extract`.
        """
        if not any(interior):
            return x
        whole = self.owned(self.broadcast(value, spread, ()), self.result_type.dtype)
        return self.insert(x, whole, [0] * len(spread), [k + 1 for k in interior])

    def _negated(self, n: Size) -> Size:
        return -n if isinstance(n, int) else self._calculated("size_sub", 0, n)

    def _clamped_size(self, n: Size, most: Size) -> Size:
        """`n` moved into ``0 .. most``."""
        if isinstance(n, int) and n <= 0:
            return 0
        return self._calculated("size_min", self._calculated("size_max", n, 0), most)

    def concatenate(self, xs: Sequence[Any], axis: int) -> Any:
        """`tensor.insert_slice` of each operand into one new tensor.

        Observed: `tensor.concat` along an inner axis is twenty times slower on CPU.
        """
        shapes = [self.shape(x) for x in xs]
        merged: list[Size] = list(shapes[0])
        for shape in shapes[1:]:
            for a in range(len(merged)):
                if a != axis:
                    self.require_equal(merged[a], shape[a], f"adze: sizes of axis {a} differ in concatenate")
                    merged[a] = merged[a] if isinstance(merged[a], int) else shape[a]
        offsets: list[Size] = [0]
        for shape in shapes:
            offsets.append(self._plus(offsets[-1], shape[axis]) if offsets[-1] != 0 else shape[axis])
        merged[axis] = offsets[-1]
        whole = self._empty_like(xs[0], merged)
        if 0 in merged:
            return whole
        for x, shape, offset in zip(xs, shapes, offsets, strict=False):
            if shape[axis] == 0:
                continue
            part = [*merged[:axis], shape[axis], *merged[axis + 1 :]]
            place = [0] * len(merged)
            place[axis] = offset
            whole = self.insert(self.retype(x, part), whole, place, [1] * len(merged))
        return whole

    def reverse(self, x: Any, axes: Sequence[int]) -> Any:
        """`linalg.generic` that reads from the far end (an affine map with a negative stride is refused)."""
        shape = self.shape(x)
        turned = {a for a in axes if shape[a] != 1}
        if not turned or 0 in shape:
            return x
        x = self.readable(x)
        ends = {a: self.size_value(self._calculated("size_sub", shape[a], 1)) for a in turned}
        last = len(shape) - 1
        if configuration.moves_rows(self.target, shape[last], self.result_type.dtype) and last not in turned:
            order = list(range(last))
            return self._rows_moved(
                x,
                order,
                lambda at: [mlir.arith.subi(ends[a], i) if a in turned else i for a, i in enumerate(at)],
            )

        def body(_: Any) -> Any:
            position = [mlir.linalg.IndexOp(a).result for a in range(len(shape))]
            for a in turned:
                position[a] = mlir.arith.subi(ends[a], position[a])
            return mlir.tensor.extract(x, position)

        init = self._empty_like(x, shape)
        return self.generic([], [init], [self.identity_map(len(shape))], ["parallel"] * len(shape), body)

"""Forms of sorting: every element is told its place, then put there.

Keys become signed integers whose order is the order wanted (NaN last, -0 equal to +0), so that comparing is
one instruction. Rows of up to `configuration.RANKED` elements are ranked: the place of an element is the
number of elements before it, counted over all pairs in vector registers. Longer rows are cut into blocks that
are ranked and then merged in pairs; there the place is found by a binary search in the other block. Equal
elements keep their order throughout. `iree_linalg_ext.sort` is not used: on CPUs it is a bubble sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.types import COMPLEX, COMPLEX64, FLOAT32, FLOAT64, FLOATS, INT32, INT64, TensorType
from ..builder import Size
from ..tuning import configuration
from .rearrangement import RearrangementForms


class OrderingForms(RearrangementForms):
    """`sort` and `top_k`."""

    def sort(self, operands: Sequence[Any], axis: int, num_keys: int) -> tuple[Any, ...]:
        """Sort the operands together, always stably."""
        shape = self.merged_shape(*operands)
        if not shape or shape[axis] == 1 or 0 in shape:
            return tuple(operands)
        last = len(shape) - 1
        order = [*(a for a in range(len(shape)) if a != axis), axis]
        lengths = [shape[a] for a in order]
        groups = [list(range(last)), [last]]
        rows = [self.collapse(self.permute(self.retype(v, shape), order), groups) for v in operands]
        dtypes = [t.dtype for t in self.operand_types if isinstance(t, TensorType)]
        keys = [
            k for row, dtype in zip(rows[:num_keys], dtypes, strict=False) for k in self._keys(row, dtype)
        ]
        count, size = self.shape(rows[0])
        pieces = configuration.sort_blocks(size)
        if pieces == 1:
            place = self._flat(self._ranks(keys, count, size), size)
            sorted_rows = [self._put(row, place, dtype) for row, dtype in zip(rows, dtypes, strict=True)]
        else:
            permutation = self._merge_sorted(keys, count, size, pieces)
            sorted_rows = [
                self._take(row, permutation, dtype) for row, dtype in zip(rows, dtypes, strict=True)
            ]
        back = [order.index(a) for a in range(len(shape))]
        results = []
        for row in sorted_rows:
            whole = self.expand(row, groups, lengths) if last else self.drop_units(row, [False, True])
            results.append(self.permute(whole, back))
        return tuple(results)

    def top_k(self, x: Any, k: int) -> tuple[Any, Any]:
        """The positions whose rank in falling order is below `k`, and the elements there."""
        dtype = self.operand_types[0].dtype  # type: ignore[union-attr]
        shape = self.shape(x)
        last = len(shape) - 1
        self._require_at_least(shape[last], k)
        if k == 0 or 0 in shape:
            return self.empty((*shape[:last], k), dtype), self.empty((*shape[:last], k), INT32)
        if shape[last] == 1:
            return x, self.fill(self.scalar_constant(INT32, 0), shape, INT32)
        rows = self.collapse(x, [list(range(last)), [last]])
        count, size = self.shape(rows)
        (key,) = self._keys(rows, dtype)
        pieces = configuration.sort_blocks(size)
        if configuration.selects(size, k):
            order = self._selected(key, count, k)
        elif pieces == 1:
            places = self._flat(self._ranks([self._falling(key)], count, size), size)
            order = self._put(self._positions(count, size), places, INT32)
        else:
            order = self._merge_sorted([self._falling(key)], count, size, pieces)
        order = self.window(order, [0, 0], [count, k], [1, 1])
        values = self._take(rows, order, dtype)
        kept = (*shape[:last], k)
        groups = [list(range(last)), [last]]
        expanded = [
            self.expand(v, groups, kept) if last else self.drop_units(v, [False, True])
            for v in (values, order)
        ]
        return expanded[0], expanded[1]

    def _selected(self, key: Any, count: Size, k: int) -> Any:
        """Positions of the `k` greatest keys of each row: one search after the other, each below the last."""
        wide = _width(key)
        order = self.empty([k, count], INT32)
        last: tuple[Any, ...] = ()
        for step in range(k):
            best = self._search(key, last, None, count, wide)
            position = self._search(key, last, best, count, wide)
            # Without the barriers IREE fuses all searches into one kernel, which takes minutes to compile.
            last = (self.materialise(best), self.materialise(position))
            order = self.insert(self.expand(position, [[0, 1]], [1, count]), order, [step, 0], [1, 1])
        return self.permute(order, (1, 0))

    def _search(self, key: Any, last: Sequence[Any], best: Any, count: Size, wide: np.dtype) -> Any:
        """The greatest key below `last` (a key and its position); where it is first, once `best` is known."""
        arith, predicate = mlir.arith, mlir.arith.CmpIPredicate
        i32 = self.scalars.element_type(INT32)
        found = wide if best is None else INT32
        none = np.iinfo(found).min if best is None else np.iinfo(found).max
        init = self.fill(self.scalar_constant(found, none), [count], found)

        def body(here: Any, *others: Any) -> Any:
            at = arith.index_cast(i32, mlir.linalg.IndexOp(1).result)
            wanted = None if best is None else arith.cmpi(predicate.eq, here, others[-2])
            if last:
                later = arith.cmpi(predicate.sgt, at, others[1])
                below = self._before([(here, others[0])], later)
                wanted = below if wanted is None else arith.andi(below, wanted)
            result = here if best is None else at
            if wanted is not None:
                result = arith.select(wanted, result, self.scalar_constant(found, none))
            return (arith.maxsi if best is None else arith.minsi)(others[-1], result)

        vectors = [*last, *([] if best is None else [best])]
        maps = [self.identity_map(2), *[self.axes_map(2, (0,))] * (len(vectors) + 1)]
        return self.generic([key, *vectors], [init], maps, ["parallel", "reduction"], body)

    def _require_at_least(self, size: Size, k: int) -> None:
        if not isinstance(size, int):
            enough = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sge, size, self.size_value(k))
            mlir.cf.assert_(enough, f"adze: top_k of {k} elements from an axis that has fewer")

    # -- keys ----------------------------------------------------------------------------------

    def _keys(self, x: Any, dtype: np.dtype) -> list[Any]:
        """Tensors of i32 or i64 that are ordered as `x` is, the most significant first."""
        if dtype in COMPLEX:
            part = FLOAT32 if dtype == COMPLEX64 else FLOAT64
            parts = (
                self._mapped(x, part, lambda v, get=get: get(dtype, v))
                for get in (self.scalars.real, self.scalars.imag)
            )
            return [key for p in parts for key in self._keys(p, part)]
        wide = INT64 if dtype.itemsize == 8 else INT32
        key = self._mapped(x, wide, lambda v: self._key(v, dtype, wide))
        return [self.materialise(key)]

    def _mapped(self, x: Any, target: np.dtype, rule: Any) -> Any:
        shape = self.shape(x)
        maps = [self.identity_map(len(shape))] * 2
        return self.generic(
            [x], [self.empty(shape, target)], maps, ["parallel"] * len(shape), lambda v, _: rule(v)
        )

    def _key(self, value: Any, dtype: np.dtype, wide: np.dtype) -> Any:
        arith = mlir.arith
        type_ = self.scalars.element_type(wide)
        if dtype not in FLOATS:
            if dtype.kind == "i":
                return value if dtype == wide else arith.extsi(type_, value)
            if dtype.itemsize < wide.itemsize:
                return arith.extui(type_, value)
            return arith.xori(value, self.scalar_constant(wide, 1 << (8 * wide.itemsize - 1)))
        real = FLOAT64 if dtype == FLOAT64 else FLOAT32
        value = self.scalars.convert(dtype, real, value)
        bits = arith.bitcast(type_, value)
        zero, most = self.scalar_constant(wide, 0), self.scalar_constant(wide, np.iinfo(wide).max)
        negative = arith.cmpi(arith.CmpIPredicate.slt, bits, zero)
        key = arith.select(negative, arith.xori(bits, most), bits)
        # The bit patterns of zeros and NaNs, not the comparisons of floats, which may be told to be fast.
        minus_zero = arith.cmpi(arith.CmpIPredicate.eq, bits, self.scalar_constant(wide, np.iinfo(wide).min))
        magnitude = arith.andi(bits, most)
        infinity = 0x7F800000 if wide == INT32 else 0x7FF0000000000000
        nan = arith.cmpi(arith.CmpIPredicate.sgt, magnitude, self.scalar_constant(wide, infinity))
        return arith.select(nan, most, arith.select(minus_zero, zero, key))

    def _falling(self, key: Any) -> Any:
        """Keys in the opposite order: the complement, which unlike the negative never overflows."""
        wide = _width(key)
        flipped = self._mapped(key, wide, lambda v: mlir.arith.xori(v, self.scalar_constant(wide, -1)))
        return self.materialise(flipped)

    def _before(self, pairs: Sequence[tuple[Any, Any]], equal: Any) -> Any:
        """Whether the left keys of the pairs come before the right ones, first pair first; ties: `equal`."""
        predicate = mlir.arith.CmpIPredicate
        result = equal
        for left, right in reversed(pairs):
            less = mlir.arith.cmpi(predicate.slt, left, right)
            same = mlir.arith.cmpi(predicate.eq, left, right)
            result = mlir.arith.ori(less, mlir.arith.andi(same, result))
        return result

    # -- ranks ---------------------------------------------------------------------------------

    def _ranks(self, keys: Sequence[Any], count: Size, size: Size) -> Any:
        """For each element of each row, how many elements of the row come before it (i32)."""
        arith = mlir.arith
        i32 = self.scalars.element_type(INT32)
        init = self.fill(self.scalar_constant(INT32, 0), [count, size], INT32)
        n = len(keys)

        def body(*values: Any) -> Any:
            here, there, total = values[:n], values[n : 2 * n], values[-1]
            mine, other = (arith.index_cast(i32, mlir.linalg.IndexOp(a).result) for a in (1, 2))
            earlier = arith.cmpi(arith.CmpIPredicate.ult, other, mine)
            before = self._before(list(zip(there, here, strict=True)), earlier)
            return arith.addi(total, arith.extui(i32, before))

        own, others = self.axes_map(3, (0, 1)), self.axes_map(3, (0, 2))
        return self.generic(
            [*keys, *keys],
            [init],
            [*[own] * n, *[others] * n, own],
            ["parallel", "parallel", "reduction"],
            body,
            self.attribute(configuration.ranking(self.target, count, size)),
        )

    def _flat(self, ranks: Any, size: Size) -> Any:
        """Places in rows as places in the whole, one row after the other."""
        i32 = self.scalars.element_type(INT32)
        shape = self.shape(ranks)
        length = mlir.arith.index_cast(i32, self.size_value(size))

        def body(rank: Any, _: Any) -> Any:
            row = mlir.arith.index_cast(i32, mlir.linalg.IndexOp(0).result)
            return mlir.arith.addi(rank, mlir.arith.muli(row, length))

        return self.generic(
            [ranks], [self.empty(shape, INT32)], [self.identity_map(2)] * 2, ["parallel"] * 2, body
        )

    def _positions(self, count: Size, size: Size) -> Any:
        element = self.scalars.element_type(INT32)
        return self.generic(
            [],
            [self.empty([count, size], INT32)],
            [self.identity_map(2)],
            ["parallel"] * 2,
            lambda _: mlir.arith.index_cast(element, mlir.linalg.IndexOp(1).result),
        )

    def _put(self, rows: Any, places: Any, dtype: np.dtype) -> Any:
        """Each element at its place."""
        ir = mlir.ir
        shape = self.shape(rows)
        total = self.product(shape)
        updates = self.materialise(self.collapse(rows, [[0, 1]]))
        indices = self.materialise(self.expand(self.collapse(places, [[0, 1]]), [[0, 1]], [total, 1]))
        target = self.empty([total], dtype)
        op = ir.Operation.create(
            "iree_linalg_ext.scatter",
            results=[target.type],
            operands=[updates, indices, target],
            attributes={
                "dimension_map": ir.DenseI64ArrayAttr.get([0], self.context),
                "unique_indices": ir.BoolAttr.get(True, self.context),
            },
            regions=1,
        )
        element = ir.RankedTensorType(target.type).element_type
        block = op.regions[0].blocks.append(element, element, arg_locs=[ir.Location.current] * 2)
        with ir.InsertionPoint(block):
            ir.Operation.create("iree_linalg_ext.yield", operands=[block.arguments[0]])
        return self.expand(self.bind_shape(op.result, [total]), [[0, 1]], shape)

    def _take(self, rows: Any, order: Any, dtype: np.dtype) -> Any:
        """`rows[r, order[r, i]]`; the order holds positions that exist."""

        def body(position: Any, _: Any) -> Any:
            at = mlir.arith.index_cast(mlir.ir.IndexType.get(self.context), position)
            return mlir.tensor.extract(rows, [mlir.linalg.IndexOp(0).result, at])

        rows = self.readable(rows)
        init = self.empty(self.shape(order), dtype)
        return self.generic([order], [init], [self.identity_map(2)] * 2, ["parallel"] * 2, body)

    # -- long rows -----------------------------------------------------------------------------

    def _merge_sorted(self, keys: Sequence[Any], count: Size, size: int, pieces: int) -> Any:
        """The order of each row's elements: `pieces` (a power of two) blocks ranked, then merged in pairs."""
        length = -(-size // pieces)
        whole = length * pieces
        wides = [_width(key) for key in keys]
        # What fills up the last block comes after everything, even after NaNs, which it is equal to.
        filled = [
            self.pad_with(k, [0, 0], [0, whole - size], self.scalar_constant(w, np.iinfo(w).max))
            for k, w in zip(keys, wides, strict=True)
        ]
        state = [*filled, self._positions(count, whole)]
        dtypes = [*wides, INT32]
        blocks = self._times(count, pieces)
        cut = [self.materialise(self._recut(k, [blocks, length])) for k in filled]
        places = self._flat(self._ranks(cut, blocks, length), length)
        state = [
            self._put(self._recut(v, [blocks, length]), places, d) for v, d in zip(state, dtypes, strict=True)
        ]
        while pieces > 1:
            pieces //= 2
            pairs = self._times(count, pieces)
            state = [self.materialise(self._recut(v, [pairs, 2 * length])) for v in state]
            places = self._flat(self._merged_places(state[:-1], pairs, length), 2 * length)
            state = [self._put(v, places, d) for v, d in zip(state, dtypes, strict=True)]
            length *= 2
        order = self._recut(state[-1], [count, whole])
        return self.window(order, [0, 0], [count, size], [1, 1])

    def _recut(self, x: Any, shape: Sequence[Size]) -> Any:
        return self.expand(self.collapse(x, [[0, 1]]), [[0, 1]], shape)

    def _merged_places(self, keys: Sequence[Any], pairs: Size, length: int) -> Any:
        """Places of the elements of two sorted halves of each row in the merged row, by binary search."""
        arith = mlir.arith
        i32 = self.scalars.element_type(INT32)

        def body(*values: Any) -> Any:
            mine = values[:-1]
            row, column = mlir.linalg.IndexOp(0).result, mlir.linalg.IndexOp(1).result
            half = self.size_value(length)
            zero, one = self.size_value(0), self.size_value(1)
            is_right = arith.cmpi(arith.CmpIPredicate.uge, column, half)
            base = arith.select(is_right, zero, half)
            low, high = zero, half
            for _ in range(length.bit_length()):
                middle = arith.shrui(arith.addi(low, high), one)
                # Once low = high = length the element looked at does not exist; any will do.
                probe = arith.minui(middle, self.size_value(length - 1))
                at = [row, arith.addi(base, probe)]
                pairs_of_keys = [(mlir.tensor.extract(k, at), m) for k, m in zip(keys, mine, strict=True)]
                # Of equal elements the left half's come first.
                goes_before = self._before(pairs_of_keys, is_right)
                open_ = arith.cmpi(arith.CmpIPredicate.ult, low, high)
                forward = arith.andi(open_, goes_before)
                low = arith.select(forward, arith.addi(middle, one), low)
                high = arith.select(
                    arith.andi(open_, arith.xori(goes_before, self._true_bit())), middle, high
                )
            own = arith.select(is_right, arith.subi(column, half), column)
            return arith.index_cast(i32, arith.addi(own, low))

        maps = [self.identity_map(2)] * (len(keys) + 1)
        init = self.empty([pairs, 2 * length], INT32)
        return self.generic(list(keys), [init], maps, ["parallel"] * 2, body)

    def _true_bit(self) -> Any:
        return self.scalars.constant(np.dtype(bool), True)


def _width(key: Any) -> np.dtype:
    """The dtype of a tensor of keys."""
    width = mlir.ir.IntegerType(mlir.ir.RankedTensorType(key.type).element_type).width
    return INT64 if width == 64 else INT32

"""Forms of sorting: comparators in NumPy's order, and the sort they are given to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.types import BOOL, COMPLEX, COMPLEX64, FLOAT32, FLOAT64, FLOATS, INT32, TensorType
from .rearrangement import RearrangementForms


class OrderingForms(RearrangementForms):
    """`sort` and `top_k`."""

    def sort(self, operands: Sequence[Any], axis: int, num_keys: int) -> tuple[Any, ...]:
        """Sort the operands together, always stably."""
        shape = self.merged_shape(*operands)
        operands = [self.retype(v, shape) for v in operands]
        dtypes = [t.dtype for t in self.operand_types if isinstance(t, TensorType)]

        def in_place(pairs: Sequence[tuple[Any, Any]]) -> Any:
            """Whether a pair of neighbours may stay: the second does not come strictly before the first."""
            keys = list(zip(dtypes, pairs, strict=True))[:num_keys]
            return self._not(self._before([(dtype, second, first) for dtype, (first, second) in keys]))

        return self._sort(operands, axis, in_place)

    def top_k(self, x: Any, k: int) -> tuple[Any, Any]:
        """Sort rows in falling order together with their positions, keep the first `k`."""
        dtype = self.operand_types[0].dtype  # type: ignore[union-attr]
        shape = self.shape(x)
        axis = len(shape) - 1
        self._require_at_least(shape[axis], k)
        positions = self._positions(shape, axis)

        def in_place(pairs: Sequence[tuple[Any, Any]]) -> Any:
            (first, second), _ = pairs
            return self._not(self._before([(dtype, first, second)]))

        rows = self._sort([x, positions], axis, in_place)
        kept = (*shape[:axis], k)
        zeros, ones = [0] * len(shape), [1] * len(shape)
        values, indices = (self.window(v, zeros, kept, ones) for v in rows)
        return values, indices

    def _require_at_least(self, size: Any, k: int) -> None:
        if not isinstance(size, int):
            enough = mlir.arith.cmpi(mlir.arith.CmpIPredicate.sge, size, self.size_value(k))
            mlir.cf.assert_(enough, f"adze: top_k of {k} elements from an axis that has fewer")

    def _positions(self, shape: Sequence[Any], axis: int) -> Any:
        rank = len(shape)
        element = self.scalars.element_type(INT32)
        return self.generic(
            [],
            [self.empty(shape, INT32)],
            [self.identity_map(rank)],
            ["parallel"] * rank,
            lambda _: mlir.arith.index_cast(element, mlir.linalg.IndexOp(axis).result),
        )

    def _sort(self, operands: Sequence[Any], axis: int, in_place: Any) -> tuple[Any, ...]:
        ir = mlir.ir
        op = ir.Operation.create(
            "iree_linalg_ext.sort",
            results=[v.type for v in operands],
            operands=list(operands),
            attributes={
                "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, len(operands)]),
            },
            regions=1,
        )
        elements = [ir.RankedTensorType(v.type).element_type for v in operands for _ in range(2)]
        block = op.regions[0].blocks.append(*elements, arg_locs=[ir.Location.current] * len(elements))
        arguments = list(block.arguments)
        with ir.InsertionPoint(block):
            stays = in_place(list(zip(arguments[::2], arguments[1::2], strict=True)))
            ir.Operation.create("iree_linalg_ext.yield", operands=[stays])
        for result, operand in zip(op.results, operands, strict=True):
            self.bind_shape(result, self.shape(operand))
        return tuple(op.results)

    # -- comparators ---------------------------------------------------------------------------

    def _not(self, condition: Any) -> Any:
        return mlir.arith.xori(condition, self.scalars.constant(BOOL, True))

    def _before(self, keys: Sequence[tuple[np.dtype, Any, Any]]) -> Any:
        """Whether the left key of each (dtype, left, right) comes before the right one, first key first."""
        parts = [part for key in keys for part in self._real_keys(*key)]
        result = self._less(*parts[-1])
        for dtype, left, right in parts[-2::-1]:
            equal = self._not(self._less(dtype, right, left))
            result = mlir.arith.ori(self._less(dtype, left, right), mlir.arith.andi(equal, result))
        return result

    def _real_keys(self, dtype: np.dtype, left: Any, right: Any) -> list[tuple[np.dtype, Any, Any]]:
        if dtype not in COMPLEX:
            return [(dtype, left, right)]
        part = FLOAT32 if dtype == COMPLEX64 else FLOAT64
        s = self.scalars
        return [(part, get(dtype, left), get(dtype, right)) for get in (s.real, s.imag)]

    def _less(self, dtype: np.dtype, left: Any, right: Any) -> Any:
        arith = mlir.arith
        if dtype in FLOATS:
            less = arith.cmpf(arith.CmpFPredicate.OLT, left, right)
            number = arith.cmpf(arith.CmpFPredicate.ORD, left, left)
            nan = arith.cmpf(arith.CmpFPredicate.UNO, right, right)
            return arith.ori(less, arith.andi(number, nan))
        signed = dtype.kind == "i"
        return arith.cmpi(arith.CmpIPredicate.slt if signed else arith.CmpIPredicate.ult, left, right)

"""Forms of running values (cumsum, cumprod, cummax, cummin): `iree_linalg_ext.scan` along the axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dialects import mlir
from ...dialects.ops.reductions import accumulation_dtype
from .reductions import ReductionForms


class CumulativeForms(ReductionForms):
    """Running values along one axis."""

    def cumulative(self, name: str, x: Any, axis: int, reverse: bool, identity: Any) -> Any:
        """Running values of the op `name` along `axis`, from its end when `reverse`."""
        dtype = self.operand_dtype
        carried = accumulation_dtype(dtype) if name in ("cumsum", "cumprod") else dtype
        x = self.convert(dtype, carried, x)
        if reverse:
            x = self.flip(x, axis, carried)
        running = self._scan(name, x, axis, identity, carried)
        if reverse:
            running = self.flip(running, axis, carried)
        return self.convert(carried, dtype, running)

    def flip(self, x: Any, axis: int, dtype: np.dtype) -> Any:
        """`x` with one axis in reverse order."""
        shape = self.shape(x)
        rank = len(shape)
        last = self.size_arithmetic("size_sub", shape[axis], 1)

        def body(_: Any) -> Any:
            at = [mlir.linalg.IndexOp(a).result for a in range(rank)]
            at[axis] = mlir.arith.subi(self.size_value(last), at[axis])
            return mlir.tensor.extract(x, at)

        return self.generic(
            [], [self.empty(shape, dtype)], [self.identity_map(rank)], ["parallel"] * rank, body
        )

    def _scan(self, name: str, x: Any, axis: int, identity: Any, dtype: np.dtype) -> Any:
        ir = mlir.ir
        shape = self.shape(x)
        rest = [n for a, n in enumerate(shape) if a != axis]
        start = self.scalar_constant(dtype, identity)
        inits = [self.fill(start, shape, dtype), self.fill(start, rest, dtype)]
        op = ir.Operation.create(
            "iree_linalg_ext.scan",
            results=[v.type for v in inits],
            operands=[x, *inits],
            attributes={
                "dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis),
                "inclusive": ir.BoolAttr.get(True),
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 2]),
            },
            regions=1,
        )
        element = ir.RankedTensorType(x.type).element_type
        block = op.regions[0].blocks.append(element, element, arg_locs=[ir.Location.current] * 2)
        with ir.InsertionPoint(block):
            total = self.combine(name, dtype, *block.arguments)
            ir.Operation.create("iree_linalg_ext.yield", operands=[total])
        return self.bind_shape(op.results[0], shape)

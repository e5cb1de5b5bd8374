"""Forms of running values (cumsum, cumprod, cummax, cummin): scans along an outer axis, in blocks if need be.

`iree_linalg_ext.scan` is vectorised over the axes inside the one it runs along, so the axis is brought to the
front. Where there are few rows to work on side by side, each is cut into blocks that are scanned like rows;
the blocks' totals are scanned in turn, and what comes before a block is combined with all of it. No form
multiplies by zeros, so that an infinity reaches only the elements after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dialects import mlir
from ....dialects.ops.reduction import accumulation_dtype
from ....dialects.types import COMPLEX128
from ..tuning import configuration
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
        shape = self.shape(x)
        last = len(shape) - 1
        order = [*(a for a in range(len(shape)) if a != axis), axis]
        rows = self.permute(x, order)
        lengths = self.shape(rows)
        groups = [list(range(last)), [last]]
        running = self._rows(name, self.collapse(rows, groups), identity, carried)
        running = self.expand(running, groups, lengths) if last else self.drop_units(running, [False, True])
        running = self.permute(running, [order.index(a) for a in range(len(shape))])
        if reverse:
            running = self.flip(running, axis, carried)
        return self.convert(carried, dtype, running)

    def flip(self, x: Any, axis: int, dtype: np.dtype) -> Any:
        """`x` with one axis in reverse order."""
        shape = self.shape(x)
        rank = len(shape)
        last = self.size_arithmetic("size_sub", shape[axis], 1)
        x = self.readable(x)

        def body(_: Any) -> Any:
            at = [mlir.linalg.IndexOp(a).result for a in range(rank)]
            at[axis] = mlir.arith.subi(self.size_value(last), at[axis])
            return mlir.tensor.extract(x, at)

        return self.generic(
            [], [self.empty(shape, dtype)], [self.identity_map(rank)], ["parallel"] * rank, body
        )

    def _rows(self, name: str, x: Any, identity: Any, dtype: np.dtype) -> Any:
        """Running values of each row of a matrix."""
        rows, size = self.shape(x)
        # Observed: IREE cannot fill with what comes before the first block where it has 128 bits.
        block = configuration.scan_block(rows, size) if dtype != COMPLEX128 else None
        if block is None:
            return self.permute(self._scan(name, self.permute(x, (1, 0)), 0, identity, dtype), (1, 0))
        count = size // block
        blocks = self.expand(x, [[0], [1, 2]], [rows, count, block])
        blocks = self.collapse(self.permute(blocks, (2, 0, 1)), [[0], [1, 2]])
        within = self.expand(
            self._scan(name, blocks, 0, identity, dtype), [[0], [1, 2]], [block, rows, count]
        )
        totals = self.collapse(
            self.window(within, [block - 1, 0, 0], [1, rows, count], [1] * 3), [[0, 1], [2]]
        )
        upto = self._rows(name, totals, identity, dtype)
        others = self.window(upto, [0, 0], [rows, count - 1], [1, 1])
        before = self.pad_with(others, [0, 1], [0, 0], self.scalar_constant(dtype, identity))
        joined = self.generic(
            [within, before],
            [self.empty([rows, count, block], dtype)],
            [self.axes_map(3, (2, 0, 1)), self.axes_map(3, (0, 1)), self.identity_map(3)],
            ["parallel"] * 3,
            lambda here, earlier, _: self.combine(name, dtype, earlier, here),
        )
        return self.collapse(joined, [[0], [1, 2]])

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

"""The barrier that IREE does not fuse through: a value on its other side has been written to memory.

It is IREE's own `iree_tensor_ext.compute_barrier.start`, which costs nothing: it is gone before buffers are
planned. `util.optimization_barrier` keeps kernels apart as well, but it ends the list of commands: the host
waits there for the device before it submits the rest (figures: `docs/iree_notes.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...dialects import mlir
from ..ir.aliases import Value

BARRIER: Final = "iree_tensor_ext.compute_barrier.start"


def compute_barrier(value: Value) -> Value:
    """`value` behind a barrier."""
    # Sizes must be those of the value itself: IREE takes what is stated here for a fact about the operand.
    type_ = mlir.ir.RankedTensorType(value.type)
    index = mlir.ir.IndexType.get(value.context)
    dynamic = [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
    sizes = [mlir.tensor.dim(value, mlir.arith.constant(index, axis)) for axis in dynamic]
    return mlir.ir.Operation.create(BARRIER, results=[type_], operands=[value, *sizes]).results[0]


def opaque(value: Value, sizes: Sequence[int | Value]) -> Value:
    """`value` behind a barrier that IREE carries nothing across, not what it knows of its type either.

    It finds no dynamic sizes behind it by itself: `sizes` are those.
    """
    hidden = mlir.util.OptimizationBarrierOp([value.type], [value]).results[0]
    return mlir.flow.TensorTieShapeOp(hidden, sizes).result if sizes else hidden

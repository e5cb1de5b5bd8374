"""The barrier that IREE does not fuse through: a value on its other side has been written to memory.

It is IREE's own `iree_tensor_ext.compute_barrier.start`, which costs nothing: it is gone before buffers are
planned. `util.optimization_barrier` keeps kernels apart as well, but it ends the list of commands: the host
waits there for the device before it submits the rest (figures: `docs/iree_notes.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ....dialects import mlir
from ....runtime.targets import DEVICE_NAME

BARRIER: Final = "iree_tensor_ext.compute_barrier.start"

RESIDENT: Final = "flow.tensor.barrier"


def compute_barrier(value: Any) -> Any:
    """`value` behind a barrier."""
    # Sizes must be those of the value itself: IREE takes what is stated here for a fact about the operand.
    type_ = mlir.ir.RankedTensorType(value.type)
    index = mlir.ir.IndexType.get(value.context)
    dynamic = [axis for axis in range(type_.rank) if type_.is_dynamic_dim(axis)]
    sizes = [mlir.tensor.dim(value, mlir.arith.constant(index, axis)) for axis in dynamic]
    return mlir.ir.Operation.create(BARRIER, results=[type_], operands=[value, *sizes]).results[0]


def resident(value: Any, sizes: Sequence[Any]) -> Any:
    """`value`, an argument of the block of a loop, known to be on the device: without this it is copied.

    IREE 3.13 forgets where the arguments of blocks are while it converts to
    streams, and transfers them to where they are: each turn of a loop copies all that it carries. `sizes` are
    the dynamic ones. What is behind this may be written in place: only its owner may do so.
    """
    device = mlir.ir.Attribute.parse(f"#hal.device.promise<@{DEVICE_NAME}>", value.context)
    return mlir.ir.Operation.create(
        RESIDENT, results=[value.type], operands=[value, *sizes], attributes={"target": device}
    ).results[0]


def opaque(value: Any, sizes: Sequence[Any]) -> Any:
    """`value` behind a barrier that IREE carries nothing across, not what it knows of its type either.

    It finds no dynamic sizes behind it by itself: `sizes` are those.
    """
    hidden = mlir.util.OptimizationBarrierOp([value.type], [value]).results[0]
    return mlir.flow.TensorTieShapeOp(hidden, sizes).result if sizes else hidden

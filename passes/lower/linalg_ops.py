"""The ops of linalg in a lowered function, with those in its loops, and what they begin with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...dialects import mlir
from ..ir.aliases import Operation, Value

RESHAPES: Final = ("tensor.expand_shape", "tensor.collapse_shape")


def linalg_ops(operation: Operation) -> Iterator[Operation]:
    """Every op of linalg within an op, in order; none within another one of linalg."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name.startswith("linalg."):
                    yield inner
                else:
                    yield from linalg_ops(inner)


def is_filled(value: Value) -> bool:
    """Whether all elements of a value are one number that fills it."""
    while not isinstance(value.owner, mlir.ir.Block) and value.owner.name in RESHAPES:
        value = value.owner.operands[0]
    return not isinstance(value.owner, mlir.ir.Block) and value.owner.name == "linalg.fill"

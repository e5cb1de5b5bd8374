"""What is used many times is computed once: it is not fused into what uses it.

Input: the code of a kernel on tensors. Output: the same with `util.optimization_barrier` between a generic
that computes an operand and the generic that takes each of its elements many times: a reduction, such as a
product of matrices, or one that repeats elements which take long; `fuse_again` drops the barriers. Idea:
MLIR fuses what has one use, and would compute `tanh(x)` for each column of `tanh(x) @ w`.
"""

from __future__ import annotations

from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named

BARRIER: Final = "util.optimization_barrier"
MOST_OPS: Final = 6  # that are rather done again for each element of a larger array than stored
_FREE: Final = (
    "arith.constant",
    "arith.ext",
    "arith.trunc",
    "linalg.index",
    "linalg.yield",
    "arith.index_cast",
)


def keep_apart(module: mlir.ir.Module) -> None:
    """Put barriers behind what would be computed again."""
    for generic in operations_named(module, "linalg.generic"):
        kinds = ["reduction" in str(kind) for kind in generic.attributes["iterator_types"]]
        most = 0 if any(kinds) else MOST_OPS
        maps = mlir.ir.ArrayAttr(generic.attributes["indexing_maps"])
        for position in range(int(generic.attributes["operandSegmentSizes"][0])):
            map_ = mlir.ir.AffineMapAttr(maps[position]).value
            if (
                map_.n_symbols == 0
                and len(map_.results) < len(kinds)
                and _cost(generic.operands[position]) > most
            ):
                with mlir.ir.InsertionPoint(generic), generic.location:
                    generic.operands[position] = kept_apart(generic.operands[position])


def kept_apart(value: Value) -> Value:
    """The value, which is not fused into what uses it."""
    return mlir.ir.Operation.create(BARRIER, results=[value.type], operands=[value]).results[0]


def fuse_again(module: mlir.ir.Module) -> None:
    """Drop the barriers."""
    for barrier in operations_named(module, BARRIER):
        barrier.results[0].replace_all_uses_with(barrier.operands[0])
        barrier.erase()


def _cost(value: Value) -> int:
    """How many ops a generic takes for an element; none where it moves elements."""
    if isinstance(value.owner, mlir.ir.Block):
        return 0
    maker: Operation = value.owner.operation
    if maker.name != "linalg.generic":
        return 0
    inside = [child.operation.name for child in maker.regions[0].blocks[0].operations]
    return sum(not name.startswith(_FREE) for name in inside)

"""What is used many times is computed once, and what is long is kept in vectors: these are not fused.

Input: the code of a kernel on tensors. Output: the same with `util.optimization_barrier` between a generic
that computes an operand and the generic that takes each of its elements many times: a reduction, such as a
product of matrices, or one that repeats elements which take long; and behind a generic that takes elements
at computed places, where what it would be fused with takes long. `fuse_again` drops the barriers. Ideas:
MLIR fuses what has one use, and would compute `tanh(x)` for each column of `tanh(x) @ w`. LLVM does not know
that `x[places]` is not the array that a loop writes, and would compute `exp(x[places])` number by number.
"""

from __future__ import annotations

import re
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from .walk import operations_named

BARRIER: Final = "util.optimization_barrier"
MOST_OPS: Final = 6  # that are rather done again for each element of a larger array than stored
LONG: Final = 24  # ops of an element that are rather computed in vectors than where elements are taken
_RESHAPES: Final = ("tensor.expand_shape", "tensor.collapse_shape")
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
            if map_.n_symbols == 0 and _loops(map_) < len(kinds) and _cost(generic.operands[position]) > most:
                with mlir.ir.InsertionPoint(generic), generic.location:
                    generic.operands[position] = kept_apart(generic.operands[position])
    for extract in operations_named(module, "tensor.extract"):
        taker = extract.parent.operation
        if taker.name == "linalg.generic" and len(taker.results) == 1 and not _reduces(taker):
            _keep_taken(taker)


def _keep_taken(taker: Operation) -> None:
    """Put a barrier behind elements from elsewhere that a long computation takes."""
    taken = end = taker.results[0]
    uses = list(taken.uses)
    if len(uses) != 1 or uses[0].owner.operation.name == BARRIER:
        return
    while _is_used_once(end):
        user = next(end.uses).owner.operation
        if user.name not in _RESHAPES and (user.name != "linalg.generic" or _reduces(user)):
            break
        end = user.results[0]
    if end != taken and _cost(end) > LONG:
        user, position = uses[0].owner.operation, uses[0].operand_number
        with mlir.ir.InsertionPoint(user), user.location:
            user.operands[position] = kept_apart(taken)


def _loops(map_: mlir.ir.AffineMap) -> int:
    """How many loops choose the element that is taken."""
    return len({name for e in map_.results for name in re.findall(r"d\d+", str(e))})


def kept_apart(value: Value) -> Value:
    """The value, which is not fused into what uses it."""
    return mlir.ir.Operation.create(BARRIER, results=[value.type], operands=[value]).results[0]


def fuse_again(module: mlir.ir.Module) -> None:
    """Drop the barriers; those of numbers hide conditions (`pointwise/kernel.py`), and stay."""
    for barrier in operations_named(module, BARRIER):
        if not isinstance(barrier.operands[0].type, mlir.ir.RankedTensorType):
            continue
        barrier.results[0].replace_all_uses_with(barrier.operands[0])
        barrier.erase()


def _cost(value: Value) -> int:
    """How many ops are done again for an element: those of its generic, and of those that will be fused with
    that one; none where elements are moved, or sums are."""
    if isinstance(value.owner, mlir.ir.Block):
        return 0
    maker: Operation = value.owner.operation
    if maker.name in _RESHAPES:
        return _cost(maker.operands[0]) if _is_used_once(maker.operands[0]) else 0
    if maker.name != "linalg.generic" or _reduces(maker):
        return 0
    inside = [child.operation.name for child in maker.regions[0].blocks[0].operations]
    here = sum(not name.startswith(_FREE) for name in inside)
    inputs = list(maker.operands)[: int(maker.attributes["operandSegmentSizes"][0])]
    return here + sum(_cost(each) for each in inputs if _is_used_once(each))


def _reduces(generic: Operation) -> bool:
    return any("reduction" in str(kind) for kind in generic.attributes["iterator_types"])


def _is_used_once(value: Value) -> bool:
    return len(list(value.uses)) == 1

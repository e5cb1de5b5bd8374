"""The pass `constant-expressions`: whether IREE computes what follows from constants while it compiles.

Input: lowered functions. Output: the same, marked if IREE is not to look for such computations. It compiles
and runs what it finds, a second or less of a compile that a call saves a dispatch by, and looks for them with
the square of the ops of one body, as they are fused. Counters, masks and tables of a few thousand numbers
take a call less than the copies they are; what is worth it are functions such as sines, sums, and large
arrays.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from ...dialects import mlir
from ...dialects.dataclass import dataclass
from ..base import Pass
from ..ir.aliases import Operation
from ..ir.functions import functions

MARK: Final = "adze.nothing_constant"
MANY: Final = 32
"""Ops on arrays that IREE may fuse to a long one, and would search for a few milliseconds."""
MOST_WORK: Final = 1 << 20
"""Instructions on elements that each call may do anew: some ten microseconds, as they are done on vectors."""
LARGEST: Final = 1 << 20
"""Bytes of what IREE computes while it compiles: programs are not to grow by more."""
MOST_STATED: Final = 1 << 10
"""Of an array that a program states: larger ones may be weights, which are transposed or converted once."""

_CONSTANT: Final = "arith.constant"
_GENERIC: Final = "linalg.generic"
_LEAVES: Final = (_CONSTANT, "tensor.empty", "linalg.fill", "func.return", "util.return")
_COPIES: Final = ("tensor.extract_slice", "tensor.insert_slice", "tensor.concat", "linalg.broadcast")
_RESHAPES: Final = ("tensor.expand_shape", "tensor.collapse_shape", "tensor.cast")
_DIALECTS: Final = ("linalg.", "tensor.", "arith.")
_COSTLY: Final = ("math.", "arith.div", "arith.rem", "func.")


@dataclass(frozen=True)
class ConstantExpressions(Pass):
    """Mark programs that compute nothing of constants that would be worth computing once."""

    name = "constant-expressions"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        """Whether the program is marked."""
        found = _Expressions(module)
        if found.is_worth_it or not (found.has_any or found.generics >= MANY):
            return False
        module.operation.attributes[MARK] = mlir.ir.UnitAttr.get(module.context)
        return True


def computes_nothing_constant(module: mlir.ir.Module) -> bool:
    """Whether a lowered module is marked: IREE need not look for what follows from constants."""
    return MARK in module.operation.attributes


class _Expressions:
    """What a module computes of constants alone: also arrays of constants, since ops may be fused to such."""

    def __init__(self, module: mlir.ir.Module) -> None:
        self.generics = self._work = 0
        self.has_any = self.is_worth_it = False
        self._follows: set[Operation] = set()
        for operation in _operations(module):
            self.generics += operation.name == _GENERIC
            self._see(operation)

    def _see(self, operation: Operation) -> None:
        if _is_array_of_constants(operation):
            self.has_any = True
            self.is_worth_it |= not _is_small(operation, MOST_STATED)
        if operation.name in _LEAVES:
            self._follows.add(operation)
        elif _makes_arrays(operation) and self._takes_constants(operation):
            self._follows.add(operation)
            if not _repeats(operation):
                self.has_any = True
                if not _is_huge(operation):
                    self._work += _work(operation)
                    self.is_worth_it |= self._work > MOST_WORK

    def _takes_constants(self, operation: Operation) -> bool:
        return all(
            not isinstance(value.owner, mlir.ir.Block) and value.owner.operation in self._follows
            for value in operation.operands
        )


def _operations(module: mlir.ir.Module) -> Iterator[Operation]:
    """The ops of functions, those of loops and branches too, but not the bodies of ops on arrays."""
    pending = list(functions(module).values())
    while pending:
        for region in pending.pop().regions:
            for block in region.blocks:
                for child in block.operations:
                    operation = child.operation
                    yield operation
                    if len(operation.regions) and operation.name != _GENERIC:
                        pending.append(operation)


def _makes_arrays(operation: Operation) -> bool:
    return operation.name.startswith(_DIALECTS) and any(
        isinstance(result.type, mlir.ir.RankedTensorType) for result in operation.results
    )


def _is_array_of_constants(operation: Operation) -> bool:
    """Whether an op states an array of more than one number."""
    if operation.name != _CONSTANT or not isinstance(operation.results[0].type, mlir.ir.ShapedType):
        return False
    if isinstance(operation.results[0].type.element_type, mlir.ir.ComplexType):
        return True  # MLIR's bindings have no class for such an attribute, and raise
    value = operation.attributes["value"]
    return not (isinstance(value, mlir.ir.DenseElementsAttr) and value.is_splat)


def _repeats(operation: Operation) -> bool:
    """Whether an op makes an array of one number, repeated along all axes."""
    if operation.name != _GENERIC:
        return False
    return len(operation.regions[0].blocks[0].operations) == 1 and all(
        value.owner.operation.name in _LEAVES and not _is_array_of_constants(value.owner.operation)
        for value in operation.operands
    )


def _work(operation: Operation) -> int:
    """How many instructions on elements an op takes; as good as endless for functions and sums."""
    if operation.name in _RESHAPES:
        return 0
    count = 1
    if operation.name == _GENERIC:
        body = operation.regions[0].blocks[0].operations
        count = len(body)
        if any("parallel" not in str(kind) for kind in operation.attributes["iterator_types"]) or any(
            child.operation.name.startswith(_COSTLY) for child in body
        ):
            return MOST_WORK + 1
    elif operation.name not in _COPIES:
        return MOST_WORK + 1
    return count * sum(prod(mlir.ir.ShapedType(result.type).shape) for result in operation.results)


def _is_small(operation: Operation, most: int) -> bool:
    """Whether the results, whose sizes are known, have at most so many elements."""
    shaped = [mlir.ir.ShapedType(result.type) for result in operation.results]
    return all(each.has_static_shape and prod(each.shape) <= most for each in shaped)


def _is_huge(operation: Operation) -> bool:
    """Whether the results, if an element has four bytes, are so large that IREE leaves them to the calls."""
    return not _is_small(operation, LARGEST // 4)

"""Arrays with equal sizes that IREE packs for products: matrices of a batch that are square.

Input: a program that IREE has divided into kernels. Output: the same, where the sizes of an array that is
packed are values of their own. IREE launches the kernel that packs an array with each value once, and then
takes the first size for the repeated one when it counts the workgroups.

Symptom: silently, products sum only the first 64 terms: of the other operand's rows no more were packed.
Seen in: IREE 3.13.
Smallest: `(x @ swapaxes(x, 1, 2)) @ x` of `f32[b,s,64]` with sizes above 64.
Goes when: `tests/passes/lower/iree/test_packed_squares.py::test_squares_are_still_packed_in_part` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.compile.faults.packed_squares import packs
from ...base import Pass
from ...ir.aliases import Operation, Value


@dataclass(frozen=True)
class DistinctSizes(Pass):
    """Give each size of an array that IREE packs a value of its own."""

    name = "distinct-sizes"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> bool:
        changes = [_separate(operation) for operation in list(packs(module.operation))]
        return any(changes)


def _separate(operation: Operation) -> bool:
    """Hide from IREE that sizes are one value: the operands are the array, its sizes and the result's."""
    rank = len(operation.operands) // 2
    seen: set[Value] = set()
    changed = False
    for position in range(1, 1 + rank):
        size = operation.operands[position]
        if size in seen:
            with mlir.ir.InsertionPoint(operation), operation.location:
                size = mlir.ir.Operation.create("util.optimization_barrier", [size.type], [size]).result
            operation.operands[position] = operation.operands[position + rank] = size
            changed = True
        seen.add(size)
    return changed

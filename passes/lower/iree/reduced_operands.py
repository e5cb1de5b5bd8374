"""Reductions whose operand IREE computes in their own kernel, and then has no code for on a GPU.

Input: a lowered module. Output: the same, where what computes an operand of a reduction, or takes it from a
larger array, is in a kernel before it: the operand is written to memory. It is tried where IREE refused the
program as it was.

Symptom: CUDA: `'func.func' op failed to distribute`: the operand is widened in the kernel (i32 to i64, i16 to
i32, f32 to f64). CUDA and Vulkan: `failed to get neutral element for reduction`, `Failed to get an identity
value`: the operand is negated there, and `total + -x` becomes `total - x`, which is no sum to IREE.
Seen in: IREE 3.13.
Smallest: `sum(x.astype(int64), axis=1)` of i32[64,64]; `sum(-x, axis=1)` of f32[8,64].
Goes when: `tests/gpu/test_fences.py::test_unfenced_they_are_refused` fails.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....dialects import mlir
from ....runtime.compile.reductions import is_reduction
from ...base import Pass
from ...ir.aliases import Operation
from ...ir.functions import functions
from ..barriers import compute_barrier
from ..linalg_ops import linalg_ops


@dataclass(frozen=True)
class SeparateOperands(Pass):
    """Put a barrier before each operand of a reduction that another op of linalg computes."""

    name = "separate-operands"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            for function in functions(module).values():
                for operation in list(linalg_ops(function.operation)):
                    if is_reduction(operation):
                        _separate(operation)


def _separate(reduction: Operation) -> None:
    """Let the inputs of a reduction that linalg computes come through a barrier."""
    with mlir.ir.InsertionPoint(reduction), reduction.location:
        for number in range(len(reduction.operands) - len(reduction.results)):
            value = reduction.operands[number]
            if _is_computed(value) and isinstance(value.type, mlir.ir.RankedTensorType):
                reduction.operands[number] = compute_barrier(value)


def _is_computed(value: mlir.ir.Value) -> bool:
    """Whether linalg computes a value or what it is a reshape of, or the value is a part of another."""
    while not isinstance(value.owner, mlir.ir.Block):
        operation = value.owner.operation
        if operation.name not in ("tensor.expand_shape", "tensor.collapse_shape"):
            return operation.name in ("linalg.generic", "tensor.extract_slice")
        value = operation.operands[0]
    return False

"""Reductions whose operand IREE computes in their own kernel, and then has no code for on a GPU.

Input: a lowered module. Output: the same, where what computes an operand of a reduction, or takes it from a
larger array, is in a kernel before it: the operand is written to memory. So is the result of a reduction that
begins with an array and not with one number. It is tried where IREE refused the program as it was.

Symptom: CUDA: `'func.func' op failed to distribute`: the operand is widened in the kernel (i32 to i64, i16 to
i32, f32 to f64). CUDA and Vulkan: `failed to get neutral element for reduction`, `Failed to get an identity
value`: the operand is negated there, and `total + -x` becomes `total - x`, which is no sum to IREE.
CUDA: `failed to bufferize op`: it begins with another kernel's array, and its kernel goes on with the result.
Seen in: IREE 3.13.
Smallest: `sum(x.astype(int64), axis=1)` of i32[64,64]; `sum(-x, axis=1)` of f32[8,64];
`sort(x).at[i].add(u) * u` of f32[64], without the copy that `forms/scatter.py` makes.
Goes when: `tests/gpu/test_fences.py::test_unfenced_they_are_refused` fails.
"""

from __future__ import annotations

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ....runtime.compile.reductions import is_reduction
from ...base import Pass
from ...ir.aliases import Operation
from ...ir.functions import functions
from ..barriers import compute_barrier
from ..linalg_ops import RESHAPES, is_filled, linalg_ops


@dataclass(frozen=True)
class SeparateOperands(Pass):
    """Put a barrier before each operand of a reduction that another op of linalg computes, and behind each
    result that begins with an array."""

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
        first = len(reduction.operands) - len(reduction.results)
        begins = list(reduction.operands)[first:]
    with mlir.ir.InsertionPoint.after(reduction), reduction.location:
        for result, begin in zip(reduction.results, begins, strict=True):
            uses = [(use.owner.operation, use.operand_number) for use in result.uses]
            if not is_filled(begin) and any(not user.name.endswith("return") for user, _ in uses):
                apart = compute_barrier(result)
                for user, place in uses:
                    user.operands[place] = apart


def _is_computed(value: mlir.ir.Value) -> bool:
    """Whether linalg computes a value or what it is a reshape of, or the value is a part of another."""
    while not isinstance(value.owner, mlir.ir.Block):
        operation = value.owner.operation
        if operation.name not in RESHAPES:
            return operation.name in ("linalg.generic", "tensor.extract_slice")
        value = operation.operands[0]
    return False

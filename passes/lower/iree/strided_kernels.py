"""Kernels of convolutions that are slices with steps, copied first.

Input: an operand of a convolution, in linalg. Output: the same array; on GPUs one that lies as its shape
says.

Symptom: on CUDA, silently, a convolution whose kernel is every second row of an array, with an axis of one
    element left out, takes the first rows instead.
Seen in: IREE 3.13.
Smallest: `lax.conv(x, w[::2, 1])` along one axis, of f32[3,3,32,16].
Goes when: `tests/gpu/test_fences.py::test_iree_still_loses_steps` fails.
"""

from __future__ import annotations

from typing import Final

from ....dialects import mlir
from ....runtime.targets import TargetKind
from ..builder import LinalgBuilder, Value

RESHAPES: Final = ("tensor.collapse_shape", "tensor.expand_shape", "tensor.cast")


def with_own_steps(b: LinalgBuilder, x: Value) -> Value:
    """`x`, written to memory of its own where it is a slice with steps, or a reshape of one."""
    return b.materialise(x) if b.kind is not TargetKind.CPU and _has_steps(x) else x


def _has_steps(x: Value) -> bool:
    while not isinstance(x.owner, mlir.ir.Block):
        operation = x.owner.operation
        if operation.name == "tensor.extract_slice" and any(n != 1 for n in _steps(x)):
            return True
        if operation.name not in (*RESHAPES, "tensor.extract_slice"):
            return False
        x = operation.operands[0]
    return False


def _steps(x: Value) -> list[int]:
    return list(mlir.ir.DenseI64ArrayAttr(x.owner.operation.attributes["static_strides"]))

"""Reductions that lanes of a GPU share, beside ops that use the numbers of the elements, through SPIR-V.

Input: a lowered module. Output: the same, where the numbers of elements (`arange`, of known sizes) are
constants in memory: no kernel computes them. It is tried where IREE refused the program as it was. A kernel
of its own for them would not do: IREE drops one without operands where several parts of a loop use it.

Symptom: Vulkan and Metal: `failed to legalize operation 'memref.alloc'` of `memref<64xindex, Workgroup>`.
IREE gives each lane its part of a vector, but not of `vector.step`: that vector goes through the memory
that lanes share, where SPIR-V has no `index`.
Seen in: IREE 3.13.
Smallest: `y = where(arange(64) >= i, x, -1); y, max(y)` of f32[64]; `linalg.solve` of f32[64,64].
Goes when: `tests/gpu/test_fences.py::test_unfenced_they_are_refused` fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from ....dialects import mlir
from ...base import Pass
from ...ir.aliases import Operation
from ...ir.functions import functions
from ..linalg_ops import linalg_ops

_INDEX: Final = "linalg.index"
_CASTS: Final = ("arith.index_cast", "arith.index_castui", "arith.trunci")
_MOST_BYTES: Final = 1 << 16
"""Of a constant: IREE refuses rows of some hundred elements, no longer ones."""


@dataclass(frozen=True)
class ConstantNumbers(Pass):
    """Let constants take the place of ops of linalg that compute the numbers of elements along an axis."""

    name = "constant-numbers"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            for function in functions(module).values():
                for operation in list(linalg_ops(function.operation)):
                    axis = _numbered_axis(operation)
                    if axis is not None:
                        _replace(operation, axis)


def _numbered_axis(operation: Operation) -> int | None:
    """The axis along which an op numbers the elements of its result, which has known sizes; or None."""
    if operation.name != "linalg.generic" or len(operation.operands) != 1:
        return None
    type_ = mlir.ir.RankedTensorType(operation.result.type)
    if not type_.has_static_shape or str(type_.element_type) not in ("i8", "i16", "i32", "i64"):
        return None
    if prod(type_.shape) * type_.element_type.width > 8 * _MOST_BYTES:
        return None
    (map_,) = operation.attributes["indexing_maps"]
    if mlir.ir.AffineMapAttr(map_).value != mlir.ir.AffineMap.get_identity(type_.rank):
        return None
    block = operation.regions[0].blocks[0]
    value = list(block.operations)[-1].operation.operands[0]
    while value.owner != block and value.owner.operation.name in _CASTS:
        value = value.owner.operation.operands[0]
    if value.owner != block and value.owner.operation.name == _INDEX:
        return int(mlir.ir.IntegerAttr(value.owner.operation.attributes["dim"]).value)
    return None


def _replace(operation: Operation, axis: int) -> None:
    """Let a constant take the place of an op that numbers the elements along `axis`."""
    type_ = mlir.ir.RankedTensorType(operation.result.type)
    numbers = np.arange(type_.shape[axis]).reshape([-1 if each == axis else 1 for each in range(type_.rank)])
    array = np.broadcast_to(numbers, type_.shape).astype(f"i{type_.element_type.width // 8}")
    attribute = mlir.ir.DenseElementsAttr.get(np.ascontiguousarray(array), type=type_)
    with mlir.ir.InsertionPoint(operation), operation.location:
        operation.result.replace_all_uses_with(mlir.arith.constant(type_, attribute))
    operation.erase()

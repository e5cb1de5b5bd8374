"""Reductions that lanes of a GPU share, beside ops that use the numbers of the elements, through SPIR-V.

Input: a lowered module. Output: the same, where the numbers of elements along an axis of known size
(`linalg.index`) are constants in memory: no kernel computes them. It is tried where IREE refused the program
as it was. A kernel of its own for them would not do: IREE drops one without operands where several parts of a
loop use it.

Symptom: Vulkan and Metal: `failed to legalize operation 'memref.alloc'` of `memref<64xindex, Workgroup>`.
IREE gives each lane its part of a vector, but not of `vector.step`: that vector goes through the memory
that lanes share, where SPIR-V has no `index`.
Seen in: IREE 3.13.
Smallest: `y = where(arange(64) >= i, x, -1); y, max(y)` of f32[64]; `top_k(x, 3)` of f32[16,32].
Goes when: `tests/gpu/test_fences.py::test_unfenced_they_are_refused` fails.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....dialects import mlir
from ....dialects.dataclass import dataclass
from ...base import Pass
from ...ir.aliases import Block, Operation, Value
from ...ir.functions import functions
from ..linalg_ops import linalg_ops
from ..tuning.kernel_reading import all_loop_sizes

_INDEX: Final = "linalg.index"
_SEGMENTS: Final = "operandSegmentSizes"
_MOST: Final = 1 << 20
"""Elements along an axis, whose numbers take 4 MiB of the program."""


@dataclass(frozen=True)
class ConstantNumbers(Pass):
    """Let ops of linalg read the numbers of elements along an axis from constants."""

    name = "constant-numbers"
    leaves_adze = False

    def run(self, module: mlir.ir.Module) -> None:
        with module.context, mlir.ir.Location.unknown():
            for function in functions(module).values():
                for operation in list(linalg_ops(function.operation)):
                    if operation.name == "linalg.generic":
                        _read_numbers(operation)


def _read_numbers(generic: Operation) -> None:
    """Give an op a constant operand for each axis of known size whose numbers it computes."""
    numbered: dict[int, list[Operation]] = {}
    for each in generic.regions[0].blocks[0].operations:
        if each.operation.name == _INDEX:
            axis = int(mlir.ir.IntegerAttr(each.operation.attributes["dim"]).value)
            numbered.setdefault(axis, []).append(each.operation)
    sizes = all_loop_sizes(generic) if numbered else []
    axes = [axis for axis in numbered if 0 < sizes[axis] <= _MOST]
    if axes:
        with mlir.ir.InsertionPoint(generic), generic.location:
            constants = [_numbers(sizes[axis]) for axis in axes]
            block = _with_inputs(generic, constants, axes)
        first = len(block.arguments) - len(generic.results) - len(axes)
        for position, axis in enumerate(axes):
            for index in numbered[axis]:
                with mlir.ir.InsertionPoint(index), index.location:
                    number = block.arguments[first + position]
                    index.result.replace_all_uses_with(mlir.arith.index_cast(index.result.type, number))
                index.erase()
        generic.erase()


def _numbers(count: int) -> Value:
    """The constant ``0, 1, ..., count - 1`` of 32 bits."""
    word = mlir.ir.IntegerType.get_signless(32)
    type_ = mlir.ir.RankedTensorType.get([count], word)
    return mlir.arith.constant(
        type_, mlir.ir.DenseElementsAttr.get(np.arange(count, dtype=np.int32), type=type_)
    )


def _with_inputs(generic: Operation, inputs: list[Value], axes: list[int]) -> Block:
    """The body of a new op in place of `generic`, which has further inputs, each along one of its axes."""
    ir = mlir.ir
    maps = list(ir.ArrayAttr(generic.attributes["indexing_maps"]))
    loops = len(ir.ArrayAttr(generic.attributes["iterator_types"]))
    counts = list(ir.DenseI32ArrayAttr(generic.attributes[_SEGMENTS]))
    at = counts[0]
    along = [ir.AffineMapAttr.get(ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(axis)])) for axis in axes]
    attributes = dict(generic.attributes.items())
    attributes["indexing_maps"] = ir.ArrayAttr.get([*maps[:at], *along, *maps[at:]])
    attributes[_SEGMENTS] = ir.DenseI32ArrayAttr.get([at + len(inputs), counts[1]])
    operands = list(generic.operands)
    operands[at:at] = inputs
    results = [result.type for result in generic.results]
    new = ir.Operation.create("linalg.generic", results, operands, attributes, regions=1)
    block = generic.regions[0].blocks[0]
    outs = list(block.arguments)[at:]
    for value in inputs:
        block.add_argument(ir.RankedTensorType(value.type).element_type, generic.location)
    for out in outs:  # they come last
        out.replace_all_uses_with(block.add_argument(out.type, generic.location))
    for _ in outs:
        block.erase_argument(at)
    block.append_to(new.regions[0])
    for old, result in zip(generic.results, new.results, strict=True):
        old.replace_all_uses_with(result)
    return new.regions[0].blocks[0]

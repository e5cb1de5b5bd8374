"""Kernels of our own for Vulkan whose arrays begin within larger ones.

Input: a program as far as IREE's phase `executable-configurations`, in which kernels know where in a buffer
an array begins. Output: the same program, where the type of an array that begins elsewhere than at the start
says so (`strided<[1], offset: ?>`). IREE's own kernels have such types; that of an array at the start of its
buffer may have none, and which is which shows here for the first time.

Symptom: "failed to legalize unresolved source materialization from ('memref<40xf32, strided<[1], offset:
    ?>>') to ('memref<40xf32>')", of one with such a type at the start "failed to convert SPIR-V type".
Seen in: IREE 3.13.
Smallest: a kernel without a pipeline (`no_pipeline`) of two results of one lifetime: parts of one buffer.
Goes when: `tests/gpu/test_spirv_loops.py::test_iree_still_refuses_parts_of_arrays` fails.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import prod
from typing import Any, Final

_WHERE: Final = b"no_pipeline"
_BINDING: Final = "hal.interface.binding.subspan"
_ELEMENTS: Final = ("memref.load", "memref.store")


def with_strided_bindings(program: bytes) -> bytes:
    """`program`, bytecode of the phase, with types that say where arrays begin; itself where all do."""
    if _WHERE not in program:
        return program
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_stated(ir, operation) for operation in list(_bindings(module.operation))):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _bindings(operation: Any) -> Iterator[Any]:
    """The arrays of kernels of our own."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name == _BINDING:
                    yield inner
                else:
                    yield from _bindings(inner)


def _stated(ir: Any, binding: Any) -> bool:
    """Whether the type of an array now says that it begins somewhere: of one that only its elements use."""
    type_ = binding.results[0].type
    if not isinstance(type_, ir.MemRefType) or not type_.has_static_shape or _is_at_start(ir, binding):
        return False
    if not all(use.owner.operation.name in _ELEMENTS for use in binding.results[0].uses):
        return False
    shape = list(type_.shape)
    strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    layout = ir.StridedLayoutAttr.get(ir.ShapedType.get_dynamic_stride_or_offset(), strides)
    binding.results[0].set_type(ir.MemRefType.get(shape, type_.element_type, layout, type_.memory_space))
    return True


def _is_at_start(ir: Any, binding: Any) -> bool:
    if ir.DenseI32ArrayAttr(binding.attributes["operandSegmentSizes"])[0] == 0:
        return True
    offset = binding.operands[0]
    if isinstance(offset.owner, ir.Block) or offset.owner.operation.name != "arith.constant":
        return False
    return int(ir.IntegerAttr(offset.owner.operation.attributes["value"]).value) == 0

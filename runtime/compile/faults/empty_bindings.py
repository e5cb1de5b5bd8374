"""Empty arrays, which IREE's Vulkan driver refuses to bind to a kernel, and CUDA's to allocate.

Input: a program compiled as far as IREE's phase `hal`. Output: the same program, in which a kernel is given a
byte at least of each array of a size that is not known, and each piece of memory of such a size, or of no
bytes, is a little larger. The kernel uses none of it: the sizes that it computes with stay what they are. The
arrays that go in have that byte too (`runtime/execute/array.py`).

Symptom: a call fails: "Vulkan dispatch binding 0 resolved to an empty buffer range", on CUDA
CUDA_ERROR_INVALID_VALUE.
Seen in: IREE 3.13.
Smallest: `x + 1` of f32[n,3] with n = 0; of f32[0,3] on CUDA.
Goes when: `tests/gpu/test_empty_arrays.py::test_unfenced_they_are_refused` fails.
"""

from __future__ import annotations

import io
from typing import Any, Final

from ..device_calls import device_calls

_ROOM: Final = 64
"""Bytes behind a piece of memory, as many as its alignment."""
_DISPATCH: Final = "hal.command_buffer.dispatch"
_EXECUTE: Final = "hal.device.queue.execute.indirect"
_BEFORE_BINDINGS: Final = 5
"""Operands of `_EXECUTE` before its buffers, offsets and lengths: device, affinity, fences, commands."""
_ALLOCATING: Final = ("hal.device.queue.alloca", "hal.allocator.allocate")
_PART: Final = "hal.buffer.subspan"


def with_room(program: bytes) -> bytes:
    """`program`, bytecode of the phase `hal`, whose kernels are bound to a byte at least.

    Where all sizes are known, and no result is empty, it is the very object.
    """
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_give_room(ir, operation) for operation in list(device_calls(module.operation))):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _give_room(ir: Any, operation: Any) -> int:
    """Let what an operation binds be of 1 byte at least, or what it allocates be larger; how many changed.

    The lengths that it binds are its last operands, the size that it allocates is the last one. A part of
    such memory may be bound too: its length is the last one, and the room is behind it.
    """
    end = len(operation.operands)
    if operation.name in _ALLOCATING:
        return _replace(ir, operation, end - 1, "arith.addi", _ROOM)
    if operation.name == _DISPATCH:
        count = list(ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))[-1]
    elif operation.name == _EXECUTE:
        count = (end - _BEFORE_BINDINGS) // 3
    elif operation.name == _PART and _is_allocated(ir, operation.operands[0]):
        count = 1
    else:
        return 0
    return sum(_replace(ir, operation, number, "arith.maxui", 1) for number in range(end - count, end))


def _is_allocated(ir: Any, buffer: Any) -> bool:
    return not isinstance(buffer.owner, ir.Block) and buffer.owner.name in _ALLOCATING


def _replace(ir: Any, operation: Any, number: int, name: str, constant: int) -> int:
    """Let an operand that is not known, or no bytes to allocate, be that op of it and a constant.

    Returns 1 where it changed, else 0.
    """
    value = operation.operands[number]
    if not isinstance(value.owner, ir.Block) and value.owner.name == "arith.constant":
        is_empty = ir.IntegerAttr(value.owner.attributes["value"]).value == 0
        if not is_empty or operation.name not in _ALLOCATING:
            return 0
    with ir.InsertionPoint(operation):
        index = ir.IndexType.get()
        attributes = {"value": ir.IntegerAttr.get(index, constant)}
        other = ir.Operation.create("arith.constant", [index], [], attributes).result
        operation.operands[number] = ir.Operation.create(name, [index], [value, other]).result
    return 1

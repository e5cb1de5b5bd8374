"""Programs for Vulkan that ask for memory while earlier operations of theirs are under way.

Input: a program compiled as far as IREE's phase `hal`. Output: the same program, in which the host waits for
what it has handed to the device before it asks for memory, before it calls a function, which may be one of
this process that lets programs of other threads run, and at the end of each block. An operation that
gets memory which an earlier one gives back is kept until then, and so are those behind it. The threads that
let go of them wake the driver's queue, each by the next number of a semaphore, without a lock: the greater
number may come first, and Vulkan allows no smaller one behind it (VUID-VkSemaphoreSignalInfo-value-03258).
Where nothing is kept, one thread wakes the queue, and calls take less time too.

Symptom: on lavapipe a call fails with VK_ERROR_DEVICE_LOST, in most processes that run the program.
Seen in: IREE 3.13.
Smallest: the gradient of `sum(log(diagonal(linalg.cholesky(x))))` of f32[100,100].
Goes when: `tests/gpu/test_fences.py::test_iree_still_keeps_operations` fails.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

from ..device_calls import FENCE, await_before

_QUEUE: Final = "device.queue."  # in bytecode the names of dialects are elsewhere
_ALLOCATION: Final = "hal.device.queue.alloca"
_FUNCTIONS: Final = ("util.func", "util.initializer")
_BRANCHES: Final = "cf."
_CALL: Final = "util.call"
_MESSAGE: Final = "failed to wait for an operation of the device"


def with_awaited_operations(program: bytes) -> bytes:
    """`program`, bytecode of the phase `hal`, that waits before it allocates; the same if it never has to."""
    from ....dialects.mlir import ir, new_context

    if _QUEUE.encode() not in program:
        return program
    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_await_in(ir, block) for block in _blocks(module)):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _blocks(module: Any) -> Iterator[Any]:
    """The blocks of the functions of the host."""
    for child in module.body.operations:
        if child.operation.name in _FUNCTIONS:
            for region in child.operation.regions:
                yield from region.blocks


def _await_in(ir: Any, block: Any) -> int:
    """Let a block wait before allocations, before calls and before it branches; how often it does."""
    under_way: list[Any] = []
    count = 0
    for operation in [each.operation for each in block.operations]:
        name = operation.name
        if under_way and (name in (_ALLOCATION, _CALL) or name.startswith(_BRANCHES)):
            await_before(ir, operation, under_way, _MESSAGE)
            under_way = []
            count += 1
        if name.startswith(f"hal.{_QUEUE}") and name != _ALLOCATION:
            under_way.append([value for value in operation.operands if str(value.type) == FENCE][-1])
    return count

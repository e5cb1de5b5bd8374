"""Loops of CUDA programs whose iterations are handed to the device before the one before them has ended.

Input: a program compiled as far as IREE's phase `hal`. Output: the same program, in which the host waits for
all work before a loop begins, and for each iteration. What a loop carries has a new buffer in each iteration;
IREE lets go of the old one as soon as it has handed the iteration over. Why that is wrong is not known.

Symptom: on CUDA, silently and not in every call, results of loops that read nothing back are wrong.
Seen in: IREE 3.13.
Smallest: `linalg.qr` of f32[64,64] with counts that the host has (`passes/lower/host_numbers.py`): its second
    call was wrong on an NVIDIA H100 in three processes of three; where each iteration read one, in none.
Goes when: `tests/gpu/test_fences.py::test_iree_still_begins_iterations_at_once` fails.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

from ..device_calls import FENCE, await_before

_BRANCHES: Final = ("cf.br", "cf.cond_br")


def with_awaited_loops(program: bytes) -> bytes:
    """`program`, bytecode of the phase `hal`, whose loops wait; the same object if it has no loops."""
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_await_in_loops(ir, region) for region in _functions(module)):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _functions(module: Any) -> Iterator[Any]:
    """The bodies of the functions of the host."""
    for child in module.body.operations:
        if child.operation.name == "util.func" and len(child.operation.regions[0].blocks):
            yield child.operation.regions[0]


def _await_in_loops(ir: Any, region: Any) -> int:
    """Let each branch to a block that is branched back to wait for the fences it hands on; how many do."""
    blocks = list(region.blocks)
    last = [list(block.operations)[-1].operation for block in blocks]
    branches = [(at, branch) for at, branch in enumerate(last) if branch.name in _BRANCHES]
    heads = [
        successor
        for at, branch in branches
        for successor in branch.successors
        if any(successor == block for block in blocks[: at + 1])
    ]
    count = 0
    for _, branch in branches:
        fences = [value for value in branch.operands if str(value.type) == FENCE]
        if fences and any(successor == head for successor in branch.successors for head in heads):
            await_before(ir, branch, fences, "failed to wait for an iteration of a loop")
            count += 1
    return count

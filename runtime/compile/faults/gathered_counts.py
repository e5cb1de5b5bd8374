"""Arrays that ranks gather by NCCL, of which IREE counts the elements of the result.

Input: a program compiled as far as IREE's phase `hal`. Output: the same program, in which the number of
elements of a gathering collective is of what each rank sends, as NCCL wants it. (IREE's `ConvertAllGatherOp`
counts those of the result.)

Symptom: NCCL reads and writes as many times too much memory as there are ranks, and results are wrong.
Seen in: IREE 3.13.
Smallest: `all_gather` of f32[4,4] by two ranks, for `cuda+nccl`: `... op(<all_gather : si32>) ... count(32)`.
Goes when: `tests/gpu/test_nccl.py::test_iree_still_counts_what_a_rank_gets` fails.
"""

from __future__ import annotations

import io
import re
from typing import Any, Final

from ..device_calls import device_calls

_COLLECTIVE: Final = "hal.command_buffer.collective"
_GATHERING: Final = re.compile(r"<all_gather : \D+(\d+)>")
"""As the op is written, with the bits of an element."""
_ELEMENTS, _SENT_BYTES = 2, 4
"""The operands with the number of elements and, from the last one, the bytes that are sent."""


def with_sent_counts(program: bytes) -> bytes:
    """`program`, of the phase `hal`, which counts what is sent; the same object if it gathers nothing."""
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_state_sent(ir, o) for o in device_calls(module.operation) if o.name == _COLLECTIVE):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _state_sent(ir: Any, operation: Any) -> bool:
    """Let the number of elements be of the memory that is sent; whether the op gathers."""
    gathering = _GATHERING.search(str(operation.attributes["op"]))
    if gathering is None:
        return False
    with ir.InsertionPoint(operation):
        index = ir.IndexType.get()
        width = {"value": ir.IntegerAttr.get(index, int(gathering[1]) // 8)}
        size = ir.Operation.create("arith.constant", [index], [], width).result
        sent = operation.operands[len(operation.operands) - _SENT_BYTES]
        operation.operands[_ELEMENTS] = ir.Operation.create("arith.divui", [index], [sent, size]).result
    return True

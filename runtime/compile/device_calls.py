"""The operations of a program by which it calls its device and waits for it, in IREE's phase `hal`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

FENCE: Final = "!hal.fence"
_AWAIT: Final = "hal.fence.await"
_CHECK: Final = "util.status.check_ok"


def device_calls(operation: Any) -> Iterator[Any]:
    """Every operation within one, but those of executables; they may be changed, not erased, meanwhile."""
    for region in operation.regions:
        for block in region.blocks:
            for child in list(block.operations):
                inner = child.operation
                if inner.name != "hal.executable":
                    yield inner
                    yield from device_calls(inner)


def await_before(ir: Any, operation: Any, fences: Sequence[Any], message: str) -> None:
    """Let the host wait for `fences` before `operation`; a call fails with `message` where that fails."""
    word = ir.IntegerType.get_signless(32)
    with ir.InsertionPoint(operation), operation.location:
        forever = {"value": ir.IntegerAttr.get(word, -1)}
        timeout = ir.Operation.create("arith.constant", [word], [], forever).result
        flags = {"flags": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
        status = ir.Operation.create(_AWAIT, [word], [timeout, *fences], flags).result
        ir.Operation.create(_CHECK, [], [status], {"message": ir.StringAttr.get(message)})

"""Commands that copy, which IREE's Vulkan driver replays between the arrays of an earlier call.

Input: a program compiled as far as IREE's phase `hal`. Output: the same program, in which commands with
copies, fills and updates are recorded for each submission, and not once for all.

Symptom: silently, and not in every run, `dynamic_slice(x, (i, j), ...)` takes the starts of an earlier call.
Seen in: IREE 3.13.
Smallest: a program of fifty dynamic slices, each called several times; one of twelve was right.
Goes when: without it the row dynamic_slice of
`tests/gpu/test_ops.py::test_every_op_on_vulkan_gives_what_numpy_gives` passes ten times: it
failed in one run of five.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

_COPIES: Final = (
    "hal.command_buffer.copy_buffer",
    "hal.command_buffer.fill_buffer",
    "hal.command_buffer.update_buffer",
)
_NAMES: Final = tuple(name.removeprefix("hal.").encode() for name in _COPIES)
_ONE_SHOT: Final = 1
"""The mode of commands that are submitted once."""


def with_new_copies(program: bytes) -> bytes:
    """`program`, bytecode of the phase `hal`; the very object where it records no copies."""
    if not any(name in program for name in _NAMES):
        return program
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        recording = _recording_functions(ir, module)
        kept = dict(_kept_commands(module, recording))
        if not sum(_record_again(ir, operation, kept) for operation in list(_operations(module.operation))):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _operations(operation: Any) -> Iterator[Any]:
    """Every operation within, but those of executables."""
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                inner = child.operation
                if inner.name != "hal.executable":
                    yield inner
                    yield from _operations(inner)


def _recording_functions(ir: Any, module: Any) -> dict[str, Any]:
    """The functions that record commands with copies, by their symbols; they record them for one use now."""
    found = {}
    for function in module.body.operations:
        if function.operation.name != "util.func":
            continue
        inner = list(_operations(function.operation))
        if any(operation.name in _COPIES for operation in inner):
            for operation in inner:
                if operation.name == "hal.command_buffer.create":
                    word = ir.IntegerType.get_signless(32)
                    operation.attributes["modes"] = ir.IntegerAttr.get(word, _ONE_SHOT)
            found[ir.StringAttr(function.operation.attributes["sym_name"]).value] = function
    return found


def _kept_commands(module: Any, recording: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The global that keeps the commands of each of these functions, and the call that records them."""
    for initializer in module.body.operations:
        if initializer.operation.name == "util.initializer":
            calls = {}
            for operation in _operations(initializer.operation):
                if operation.name == "util.call" and _symbol(operation, "callee") in recording:
                    calls[operation.results[0]] = operation
                elif operation.name == "util.global.store" and operation.operands[0] in calls:
                    yield _symbol(operation, "global"), calls[operation.operands[0]]


def _symbol(operation: Any, attribute: str) -> str:
    return str(operation.attributes[attribute]).lstrip("@")


def _record_again(ir: Any, operation: Any, kept: dict[str, Any]) -> int:
    """Let a load of kept commands be the call that records them; 1 where it was one."""
    if operation.name != "util.global.load":
        return 0
    made = kept.get(_symbol(operation, "global"))
    if made is None:
        return 0
    with ir.InsertionPoint(operation):
        again = made.clone()
    operation.results[0].replace_all_uses_with(again.operation.results[0])
    operation.erase()
    return 1

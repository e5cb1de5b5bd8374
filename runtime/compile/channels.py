"""Channels between the devices of several ranks: how a program makes them when it is loaded.

Input: a program compiled as far as IREE's phase `hal`, whose channels have the names of groups of ranks.
Output: the same program, in which each channel is made with the name of an NCCL communicator, and the rank
and the number of ranks in it: the first two come from functions that the program imports
(`runtime/distributed/imports.py`). Left alone, IREE asks MPI for them, which its runtime starts anew in a
process that already has; and no group is a part of all ranks.
"""

from __future__ import annotations

import io
from typing import Any, Final

from ..distributed.imports import MODULE, channel_imports
from .device_calls import device_calls

_CREATE: Final = "hal.channel.create"
_ID, _GROUP, _RANK, _COUNT = 2, 3, 4, 5
"""The operands of `_CREATE`, behind the device and the affinity."""


def with_ranks(program: bytes) -> bytes:
    """`program`, bytecode of the phase `hal`, with channels of its ranks; the very object without any."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        created = [o for o in device_calls(module.operation) if o.name == _CREATE]
        if not created:
            return program
        declared: set[str] = set()
        for operation in created:
            _state_ranks(ir, module, operation, declared)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _state_ranks(ir: Any, module: Any, operation: Any, declared: set[str]) -> None:
    """Let a channel be made with what the functions of its group say."""
    group = ir.StringAttr(operation.operands[_GROUP].owner.attributes["value"]).value
    name, rank, ranks = channel_imports(group)
    i32 = ir.IntegerType.get_signless(32)
    buffer = ir.Type.parse("!util.buffer")
    for symbol, type_ in ((name, buffer), (rank, i32)):
        if symbol not in declared:
            declared.add(symbol)
            _declare(ir, module, symbol, type_)
    with ir.InsertionPoint(operation):
        operation.operands[_ID] = _called(ir, name, buffer)
        operation.operands[_RANK] = _called(ir, rank, i32)
        count = {"value": ir.IntegerAttr.get(i32, ranks)}
        operation.operands[_COUNT] = ir.Operation.create("arith.constant", [i32], [], count).result


def _declare(ir: Any, module: Any, symbol: str, type_: Any) -> None:
    with ir.InsertionPoint.at_block_begin(module.body):
        ir.Operation.create(
            "util.func",
            attributes={
                "sym_name": ir.StringAttr.get(f"{MODULE}.{symbol}"),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get([], [type_])),
            },
            regions=1,
        )


def _called(ir: Any, symbol: str, type_: Any) -> Any:
    callee = {"callee": ir.FlatSymbolRefAttr.get(f"{MODULE}.{symbol}")}
    return ir.Operation.create("util.call", [type_], [], callee).result

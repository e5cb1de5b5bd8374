"""Kernels without workgroups, which CUDA's driver refuses to launch.

Input: a program compiled as far as IREE's phase `hal`. Output: the same program, which launches a kernel only
if it has workgroups. A kernel whose result turns out empty has none.

Symptom: a call fails with CUDA_ERROR_INVALID_VALUE, and so do all later ones: the driver's queue has failed.
Seen in: IREE 3.13.
Smallest: `x + 1` of f32[n,3] with n = 0.
Goes when: `tests/gpu/test_empty_arrays.py::test_unfenced_cuda_refuses_kernels_without_workgroups` fails.
"""

from __future__ import annotations

import io
from typing import Any, Final

from ..device_calls import device_calls

_DISPATCH: Final = "hal.command_buffer.dispatch"
_COUNTS: Final = slice(3, 6)
"""The operands of a dispatch that count workgroups, behind commands, executable and function."""
_IS_NOT_EQUAL: Final = 1


def without_empty_grids(program: bytes) -> bytes:
    """`program`, bytecode of the phase `hal`, without launches of no workgroups.

    Where all counts are known it is the very object: IREE has no kernels for what is known to be empty.
    """
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if not sum(_guard(ir, operation) for operation in list(device_calls(module.operation))):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _guard(ir: Any, operation: Any) -> int:
    """Put a dispatch whose workgroups are counted at run time behind a test; 1 where it is one."""
    if operation.name != _DISPATCH:
        return 0
    unknown = [count for count in list(operation.operands)[_COUNTS] if not _is_constant(ir, count)]
    if not unknown:
        return 0
    with ir.InsertionPoint(operation):
        index, boolean = ir.IndexType.get(), ir.IntegerType.get_signless(1)
        all_of_them = unknown[0]
        for count in unknown[1:]:
            all_of_them = ir.Operation.create("arith.muli", [index], [all_of_them, count]).result
        none = ir.Operation.create(
            "arith.constant", [index], [], {"value": ir.IntegerAttr.get(index, 0)}
        ).result
        predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _IS_NOT_EQUAL)
        some = ir.Operation.create(
            "arith.cmpi", [boolean], [all_of_them, none], {"predicate": predicate}
        ).result
        branch = ir.Operation.create("scf.if", [], [some], regions=2)
    block = branch.regions[0].blocks.append()
    with ir.InsertionPoint(block):
        end = ir.Operation.create("scf.yield")
    operation.move_before(end)
    return 1


def _is_constant(ir: Any, value: Any) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == "arith.constant"

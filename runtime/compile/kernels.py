"""The faults of kernels, looked for once IREE has divided a program into kernels.

Input: a program compiled as far as its kernels (the phase `flow`). Output: a sentence about the first fault,
or None. A form of a program with a fault is refused, and the next one is tried (`strategy.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .faults.packed_squares import packs_a_square
from .faults.recomputed_reductions import computes_a_reduction_again
from .faults.repeated_reductions import repeats_a_reduction
from .faults.wrong_result_sizes import stores_a_wrong_size


def fault_of_kernels(program: bytes) -> str | None:
    """What IREE would compute wrongly in `program`, bytecode of the phase `flow`."""
    from ...dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        if packs_a_square(module):
            return "an array with equal sizes would be packed in part"
        for function in _kernels(module):
            name = ir.StringAttr(function.attributes["sym_name"]).value
            for block in function.regions[0].blocks:
                operations = list(block.operations)
                if computes_a_reduction_again(ir, operations):
                    return f"the kernel {name} would compute one reduction again in each step of another"
                if repeats_a_reduction(ir, operations):
                    return f"the kernel {name} would compute one reduction anew in each step of another"
                if stores_a_wrong_size(operations):
                    return f"the kernel {name} would store a result with other sizes than it has"
    return None


def _kernels(module: Any) -> Iterator[Any]:
    """The functions of the kernels."""
    for executable in module.body.operations:
        if executable.operation.name == "flow.executable":
            for inner in executable.operation.regions[0].blocks[0].operations:
                if inner.operation.name == "builtin.module":
                    for function in inner.operation.regions[0].blocks[0].operations:
                        yield function.operation

"""References that a branch names twice, which IREE loses.

Input: a program compiled as far as IREE's virtual machine. Output: the same program in which no branch names
one reference twice. IREE packs what a loop carries into few buffers, so its branches forward the same buffer,
and the same fence, several times. Its register allocation then may leave one of them where it is and move
another (https://github.com/iree-org/iree/pull/24781): the first is null from there on, and for a fence nobody
waits. Each further mention becomes a reference of its own.

Symptom: a call fails ("indirect buffer reference slot 0 is out range", "binding table slot requires a
    buffer"), or results are read before they are computed.
Seen in: IREE 3.13.
Smallest: the value and the gradient of a `switch` of three branches: a scan that stacks rows, a scan of
    `sin(sin(x))` that saves two stacks of another shape, the identity (`stepped` in the test). With two
    branches, or without the value, the program runs.
Goes when: `tests/passes/lower/iree/test_iree_faults.py::test_references_are_still_lost` fails.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, Final

_BRANCHES: Final = frozenset({"vm.br", "vm.cond_br", "vm.br_table"})
_HOLDERS: Final = frozenset({"builtin.module", "vm.module", "vm.func", "vm.initializer"})


def may_branch(module: bytes) -> bool:
    """Whether a module, MLIR bytecode or text, may have loops or branches: it names the dialect of them."""
    return b"scf" in module


def deduplicated(program: bytes) -> bytes:
    """`program`, bytecode of the virtual machine's phase, with no reference twice in one branch.

    Where none was, it is the very object.
    """
    from ....dialects.mlir import ir, new_context

    with new_context(foreign_ops=False, is_light=True) as context, ir.Location.unknown():
        module = ir.Module.parse(program, context)
        branches = [block.operations[len(block.operations) - 1] for block in _blocks(module.operation)]
        if not sum(_deduplicate(ir, branch.operation) for branch in branches):
            return program
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        return buffer.getvalue()


def _blocks(operation: Any) -> Iterator[Any]:
    """The blocks of functions and initializers that are not empty."""
    for region in operation.regions:
        for block in region.blocks:
            if operation.name not in ("builtin.module", "vm.module"):
                if len(block.operations):
                    yield block
                continue
            for inner in block.operations:
                if inner.operation.name in _HOLDERS:
                    yield from _blocks(inner.operation)


def _deduplicate(ir: Any, branch: Any) -> int:
    """Let a branch name no reference twice; how many there were."""
    if branch.name not in _BRANCHES:
        return 0
    seen, count = set(), 0
    for position, value in enumerate(list(branch.operands)):
        if value not in seen:
            seen.add(value)
        elif str(value.type).startswith("!vm.ref"):
            again = ir.Operation.create("vm.assign.ref", [value.type], [value], ip=ir.InsertionPoint(branch))
            branch.operands[position] = again.result
            count += 1
    return count

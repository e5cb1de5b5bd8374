"""A loop that is a kernel, put in its place: its code in an executable, called by one dispatch.

Input: an op of a loop, how it was outlined, and its code. Output: the dispatch; the loop is gone. The
dispatch has tensors of adze's own types, unsigned ones included: `convert` erases these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Value
from ....ir.functions import EXECUTABLE, functions
from ....ir.marks import LOOP
from ..executable import Kernel, Kernels, Result
from .build import Code, entry
from .outline import Outlined
from .sizes import CHECKS, SIZES
from .sizes_before import is_number
from .walk import terminator

NAME: Final = "loop"


def replace_loop(kernels: Kernels, loop: Operation, outlined: Outlined, code: Code) -> None:
    """Call the kernel of `loop` in its place."""
    types = [loop.results[position].type for position in outlined.results]
    results = tuple(
        Result(type_, outlined.sizes_of_result(k), tied=code.shared.get(k)) for k, type_ in enumerate(types)
    )

    def emit(operands: Sequence[Value], written: Sequence[Value]) -> None:
        emit_copy(entry(code.module), [*operands, *written])

    with mlir.ir.InsertionPoint(loop), loop.location:
        constants = [mlir.arith.constant(value.type, value) for value in code.constants]
        numbers = [value for value in outlined.operands if is_number(value)]
        checks = functions(code.module).get(CHECKS)
        if checks is not None:
            emit_copy(checks.operation, numbers)
        stated = functions(code.module).get(SIZES)
        known = [] if stated is None else emit_copy(stated.operation, numbers)
        scratch = tuple(Result(s.type, tuple(known[k] for k in s.sizes)) for s in code.scratch)
        kernel = Kernel(
            NAME,
            (*results, *scratch),
            emit,
            key=str(entry(code.module)),
            workgroups=(code.workgroups,),
            threads=code.threads,
            is_spirv=code.is_spirv,
        )
        values = kernels.call(kernel, [*outlined.operands, *constants], sizes=outlined.sizes_of)
    dispatch = values[0].owner if values else None
    if dispatch is not None:
        dispatch.attributes[LOOP] = loop.attributes[LOOP]
    for position, value in zip(outlined.results, values, strict=False):
        loop.results[position].replace_all_uses_with(value)
    loop.erase()


def has_loop_kernels(module: mlir.ir.Module) -> bool:
    """Whether a loop of `module` is a kernel."""
    return any(is_loop_kernel(each.operation) for each in module.body.operations)


def is_loop_kernel(operation: Operation) -> bool:
    """Whether an op of a module is the kernel of a loop."""
    return operation.name == EXECUTABLE and NAME in operation.attributes["sym_name"].value


def emit_copy(function: Operation, arguments: Sequence[Value]) -> list[Value]:
    """The ops of a function on these arguments, at the ambient insertion point; what it returns."""
    copy = function.clone().operation
    block = copy.regions[0].blocks[0]
    end = terminator(block)
    for argument, value in zip(block.arguments, arguments, strict=True):
        argument.replace_all_uses_with(value)
    for operation in list(block.operations):
        if operation.operation != end:
            operation.operation.move_before(copy)
    returned = list(end.operands)
    copy.erase()
    return returned

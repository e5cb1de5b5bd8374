"""Two steps of a loop as one, so that what a step computes need not be copied to where it was.

Input: the simplified code of a kernel on tensors. Output: the same, where an innermost loop that computes
whole arrays from what it carries (`x = stencil(x)`) does two steps at once. Alone, a step needs another
buffer, as it reads neighbours of what it writes, and its result is copied back. Of two steps the first writes
that other buffer, and the second writes the first one again. A last step without a partner follows the loop.
"""

from __future__ import annotations

from math import prod
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Block, Operation, Value
from .destinations import LOOPS
from .state import root_of
from .times import UNKNOWN_SIZE
from .walk import nested, operations_named, terminator

LEAST_STEPS: Final = 4
LEAST_ELEMENTS: Final = 256
"""Of an array whose copy is worth code for two steps."""
MOST_OPS: Final = 150
"""Of a step that is repeated."""


def pair_steps(module: mlir.ir.Module) -> int:
    """Let loops do two steps at once where that may save copies; the elements of the largest array that they
    compute anew in each step, 0 without such loops."""
    return max(map(_pair, operations_named(module, "scf.for")), default=0)


def copied_elements(module: mlir.ir.Module) -> float:
    """How many elements the steps of the loops of a bufferized kernel copy."""
    total = 0.0
    for copy in operations_named(module, "memref.copy"):
        loop = _innermost(copy)
        if loop is not None:
            steps = _number(loop.operands[2])
            total += prod(n if n >= 0 else UNKNOWN_SIZE for n in copy.operands[0].type.shape) / (steps or 1)
    return total


def _innermost(operation: Operation) -> Operation | None:
    parent = operation.parent
    while parent is not None and parent.operation.name != "scf.for":
        parent = parent.operation.parent
    return None if parent is None else parent.operation


def _pair(loop: Operation) -> int:
    first, stop, step = (_number(value) for value in list(loop.operands)[:3])
    if first is None or stop is None or step != 1 or stop - first < LEAST_STEPS:
        return 0
    inside = list(nested(loop))
    if len(inside) > MOST_OPS or any(each.name in LOOPS for each in inside):
        return 0
    block = loop.regions[0].blocks[0]
    largest = max(map(_computed_anew, terminator(block).operands, list(block.arguments)[1:]), default=0)
    if largest < LEAST_ELEMENTS:
        return 0
    _do_two(loop, first, stop)
    return largest


def _computed_anew(value: Value, argument: Value) -> int:
    """The elements of an array that a loop yields and that is no update of the one that it carries."""
    type_ = argument.type
    if not isinstance(type_, mlir.ir.RankedTensorType) or not type_.has_static_shape:
        return 0
    return prod(type_.shape) if root_of(value) != argument else 0


def _do_two(loop: Operation, first: int, stop: int) -> None:
    ir, pairs = mlir.ir, (stop - first) // 2
    block = loop.regions[0].blocks[0]
    with ir.InsertionPoint(loop), loop.location:
        lower, upper, two = (
            mlir.arith.constant(ir.IndexType.get(), n) for n in (first, first + 2 * pairs, 2)
        )
        made = mlir.scf.ForOp(lower, upper, two, list(loop.operands)[3:])
        with ir.InsertionPoint(made.body):
            at = made.induction_variable
            values = _step(block, at, list(made.inner_iter_args))
            following = mlir.arith.addi(at, mlir.arith.constant(ir.IndexType.get(), 1))
            mlir.scf.YieldOp(_step(block, following, values))
        results = list(made.results)
        if first + 2 * pairs < stop:
            results = _step(block, upper, results)
    for old, new in zip(loop.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.erase()


def _step(block: Block, at: Value, carried: list[Value]) -> list[Value]:
    """What a step yields, computed at the ambient insertion point."""
    values: dict[Value, Value] = dict(zip(block.arguments, [at, *carried], strict=True))
    *operations, end = [child.operation for child in block.operations]
    for operation in operations:
        copy = operation.clone().operation
        for each in (copy, *nested(copy)):
            for position, operand in enumerate(each.operands):
                if operand in values:
                    each.operands[position] = values[operand]
        values.update(zip(operation.results, copy.results, strict=True))
    return [values.get(value, value) for value in end.operands]


def _number(value: Value) -> int | None:
    owner = value.owner
    if isinstance(owner, mlir.ir.Block) or owner.operation.name != "arith.constant":
        return None
    attribute = owner.operation.attributes["value"]
    return int(attribute.value) if isinstance(attribute, mlir.ir.IntegerAttr) else None

"""Sizes that show at the call: numbers that a kernel is passed, and checks that the host does before.

Input: the code of a kernel on tensors, its functions inlined. Output: the same, where each size of an array
is one of the kernel's arguments or follows from them, and `@checks`, a function of those, which fails where a
check in the code would. `@sizes` returns the sizes of temporaries. Idea: what a loop carries keeps its sizes,
so every size follows from those of the operands; and whether a check is reached, from the bounds of the loops
around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Block, Operation, Value, ValueMap
from ....ir.functions import functions
from .decided_checks import always_holds
from .destinations import DESTINATION, LOOPS
from .errors import KernelError
from .kept_apart import BARRIER
from .outline import KERNEL
from .sizes_before import Sizes, is_number
from .walk import initial_operand, operations_named, terminator

CHECKS: Final = "checks"
SIZES: Final = "sizes"
_ASSERT: Final = "cf.assert"
_PURE: Final = "arith."
_PART: Final = ("tensor.extract_slice", "memref.subview")
_MERGED: Final = ("tensor.collapse_shape", "memref.collapse_shape")
_DIVIDED: Final = ("tensor.expand_shape", "memref.expand_shape")
_MADE: Final = ("tensor.empty", "bufferization.alloc_tensor", "memref.alloc")
_SAME: Final = ("tensor.cast", "memref.cast", BARRIER)


def resolve_sizes(module: mlir.ir.Module, sizes: Sizes) -> None:
    """Replace sizes of arrays, in place."""
    arguments = list(functions(module)[KERNEL].operation.regions[0].blocks[0].arguments)
    known = {(arguments[k], axis): arguments[place] for (k, axis), place in sizes.operands.items()}
    for operation in operations_named(module, "tensor.dim"):
        source, axis = operation.operands
        with mlir.ir.InsertionPoint(operation):
            size = _size(source, _constant(axis), known)
        operation.results[0].replace_all_uses_with(size)
        operation.erase()


def resolve_buffer_sizes(module: mlir.ir.Module, sizes: Sizes, first_result: int) -> None:
    """Replace sizes of the arguments of a kernel on buffers, in place."""
    arguments = list(functions(module)[KERNEL].operation.regions[0].blocks[0].arguments)
    known = {(arguments[k], axis): arguments[place] for (k, axis), place in sizes.operands.items()}
    for (k, axis), place in sizes.results.items():
        known[arguments[first_result + k], axis] = arguments[place]
    for operation in operations_named(module, "memref.dim"):
        source, axis = operation.operands
        with mlir.ir.InsertionPoint(operation), suppress(KernelError):
            operation.results[0].replace_all_uses_with(_size(source, _constant(axis), known))
            operation.erase()


def _size(value: Value, axis: int, known: Mapping[tuple[Value, int], Value]) -> Value:
    """The size of an axis of an array in the code; emits, at the ambient insertion point, what it takes."""
    while (value, axis) not in known:
        type_ = mlir.ir.ShapedType(value.type)
        if not type_.is_dynamic_dim(axis):
            return mlir.arith.constant(mlir.ir.IndexType.get(), type_.shape[axis])
        source = _of_equal_size(value)
        if source is None:
            operation = None if isinstance(value.owner, mlir.ir.Block) else value.owner.operation
            if operation is not None and operation.name in _MERGED:
                axes = _merged(operation, axis)
                sizes = [_size(operation.operands[0], a, known) for a in axes]
                return reduce(mlir.arith.muli, sizes)
            if operation is None or operation.name not in (*_MADE, *_PART, *_DIVIDED):
                raise KernelError("the size of an array in it is not known before")
            return _stated(operation, type_, axis)
        value = source
    return known[value, axis]


def _merged(collapse: Operation, axis: int) -> list[int]:
    """The axes that an axis of a reshape is made of, without those that have one element."""
    group = mlir.ir.ArrayAttr(mlir.ir.ArrayAttr(collapse.attributes["reassociation"])[axis])
    axes = [mlir.ir.IntegerAttr(a).value for a in group]
    shape = collapse.operands[0].type.shape
    return [a for a in axes if shape[a] != 1]


def _stated(operation: Operation, type_: mlir.ir.ShapedType, axis: int) -> Value:
    """The size of a dynamic axis, as an op has it that makes an array."""
    number = sum(type_.is_dynamic_dim(k) for k in range(axis))
    if operation.name in _MADE:
        return operation.operands[number]
    if operation.name in _DIVIDED:
        return operation.operands[1 + number]
    _, offsets, *_ = list(mlir.ir.DenseI32ArrayAttr(operation.attributes["operandSegmentSizes"]))
    return operation.operands[1 + offsets + number]  # axes that are dropped have one element


def _of_equal_size(value: Value) -> Value | None:
    """An array of the same sizes that was there before; None for a new one."""
    if isinstance(value.owner, mlir.ir.Block):
        return _carried_before(value.owner, value)
    operation = value.owner.operation
    number = list(operation.results).index(value)
    if operation.name in LOOPS:
        position = initial_operand(operation, number)
        return None if position is None else operation.operands[position]
    if operation.name in DESTINATION:
        return operation.operands[DESTINATION[operation.name]]
    if operation.name.startswith("linalg."):
        return operation.operands[len(operation.operands) - len(operation.results) + number]
    return operation.operands[0] if operation.name in _SAME else None


def _carried_before(block: Block, value: Value) -> Value | None:
    """What the argument of a loop's block is at first."""
    loop = block.owner.operation
    number = list(block.arguments).index(value)
    if loop.name == "scf.for":
        return loop.operands[2 + number]
    if loop.name != "scf.while":
        return None
    before = loop.regions[0].blocks[0]
    return loop.operands[number] if block == before else list(terminator(before).operands)[1 + number]


def _constant(value: Value) -> int:
    if isinstance(value.owner, mlir.ir.Block) or value.owner.operation.name != "arith.constant":
        raise KernelError("an axis in it is not known before")
    return int(mlir.ir.IntegerAttr(value.owner.operation.attributes["value"]).value)


# -- checks ----------------------------------------------------------------------------------------


def move_checks(module: mlir.ir.Module, sizes: Sizes) -> None:
    """Move the checks of the code to `@checks`, a function of the arguments of type `index`."""
    arguments = list(functions(module)[KERNEL].operation.regions[0].blocks[0].arguments)
    known = {arguments[place] for each in (sizes.operands, sizes.results) for place in each.values()}
    found = []
    for check in operations_named(module, _ASSERT):
        if always_holds(check.operands[0], known):
            check.erase()
        else:
            found.append(check)
    if not found:
        return
    with _function_of_numbers(module, CHECKS, 0) as copied:
        for check in found:
            holds = _copy(check.operands[0], copied)
            for loop in _loops_around(check):
                holds = mlir.arith.ori(holds, _is_skipped(loop, copied))
            mlir.cf.assert_(holds, mlir.ir.StringAttr(check.attributes["msg"]).value)
        mlir.func.ReturnOp([])
    for check in found:
        check.erase()


def state_sizes(module: mlir.ir.Module, sizes: Sequence[Value]) -> None:
    """Add `@sizes`, a function of the arguments of type `index` that returns these sizes, which the code has.

    `KernelError` where one follows from what the kernel computes. A size that no array has in the end may be
    negative where the code is not reached.
    """
    with _function_of_numbers(module, SIZES, len(sizes)) as copied:
        zero = mlir.arith.constant(mlir.ir.IndexType.get(), 0)
        mlir.func.ReturnOp([mlir.arith.maxsi(_copy(size, copied), zero) for size in sizes])


@contextmanager
def _function_of_numbers(module: mlir.ir.Module, name: str, results: int) -> Iterator[ValueMap]:
    """A new function of the arguments of type `index`, and which of its values these are there."""
    block = functions(module)[KERNEL].operation.regions[0].blocks[0]
    numbers = [a for a in block.arguments if is_number(a)]
    index = mlir.ir.IndexType.get()
    with mlir.ir.InsertionPoint(module.body):
        function = mlir.func.FuncOp(name, ([index] * len(numbers), [index] * results))
        entry = function.add_entry_block()
    with mlir.ir.InsertionPoint(entry):
        yield dict(zip(numbers, entry.arguments, strict=True))


def _loops_around(check: Operation) -> list[Operation]:
    """The loops that a check is in: it is reached if all of them have a step."""
    loops = []
    block = check.operation.block
    while (parent := block.owner.operation).name != "func.func":
        if parent.name not in LOOPS:
            raise KernelError("it checks sizes only where a condition holds")
        if parent.name == "scf.for" or block.region != parent.regions[0]:
            loops.append(parent)
        block = parent.block
    return loops


def _is_skipped(loop: Operation, copied: ValueMap) -> Value:
    """Whether a loop has no step, computed from the arguments of another function."""
    if loop.name == "scf.for":
        first, last = (_copy(v, copied) for v in list(loop.operands)[:2])
        return mlir.arith.cmpi(mlir.arith.CmpIPredicate.sge, first, last)
    before = loop.regions[0].blocks[0]
    at_first = dict(copied)
    for argument, value in zip(before.arguments, loop.operands, strict=True):
        with suppress(KernelError):
            at_first[argument] = _copy(value, copied)
    goes_on = _copy(terminator(before).operands[0], at_first)
    return mlir.arith.xori(goes_on, mlir.arith.constant(goes_on.type, 1))


def _copy(value: Value, copied: ValueMap) -> Value:
    """`value` computed from the arguments of another function."""
    if value in copied:
        return copied[value]
    operation = None if isinstance(value.owner, mlir.ir.Block) else value.owner.operation
    if operation is None or not operation.name.startswith(_PURE):
        raise KernelError("it needs sizes before the loop that follow from what it computes")
    operands = [_copy(v, copied) for v in operation.operands]
    copy = operation.clone().operation
    for position, operand in enumerate(operands):
        copy.operands[position] = operand
    copied[value] = copy.results[0]
    return copied[value]

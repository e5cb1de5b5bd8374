"""Where the temporaries of a kernel lie: small ones on its stack, from its entry on; large ones in scratch.

Input: the code of a kernel on buffers. Output: the same without allocations: `memref.alloca` at the entry,
and arguments behind the others. A temporary is one place for all iterations, so no buffer may be carried
from one to the next: where a loop would, `KernelError`.
"""

from __future__ import annotations

from math import prod
from typing import Final

from .....dialects import mlir
from ....ir.aliases import Operation, Type, Value
from ....ir.functions import functions
from .errors import KernelError
from .outline import KERNEL
from .parameters import declare_arguments
from .walk import nested, operations_named, terminator

STACK: Final = 16384  # bytes of one temporary that may lie on the stack
WHOLE_STACK: Final = 4 * STACK  # bytes of all of them; IREE's limit is 64 KiB
_ALIGNMENT: Final = 64
_DYNAMIC: Final = -(2**63)


def settle_allocations(module: mlir.ir.Module) -> list[Type]:
    """Place every temporary; the tensor types of those that are arguments now."""
    _refuse_carried_buffers(module)
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    scratch: list[Type] = []
    used = 0
    for operation in operations_named(module, "memref.alloc"):
        type_ = mlir.ir.MemRefType(operation.results[0].type)
        if operation.operands or _DYNAMIC in type_.shape:
            raise KernelError(f"a temporary has a size that is not known: {type_}")
        size = -(-prod(type_.shape) * bytes_of(type_.element_type) // _ALIGNMENT) * _ALIGNMENT
        if size <= STACK and used + size <= WHOLE_STACK:
            used += size
            with mlir.ir.InsertionPoint.at_block_begin(block):
                place = _alloca(type_)
        else:
            place = block.add_argument(type_, mlir.ir.Location.unknown())
            scratch.append(mlir.ir.RankedTensorType.get(type_.shape, type_.element_type))
        _replace(operation, place)
    declare_arguments(function, block)
    return scratch


def _alloca(type_: Type) -> Value:
    alignment = mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), _ALIGNMENT)
    none = mlir.ir.DenseI32ArrayAttr.get([0, 0])
    return mlir.ir.Operation.create(
        "memref.alloca", results=[type_], attributes={"alignment": alignment, "operandSegmentSizes": none}
    ).results[0]


def _replace(allocation: Operation, place: Value) -> None:
    old = allocation.results[0]
    for use in list(old.uses):
        if use.owner.operation.name == "memref.dealloc":
            use.owner.operation.erase()
    old.replace_all_uses_with(place)
    allocation.erase()


def _refuse_carried_buffers(module: mlir.ir.Module) -> None:
    """Raise where a loop carries a buffer that may be another one in the next iteration."""
    for function in module.body.operations:
        for operation in nested(function.operation):
            if operation.name == "scf.for" and any(map(_is_buffer, operation.results)):
                raise KernelError("an iteration hands over another buffer than it was given")
            if operation.name == "scf.while":
                _refuse_carried_by_while(operation)


def _refuse_carried_by_while(loop: Operation) -> None:
    before, after = loop.regions[0].blocks[0], loop.regions[1].blocks[0]
    passed = list(terminator(before).operands)[1:]
    for argument, new in zip(before.arguments, terminator(after).operands, strict=True):
        if not _is_buffer(argument):
            continue
        if argument not in passed or new != after.arguments[passed.index(argument)]:
            raise KernelError("an iteration hands over another buffer than it was given")


def _is_buffer(value: Value) -> bool:
    return isinstance(value.type, mlir.ir.MemRefType)


def bytes_of(element: Type) -> int:
    """The bytes of an element; a bool is one."""
    if isinstance(element, mlir.ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    return 8 if isinstance(element, mlir.ir.IndexType) else max(int(element.width) // 8, 1)

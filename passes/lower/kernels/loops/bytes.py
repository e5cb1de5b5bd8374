"""Bools in memory as bytes: IREE packs a memref of i1 to bits, while a tensor of i1 is bytes.

Input: the code of a kernel on buffers, with loads and stores alone, also of vectors. Output: the same with
memrefs of i8 where they were of i1; a load is truncated to i1 and a store extended from it.
"""

from __future__ import annotations

from .....dialects import mlir
from ....ir.aliases import Operation, Type, Value
from ....ir.functions import functions
from .outline import KERNEL
from .parameters import declare_arguments
from .walk import operations_inside


def store_bytes(module: mlir.ir.Module) -> None:
    """Make bytes of the bools in every buffer, in place."""
    function = functions(module)[KERNEL].operation
    block = function.regions[0].blocks[0]
    operations = list(operations_inside(module))
    for argument in block.arguments:
        _widen(argument)
    for operation in operations:
        for result in operation.results:
            _widen(result)
        for region in operation.regions:
            for inner in region.blocks:
                for argument in inner.arguments:
                    _widen(argument)
    for operation in operations:
        if operation.name in ("memref.load", "vector.load"):
            _truncate(operation)
        elif operation.name in ("memref.store", "vector.store"):
            _extend(operation)
    declare_arguments(function, block)


def _widen(value: Value) -> None:
    if _is_of_bools(value.type):
        memref = mlir.ir.MemRefType(value.type)
        byte = mlir.ir.IntegerType.get_signless(8)
        value.set_type(mlir.ir.MemRefType.get(memref.shape, byte, memref.layout, memref.memory_space))


def _is_of_bools(type_: Type) -> bool:
    return isinstance(type_, mlir.ir.MemRefType) and _is_bool(mlir.ir.MemRefType(type_).element_type)


def _is_bool(type_: Type) -> bool:
    element = mlir.ir.VectorType(type_).element_type if isinstance(type_, mlir.ir.VectorType) else type_
    return isinstance(element, mlir.ir.IntegerType) and element.width == 1


def _as_bytes(type_: Type) -> Type:
    """A bool, or a vector of them, as bytes."""
    byte = mlir.ir.IntegerType.get_signless(8)
    return mlir.ir.VectorType.get(type_.shape, byte) if isinstance(type_, mlir.ir.VectorType) else byte


def _truncate(load: Operation) -> None:
    bit = load.results[0].type
    if not _is_bool(bit):
        return
    attributes = {name: load.attributes[name] for name in load.attributes}
    with mlir.ir.InsertionPoint(load):
        loaded = mlir.ir.Operation.create(
            load.name, results=[_as_bytes(bit)], operands=list(load.operands), attributes=attributes
        )
        load.results[0].replace_all_uses_with(mlir.arith.trunci(bit, loaded.results[0]))
    load.erase()


def _extend(store: Operation) -> None:
    value = store.operands[0]
    if _is_bool(value.type):
        with mlir.ir.InsertionPoint(store):
            store.operands[0] = mlir.arith.extui(_as_bytes(value.type), value)

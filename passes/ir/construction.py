"""Construction of functions inside a module: what jvp, linearize, transpose and batch each end in.

`add_function` is the only place that creates a `func.func`; `NewFunction` builds one whose arguments are
known, by an emitter that appends to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from weakref import WeakKeyDictionary

import numpy as np

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter
from ...dialects.codec import Codec
from ...dialects.types import ValueType
from .aliases import Operation, Value, ValueMap, Values
from .functions import function, split_body

Activity = tuple[bool, ...]
"""One flag for each argument or result of a function."""


class AppendingEmitter(Emitter):
    """An emitter that only appends to one block, and emits equal constants once."""

    def __init__(self, codec: Codec, point: mlir.ir.InsertionPoint, location: mlir.ir.Location) -> None:
        super().__init__(codec, point, location)
        self._constants: dict[tuple[object, ...], Value] = {}

    def scalar(self, value: object, dtype: np.dtype) -> Value:
        return self._once((value, dtype), lambda: Emitter.scalar(self, value, dtype))

    def full(self, value: object, shape: Sequence[int | Value], dtype: np.dtype) -> Value:
        return self._once((value, dtype, *shape), lambda: Emitter.full(self, value, shape, dtype))

    def _once(self, key: tuple[object, ...], emit: Callable[[], Value]) -> Value:
        value, *rest = key
        if not isinstance(value, (int, float, complex, np.generic)):
            return emit()
        exact = (repr(value), *rest)  # `-0.0` is not `0.0`, and NaN is NaN
        constant = self._constants.get(exact)
        if constant is None:
            constant = self._constants[exact] = emit()
        return constant


class NewFunction:
    """A private function under construction; `emitter` appends to it, `finish` returns from it."""

    def __init__(
        self,
        module: mlir.ir.Module,
        codec: Codec,
        name: str,
        arguments: Sequence[ValueType],
        location: mlir.ir.Location,
        emitter: type[Emitter] = AppendingEmitter,
    ) -> None:
        self.module = module
        self.symbol = unique_symbol(module, name)
        types = [codec.write_type(t) for t in arguments]
        self.operation, self.block = add_function(module, self.symbol, location, types)
        self.arguments = list(self.block.arguments)
        self.emitter = emitter(codec, mlir.ir.InsertionPoint(self.block), location)

    def finish(self, results: Values) -> str:
        """Return `results`; the function's symbol."""
        finish_function(self.operation, results, self.emitter.location)
        return self.symbol


def add_function(
    module: mlir.ir.Module,
    symbol: str,
    location: mlir.ir.Location,
    arguments: Sequence[mlir.ir.Type] = (),
    *,
    private: bool = True,
) -> tuple[mlir.ir.Operation, mlir.ir.Block]:
    """A new function at the end of the module, and its block: the arguments and no terminator yet."""
    ir = mlir.ir
    with module.context, location:
        attributes: dict[str, mlir.ir.Attribute] = {
            "sym_name": ir.StringAttr.get(symbol),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(arguments), [])),
        }
        if private:
            attributes["sym_visibility"] = ir.StringAttr.get("private")
        operation = ir.Operation.create(
            "func.func", attributes=attributes, regions=1, ip=ir.InsertionPoint(module.body)
        )
        places = [location] * len(arguments)
        return operation, operation.regions[0].blocks.append(*arguments, arg_locs=places)


def finish_function(operation: mlir.ir.Operation, results: Values, location: mlir.ir.Location) -> None:
    """Let a function of `add_function` return `results`; its type is that of its arguments and these."""
    ir = mlir.ir
    block = operation.regions[0].blocks[0]
    with location.context, location:
        ir.Operation.create("func.return", operands=list(results), ip=ir.InsertionPoint(block))
        type_ = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in results])
        operation.attributes["function_type"] = ir.TypeAttr.get(type_)


_RESERVED: Final[WeakKeyDictionary[mlir.ir.Module, set[str]]] = WeakKeyDictionary()
"""By module: symbols of functions that may be added to it later."""


def reserved_symbols(module: mlir.ir.Module) -> set[str]:
    """The symbols that no other function of a module gets, whether theirs are there or not."""
    return _RESERVED.setdefault(module, set())


def unique_symbol(module: mlir.ir.Module, name: str) -> str:
    """`name`, or `name_1`, `name_2`, ... when the module has such a symbol or it is reserved."""
    taken, reserved = mlir.ir.SymbolTable(module.operation), _RESERVED.get(module, ())
    symbol, count = name, 0
    while symbol in taken or symbol in reserved:
        count += 1
        symbol = f"{name}_{count}"
    return symbol


def derived_location(location: mlir.ir.Location, transform: str) -> mlir.ir.Location:
    """The user's line, and the transform that derived an op from it."""
    context = location.context
    return mlir.ir.Location.fused([location], mlir.ir.StringAttr.get(transform, context), context)


def call_function(b: Emitter, module: mlir.ir.Module, symbol: str, operands: Values) -> list[Value]:
    """The results of calling a function of the module."""
    return list(b.call(*operands, callee=symbol, results=result_types(b, module, symbol)))


def result_types(b: Emitter, module: mlir.ir.Module, symbol: str) -> tuple[ValueType, ...]:
    """The types of the results of a function of the module."""
    _, terminator = split_body(function(module, symbol))
    return tuple(b.type_of(v) for v in terminator.operands)


def clone_operation(operation: Operation, values: ValueMap, point: mlir.ir.InsertionPoint) -> Operation:
    """Append a copy of an op with its operands mapped, and map its results; the copy."""
    clone = operation.clone(ip=point)
    operands = clone.operands
    for position, operand in enumerate(operands):
        operands[position] = values[operand]
    values.update(zip(operation.results, clone.results, strict=True))
    return clone


def move_operation(operation: Operation, values: ValueMap, point: mlir.ir.InsertionPoint) -> None:
    """Append an op itself, taken out of its function; operands that are not mapped are kept."""
    operation.detach_from_parent()
    point.insert(operation)
    operands = operation.operands
    for position, operand in enumerate(operands):
        mapped = values.get(operand)
        if mapped is not None:
            operands[position] = mapped

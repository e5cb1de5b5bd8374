"""Making a new function inside a module: what jvp, linearize, transpose and batch each end in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dialects import mlir
from ...dialects.builder.emitter import Emitter, Reader
from ...dialects.codec import Codec
from ...dialects.ops.control.call import Call
from ...dialects.types import TensorType, ValueType
from ..optimize.simplify import Effects, referenced
from .functions import body, function, functions, rename_references, split_body

Activity = tuple[bool, ...]
"""One flag for each argument or result of a function."""

SHAPE_DONORS: Final = "adze.shape_donors"
"""On a linear function: for each argument the argument that has its shape, -1 where none need have it."""


class AppendingEmitter(Emitter):
    """An emitter that only appends to one block: a constant that was made once is there for what follows."""

    def __init__(self, codec: Codec, point: mlir.ir.InsertionPoint, location: mlir.ir.Location) -> None:
        super().__init__(codec, point, location)
        self._made: dict[Any, Any] = {}

    def scalar(self, value: Any, dtype: np.dtype) -> Any:
        return self._once((value, dtype), lambda: Emitter.scalar(self, value, dtype))

    def full(self, value: Any, shape: Sequence[Any], dtype: np.dtype) -> Any:
        return self._once((value, dtype, *shape), lambda: Emitter.full(self, value, shape, dtype))

    def _once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        value, *rest = key
        if not isinstance(value, (int, float, complex, np.generic)):
            return make()
        exact = (repr(value), *rest)  # `-0.0` is not `0.0`, and NaN is NaN
        found = self._made.get(exact)
        if found is None:
            found = self._made[exact] = make()
        return found


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
        ir = mlir.ir
        self.module = module
        self.symbol = unique_symbol(module, name)
        with module.context, location:
            types = [codec.write_type(t) for t in arguments]
            self.operation = ir.Operation.create(
                "func.func",
                attributes={
                    "sym_name": ir.StringAttr.get(self.symbol),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
                    "sym_visibility": ir.StringAttr.get("private"),
                },
                regions=1,
                ip=ir.InsertionPoint(module.body),
            )
            self.block = self.operation.regions[0].blocks.append(*types, arg_locs=[location] * len(types))
        self.arguments = list(self.block.arguments)
        self.emitter = emitter(codec, ir.InsertionPoint(self.block), location)

    def finish(self, results: Sequence[Any]) -> str:
        """Return `results`; the function's symbol."""
        ir = mlir.ir
        with self.module.context, self.emitter.location:
            ir.Operation.create("func.return", operands=list(results), ip=ir.InsertionPoint(self.block))
            type_ = ir.FunctionType.get([a.type for a in self.block.arguments], [v.type for v in results])
            self.operation.attributes["function_type"] = ir.TypeAttr.get(type_)
        return self.symbol


def unique_symbol(module: mlir.ir.Module, name: str) -> str:
    """`name`, or `name_1`, `name_2`, ... when the module has such a function."""
    taken = functions(module).keys()
    symbol, count = name, 0
    while symbol in taken:
        count += 1
        symbol = f"{name}_{count}"
    return symbol


def derived_location(location: mlir.ir.Location, transform: str) -> mlir.ir.Location:
    """The user's line, and the transform that made an op of it."""
    context = location.context
    return mlir.ir.Location.fused([location], mlir.ir.StringAttr.get(transform, context), context)


def call_function(b: Emitter, module: mlir.ir.Module, symbol: str, operands: Sequence[Any]) -> list[Any]:
    """The results of calling a function of the module."""
    types = result_types(b, module, symbol)
    return list(b.apply(Call, tuple(operands), {"callee": symbol, "results": types}))


def result_types(b: Emitter, module: mlir.ir.Module, symbol: str) -> tuple[ValueType, ...]:
    """The types of what a function of the module gives."""
    _, terminator = split_body(function(module, symbol))
    return tuple(b.type_of(v) for v in terminator.operands)


def clone_operation(operation: Any, values: dict[Any, Any], point: mlir.ir.InsertionPoint) -> Any:
    """Append a copy of an op with its operands mapped, and map its results; the copy."""
    clone = operation.clone(ip=point)
    operands = clone.operands
    for position, operand in enumerate(operands):
        operands[position] = values[operand]
    values.update(zip(operation.results, clone.results, strict=True))
    return clone


def move_operation(operation: Any, values: dict[Any, Any], point: mlir.ir.InsertionPoint) -> None:
    """Append an op itself, out of the function where it was; operands that are not mapped stay."""
    operation.detach_from_parent()
    point.insert(operation)
    operands = operation.operands
    for position, operand in enumerate(operands):
        mapped = values.get(operand)
        if mapped is not None:
            operands[position] = mapped


def silenced(module: mlir.ir.Module, symbol: str, reader: Reader, made: dict[str, str] | None = None) -> str:
    """`symbol`, or where it or what it refers to has effects, a copy of it that has none.

    `made` has the copies so far: a rule of a custom derivative may refer to itself.
    """
    made = {} if made is None else made
    if symbol in made:
        return made[symbol]
    if not Effects(module, reader).of_function(symbol):
        return symbol
    source = function(module, symbol)
    arguments = list(body(source).arguments)
    types = [reader.codec.read_type(a.type) for a in arguments]
    new = NewFunction(module, reader.codec, f"{symbol}_again", types, source.location)
    made[symbol] = new.symbol
    values = dict(zip(arguments, new.arguments, strict=True))
    operations, terminator = split_body(source)
    for child in operations:
        application = reader.read(child.operation)
        assert application is not None
        if application.op.has_effect and not child.operation.results:
            continue
        renamed = {name: silenced(module, name, reader, made) for name in referenced(application)}
        rename_references(clone_operation(child.operation, values, new.emitter.point), reader, renamed)
    return new.finish([values[v] for v in terminator.operands])


class FunctionMaker:
    """What rules of ops with bodies ask of every engine: make a function, call one, know its results."""

    module: mlir.ir.Module
    codec: Codec
    _linearizer: Any = None

    def function(
        self, name: str, types: Sequence[ValueType], build: Callable[[Emitter, list[Any]], Sequence[Any]]
    ) -> str:
        """A new private function of `types`; `build` gets a builder and the arguments, gives the results."""
        location = mlir.ir.Location.unknown(self.module.context)
        new = NewFunction(self.module, self.codec, name, types, location)
        return new.finish(build(new.emitter, new.arguments))

    @property
    def linearizer(self) -> Any:
        """The engine that takes functions apart, for rules that need derivatives in any mode."""
        from ..autodiff.linearize import Linearizer  # which is a maker of functions itself

        if self._linearizer is None:
            self._linearizer = Linearizer(self.module)
        return self._linearizer

    @property
    def forward(self) -> Any:
        """The engine of plain forward mode."""
        return self.linearizer.forward

    def lend_shapes(self, symbol: str, places: Sequence[int]) -> None:
        """For each argument of a linear function say which argument has its shape; -1: none need have it."""
        if not all(isinstance(t, TensorType) and t.is_static for t in self.arguments_of(symbol)):
            attribute = mlir.ir.DenseI64ArrayAttr.get(list(places), self.module.context)
            function(self.module, symbol).attributes[SHAPE_DONORS] = attribute

    def arguments_of(self, symbol: str) -> tuple[ValueType, ...]:
        """The types of what a function takes."""
        return tuple(self.codec.read_type(a.type) for a in body(function(self.module, symbol)).arguments)

    def silenced(self, symbol: str) -> str:
        """A function like `symbol` without effects, for what is computed again."""
        return silenced(self.module, symbol, Reader(self.codec))

    def called(self, b: Emitter, symbol: str, operands: Sequence[Any]) -> list[Any]:
        """The results of a function as it is."""
        return call_function(b, self.module, symbol, operands)

    def types_of(self, symbol: str) -> tuple[ValueType, ...]:
        """The types of what a function gives."""
        _, terminator = split_body(function(self.module, symbol))
        return tuple(self.codec.read_type(v.type) for v in terminator.operands)

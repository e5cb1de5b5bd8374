"""From instances of op cases to one module of adze IR: each instance is one public function.

Dynamic sizes have to come from somewhere: a function whose op takes sizes gets, after its operands, one
more argument (a carrier) that is only measured with `adze.dim`. Results that are sizes are returned as
int64 arrays, since the boundary of a compiled module has no index type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adze.dialects import mlir
from adze.dialects.builder.emitter import Emitter
from adze.dialects.codec import Codec
from adze.dialects.types import BOOL, INT64, SIZE, TensorType, ValueType

from .cases import Instance, Size


@dataclass(frozen=True)
class Function:
    """One function of the module: its name, what to call it with, what it must give."""

    name: str
    instance: Instance
    input_types: tuple[ValueType, ...]
    output_types: tuple[ValueType, ...]
    arguments: tuple[np.ndarray, ...]
    expected: tuple[np.ndarray, ...]


def evaluated(instance: Instance) -> tuple[Any, ...]:
    """What the op's `evaluate` rule returns."""
    attributes = {
        name: _callable(instance, instance.op.attributes[name].kind, value)
        for name, value in instance.attributes.items()
    }
    result = instance.op.evaluate(*instance.arguments, **attributes)
    return result if isinstance(result, tuple) else () if result is None else (result,)


def _callable(instance: Instance, kind: str, value: Any) -> Any:
    """The attribute with NumPy functions in place of the symbols it names."""
    functions = instance.case.functions
    if kind == "symbol":
        return functions[value].evaluate
    return tuple(functions[symbol].evaluate for symbol in value) if kind == "symbols" else value


def inferred(instance: Instance) -> tuple[ValueType, ...]:
    """What the op's `infer` rule returns."""
    return instance.op.result_types(instance.types, _static_attributes(instance))


def _static_attributes(instance: Instance) -> dict[str, Any]:
    """The attributes with None for each size that the program gets to know when it runs."""
    return {
        name: tuple(None if instance.is_dynamic_size(name, i) else n for i, n in enumerate(value))
        if instance.op.attributes[name].kind == "sizes"
        else value
        for name, value in instance.attributes.items()
    }


class ModuleOfCases:
    """A module under construction."""

    def __init__(self) -> None:
        self.module, self.codec = new_module()
        self.functions: list[Function] = []
        self._names: dict[Any, str] = {}

    @classmethod
    def of(cls, instances: Sequence[Instance]) -> ModuleOfCases:
        """The module of all `instances`."""
        module = cls()
        for instance in instances:
            module.add(instance)
        return module

    def add(self, instance: Instance) -> None:
        """Append the function of one instance, unless another with the same types will do."""
        sizes = dynamic_sizes(instance)
        types = [t for t in instance.types if t != SIZE]
        arguments = [a for a in instance.arguments if not isinstance(a, int)]
        if sizes:
            types.append(TensorType((None,) * len(sizes), BOOL))
            arguments.append(np.zeros(sizes, BOOL))
        results = evaluated(instance)
        expected = tuple(np.asarray(r, INT64 if isinstance(r, int) else None) for r in results)
        outputs = inferred(instance)
        key = (instance.op, tuple(types), outputs, str(_static_attributes(instance)))
        if key not in self._names:
            self._names[key] = self._emit(instance, types)
        name = self._names[key]
        self.functions.append(Function(name, instance, tuple(types), outputs, tuple(arguments), expected))

    def _emit(self, instance: Instance, types: Sequence[ValueType]) -> str:
        name = f"{instance.op.name}_{len(self._names)}"
        for symbol, callee in instance.case.functions.items():
            if symbol not in self._names:
                self._names[symbol] = symbol
                add_function(self.module, self.codec, symbol, callee.types, callee.body, is_private=True)
        add_function(
            self.module, self.codec, name, types, lambda b, *arguments: body_of(instance, b, arguments)
        )
        return name


def body_of(instance: Instance, b: Emitter, arguments: Sequence[Any]) -> list[Any]:
    """Emit the op of `instance`, and return its results; sizes as arrays."""
    measured = iter([b.dim(arguments[-1], axis=i) for i in range(len(dynamic_sizes(instance)))])
    arrays = iter(arguments)
    operands = [
        (next(measured) if instance.dynamic else b.size_constant(value=value))
        if isinstance(operand, Size)
        else next(arrays)
        for operand, value in zip(instance.case.operands, instance.arguments, strict=True)
    ]
    attributes = {
        name: tuple(next(measured) if instance.is_dynamic_size(name, i) else n for i, n in enumerate(value))
        if instance.op.attributes[name].kind == "sizes"
        else value
        for name, value in instance.attributes.items()
    }
    results = b.apply(instance.op, operands, attributes)
    return [b.size_to_array(v, dtype=INT64) if b.type_of(v) == SIZE else v for v in results]


@dataclass(frozen=True)
class JoinedCases:
    """The functions of cases as one function `main`: a fifth of the compile time of a function each.

    Functions of one name have one code: the function is called once for each of their arguments.
    """

    module: mlir.ir.Module
    functions: tuple[Function, ...]

    @classmethod
    def of(cls, functions: Sequence[Function]) -> JoinedCases:
        """`main` takes the arguments of all `functions` one after another, and returns all results so."""
        module, codec = new_module()
        by_name = {f.name: f for f in reversed(functions)}
        kinds = [by_name[name] for name in dict.fromkeys(f.name for f in functions)]
        callees = {s: c for f in kinds for s, c in f.instance.case.functions.items()}
        for symbol, callee in callees.items():
            add_function(module, codec, symbol, callee.types, callee.body, is_private=True)

        def body(b: Emitter, *arguments: Any) -> list[Any]:
            left = iter(arguments)
            taken = [(f, [next(left) for _ in f.input_types]) for f in kinds]
            return [result for f, own in taken for result in body_of(f.instance, b, own)]

        add_function(module, codec, "main", [t for f in kinds for t in f.input_types], body)
        return cls(module, tuple(functions))

    def calls(self) -> list[list[Function]]:
        """For each call of `main` the functions whose arguments it takes: its last one where it has fewer."""
        alike: dict[str, list[Function]] = {}
        for function in self.functions:
            alike.setdefault(function.name, []).append(function)
        count = max(map(len, alike.values()), default=0)
        return [[each[min(i, len(each) - 1)] for each in alike.values()] for i in range(count)]


def new_module() -> tuple[mlir.ir.Module, Codec]:
    """An empty module in a context of its own."""
    context = mlir.new_context(is_light=True)
    return mlir.ir.Module.create(mlir.ir.Location.unknown(context)), Codec(context)


def add_function(
    module: mlir.ir.Module,
    codec: Codec,
    name: str,
    types: Sequence[ValueType],
    body: Callable[..., Sequence[Any]],
    is_private: bool = False,
) -> None:
    """Append a function whose body is `body(builder, *arguments)`, which returns the results."""
    location = mlir.ir.Location.unknown(module.context)
    with module.context, location, mlir.ir.InsertionPoint(module.body):
        written = [codec.write_type(t) for t in types]
        signature = mlir.ir.FunctionType.get(written, [])
        function = mlir.func.FuncOp(name, signature, visibility="private" if is_private else None)
        block = function.add_entry_block()
        with mlir.ir.InsertionPoint(block) as point:
            results = list(body(Emitter(codec, point, location), *block.arguments))
            mlir.func.ReturnOp(results)
        signature = mlir.ir.FunctionType.get(written, [r.type for r in results])
        function.attributes["function_type"] = mlir.ir.TypeAttr.get(signature)


def dynamic_sizes(instance: Instance) -> list[int]:
    """The sizes that the function must be given: size operands, then dynamic entries of attributes."""
    if not instance.dynamic:
        return []
    results = [a for a in instance.arguments if isinstance(a, int)]
    for name, attribute in instance.op.attributes.items():
        if attribute.kind == "sizes":
            value = instance.attributes[name]
            results.extend(n for i, n in enumerate(value) if instance.is_dynamic_size(name, i))
    return results

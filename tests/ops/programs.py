"""From instances of op cases to one module of adze IR: each instance is one public function.

Dynamic sizes have to come from somewhere: a function whose op takes sizes gets, after its operands, one
more argument (a carrier) that is only measured with `adze.dim`. Results that are sizes are returned as
int64 arrays, since the boundary of a compiled module has no index type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adze.dialects import mlir
from adze.dialects.attributes import Codec
from adze.dialects.emission import Emitter
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
    """What the op's `evaluate` rule gives."""
    result = instance.op.evaluate(*instance.arguments, **instance.attributes)
    return result if isinstance(result, tuple) else () if result is None else (result,)


def inferred(instance: Instance) -> tuple[ValueType, ...]:
    """What the op's `infer` rule gives."""
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
        self.context = mlir.ir.Context()
        self.context.allow_unregistered_dialects = True
        self.codec = Codec(self.context)
        self.location = mlir.ir.Location.unknown(self.context)
        self.module = mlir.ir.Module.create(self.location)
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
        sizes = _dynamic_sizes(instance)
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
        with self.context, self.location, mlir.ir.InsertionPoint(self.module.body):
            block = self._function(name, types)
            emitter = Emitter(self.codec, mlir.ir.InsertionPoint(block), self.location)
            self._finish(block, self._body(instance, emitter, list(block.arguments)))
        return name

    def _function(self, name: str, types: Sequence[ValueType]) -> Any:
        signature = mlir.ir.FunctionType.get([self.codec.write_type(t) for t in types], [])
        self._operation = mlir.func.FuncOp(name, signature)
        return self._operation.add_entry_block()

    def _finish(self, block: Any, results: Sequence[Any]) -> None:
        with mlir.ir.InsertionPoint(block):
            mlir.func.ReturnOp(list(results))
        signature = mlir.ir.FunctionType.get([a.type for a in block.arguments], [r.type for r in results])
        self._operation.attributes["function_type"] = mlir.ir.TypeAttr.get(signature)

    def _body(self, instance: Instance, b: Emitter, arguments: list[Any]) -> list[Any]:
        measured = iter([b.dim(arguments[-1], axis=i) for i in range(len(_dynamic_sizes(instance)))])
        arrays = iter(arguments)
        operands = [
            (next(measured) if instance.dynamic else b.size_constant(value=value))
            if isinstance(operand, Size)
            else next(arrays)
            for operand, value in zip(instance.case.operands, instance.arguments, strict=True)
        ]
        attributes = {
            name: tuple(
                next(measured) if instance.is_dynamic_size(name, i) else n for i, n in enumerate(value)
            )
            if instance.op.attributes[name].kind == "sizes"
            else value
            for name, value in instance.attributes.items()
        }
        results = b.apply(instance.op, operands, attributes)
        values = results if isinstance(results, (tuple, list)) else [results]
        return [b.size_to_array(v, dtype=INT64) if b.type_of(v) == SIZE else v for v in values]


def _dynamic_sizes(instance: Instance) -> list[int]:
    """The sizes that the function must be given: size operands, then dynamic entries of attributes."""
    if not instance.dynamic:
        return []
    found = [a for a in instance.arguments if isinstance(a, int)]
    for name, attribute in instance.op.attributes.items():
        if attribute.kind == "sizes":
            value = instance.attributes[name]
            found.extend(n for i, n in enumerate(value) if instance.is_dynamic_size(name, i))
    return found

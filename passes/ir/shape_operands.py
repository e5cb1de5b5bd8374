"""Shape operands: the arguments of a linear function that have the shapes of other arguments.

A linear function never has the values of its linear arguments, only their types. Where a type has dynamic
dimensions, zeros of that shape need another argument to read the sizes from. The attribute
`adze.shape_operands` of a function states for each argument which argument that is, -1 where none is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...dialects import mlir
from ...dialects.builder.emitter import Reader
from .aliases import Operation
from .construction import NewFunction, clone_operation
from .functions import body, function, split_body

_ATTRIBUTE: Final = "adze.shape_operands"


def shape_operands(operation: Operation) -> list[int]:
    """For each argument of a function the argument that has its shape, -1 for none; empty if not stated."""
    attributes = operation.attributes
    return list(attributes[_ATTRIBUTE]) if _ATTRIBUTE in attributes else []


def set_shape_operands(operation: Operation, places: Sequence[int]) -> None:
    """State the shape operands of a function."""
    context = operation.operation.context
    operation.attributes[_ATTRIBUTE] = mlir.ir.DenseI64ArrayAttr.get(list(places), context)


def with_shape_operands(module: mlir.ir.Module, reader: Reader, symbol: str, places: Sequence[int]) -> str:
    """A copy of a function that first takes values with the shapes of its arguments at `places`."""
    source = function(module, symbol)
    parameters = list(body(source).arguments)
    types = [reader.codec.read_type(p.type) for p in parameters]
    first = [types[place] for place in places]
    new = NewFunction(module, reader.codec, f"{symbol}_shaped", [*first, *types], source.location)
    values = dict(zip(parameters, new.arguments[len(places) :], strict=True))
    operations, terminator = split_body(source)
    for child in operations:
        clone_operation(child.operation, values, new.emitter.point)
    name = new.finish([values[v] for v in terminator.operands])
    own = [places.index(i) if i in places else -1 for i in range(len(types))]
    set_shape_operands(new.operation, [*(-1 for _ in places), *own])
    return name

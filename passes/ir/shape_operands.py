"""Shape operands: the arguments of a linear function that have the shapes of other arguments.

A linear function never has the values of its linear arguments, only their types. Where a type has dynamic
dimensions, zeros of that shape need another argument to read the sizes from. The attribute
`adze.shape_operands` of a function states for each argument which argument that is, -1 where none is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...dialects import mlir
from .aliases import Operation

_ATTRIBUTE: Final = "adze.shape_operands"


def shape_operands(operation: Operation) -> list[int]:
    """For each argument of a function the argument that has its shape, -1 for none; empty if not stated."""
    attributes = operation.attributes
    return list(attributes[_ATTRIBUTE]) if _ATTRIBUTE in attributes else []


def set_shape_operands(operation: Operation, places: Sequence[int]) -> None:
    """State the shape operands of a function."""
    context = operation.operation.context
    operation.attributes[_ATTRIBUTE] = mlir.ir.DenseI64ArrayAttr.get(list(places), context)

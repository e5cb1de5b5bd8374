"""The dynamic dimensions of an op's results: those of its operands that the op keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...dialects.extents import Extent, carried_extents
from ...dialects.op import Op
from ...dialects.types import SIZE, TensorType
from .frames import Tracer
from .sizes import Dim


def result_shapes(
    op: type[Op], operands: Sequence[Any], attributes: Mapping[str, Any], count: int
) -> list[tuple[Any, ...]]:
    """The shapes of the `count` results: an integer, a `Dim` of an operand, the text of a new size, or None.

    Nothing where no shape is known.
    """
    if op.refers_to_functions:
        return []
    known: dict[str, Dim] = {}

    def extents(shape: Sequence[Any]) -> tuple[Extent, ...]:
        known.update((n.text, n) for n in shape if isinstance(n, Dim))
        return tuple(n.size if isinstance(n, Dim) else n for n in shape)

    types = [_type(v) for v in operands]
    shapes = [extents(_shape(v)) for v in operands]
    named_attributes = {
        name: extents(value) if op.attributes[name].kind == "sizes" else value
        for name, value in attributes.items()
    }
    if not known:
        return []
    named_shapes = carried_extents(op, types, shapes, named_attributes)
    if len(named_shapes) != count:
        return []
    return [
        tuple(n if n is None or isinstance(n, int) else known.get(str(n), str(n)) for n in shape)
        for shape in named_shapes
    ]


def _type(operand: Any) -> Any:
    if isinstance(operand, (Dim, int)):
        return SIZE
    return operand.type if isinstance(operand, Tracer) else TensorType(operand.shape, operand.dtype)


def _shape(operand: Any) -> tuple[Any, ...]:
    if isinstance(operand, (Dim, int)):
        return ()
    if isinstance(operand, Tracer):
        return operand.type.shape if operand._shape is None else operand._shape
    return tuple(operand.shape)

"""Which sizes of its operands an op carries over to its results, asked of its own `infer` rule.

Input: an application of an op. Output: the extents of its results, each an int, the extent of an operand
that it carries over, or None for a new size. Idea: while the rule runs, dynamic sizes have
names (`NamedSize`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias, cast

from .errors import TypeCheckError
from .op import Op
from .protocols import Application, Builder, Value
from .routine_arrays import OWN_AXES
from .symbolic_sizes import NamedSize
from .types import Dimension, TensorType, ValueType

Extent: TypeAlias = Hashable
"""A static size, what stands for a dynamic one (an expression of several: a `NamedSize`), or None for one
not followed."""


def carried_extents(
    op: type[Op],
    types: Sequence[ValueType],
    shapes: Sequence[Sequence[Extent]],
    attributes: Mapping[str, object],
) -> list[tuple[Extent, ...]]:
    """The extents of each result of `op`, None where a size is new; no results where types contradict.

    `shapes` are the extents of the operands of these `types`, empty for sizes; `attributes` are as an
    application has them, sizes among them given as extents.
    """
    operands = [
        t.with_shape(_named(shape)) if isinstance(t, TensorType) else t
        for t, shape in zip(types, shapes, strict=True)
    ]
    sizes = {name: _named(attributes[name]) for name in op.size_attributes if name in attributes}  # type: ignore[arg-type]
    try:
        results = op.result_types(operands, {**attributes, **sizes})
    except TypeCheckError:
        return []
    return [tuple(_extent(n) for n in t.shape) for t in results if isinstance(t, TensorType)]


def _named(shape: Sequence[Extent]) -> tuple[Dimension, ...]:
    return tuple(n if n is None or isinstance(n, (int, NamedSize)) else NamedSize(n) for n in shape)


def _extent(n: Dimension) -> Extent:
    return n.name if isinstance(n, NamedSize) and n.name is not None else n


def carried_size(b: Builder, application: Application, axis: int) -> Value | None:
    """The size of an axis of the result of `application`, in terms of its operands; None if new."""
    if application.op.is_routine:
        return _counted_size(b, application, axis)
    if application.op.refers_to_functions:
        return None
    stated = application.op.attributes.get("shape")
    if stated is not None and stated.kind == "sizes":
        return _size(b, application.attributes["shape"][axis])
    types = [b.type_of(v) for v in application.operands]
    shapes = [
        tuple((k, a) if n is None else n for a, n in enumerate(t.shape)) if isinstance(t, TensorType) else ()
        for k, t in enumerate(types)
    ]
    extents = carried_extents(application.op, types, shapes, application.attributes)
    if not extents:
        return None
    extent = extents[0][axis]
    if isinstance(extent, NamedSize):
        return None
    if isinstance(extent, tuple):
        return b.dim(application.operands[extent[0]], axis=extent[1])
    return _size(b, extent)


def _counted_size(b: Builder, application: Application, axis: int) -> Value | None:
    """The size of an axis of a routine's result that counts matrices, of which its operands have as many."""
    array, rank = next((v, t.rank) for v in application.operands if isinstance(t := b.type_of(v), TensorType))
    own = OWN_AXES.get(application.attributes["kernel"], rank)
    return b.dim(array, axis=axis) if axis < rank - own else None


def _size(b: Builder, extent: Extent) -> Value | None:
    if isinstance(extent, int):
        return b.size_constant(value=extent)
    return cast("Value | None", extent)  # the builder has its own class of values

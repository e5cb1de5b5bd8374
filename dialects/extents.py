"""Which sizes of its operands an op carries over to its results, asked of its own `infer` rule.

A number stands for each size; where the rule returns the same number for a result, there is the same size.
It is asked twice, with large numbers in opposite orders, so that neither a sum of sizes nor the smaller of
two is taken for one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .errors import TypeCheckError
from .op import Op
from .protocols import Application, Builder, Value
from .types import TensorType, ValueType

_STANDING: Final = tuple(
    k * 10**12 + n for k, n in enumerate((39, 211, 1013, 5021, 7919, 9973, 12007, 15013), 1)
)
_LARGE: Final = 10**6  # a size from here on that is none of those is a sum, a product or a quotient of them
Extent = Any  # a static size, what stands for a dynamic one, or None for one not followed


def carried_extents(
    op: type[Op],
    types: Sequence[ValueType],
    shapes: Sequence[Sequence[Extent]],
    attributes: Mapping[str, Any],
) -> list[tuple[Extent, ...]]:
    """The extents of each result of `op`, None where a size is new.

    `shapes` are the extents of the operands of these `types`, empty for sizes; `attributes` are as an
    application has them, sizes among them given as extents.
    """
    lists = [name for name in attributes if op.attributes[name].kind == "sizes"]
    every = [*(n for shape in shapes for n in shape), *(n for name in lists for n in attributes[name])]
    known = list(dict.fromkeys(n for n in every if n is not None and not isinstance(n, int)))
    numbers = _STANDING[: len(known)]
    found: list[list[tuple[Extent, ...]]] = []
    for ordered in (numbers, numbers[::-1]) if len(numbers) == len(known) else ():
        standing: dict[Any, int] = dict(zip(known, ordered, strict=True))
        back: dict[Any, Extent] = {number: extent for extent, number in standing.items()}
        operands = [
            t.with_shape(tuple(standing.get(n, n) for n in shape)) if isinstance(t, TensorType) else t
            for t, shape in zip(types, shapes, strict=True)
        ]
        sizes = {name: tuple(standing.get(n, n) for n in attributes[name]) for name in lists}
        try:
            results = op.result_types(operands, {**attributes, **sizes})
        except TypeCheckError:
            return []
        found.append([tuple(back.get(n, n) for n in t.shape) for t in results if isinstance(t, TensorType)])
    pairs = zip(*found, strict=True) if found else ()
    return [tuple(_agreed(a, b) for a, b in zip(*pair, strict=True)) for pair in pairs]


def _agreed(first: Extent, second: Extent) -> Extent:
    is_computed = isinstance(first, int) and first >= _LARGE
    return first if first == second and not is_computed else None


def carried_size(b: Builder, application: Application, axis: int) -> Value | None:
    """The size of an axis of the result of `application`, in terms of its operands; None if new."""
    if application.op.refers_to_functions:
        return None
    stated = application.op.attributes.get("shape")
    if stated is not None and stated.kind == "sizes":
        return _size(b, application.attributes["shape"][axis])
    types = [b.type_of(v) for v in application.operands]
    first: dict[int, int] = {}  # of aligned operands: which of them has an axis dynamic
    shapes: list[tuple[Extent, ...]] = []
    for k, t in enumerate(types):
        shape = t.shape if isinstance(t, TensorType) else ()
        owner = [
            first.setdefault(a, k) if n is None and application.op.is_aligned else k
            for a, n in enumerate(shape)
        ]
        shapes.append(tuple((owner[a], a) if n is None else n for a, n in enumerate(shape)))
    extents = carried_extents(application.op, types, shapes, application.attributes)
    if not extents:
        return None
    extent = extents[0][axis]
    if isinstance(extent, tuple):
        return b.dim(application.operands[extent[0]], axis=extent[1])
    return _size(b, extent)


def _size(b: Builder, extent: Extent) -> Value | None:
    return b.size_constant(value=extent) if isinstance(extent, int) else extent

"""Slices of what an op put together, as slices of what it was put together of.

Input: an array and the bounds of a slice of it, all of them known. Output: the slice of an operand of the op
that made the array, None where elements of several operands are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ...op import Op
from ...protocols import Builder, Value
from .rearrange import BroadcastInDim, Concatenate

Ranges = Sequence[range]
"""The places that are taken along each axis."""


def slice_of_part(b: Builder, x: Value, ranges: Ranges, others: Mapping[type[Op], Any]) -> Value | None:
    """The slice of an operand of the op that made `x`; `others` are rules like `RULES` for further ops."""
    inner = b.defining(x)
    rule: Rule | None = None if inner is None else {**RULES, **others}.get(inner.op)
    if inner is None or rule is None or not all(ranges):
        return None
    shapes = [b.tensor_type(operand).shape for operand in inner.operands]
    if not all(isinstance(n, int) for shape in (*shapes, b.tensor_type(x).shape) for n in shape):
        return None
    return rule(b, inner.operands, ranges, **inner.attributes)


def known_sizes(b: Builder, x: Value) -> list[int]:
    """The sizes of an array, all of which are known."""
    return [n for n in b.tensor_type(x).shape if isinstance(n, int)]


def sliced(b: Builder, x: Value, ranges: Ranges) -> Value:
    """The elements of `x` at these places."""
    return b.slice(
        x,
        start=tuple(r.start for r in ranges),
        limit=tuple(r[-1] + 1 for r in ranges),
        strides=tuple(r.step if len(r) > 1 else 1 for r in ranges),
    )


def _of_concatenate(b: Builder, xs: Sequence[Value], ranges: Ranges, *, axis: int) -> Value | None:
    taken, first = ranges[axis], 0
    for x in xs:
        size = known_sizes(b, x)[axis]
        if first <= taken.start and taken[-1] < first + size:
            there = range(taken.start - first, taken[-1] + 1 - first, taken.step)
            return sliced(b, x, [*ranges[:axis], there, *ranges[axis + 1 :]])
        first += size
    return None


def _of_broadcast(
    b: Builder, xs: Sequence[Value], ranges: Ranges, *, shape: Sequence[int], dimensions: Sequence[int]
) -> Value:
    (x,) = xs
    sizes = b.tensor_type(x).static_shape
    there = [range(1) if n == 1 else ranges[d] for n, d in zip(sizes, dimensions, strict=True)]
    return b.broadcast_in_dim(
        sliced(b, x, there), shape=tuple(map(len, ranges)), dimensions=tuple(dimensions)
    )


Rule = Callable[..., "Value | None"]
RULES: Final[Mapping[type[Op], Rule]] = {Concatenate: _of_concatenate, BroadcastInDim: _of_broadcast}

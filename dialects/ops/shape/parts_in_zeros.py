"""Sums of arrays in zeros that lie side by side, as one array of both in zeros.

Input: two arrays, each padded with zeros. Output: the two joined, padded with what zeros are left; None where
they overlap, or where zeros lie between them. The cotangents of the parts of an array, which a split takes,
are such arrays: their sum is the parts one behind the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...protocols import Builder, Value
from .rearrange import Concatenate

MOST_PARTS: Final = 64
"""So many arrays are joined at most: each that comes writes all of them anew."""


def joined(
    b: Builder, one: Sequence[Value], other: Sequence[Value], pads: Sequence[Mapping[str, Any]]
) -> Value | None:
    """The sum of two pads, given by their operands and attributes."""
    shapes = [b.tensor_type(x).shape for x, _ in (one, other)]
    numbers = [n for pad in pads for each in pad.values() for n in each]
    if not all(isinstance(n, int) and n >= 0 for n in (*numbers, *shapes[0], *shapes[1])):
        return None
    zeros = [b.constant_of(value) for _, value in (one, other)]
    if any(zero is None or np.any(zero != 0) for zero in zeros) or any(any(pad["interior"]) for pad in pads):
        return None
    if pads[0]["low"] > pads[1]["low"]:
        return joined(b, other, one, pads[::-1])
    axis = _axis(pads, shapes)
    if axis is None or 0 in (*shapes[0], *shapes[1]):
        return None
    parts = [part for x, _ in (one, other) for part in _parts(b, x, axis)]
    if len(parts) > MOST_PARTS:
        return None
    low, high = pads[0]["low"], pads[1]["high"]
    whole = b.concatenate(*parts, axis=axis)
    return b.pad(whole, one[1], low=low, high=high, interior=(0,) * len(low))


def _axis(pads: Sequence[Mapping[str, Any]], shapes: Sequence[Sequence[Any]]) -> int | None:
    """The axis along which the second array begins where the first ends; along others both lie alike."""
    first, second = (pad["low"] for pad in pads)
    differing = [k for k, (m, n) in enumerate(zip(first, second, strict=True)) if m != n]
    if len(differing) != 1:
        return None
    (axis,) = differing
    sizes = [[*shape[:axis], *shape[axis + 1 :]] for shape in shapes]
    return axis if sizes[0] == sizes[1] and first[axis] + shapes[0][axis] == second[axis] else None


def _parts(b: Builder, x: Value, axis: int) -> Sequence[Value]:
    """What an array was joined of along an axis; itself, if it was not."""
    inner = b.defining(x)
    if inner is None or inner.op is not Concatenate or inner.attributes["axis"] != axis:
        return [x]
    return list(inner.operands)

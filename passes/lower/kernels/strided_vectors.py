"""Vectors of elements that lie at equal distances in memory, side by side and reversed among them.

Input: an array, the place of the first element, and the distance along the last axis. Output: a vector.
Idea: up to four vectors are loaded as they lie, and what is wanted of them is shuffled into one. The last of
them ends with the last element that is wanted, so that nothing beyond it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....dialects import mlir
from .builder import Array, Number, Place, broadcast, constant, index
from .partial_vectors import load_some

DENSE: Final = 4  # vectors that are loaded for one, rather than its elements one by one


def load_strided(
    array: Array, width: int, count: Place, step: int, *places: Place, before: int | None = None
) -> Number:
    """A vector whose first `count` elements are those at `places`, `step` further along the last axis, and so
    on; the others are zero or any of them. A count that is not known takes a step of 0 or 1.

    `before`: so many elements before the first one, below `step`, begins a block of `step * width` elements
    that are all there. Vectors of several columns are then shuffled from the same loads.
    """
    *outer, first = places
    if step == 0:
        return broadcast(array[tuple(places)], mlir.ir.VectorType.get([width], array.element))
    if step == 1:
        return load_some(array, width, count, *places)
    assert isinstance(count, int)
    if abs(step) > DENSE or (count < width and step != -1):
        return _one_by_one(array, width, [index(first) + step * lane for lane in range(count)], outer)
    low = index(first) + step * (count - 1) if step < 0 else index(first)
    if step == -1:
        return _shuffled(load_some(array, width, count, *outer, low), None, _reversed(count, width))
    return _dense(array, width, step, outer, low, before if step > 0 else None)


def _dense(
    array: Array, width: int, step: int, outer: Sequence[Place], low: Number, before: int | None
) -> Number:
    """Every second to fourth of the elements from `low` on, the other way round where `step` is negative."""
    apart, back = abs(step), before or 0
    # Where the last vector begins: it ends with the last element, or with the block.
    last = apart * (width - 1) + 1 - width if before is None else (apart - 1) * width
    starts = [*range(0, (apart - 1) * width, width), last]
    wanted = [back + apart * (lane if step > 0 else width - 1 - lane) for lane in range(width)]
    low = low - back if back else low
    vector = array.vector(width, *outer, low)
    mask = [place if place < width else 0 for place in wanted]
    is_shuffled = False
    for number, start in enumerate(starts[1:], 1):
        other = array.vector(width, *outer, low + start)
        mine = [min(place // width, apart - 1) == number for place in wanted]
        kept = mask if not is_shuffled else list(range(width))
        vector = _shuffled(
            vector,
            other,
            [
                width + place - start if here else kept[lane]
                for lane, (place, here) in enumerate(zip(wanted, mine, strict=True))
            ],
        )
        is_shuffled = True
    return vector


def _reversed(count: int, width: int) -> list[int]:
    """The mask that turns the first `count` elements round."""
    return [*range(count - 1, -1, -1), *range(count, width)]


def _shuffled(a: Number, b: Number | None, mask: Sequence[int]) -> Number:
    return Number(mlir.vector.shuffle(a.value, (b or a).value, list(mask)))


def _one_by_one(array: Array, width: int, firsts: Sequence[Number], outer: Sequence[Place]) -> Number:
    return gathered(array, width, [(*outer, first) for first in firsts])


def gathered(array: Array, width: int, places: Sequence[Sequence[Place]]) -> Number:
    """A vector of the elements at some places, one by one, and zeros."""
    zero = broadcast(constant(array.element, 0), mlir.ir.VectorType.get([width], array.element))
    vector = zero.value
    for lane, here in enumerate(places):
        vector = mlir.vector.insert(
            array[tuple(here)].value, vector, dynamic_position=[], static_position=[lane]
        )
    return Number(vector)

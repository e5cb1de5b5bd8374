"""Keys of elements: the two words of the key of each element of an array are two arrays of its shape.

Input: the words of keys. Output: what `parts`, `uniform_floats` and `normal_floats` return for each key.
Idea: everything is elementwise. A loop in which each element draws until it is content has no other axes
then, and its step is one kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tracing.interpreter import ops
from ...tracing.random_counts import RandomCounts
from .. import numpy as xp
from .inverse_transforms import normal_of_units
from .keys import UINT64
from .uniform import floats_of_bits

Words = tuple[Any, Any]


def words_of(keys: Any) -> Words:
    """The words of keys, which are along their last axis."""
    return keys[..., 0], keys[..., 1]


def word_parts(words: Words, count: int) -> list[Words]:
    """`count` new keys of each key."""
    if RandomCounts.are_partitionable:
        return [_block(words, number) for number in range(count)]
    blocks = [_block(words, count + number, number) for number in range(count)]
    flat = [block[word] for word in (0, 1) for block in blocks]
    return [(flat[2 * k], flat[2 * k + 1]) for k in range(count)]


def choose_words(condition: Any, yes: Words, no: Words) -> Words:
    """The keys `yes` where the condition holds, else `no`."""
    return xp.where(condition, yes[0], no[0]), xp.where(condition, yes[1], no[1])


def uniform_of_words(words: Words, dtype: np.dtype) -> Any:
    """A float32 or float64 uniform in `[0, 1)` of each key."""
    is_older = not RandomCounts.are_partitionable
    high, low = _block(words, 1 if is_older and dtype.itemsize == 8 else 0)
    if dtype.itemsize == 4:
        return floats_of_bits(high if is_older else high ^ low, dtype)
    return floats_of_bits((ops.convert(high, dtype=UINT64) << 32) | ops.convert(low, dtype=UINT64), dtype)


def normal_of_words(words: Words, dtype: np.dtype) -> Any:
    """A standard normal float32 or float64 of each key."""
    return normal_of_units(uniform_of_words(words, dtype), dtype)


def _block(words: Words, number: int, above: int = 0) -> Words:
    counter = xp.full_like(words[0], above), xp.full_like(words[0], number)
    return ops.threefry(*words, *counter, word=0), ops.threefry(*words, *counter, word=1)

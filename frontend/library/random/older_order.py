"""Random bits in JAX's older order, of `jax_threefry_partitionable=False`.

Input: a key. Output: the bits that JAX draws with that setting. Idea: the counters are cut into two halves;
the block of the k-th counters of both has the k-th word of each half of the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...tracing.interpreter import ops
from ...tracing.random_counts import RandomCounts
from .. import numpy as xp

UINT32 = np.dtype(np.uint32)


def random_bits(key: Any, *, shape: tuple[Any, ...], width: int) -> Any:
    """Random bits of a key that has been checked, in the order in force."""
    if RandomCounts.are_partitionable:
        return ops.random_bits(key, shape=shape, width=width)
    count = math.prod(shape)
    words = words_of(key, -(-width * count // 32))
    unsigned = np.dtype(f"uint{width}")
    if width == 64:
        high, low = (ops.convert(half, dtype=unsigned) for half in (words[:count], words[count:]))
        return xp.reshape((high << 32) | low, shape)
    if width < 32:
        shifts = xp.arange(0, 32, width, dtype=UINT32)
        words = xp.ravel((words[:, None] >> shifts) & np.uint32(2**width - 1))[:count]
    return xp.reshape(ops.convert(words, dtype=unsigned), shape)


def words_of(key: Any, count: int) -> Any:
    """`count` words, in the older order."""
    half = -(-count // 2)
    first = ops.iota(shape=(half,), axis=0, dtype=UINT32)
    second = first + np.uint32(half)
    if count % 2:  # the last counter is 0
        second = xp.where(first == half - 1, np.uint32(0), second)
    high, low = (xp.broadcast_to(key[i], (half,)) for i in (0, 1))
    blocks = [ops.threefry(high, low, first, second, word=word) for word in (0, 1)]
    return xp.concatenate(blocks)[:count]

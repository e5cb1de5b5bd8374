"""Random bits in kernels: the words of the key are scalars where there is one key."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ....builder import Value
from ....forms.randomness import bits_of_positions
from ....lowering import LoweringContext
from .common import builder_of, shape_of


def lower_random_bits(ctx: LoweringContext, key: Value, *, shape: Sequence[int], width: int) -> Value:
    """One generic over the keys and the positions of each; a view of it."""
    b = builder_of(ctx)
    batch = shape_of(key)[:-1]
    zeros, ones = [0] * len(batch), [*batch, 1]
    first, second = (b.reshape(b.window(key, [*zeros, k], ones), batch) for k in (0, 1))
    count = prod(shape[len(batch) :])
    return b.reshape(bits_of_positions(b, first, second, batch, count, width), list(shape))

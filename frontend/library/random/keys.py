"""Keys: two uint32 words that determine everything drawn with them, and how to make more of them.

`key(seed)` makes the first; `split` and `fold_in` make new ones that are independent of each other. All are
Threefry-2x32 blocks at positions that `jax.random` uses too (`jax_threefry_partitionable`, its default).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ....dialects.ops.random import threefry
from ....dialects.types import INT64, INTEGERS, UINT32, short_name
from ...errors import ArgumentError, ArgumentTypeError, OutOfRangeError
from ...tracing.array import Array
from ...tracing.frames import current_frame
from ...tracing.interpreter import as_value, ops
from ...tracing.locations import user_location_text
from ...tracing.random_counts import RandomCounts
from .. import numpy as xp
from .arguments import RandomKeyError, as_key, as_shape, integer_dtype
from .often import compiled_if_often
from .older_order import random_bits, words_of
from .reuse import allow_again

WORD: Final = 0xFFFFFFFF
IMPLEMENTATIONS: Final = (None, "threefry2x32", "fry")
UINT64: Final = np.dtype(np.uint64)


def key(seed: Any, *, impl: Any = None) -> Any:
    """The key of a seed, its high and its low 32 bits; a seed is an integer, or an array of one.

    `impl` is 'threefry2x32', which is all there is, or None.
    """
    _require_threefry("key", impl)
    if isinstance(seed, int) and not isinstance(seed, bool):
        if not -(2**63) <= seed < 2**64:
            raise OutOfRangeError(f"key: the seed {seed} has more than 64 bits", where=user_location_text())
        return Array(np.array([(seed >> 32) & WORD, seed & WORD], UINT32))
    value = as_value(seed)
    if value.ndim or value.dtype not in INTEGERS:
        raise ArgumentTypeError(
            f"key: the seed is {short_name(value.dtype)} of shape {tuple(value.shape)}, expected one integer",
            where=user_location_text(),
            hint="adze.vmap(adze.random.key)(seeds) makes a key of each of several seeds",
        )
    if value.dtype.itemsize == 8:
        bits = value if value.dtype == UINT64 else ops.bitcast_convert(value, dtype=UINT64)
        return words(bits)
    low = ops.convert(ops.convert(value, dtype=INT64) & WORD, dtype=UINT32)
    return xp.stack([xp.zeros_like(low), low], axis=-1)


PRNGKey = key


def _require_threefry(function: str, impl: Any) -> None:
    if impl not in IMPLEMENTATIONS:
        raise ArgumentError(
            f"{function}: impl is {impl!r}, expected 'threefry2x32'",
            where=user_location_text(),
            hint="adze has one generator, JAX's default",
        )


def key_data(keys: Any) -> Any:
    """The words of a key: the key itself, as keys of adze are plain arrays."""
    return as_value(keys)


def wrap_key_data(key_bits_array: Any, *, impl: Any = None) -> Any:
    """A key of its words: the array itself, checked to be uint32 of shape (..., 2); `impl` as for `key`."""
    _require_threefry("wrap_key_data", impl)
    value = as_value(key_bits_array)
    if value.dtype != UINT32 or value.ndim == 0 or value.shape[-1] != 2:
        raise RandomKeyError(
            f"wrap_key_data: got {short_name(value.dtype)} of shape {tuple(value.shape)}, "
            "expected uint32 of shape (..., 2)",
            where=user_location_text(),
        )
    return value


def clone(key: Any) -> Any:
    """The same key, which the debug mode lets be used once more: for drawing the same numbers on purpose."""
    value = as_key("clone", key, uses_up=None)
    allow_again(value)
    return value


@compiled_if_often
def split(key: Any, num: int | tuple[int, ...] = 2) -> Any:
    """`num` new keys, as an array of shape `(num, 2)`; `num` may be a shape."""
    value = as_key("split", key)
    shape = as_shape("split", num if isinstance(num, (tuple, list)) else (num,))
    return split_keys(value, shape)


def fold_in(key: Any, data: Any) -> Any:
    """A new key of a key and an integer, of which the low 32 bits count."""
    value = as_key("fold_in", key, uses_up=False)
    number = as_value(data & WORD if isinstance(data, int) else data)
    if number.ndim or number.dtype not in INTEGERS:
        raise ArgumentTypeError(
            f"fold_in: data is {short_name(number.dtype)} of shape {tuple(number.shape)}, "
            "expected one integer",
            where=user_location_text(),
            hint="adze.vmap(adze.random.fold_in, in_axes=(None, 0))(key, numbers) folds in several",
        )
    counter = ops.convert(ops.convert(number, dtype=INT64) & WORD, dtype=UINT32)
    return block(value, counter)


@compiled_if_often
def bits(key: Any, shape: Any = (), dtype: Any = np.uint32) -> Any:
    """Uniform random bits as unsigned integers."""
    value = as_key("bits", key)
    wanted = integer_dtype("bits", dtype, "u")
    return random_bits(value, shape=as_shape("bits", shape), width=wanted.itemsize * 8)


def split_keys(key: Any, shape: tuple[Any, ...]) -> Any:
    """New keys of shape `(*shape, 2)`, of a key that has been checked: the blocks at positions of `shape`."""
    if not RandomCounts.are_partitionable:
        return xp.reshape(words_of(key, 2 * math.prod(shape)), (*shape, 2))
    return words(ops.random_bits(key, shape=shape, width=64))


def parts(key: Any, count: int) -> list[Any]:
    """`count` new keys of a key that has been checked."""
    keys = split_keys(key, (count,))
    return [keys[i] for i in range(count)]


def words(bits: Any) -> Any:
    """The high and the low word of 64 bits, along a new last axis."""
    high = ops.convert(bits >> 32, dtype=UINT32)
    low = ops.convert(bits & WORD, dtype=UINT32)
    return xp.stack([high, low], axis=-1)


def block(key: Any, counter: Any) -> Any:
    """The Threefry block of a key at a 32-bit counter, as a new key."""
    if current_frame() is None:
        pair = threefry(np.asarray(key), np.zeros((), UINT32), np.asarray(counter))
        return Array(np.array(pair, UINT32))
    operands = key[0], key[1], xp.zeros_like(counter), counter
    return xp.stack([ops.threefry(*operands, word=word) for word in (0, 1)], axis=-1)

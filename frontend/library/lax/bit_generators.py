"""XLA's generators of bits under `jax.lax`: Philox and Threefry, counted from a state.

Input: a state of a key and a counter, a shape. Output: the state behind what was drawn, and bits that are
XLA's on a CPU. Philox has ten rounds on `(counter, key)` with the key (Salmon et al. 2011, "Parallel random
numbers: as easy as 1, 2, 3"), Threefry twenty on the counter. `adze.random` draws from Threefry by keys.
`rng_uniform` alone has no state.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from ....dialects.types import FLOATS, INTEGERS, UINT32, UINT64, as_dtype
from ...tracing.interpreter import as_value, ops
from ...tracing.specs import ShapeDtype
from ...transforms.callbacks import io_callback
from ..numpy.arguments import argument_error, dtype_error, integer
from ..numpy.promotion import type_text
from .scalar_operands import operands

Words = tuple[Any, Any]
"""The low and the high half of 64 bits, uint32."""

_NARROW: Final = (np.dtype("uint8"), np.dtype("uint16"))
_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_STEPS: Final = (0x9E3779B9, 0xBB67AE85)


class RandomAlgorithm(enum.IntEnum):
    """The generators of `rng_bit_generator`; the default is Philox, as XLA's on CPUs."""

    RNG_DEFAULT = 0
    RNG_THREE_FRY = 1
    RNG_PHILOX = 2


def rng_bit_generator(
    key: Any,
    shape: Sequence[int],
    dtype: Any = np.uint32,
    algorithm: RandomAlgorithm = RandomAlgorithm.RNG_DEFAULT,
    *,
    out_sharding: None = None,
) -> list[Any]:
    """The next state, and uniform bits of a shape: `[key, bits]`.

    `key` is uint32[4] or uint64[2]: a key of 64 bits and a counter of 64 bits, low words first. `dtype` is an
    unsigned one. Raises `ArgumentError` for another state, `DtypeError` for another dtype.
    """
    del out_sharding
    state, wanted = as_value(key), as_dtype(dtype)
    if (state.dtype, tuple(state.shape)) not in ((UINT32, (4,)), (UINT64, (2,))):
        raise argument_error(f"rng_bit_generator: key is {type_text(state)}, expected uint32[4] or uint64[2]")
    if wanted not in (*_NARROW, UINT32, UINT64):
        raise dtype_error(f"rng_bit_generator: the dtype is {wanted}, expected an unsigned one")
    sizes = tuple(integer("rng_bit_generator", n, "a size") for n in shape)
    numbers = [ops.reshape(n, shape=()) for n in _numbers(state)]
    own, counter = _key_and_counter(numbers)
    is_threefry = RandomAlgorithm(algorithm) == RandomAlgorithm.RNG_THREE_FRY
    draw = _threefry_bits if is_threefry else _philox_bits
    bits, count = draw(own, counter, sizes, is_wide=wanted == UINT64)
    after = _counted(counter, _full(count, ()))
    words = [_joined(own), _joined(after)] if state.dtype == UINT64 else [*own, *after]
    state = ops.concatenate(*(ops.reshape(w, shape=(1,)) for w in words), axis=0)
    if wanted in _NARROW:
        mask = _full((1 << 8 * wanted.itemsize) - 1, sizes)
        bits = ops.convert(ops.and_(bits, mask), dtype=wanted)
    return [state, bits]


@functools.cache
def _generator() -> np.random.Generator:
    """What draws the numbers, made when it is first asked for: NumPy imports its generators then."""
    return np.random.default_rng()


def rng_uniform(a: Any, b: Any, shape: Sequence[int]) -> Any:
    """Numbers from `a` to below `b`, of no state: others in each call, and in each run of a program.

    `a` and `b` are numbers of one dtype, floats or integers. NumPy draws them, so no file can hold a program
    that does. Raises `ArgumentError` for arrays, `DtypeError` for other numbers.
    """
    low, high = operands(a, b)
    if low.ndim or high.ndim:
        raise argument_error(f"rng_uniform: expected numbers, got {type_text(low)} and {type_text(high)}")
    if low.dtype not in FLOATS | INTEGERS:
        raise dtype_error(f"rng_uniform draws floats and integers, got {type_text(low)}")
    sizes = tuple(integer("rng_uniform", n, "a size") for n in shape)

    def draw(low: Any, high: Any) -> Any:
        low, high = np.asarray(low), np.asarray(high)
        if low.dtype in INTEGERS:
            return _generator().integers(low, high, sizes, low.dtype)
        width = high.astype(np.float64) - low.astype(np.float64)
        drawn = (low.astype(np.float64) + width * _generator().random(sizes)).astype(low.dtype)
        return np.where(drawn < high, drawn, low)  # where rounding made it the end

    return io_callback(draw, ShapeDtype(sizes, low.dtype), low, high)


def _numbers(state: Any) -> list[Any]:
    """The numbers of a vector."""
    return [ops.slice(state, start=(i,), limit=(i + 1,), strides=(1,)) for i in range(int(state.shape[0]))]


def _key_and_counter(numbers: Sequence[Any]) -> tuple[Words, Words]:
    if len(numbers) == 2:
        return _halves(numbers[0]), _halves(numbers[1])
    return (numbers[0], numbers[1]), (numbers[2], numbers[3])


def _full(value: int, shape: Sequence[int], dtype: np.dtype = UINT32) -> Any:
    return ops.full(value, tuple(shape), dtype)


def _spread(number: Any, shape: Sequence[int]) -> Any:
    return ops.broadcast_in_dim(number, shape=tuple(shape), dimensions=())


def _halves(wide: Any) -> Words:
    """The words of uint64 numbers."""
    low = ops.and_(wide, _full(0xFFFFFFFF, wide.shape, UINT64))
    high = ops.shift_right_logical(wide, _full(32, wide.shape, UINT64))
    return ops.convert(low, dtype=UINT32), ops.convert(high, dtype=UINT32)


def _joined(words: Words) -> Any:
    """uint64 numbers of their words."""
    low, high = (ops.convert(w, dtype=UINT64) for w in words)
    return ops.or_(low, ops.shift_left(high, _full(32, high.shape, UINT64)))


def _counted(counter: Words, steps: Any) -> Words:
    """The counter, `steps` further."""
    low, high = (_spread(w, steps.shape) for w in counter)
    added = ops.add(low, steps)
    carry = ops.convert(ops.compare(added, low, direction="LT"), dtype=UINT32)
    return added, ops.add(high, carry)


def _philox_bits(key: Words, counter: Words, shape: Sequence[int], *, is_wide: bool) -> tuple[Any, int]:
    """Four words for each count, one after the other."""
    count = -(-prod(shape) * (1 + is_wide) // 4)
    low, high = _counted(counter, ops.iota(shape=(count,), axis=0, dtype=UINT32))
    own = tuple(_spread(k, (count,)) for k in key)
    words = [low, high, *own]
    keys = list(own)
    for _ in range(10):
        first, second = (
            _halves(ops.mul(ops.convert(w, dtype=UINT64), _full(m, (count,), UINT64)))
            for w, m in zip((words[0], words[2]), _MULTIPLIERS, strict=True)
        )
        words = [
            ops.xor(ops.xor(second[1], words[1]), keys[0]),
            second[0],
            ops.xor(ops.xor(first[1], words[3]), keys[1]),
            first[0],
        ]
        keys = [ops.add(k, _full(s, (count,))) for k, s in zip(keys, _STEPS, strict=True)]
    pairs = [_joined((words[0], words[1])), _joined((words[2], words[3]))] if is_wide else words
    columns = [ops.reshape(w, shape=(count, 1)) for w in pairs]
    flat = ops.reshape(ops.concatenate(*columns, axis=1), shape=(count * len(columns),))
    taken = ops.slice(flat, start=(0,), limit=(prod(shape),), strides=(1,))
    return ops.reshape(taken, shape=tuple(shape)), count


def _threefry_bits(key: Words, counter: Words, shape: Sequence[int], *, is_wide: bool) -> tuple[Any, int]:
    """Two words for each count: halves of a number, or neighbours along the first axis of an even size (the
    longest one, where there is none)."""
    if is_wide or not shape:
        first, second = _threefry(key, counter, shape)
        return (_joined((first, second)) if is_wide else first), prod(shape)
    even = [i for i, n in enumerate(shape) if n % 2 == 0]
    axis = even[0] if even else max(range(len(shape)), key=lambda i: shape[i])
    half = (*shape[:axis], -(-shape[axis] // 2), *shape[axis + 1 :])
    apart = (*half[: axis + 1], 1, *half[axis + 1 :])
    both = [ops.reshape(w, shape=apart) for w in _threefry(key, counter, half)]
    whole = (*half[:axis], 2 * half[axis], *half[axis + 1 :])
    joined = ops.reshape(ops.concatenate(*both, axis=axis + 1), shape=whole)
    start, strides = (0,) * len(shape), (1,) * len(shape)
    return ops.slice(joined, start=start, limit=tuple(shape), strides=strides), prod(half)


def _threefry(key: Words, counter: Words, shape: Sequence[int]) -> Words:
    """Threefry-2x32 of the counts of the elements of a shape."""
    places = ops.reshape(ops.iota(shape=(prod(shape),), axis=0, dtype=UINT32), shape=tuple(shape))
    x, y = _counted(counter, places)
    first, second = (_spread(k, shape) for k in key)
    keys = (first, second, ops.xor(ops.xor(first, second), _full(0x1BD11BDA, shape)))
    x, y = ops.add(x, keys[0]), ops.add(y, keys[1])
    for i in range(5):
        for turn in _ROTATIONS[i % 2]:
            x = ops.add(x, y)
            up = ops.shift_left(y, _full(turn, shape))
            y = ops.xor(ops.or_(up, ops.shift_right_logical(y, _full(32 - turn, shape))), x)
        x = ops.add(x, keys[(i + 1) % 3])
        y = ops.add(ops.add(y, keys[(i + 2) % 3]), _full(i + 1, shape))
    return x, y

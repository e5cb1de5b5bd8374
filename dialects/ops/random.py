"""Random bits: a pure function of a key and a position, so that no state is carried.

The generator is Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy
as 1, 2, 3; 2011): the counter of an element is its row-major position, 32 high and 32 low bits.
The bits equal those of `jax.random.bits` with `jax_threefry_partitionable` (its default) for the same key.
A batch of keys has its own axes in front: each key counts the positions of its own part of the result.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..op import Op, Operand, integer, require, require_same_shape, sizes, undefined
from ..protocols import Batched, Builder, Shape, Size, Values
from ..types import UINT32, Dimension, TensorType, same_dimension
from .elementwise.family import INTEGERS_ARE_DISCRETE, Elementwise

WIDTHS: Final = (8, 16, 32, 64)
ROUNDS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY: Final = 0x1BD11BDA


class RandomBits(Op):
    """``y[k, i] = threefry2x32(key[k], counter = position of i)``: uniform unsigned integers of `width` bits.

    The axes `k` of the result are those of the key before its last, which holds its two words; one key has
    none. Both words of a block make 64 bits; narrower results are their exclusive or, low bits kept.
    """

    name = "random_bits"
    element_cost = 60
    operands = (Operand("key", frozenset({UINT32})),)
    attributes = {"shape": sizes("the result's shape"), "width": integer("8, 16, 32 or 64 bits")}

    @staticmethod
    def infer(key: TensorType, *, shape: tuple[Dimension, ...], width: int) -> TensorType:
        require(
            key.rank >= 1 and same_dimension(key.shape[-1], 2),
            f"random_bits: the key must be ui32[2], or keys ui32[..., 2], got {key}",
        )
        batch = key.shape[:-1]
        agree = all(same_dimension(m, n) for m, n in zip(batch, shape, strict=False))
        require(
            len(shape) >= len(batch) and agree,
            f"random_bits: the shape {shape} must begin with the axes {batch} of the keys {key}",
        )
        require(width in WIDTHS, f"random_bits: width {width} must be one of {WIDTHS}")
        return TensorType(shape, np.dtype(f"uint{width}"))

    @staticmethod
    def evaluate(key: np.ndarray, *, shape: tuple[int, ...], width: int) -> np.ndarray:
        counter = np.arange(math.prod(shape[key.ndim - 1 :]), dtype=np.uint64)
        words = key[..., np.newaxis, :]
        high, low = threefry(words, (counter >> np.uint64(32)).astype(UINT32), counter.astype(UINT32))
        if width == 64:
            bits = (high.astype(np.uint64) << np.uint64(32)) | low
        else:
            bits = (high ^ low).astype(f"uint{width}")
        return bits.reshape(shape)

    jvp = undefined("random bits are integers: they have no tangent")
    transpose = undefined("random bits are not linear in the key")

    @staticmethod
    def batch(
        b: Builder,
        size: Size,
        operands: Values,
        batched: Sequence[bool],
        *,
        shape: Shape,
        width: int,
    ) -> Batched:
        """Batched keys are one more axis of keys: the bits of each are those of a loop over them."""
        return [b.random_bits(operands[0], shape=(size, *shape), width=width)], [True]


class Threefry(Elementwise):
    """``z`` = one word of threefry2x32(key = (k0, k1), counter = (x0, x1)), of each element's own block."""

    name = "threefry"
    element_cost = 60
    operands = tuple(Operand(word, frozenset({UINT32})) for word in ("k0", "k1", "x0", "x1"))
    attributes = {"word": integer("0 or 1, the word of the block")}

    @staticmethod
    def infer(*types: TensorType, word: int) -> TensorType:
        require(word in (0, 1), f"threefry: word is {word}, a block has the words 0 and 1")
        return TensorType(require_same_shape("threefry", *types), UINT32)

    @staticmethod
    def evaluate(*arrays: np.ndarray, word: int) -> np.ndarray:
        k0, k1, x0, x1 = arrays
        return np.asarray(threefry_words((k0, k1), x0, x1)[word])

    jvp = INTEGERS_ARE_DISCRETE
    transpose = INTEGERS_ARE_DISCRETE


def threefry(key: np.ndarray, x0: np.ndarray, x1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One Threefry-2x32 block of 20 rounds for each pair of counter words, by the key along the last axis."""
    return threefry_words((key[..., 0], key[..., 1]), x0, x1)


def threefry_words(words: tuple[Any, Any], x0: Any, x1: Any) -> tuple[Any, Any]:
    """The same, by keys whose words are two arrays: NumPy's, or others with its operators."""
    keys = (*words, words[0] ^ words[1] ^ UINT32.type(PARITY))
    with np.errstate(over="ignore"):
        x0, x1 = x0 + keys[0], x1 + keys[1]
        for group in range(5):
            for distance in ROUNDS[group % 2]:
                x0 = x0 + x1
                x1 = ((x1 << UINT32.type(distance)) | (x1 >> UINT32.type(32 - distance))) ^ x0
            x0 = x0 + keys[(group + 1) % 3]
            x1 = x1 + keys[(group + 2) % 3] + UINT32.type(group + 1)
    return x0, x1

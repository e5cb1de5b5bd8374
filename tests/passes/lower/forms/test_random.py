"""Random bits: published test vectors, JAX's bits, and their compiled form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.dialects.ops.random import RandomBits, threefry
from adze.dialects.types import UINT32, TensorType

from ..programs import Compiled

KEY = np.array([123, 4000000000], np.uint32)
WIDTHS = (8, 16, 32, 64)


def bits(width: int) -> Any:
    return lambda b, key: b.random_bits(key, shape=(37, 11), width=width)


def bits_like(b: Any, key: Any, like: Any) -> Any:
    return b.random_bits(key, shape=(b.dim(like, axis=0), 3), width=32)


KEYS = (TensorType((2,), UINT32),)
run = Compiled(
    {
        **{f"bits{width}": (bits(width), KEYS) for width in WIDTHS},
        "like": (bits_like, (*KEYS, TensorType((None,), UINT32))),
    }
)


@pytest.mark.parametrize(
    ("key", "counter", "block"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_published_vectors_of_threefry(key: Any, counter: Any, block: Any) -> None:
    """The known answers for 20 rounds that the Random123 library ships."""
    words = (np.array([word], np.uint32) for word in counter)
    high, low = threefry(np.array(key, np.uint32), *words)
    assert (int(high[0]), int(low[0])) == block


@pytest.mark.parametrize("width", WIDTHS)
def test_compiled_bits_are_the_evaluated_ones(width: int) -> None:
    expected = RandomBits.evaluate(KEY, shape=(37, 11), width=width)
    (got,) = run(f"bits{width}", KEY)
    assert got.dtype == np.dtype(f"uint{width}") and np.array_equal(got, expected)


def test_bits_depend_on_the_position_only() -> None:
    (got,) = run("like", KEY, np.zeros(5, np.uint32))
    assert np.array_equal(got.ravel(), RandomBits.evaluate(KEY, shape=(15,), width=32))


def test_counters_beyond_32_bits_use_the_high_word() -> None:
    five = np.array([5], np.uint32)
    low, high = (threefry(KEY, np.array([n], np.uint32), five)[0] for n in (0, 1))
    assert low[0] != high[0]


def test_bits_are_balanced() -> None:
    drawn = RandomBits.evaluate(KEY, shape=(4096,), width=32)
    ones = np.unpackbits(drawn.view(np.uint8)).mean()
    assert abs(ones - 0.5) < 5 * 0.5 / np.sqrt(4096 * 32)


@pytest.mark.one_in(2)
@pytest.mark.oracle
@pytest.mark.parametrize("width", WIDTHS)
def test_bits_are_those_of_jax(width: int) -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        theirs = np.asarray(jax.random.bits(KEY, (37, 11), f"uint{width}"))
    assert np.array_equal(RandomBits.evaluate(KEY, shape=(37, 11), width=width), theirs)

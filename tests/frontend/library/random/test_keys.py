"""Keys: what they are made of, how they split, and that each way of running yields the same bits."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import adze
from adze import random

KEY = np.array([0x12345678, 0x9ABCDEF0], np.uint32)


def words(x: Any) -> list[int]:
    return np.asarray(x).tolist()


@pytest.mark.parametrize(
    ("seed", "expected"),
    [
        (0, [0, 0]),
        (7, [0, 7]),
        (2**32 + 5, [1, 5]),
        (-1, [2**32 - 1, 2**32 - 1]),
        (2**64 - 2, [2**32 - 1, 2**32 - 2]),
        (np.int32(-1), [0, 2**32 - 1]),
        (np.uint8(200), [0, 200]),
        (np.int64(-2), [2**32 - 1, 2**32 - 2]),
    ],
)
def test_a_key_is_the_two_words_of_its_seed(seed: Any, expected: list[int]) -> None:
    made = random.key(seed)
    assert made.dtype == np.uint32
    assert words(made) == expected
    assert words(random.PRNGKey(seed)) == expected


def test_seeds_may_be_traced() -> None:
    seeds = np.array([3, -4, 2**40 + 1], np.int64)
    keys = adze.vmap(random.key)(seeds)
    assert words(keys) == [words(random.key(int(s))) for s in seeds]


def test_split_and_fold_in_read_the_same_blocks() -> None:
    """Both are Threefry blocks of the key: the reason why a key must not be given to both."""
    assert words(random.split(KEY, 5)[3]) == words(random.fold_in(KEY, 3))


def test_split_takes_a_shape() -> None:
    several = random.split(KEY, (2, 3))
    assert several.shape == (2, 3, 2)
    assert words(several) == np.asarray(random.split(KEY, 6)).reshape(2, 3, 2).tolist()


def test_fold_in_takes_any_integer() -> None:
    assert words(random.fold_in(KEY, 2**32 + 9)) == words(random.fold_in(KEY, np.int8(9)))
    assert words(random.fold_in(KEY, -1)) == words(random.fold_in(KEY, 2**32 - 1))


def test_keys_are_plain_arrays() -> None:
    made = random.key(3)
    assert random.key_data(made) is made
    assert words(random.wrap_key_data(np.array([1, 2], np.uint32))) == [1, 2]


def draws(key: Any) -> tuple[Any, ...]:
    first, second = random.split(key)
    return (
        random.bits(first, (3, 5)),
        random.bits(first, (7,), np.uint8),
        random.bits(first, (7,), np.uint16),
        random.bits(first, (2, 2), np.uint64),
        random.fold_in(second, 12),
        random.split(second, 3),
        random.uniform(second, (6,)),
        random.randint(second, (6,), -5, 1000),
        random.permutation(second, 9),
        random.bernoulli(second, 0.25, (20,)),
    )


def same_bits(got: Any, expected: Any) -> None:
    for a, b in zip(got, expected, strict=True):
        assert a.dtype == b.dtype
        assert np.array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.thorough
def test_traced_and_compiled_bits_are_the_eager_ones(device: str) -> None:
    chosen = None if device == "cpu" else device
    same_bits(adze.jit(draws, device=chosen)(KEY), draws(KEY))


@pytest.mark.thorough
def test_batched_bits_are_those_of_a_loop_over_keys() -> None:
    keys = np.asarray(random.split(KEY, 6)).reshape(2, 3, 2)
    looped = [[draws(k) for k in row] for row in keys]
    expected = [np.stack([np.stack([np.asarray(d[i]) for d in row]) for row in looped]) for i in range(10)]
    twice = adze.vmap(adze.vmap(draws))
    same_bits(twice(keys), expected)
    same_bits(adze.jit(twice)(keys), expected)


def test_batches_along_another_axis() -> None:
    keys = np.asarray(random.split(KEY, 4))
    assert words(adze.vmap(lambda k: random.bits(k, (3,)), in_axes=1)(keys.T)) == [
        words(random.bits(k, (3,))) for k in keys
    ]


def of_like(key: Any, x: Any) -> tuple[Any, ...]:
    return (
        random.bits(key, x.shape),
        random.uniform(key, x.shape),
        random.split(key, x.shape[0]),
        random.permutation(key, x),
        random.permutation(key, x.shape[0]),
        random.randint(key, (x.shape[0], 2), 0, 77),
    )


@pytest.mark.thorough
@pytest.mark.parametrize("count", [1, 5, 1700])
def test_dynamic_shapes_give_the_bits_of_static_ones(count: int) -> None:
    compiled = dynamic()
    x = np.arange(3 * count, dtype=np.float32).reshape(count, 3)
    same_bits(compiled(KEY, x), of_like(KEY, x))


@functools.cache
def dynamic() -> Any:
    specs = (adze.ShapeDtype((2,), np.uint32), adze.ShapeDtype(("n", 3)))
    return adze.trace(of_like, *specs).lower().compile()

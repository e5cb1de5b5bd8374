"""Samplers that are called often outside of traces: compiled, with the same numbers to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import random
from adze.frontend.library.random import often
from adze.frontend.library.random.reuse import KeyReuseError

SAMPLERS: dict[str, Callable[[Any], Any]] = {
    "split": lambda key: random.split(key, 3),
    "split to a shape": lambda key: random.split(key, (2, 3)),
    "bits": lambda key: random.bits(key, (7,), np.uint8),
    "uniform": lambda key: random.uniform(key, (501,)),
    "uniform float64": lambda key: random.uniform(key, (9, 3), np.float64),
    "uniform bfloat16": lambda key: random.uniform(key, (9, 3), "bfloat16"),
    "uniform in a range": lambda key: random.uniform(key, (104,), minval=-0.1, maxval=0.3),
    "bernoulli": lambda key: random.bernoulli(key, 0.3, (105,)),
    "bernoulli, twice the bits": lambda key: random.bernoulli(key, 0.3, (106,), mode="high"),
    "rademacher": lambda key: random.rademacher(key, (50,)),
    "randint": lambda key: random.randint(key, (107,), -3, 50),
    "randint int8": lambda key: random.randint(key, (108,), -3, 50, np.int8),
    "permutation": lambda key: random.permutation(key, 20),
    "permutation of an array": lambda key: random.permutation(key, np.arange(6.0)),
    "choice": lambda key: random.choice(key, 20, (5,)),
    "choice without replacement": lambda key: random.choice(key, 20, (5,), replace=False),
    "normal": lambda key: random.normal(key, (501,)),
    "normal float64": lambda key: random.normal(key, (109,), np.float64),
    "complex normal": lambda key: random.normal(key, (20,), np.complex64),
    "exponential": lambda key: random.exponential(key, (101,)),
    "gumbel": lambda key: random.gumbel(key, (102,)),
    "truncated normal": lambda key: random.truncated_normal(key, -1.0, 2.0, (103,)),
    "empty": lambda key: random.uniform(key, (0, 3)),
    "one number": lambda key: random.normal(key, (), np.float64),
}


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was compiled, from the third call on."""
    monkeypatch.setattr(often, "MOST_CALLS", 2)
    seen: list[Any] = []
    jitted = often._jitted_function
    monkeypatch.setattr(often, "_jitted_function", lambda f: seen.append(f) or jitted(f))
    return seen


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SAMPLERS)
def test_compiled_samplers_draw_the_same_numbers(compiled: list[Any], name: str) -> None:
    sample = SAMPLERS[name]
    keys = [random.key(seed) for seed in (0, 1, 2**63)]
    with adze.disable_jit():
        evaluated = [sample(key) for key in keys]
    for _ in range(3):
        for key, expected in zip(keys, evaluated, strict=True):
            result = sample(key)
            assert (result.dtype, result.shape, result.device) == (expected.dtype, expected.shape, "host")
            assert result.weak_type == expected.weak_type
            np.testing.assert_array_equal(np.asarray(result), np.asarray(expected))
    assert compiled or name == "permutation of an array"


def test_a_loop_that_splits_a_key_and_draws(compiled: list[Any]) -> None:
    def walk(steps: int) -> list[float]:
        key, position, path = random.key(7), 0.0, []
        for _ in range(steps):
            key, drawn = random.split(key)
            position += float(random.normal(drawn)) + float(random.uniform(drawn))
            path.append(position)
        return path

    assert walk(12) == walk(12)
    assert len(compiled) >= 2  # the numbers around zero, and those from 0 to 1


def test_other_values_are_other_samplers(compiled: list[Any]) -> None:
    key = random.key(0)
    for _ in range(4):
        assert random.randint(key, (4,), 0, 5).dtype == np.int32
        assert random.randint(key, (4,), 0, 5, np.int64).dtype == np.int64
        assert random.uniform(key, (2,), np.float64).dtype == np.float64
        assert random.uniform(key, (2,), np.float32).dtype == np.float32
        assert random.split(key, 1).shape == (1, 2)
        with pytest.raises(adze.AdzeError, match="split"):
            random.split(key, 1.0)  # type: ignore[arg-type]


def test_errors_stay_errors(compiled: list[Any]) -> None:
    key = random.key(0)
    for _ in range(4):
        random.uniform(key, (3,))
        with pytest.raises(adze.AdzeError, match="the key is f32"):
            random.split(np.ones(2, np.float32))
        with pytest.raises(adze.AdzeError, match="array of keys"):
            random.split(random.split(key))
        with pytest.raises(adze.AdzeError, match="without replacement"):
            random.choice(key, 3, (5,), replace=False)


def test_a_key_that_is_used_twice_is_found_all_the_same(compiled: list[Any]) -> None:
    key = random.key(0)
    for _ in range(4):
        random.split(key)
    with random.debug_key_reuse():
        random.split(key)
        with pytest.raises(KeyReuseError):
            random.split(key)


def test_traced_keys_are_drawn_from_in_the_trace(compiled: list[Any]) -> None:
    key = random.key(0)
    expected = random.split(key)
    for _ in range(4):
        random.split(key)
    count = len(compiled)
    for f in (adze.jit(random.split), lambda key: adze.vmap(random.split)(key[None])[0]):
        np.testing.assert_array_equal(f(key), expected)
    assert len(compiled) == count


def test_rows_of_an_array_are_those_of_its_memory() -> None:
    array = adze.numpy.asarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    rows = list(array)
    assert all(type(row) is type(array) and row.device == "host" for row in rows)
    np.testing.assert_array_equal(rows, np.asarray(array))
    assert [float(x) for x in rows[1]] == [2.0, 3.0] and all(x.shape == () for x in rows[1])
    assert np.shares_memory(np.asarray(rows[0]), np.asarray(array))
    assert not np.asarray(rows[0]).flags.writeable
    on_device = adze.jit(lambda x: x + 1)(array)
    assert [row.tolist() for row in on_device] == [[1, 2], [3, 4], [5, 6]]
    weak = adze.numpy.stack([adze.numpy.asarray(1.0)] * 2)
    assert [x.weak_type for x in weak] == [weak.weak_type] * 2
    with pytest.raises(TypeError, match="0-d"):
        iter(adze.numpy.asarray(1.0))
    assert adze.jit(lambda x: sum(row for row in x))(array).tolist() == [6, 9]
    assert (
        adze.grad(lambda x: sum((row * row).sum() for row in x))(array).tolist()
        == (2 * np.arange(6).reshape(3, 2)).tolist()
    )

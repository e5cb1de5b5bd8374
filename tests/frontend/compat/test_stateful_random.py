"""`jax.experimental.random`: samples and counts are JAX 0.10.2's, in and out of `jit` and `vmap`."""

from __future__ import annotations

import numpy as np
import pytest

import adze.compat.jax as jax
from adze.compat.jax.experimental import random

jnp = jax.numpy


def test_each_draw_has_the_next_key_also_in_jit() -> None:
    rng = random.stateful_rng(42)

    def draw(rng: random.StatefulPRNG) -> object:
        return rng.uniform(dtype=np.float32)

    samples = [draw(rng), draw(rng), jax.jit(draw)(rng), jax.jit(draw)(rng)]
    expected = np.float32([0.5302608, 0.72766423, 0.6672406, 0.3890121])
    np.testing.assert_array_equal(np.float32(samples), expected)
    np.testing.assert_array_equal(jax.random.key_data(rng.key()), np.uint32([2954079971, 3276725750]))
    assert int(rng._counter[...]) == 5


def test_split_is_for_vmap_and_spawn_is_a_list() -> None:
    rng = random.stateful_rng(123)
    samples = jax.vmap(lambda rng: rng.uniform(dtype=np.float32))(rng.split(3))
    np.testing.assert_array_equal(samples, np.float32([0.35525954, 0.21937883, 0.5336956]))
    drawn = [child.integers(0, 10, 2, dtype=np.int32) for child in rng.spawn(2)]
    np.testing.assert_array_equal(drawn, [[2, 8], [3, 5]])
    assert rng.random((0, 2)).shape == (0, 2)
    assert rng.normal(jnp.arange(3.0), 2.0).shape == (3,)


def test_mistakes_have_words() -> None:
    with pytest.raises(ValueError, match=r"was split into \(2,\)"):
        random.stateful_rng(0).split(2).random()
    with pytest.raises(TypeError, match="no seed in a function that is traced"):
        jax.jit(lambda: random.stateful_rng().random())()

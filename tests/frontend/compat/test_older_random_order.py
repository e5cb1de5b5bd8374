"""With `jax_threefry_partitionable=False` random numbers are JAX's older ones."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

pytest.importorskip("jax", reason="the oracle of random numbers")

import jax

import adze.compat.jax as compat

DRAWS: Final = {
    "odd count": lambda r, k: r.bits(k, (5,)),
    "none": lambda r, k: r.bits(k, (0,)),
    "bytes": lambda r, k: r.bits(k, (6,), "uint8"),
    "two bytes": lambda r, k: r.bits(k, (5,), "uint16"),
    "split": lambda r, k: r.split(k, (2, 3)),
    "fold_in": lambda r, k: r.fold_in(k, 4),
    "uniform": lambda r, k: r.uniform(k, (2, 3)),
    "half": lambda r, k: r.normal(k, (3,), "float16"),
    "bfloat16": lambda r, k: r.normal(k, (3,), "bfloat16"),
    "randint": lambda r, k: r.randint(k, (5,), 0, 100),
    "permutation": lambda r, k: r.permutation(k, 7),
    "gamma": lambda r, k: r.gamma(k, 2.5, (3,)),
    "poisson": lambda r, k: r.poisson(k, 3.0, (4,)),
    "categorical": lambda r, k: r.categorical(k, np.zeros((3, 4), np.float32)),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_random_numbers_in_the_older_order(draw: str) -> None:
    found = []
    for library in (jax, compat):
        with library.threefry_partitionable(False):
            found.append(np.asarray(DRAWS[draw](library.random, library.random.PRNGKey(3)), np.float64))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5)


def test_wide_numbers_in_the_older_order() -> None:
    import adze

    with jax.threefry_partitionable(False), jax.enable_x64(True):
        wanted = jax.random.uniform(jax.random.PRNGKey(3), (3,), "float64")
        gamma = jax.random.gamma(jax.random.PRNGKey(3), 2.5, (3,), "float64")
    with adze.threefry_partitionable(False):
        assert adze.random.uniform(adze.random.key(3), (3,), "float64").tolist() == wanted.tolist()
        found = adze.random.gamma(adze.random.key(3), 2.5, (3,), "float64")
    np.testing.assert_allclose(found.tolist(), gamma.tolist(), rtol=1e-12)


def test_the_order_holds_in_its_context_and_for_batches() -> None:
    import adze

    def pairs(keys: Any) -> Any:
        return adze.vmap(lambda k: adze.random.uniform(k, (2,)))(keys)

    key = adze.random.key(0)
    before = adze.random.bits(key, (3,)).tolist()
    with adze.threefry_partitionable(False):
        keys = adze.random.split(key, 2)
        assert adze.random.bits(key, (3,)).tolist() != before
        each = [adze.random.uniform(k, (2,)).tolist() for k in keys]
        assert pairs(keys).tolist() == adze.jit(pairs)(keys).tolist() == each
    assert adze.random.bits(key, (3,)).tolist() == before

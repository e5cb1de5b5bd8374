"""Indices out of bounds in programs written for JAX: reads are clamped and writes dropped, as in JAX 0.10."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp
from adze.frontend.errors import IndexBoundsError

x = jnp.arange(3.0)
y = jnp.arange(6.0).reshape(2, 3)
nan = float("nan")

# What JAX 0.10.2 returns.
READS: list[tuple[Any, Any, Any]] = [
    (x, 5, 2.0),
    (x, -7, 0.0),
    (x, np.uint8(200), 2.0),
    (x, jnp.array(5), 2.0),
    (y, 5, [3.0, 4.0, 5.0]),
    (y, (slice(None), 5), [2.0, 5.0]),
    (y, (slice(5, None), 5), []),
    (y, (None, 5), [[3.0, 4.0, 5.0]]),
    (y, (jnp.array([0, 1]), 5), [2.0, 5.0]),
    (y, (jnp.array([[1, 7]]), -9, None), [[[3.0], [3.0]]]),
]


@pytest.mark.parametrize(("array", "index", "expected"), READS)
def test_reads_take_the_nearest_element(array: Any, index: Any, expected: Any) -> None:
    assert array[index].tolist() == expected
    assert jax.jit(lambda a: a[index])(array).tolist() == expected
    assert array.at[index].get().tolist() == expected


@pytest.mark.parametrize("index", [5, -7, np.int64(5), jnp.array(5)])
def test_writes_are_dropped(index: Any) -> None:
    assert x.at[index].set(9).tolist() == [0.0, 1.0, 2.0]
    assert y.at[index, 0].add(9).tolist() == y.tolist() == y.at[:, index].mul(9).tolist()
    assert x.at[index].set(1, mode="promise_in_bounds").tolist() == [0.0, 1.0, 2.0]
    assert x.at[5].set(9, mode="clip").tolist() == [0.0, 1.0, 9.0]


def test_derivatives_and_batches_of_clamped_reads() -> None:
    assert jax.grad(lambda a: a[5])(x).tolist() == [0.0, 0.0, 1.0]
    assert jax.vmap(lambda row: row[5])(y).tolist() == [2.0, 5.0]


@pytest.mark.parametrize("run", [lambda f: f, jax.jit])
def test_take_fills(run: Any) -> None:
    take, along = run(lambda a, i: jnp.take(a, i)), run(lambda a, i: jnp.take_along_axis(a, i, 0))
    for function in (take, along, lambda a, i: a.take(i)):
        np.testing.assert_array_equal(function(x, jnp.array([5, -1, -7])), [nan, 2, nan])
    assert jnp.take(x, 7, mode="clip") == 2 and jnp.take(x, 7, mode="wrap") == 1


def test_an_empty_axis_has_nothing_to_clamp_to() -> None:
    for use in (lambda a: a[0], lambda a: a[jnp.array(0)], lambda a: a.at[0].set(1)):
        with pytest.raises(IndexBoundsError, match="index 0 is out of bounds for axis 0"):
            use(jnp.zeros((0, 3)))


def test_other_code_of_the_process_keeps_its_errors() -> None:
    scope: dict[str, Any] = {}
    exec("import adze.numpy as anp\nread, take = lambda a, i: a[i], lambda a, i: anp.take(a, i)", scope)
    for name in ("read", "take"):
        with pytest.raises(IndexBoundsError, match="index 5 is out of bounds"):
            scope[name](x, 5)


def test_an_installed_process_has_jax_rule_everywhere() -> None:
    program = (
        "import adze.compat, adze.numpy as anp\n"
        "with adze.compat.install():\n"
        "    print(anp.arange(3)[5].item())\n"
        "try: anp.arange(3)[5]\n"
        "except IndexError as e: print(type(e).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "IndexBoundsError"]

"""What loops and branches make of Python numbers is weakly typed, in `jit` as outside: it widens no array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import adze
import adze.numpy as anp

CONSTRUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "fori_loop": lambda lax, v: lax.fori_loop(0, 3, lambda _, n: n * 2, v),
    "while_loop": lambda lax, v: lax.while_loop(lambda n: abs(n) < 9, lambda n: n * 2, v),
    "scan": lambda lax, v: lax.scan(lambda n, _: (n * 2, n), v, None, length=3)[0],
    "columns": lambda lax, v: lax.scan(lambda n, _: (n * 2, n), v, None, length=3)[1][1],
    "cond": lambda lax, v: lax.cond(True, lambda n: n * 2, lambda n: n, v),
    "switch": lambda lax, v: lax.switch(1, [lambda n: n, lambda n: -n], v),
    "strong step": lambda lax, v: lax.fori_loop(0, 3, lambda _, n: n * np.float32(2), v),
    "strong branch": lambda lax, v: lax.cond(True, lambda n: n, lambda n: n * np.float32(2), v),
}


@pytest.mark.parametrize("name", CONSTRUCTS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_results_meet_arrays_as_in_jax(name: str, dtype: str, is_compiled: bool) -> None:
    def f(lax: Any, ones: Any) -> Any:
        return lambda: CONSTRUCTS[name](lax, 1.0) * ones(2, dtype)

    own, known = f(adze.lax, anp.ones), f(jax.lax, jnp.ones)
    got = adze.jit(own)() if is_compiled else own()
    want = known()
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.asarray(got, np.float32), np.asarray(want, np.float32))


def test_integers_stay_narrow_too() -> None:
    count = adze.jit(lambda x: adze.lax.fori_loop(0, 5, lambda _, n: n + 1, 0) * x)
    assert count(np.ones(2, np.int8)).dtype == np.int8

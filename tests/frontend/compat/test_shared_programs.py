"""`jit` of one function, asked for again, in programs written for JAX: traced once, as there."""

from __future__ import annotations

import functools
import gc
import weakref
from typing import Any

import adze.compat.jax as jax
import adze.compat.jax.numpy as jnp


def test_one_function_is_traced_once_for_each_kind_and_choice_of_options() -> None:
    traced = []

    def f(x: Any, n: int = 2) -> Any:
        traced.append(n)
        return x * n

    for _ in range(3):
        assert float(jax.jit(f)(jnp.float32(3))) == 6
        assert float(jax.jit(f, static_argnums=1)(jnp.float32(3), 4)) == 12
    assert traced == [2, 4]
    jax.jit(f)(jnp.arange(3.0))
    assert traced == [2, 4, 2]


def test_what_wraps_a_function_has_programs_of_its_own() -> None:
    def f(x: Any) -> Any:
        return x + 1

    assert float(jax.jit(f)(1.0)) == 2

    @functools.wraps(f)
    def doubled(x: Any) -> Any:
        return 2 * f(x)

    assert float(jax.jit(doubled)(1.0)) == 4
    assert float(jax.jit(f)(1.0)) == 2


def test_forgetting_the_programs_of_one_forgets_them_for_all() -> None:
    values = [1.0]

    def f(x: Any) -> Any:
        return x + values[0]

    assert float(jax.jit(f)(1.0)) == 2
    values[0] = 2.0
    assert float(jax.jit(f)(1.0)) == 2  # as in JAX: a function is expected to be pure
    jax.jit(f).clear_cache()
    assert float(jax.jit(f)(1.0)) == 3


def test_programs_go_with_their_function() -> None:
    def compiled() -> weakref.ref[Any]:
        def f(x: Any) -> Any:
            return x + 1

        jax.jit(f)(1.0)
        return weakref.ref(f)

    alive = compiled()
    gc.collect()
    assert alive() is None

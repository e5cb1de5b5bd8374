"""IREE computes what follows from constants where that is worth a compile and a run of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.staging import lowering
from adze.runtime.compile.compiler import NO_CONSTANT_EXPRESSIONS

RANDOM = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    return RANDOM.normal(size=shape).astype(np.float32)


def is_searched(function: Callable[..., Any], *arguments: Any) -> bool:
    flags = adze.trace(function, *arguments).lower("cpu").options().extra_flags
    return NO_CONSTANT_EXPRESSIONS not in flags


def many(x: Any) -> Any:
    """Forty ops on arrays, none of constants alone, of which no long one becomes a kernel of calls."""
    for _ in range(40):
        x = anp.sqrt(abs(x)) * 0.5
    return x


def with_counters(x: Any) -> Any:
    rows, columns = anp.arange(150)[:, None], anp.arange(201)
    return anp.where(rows >= columns, x, 0) @ anp.where(anp.arange(201) == 3, 1.0, 2.0)


WEIGHTS = numbers(201, 64)
TABLE = numbers(201)


@pytest.mark.parametrize(
    "function",
    [
        many,
        with_counters,
        lambda x: many(x) + TABLE,
        lambda x: anp.where(anp.arange(201) > 100, x, anp.asarray(TABLE)),
    ],
)
def test_counters_and_tables_are_left_to_the_calls(function: Callable[..., Any]) -> None:
    x = numbers(150, 201)
    assert not is_searched(function, x)
    np.testing.assert_allclose(adze.jit(function)(x), function(anp.asarray(x)), rtol=2e-5, atol=1e-4)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 1,
        lambda x: x[0, 0] + anp.cos(anp.arange(20_000.0, dtype=np.float32)),
        lambda x: x @ anp.asarray(WEIGHTS),
        lambda x: x[0] + adze.random.uniform(adze.random.key(0), (500, 201)),
    ],
)
def test_functions_weights_and_random_numbers_are_computed_once(function: Callable[..., Any]) -> None:
    assert is_searched(function, numbers(150, 201))


def branching(x: Any, y: Any) -> Any:
    """A computation whose gradient repeats one number along the axis, once for each step."""
    z = x
    for k in range(4):
        z = anp.sin(z) * y + x * (k + 1)
        z = anp.where(z > 0, z, -z)
    return z.sum()


def test_the_program_is_the_same_where_constants_are_not_searched_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gradient, arguments = adze.grad(branching), (numbers(33), numbers(33))
    without = adze.trace(gradient, *arguments).lower("cpu")
    assert NO_CONSTANT_EXPRESSIONS in without.options().extra_flags
    monkeypatch.setattr(lowering, "computes_nothing_constant", lambda module: False)
    searched = adze.trace(gradient, *arguments).lower("cpu")
    assert NO_CONSTANT_EXPRESSIONS not in searched.options().extra_flags
    assert searched.compile(cache=False).vmfb == without.compile(cache=False).vmfb

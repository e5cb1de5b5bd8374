"""Slices that are taken before elementwise ops: values of overlapping, equal, strided and many parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp

X = np.random.default_rng(0).normal(size=(6, 16)).astype(np.float32)


def halves(x: Any) -> Any:
    y = anp.exp(x) + x
    return y[:, :8] * y[:, 8:]


def neighbours(x: Any) -> Any:
    y = anp.exp(x)
    return y[:, 1:] - y[:, :-1]


def twice(x: Any) -> Any:
    """One part, of two values of which one is used whole, too."""
    y = anp.sin(x)
    z = y * anp.cos(x)
    return y, z[2:4], z[2:4] + 1


def even_and_odd(x: Any) -> Any:
    y = anp.tanh(x * 2)
    return y[:, ::2], y[1:3, 1::2]


def many(x: Any) -> Any:
    y = anp.exp(x)
    return sum(y[:, k] * k for k in range(16))


def with_a_scalar_condition(x: Any) -> Any:
    y = anp.where(x[0, 0] > 0, x, -x)
    return y[:, 3], y[:, 5]


def nothing(x: Any) -> Any:
    return anp.exp(x)[:, 3:3], anp.exp(x)[2:2]


FUNCTIONS = (halves, neighbours, twice, even_and_odd, many, with_a_scalar_condition, nothing)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function: Callable[[Any], Any]) -> None:
    expected = adze.tree.leaves(function(anp.asarray(X)))
    for mine, other in zip(adze.tree.leaves(adze.jit(function)(X)), expected, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("function", "count"), [(halves, 2), (neighbours, 1), (many, 1)])
def test_how_often_an_exponential_is_computed(function: Callable[[Any], Any], count: int) -> None:
    """Once for each of few parts that do not overlap."""
    assert adze.trace(function, X).mlir("early-slices").count('adze.exp"') == count

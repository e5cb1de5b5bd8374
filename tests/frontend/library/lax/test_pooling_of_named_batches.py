"""Pooling of as many images as show at the call, beside the program of a known number of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp
from adze.example_libraries import stax

IMAGE = (9, 8, 3)
LOWEST = -np.inf


def windowed(*arguments: Any, **options: Any) -> Callable[[Any], Any]:
    return lambda x: lax.reduce_window(x, *arguments, **options)


def layer(make: Callable[..., Any]) -> Callable[[Any], Any]:
    _, apply = make((2, 2), strides=(2, 2))
    return lambda x: apply((), x)


POOLS: dict[str, Callable[[Any], Any]] = {
    "max": windowed(LOWEST, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "min, same": windowed(np.inf, lax.min, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
    "sum": windowed(0.0, lax.add, (1, 3, 2, 1), (1, 1, 1, 1), "VALID"),
    "product, features": windowed(1.0, lax.mul, (1, 2, 1, 3), (1, 2, 1, 1), "VALID"),
    "padded": windowed(0.0, lax.add, (1, 2, 2, 1), (1, 2, 1, 1), ((0, 0), (1, 0), (0, 2), (0, 0))),
    "dilated": windowed(LOWEST, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME", (1, 2, 1, 1), (1, 1, 3, 1)),
    "many places": windowed(0.0, lax.add, (1, 5, 4, 1), (1, 1, 1, 1), "SAME"),
    "many places, far apart": windowed(LOWEST, lax.max, (1, 4, 4, 1), (1, 4, 4, 1), "VALID"),
    "none fits": windowed(0.0, lax.add, (1, 10, 1, 1), (1, 1, 1, 1), "VALID"),
    "images": windowed(0.0, lax.add, (2, 1, 1, 1), (2, 1, 1, 1), ((1, 1), (0, 0), (0, 0), (0, 0))),
    "every second image": windowed(0.0, lax.add, (1, 2, 2, 1), (2, 2, 2, 1), "VALID"),
    "a function": windowed(LOWEST, lambda x, y: xp.logaddexp(x, y), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "max_pool": lambda x: nn.max_pool(x, 2),
    "max_pool, same": lambda x: nn.max_pool(x, 3, 2, "SAME"),
    "min_pool": lambda x: nn.min_pool(x, (2, 3), 1),
    "avg_pool": lambda x: nn.avg_pool(x, 2),
    "avg_pool, same": lambda x: nn.avg_pool(x, 3, 2, "SAME", count_include_pad=False),
    "stax.MaxPool": layer(stax.MaxPool),
    "stax.SumPool": layer(stax.SumPool),
    "stax.AvgPool": layer(stax.AvgPool),
    "patches": lambda x: lax.conv_general_dilated_patches(
        x, (2, 2), (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    ),
    "mapped": lambda x: adze.vmap(lambda each: nn.max_pool(each[None], 2)[0])(x),
}


def images(count: int) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, *IMAGE)).astype(np.float32)


def check(function: Callable[[Any], Any], counts: tuple[int, ...]) -> None:
    compiled = adze.trace(function, adze.ShapeDtype(("n", *IMAGE), np.float32)).lower().compile()
    for count in counts:
        x = images(count)
        got, wanted = np.asarray(compiled(x)), np.asarray(adze.jit(function)(x))
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", POOLS)
def test_pooling(name: str) -> None:
    check(POOLS[name], (0, 1, 5))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in POOLS if name != "none fits"])
def test_gradients(name: str) -> None:
    check(adze.grad(lambda x: (xp.sin(POOLS[name](x)) * 2).sum()), (0, 3))

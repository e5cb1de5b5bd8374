"""Pooling over axes whose sizes show at the call: as over known ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax

RNG = np.random.default_rng(2)
WINDOWS: dict[str, dict[str, Any]] = {
    "apart": {"window_dimensions": (1, 2, 2, 1), "window_strides": (1, 2, 2, 1)},
    "overlapping": {"window_dimensions": (1, 3, 2, 1), "window_strides": (1, 2, 1, 1), "padding": "VALID"},
    "same": {"window_dimensions": (1, 3, 3, 1), "padding": "SAME"},
    "dilated": {"window_dimensions": (1, 2, 3, 1), "window_dilation": (1, 3, 2, 1)},
    "large": {"window_dimensions": (1, 5, 4, 1), "window_strides": (1, 3, 2, 1)},
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_windows_have_the_elements_of_known_sizes(name: str, dtype: Any) -> None:
    def pooled(x: Any) -> Any:
        least = -np.inf if dtype == np.float32 else np.iinfo(dtype).min
        return lax.reduce_window(x, least, lax.max, **WINDOWS[name]), lax.reduce_window(
            x, 0, lax.add, **WINDOWS[name]
        )

    program = adze.trace(pooled, adze.ShapeDtype(("b", "h", "w", 3), dtype)).lower().compile()
    for shape in ((2, 13, 14, 3), (1, 5, 9, 3), (1, 1, 2, 3), (2, 3, 1, 3), (0, 7, 7, 3)):
        x = RNG.integers(-9, 9, shape).astype(dtype)
        for found, wanted in zip(program(x), adze.jit(pooled)(x), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_the_gradient_of_a_maximum_of_windows() -> None:
    def loss(x: Any) -> Any:
        pooled = lax.reduce_window(x, -np.inf, lax.max, **WINDOWS["overlapping"])
        return (pooled * pooled).sum()

    program = adze.trace(adze.grad(loss), adze.ShapeDtype(("b", "h", "w", 3), np.float32)).lower().compile()
    for shape in ((2, 13, 14, 3), (1, 3, 2, 3), (1, 2, 1, 3)):
        x = RNG.standard_normal(shape).astype(np.float32)
        np.testing.assert_allclose(program(x), adze.jit(adze.grad(loss))(x), rtol=1e-6)

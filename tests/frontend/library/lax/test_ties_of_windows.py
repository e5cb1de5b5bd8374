"""Gradients of the extrema of windows whose elements are equal: the first one takes all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp

WINDOWS: Final = (((2, 2), (2, 2)), ((3, 3), (1, 1)), ((3, 2), (2, 1)), ((4, 4), (1, 2)))
EXTREMA: Final = ((lax.max, -np.inf, np.argmax), (lax.min, np.inf, np.argmin))


def gradient(x: np.ndarray, sizes: Any, strides: Any, place: Callable[..., Any]) -> np.ndarray:
    """What each element adds to the sum of the extrema of its windows, which are not padded."""
    found = np.zeros(x.shape)
    counts = [(n - k) // s + 1 for n, k, s in zip(x.shape[1:3], sizes, strides, strict=True)]
    for b, i, j, c in np.ndindex(x.shape[0], *counts, x.shape[3]):
        row, column = i * strides[0], j * strides[1]
        window = x[b, row : row + sizes[0], column : column + sizes[1], c]
        k, m = np.unravel_index(place(window), window.shape)
        found[b, row + k, column + m, c] += 1
    return found


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize(("sizes", "strides"), WINDOWS)
def test_the_first_of_equal_elements_takes_the_derivative(sizes: Any, strides: Any, dtype: Any) -> None:
    x = np.random.default_rng(2).integers(0, 3, (2, 8, 7, 3)).astype(dtype)
    for extremum, start, place in EXTREMA:
        expected = gradient(x.astype(np.float32), sizes, strides, place)

        def windows(x: Any, extremum: Any = extremum, start: float = start) -> Any:
            initial = np.asarray(start, dtype)
            return xp.sum(lax.reduce_window(x, initial, extremum, (1, *sizes, 1), (1, *strides, 1)))

        def pool(x: Any, extremum: Any = extremum) -> Any:
            return xp.sum((nn.max_pool if extremum is lax.max else nn.min_pool)(x, sizes, strides))

        for function in (windows, pool):
            np.testing.assert_array_equal(adze.grad(function)(x).astype(np.float32), expected)


def test_ties_of_windows_along_one_axis() -> None:
    """A long window is combined from shorter ones by doubling."""
    x = np.zeros(30, np.float32)
    take = lambda x: lax.reduce_window(x, -np.inf, lax.max, (11,), (1,))  # noqa: E731
    np.testing.assert_array_equal(adze.jacrev(take)(x), np.eye(20, 30))


@pytest.mark.parametrize(("extremum", "start"), [(lax.max, -np.inf), (lax.min, np.inf), (xp.maximum, 0.0)])
def test_an_element_that_equals_the_start_takes_the_derivative(extremum: Any, start: float) -> None:
    x = np.full(4, start, np.float32)
    take = lambda x: xp.sum(lax.reduce_window(x, np.float32(start), extremum, (2,), (2,)))  # noqa: E731
    np.testing.assert_array_equal(adze.grad(take)(x), [1, 0, 1, 0])


def test_nan_of_a_window_takes_the_derivative() -> None:
    x = np.array([1, np.nan, np.nan, 3], np.float32)
    take = lambda x: lax.reduce_window(x, -np.inf, lax.max, (4,), (1,))[0]  # noqa: E731
    assert np.isnan(take(x))
    np.testing.assert_array_equal(adze.grad(take)(x), [0, 1, 0, 0])


def test_higher_derivatives_batches_and_named_sizes() -> None:
    def loss(x: Any) -> Any:
        return xp.sum(nn.max_pool(x, 2) ** 2)

    x = np.zeros((3, 4, 4, 1), np.float32)
    x[0, 1, 1], x[1, 0, 0] = 2, 5
    expected = np.zeros_like(x)
    expected[0, 1, 1], expected[1, 0, 0] = 4, 10
    compiled = adze.trace(adze.grad(loss), adze.ShapeDtype(("n", 4, 4, 1), np.float32)).lower().compile()
    np.testing.assert_array_equal(compiled(x), expected)
    np.testing.assert_array_equal(adze.vmap(adze.grad(loss))(x[:, None])[:, 0], expected)
    second = adze.jvp(adze.grad(loss), (x,), (np.ones_like(x),))[1]
    firsts = np.zeros_like(x)
    firsts[:, ::2, ::2] = 2
    firsts[0, 0, 0], firsts[0, 1, 1] = 0, 2
    np.testing.assert_array_equal(second, firsts)

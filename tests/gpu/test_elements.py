"""Scalar code on Vulkan where IREE or the device has other answers: quotients, remainders, signed zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp

from ..selection import quick_first
from .drivers import needs_vulkan

pytestmark = [pytest.mark.vulkan, needs_vulkan]


def divided(pairs: Any) -> Any:
    return [(adze.lax.div(x, y), adze.lax.rem(x, y)) for x, y in pairs]


def all_pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(values, values[values != 0])
    return x.ravel(), y.ravel()


@pytest.mark.thorough
def test_narrow_unsigned_quotients_are_exact() -> None:
    """They are computed in float32, whose quotient a device may round up."""
    pairs = [all_pairs(np.arange(256).astype(np.uint8)), all_pairs((257 * np.arange(256)).astype(np.uint16))]
    for (x, y), got in zip(pairs, adze.jit(divided, device="vulkan")(pairs), strict=True):
        for want, other in zip(np.divmod(x, y), got, strict=True):
            np.testing.assert_array_equal(want, np.asarray(other))


def test_wide_unsigned_quotients_are_exact() -> None:
    """They are computed by signed divisions of halves: of divisors with the top bit, and of both extremes."""
    pairs = []
    for dtype in (np.uint32, np.uint64):
        most, top = np.iinfo(dtype).max, 1 << (8 * np.dtype(dtype).itemsize - 1)
        edges = [0, 1, 2, 3, 7, 10, top - 1, top, top + 1, most // 3, most - 1, most]
        pairs.append(all_pairs(np.array(edges, dtype)))
    for (x, y), got in zip(pairs, adze.jit(divided, device="vulkan")(pairs), strict=True):
        for want, other in zip(np.divmod(x, y), got, strict=True):
            np.testing.assert_array_equal(want, np.asarray(other))


def test_signed_remainders_have_the_sign_of_the_dividend() -> None:
    pairs = []
    for dtype in (np.int8, np.int32, np.int64):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        pairs.append(all_pairs(np.array([least, least + 1, -7, -2, -1, 0, 1, 3, 10, most], dtype)))
    with np.errstate(over="ignore"):
        for (x, y), (_, got) in zip(pairs, adze.jit(divided, device="vulkan")(pairs), strict=True):
            np.testing.assert_array_equal(np.where(y == -1, 0, np.fmod(x, np.where(y == -1, 1, y))), got)


@pytest.mark.parametrize("dtype", quick_first([np.float32, np.float16, np.float64], 1))
def test_zeros_are_ordered_and_nan_wins(dtype: type) -> None:
    x = np.array([-np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], dtype)[:, None]
    larger, smaller = adze.jit(lambda x: (xp.maximum(x, x.T), xp.minimum(x, x.T)), device="vulkan")(x)
    is_first = (x > x.T) | ((x == x.T) & (np.signbit(x) < np.signbit(x.T)))
    is_nan = np.isnan(x) | np.isnan(x.T)
    for want, got in ((np.where(is_first, x, x.T), larger), (np.where(is_first, x.T, x), smaller)):
        np.testing.assert_array_equal(np.where(is_nan, np.nan, want), np.asarray(got))
        np.testing.assert_array_equal(np.signbit(want)[~is_nan], np.signbit(np.asarray(got))[~is_nan])

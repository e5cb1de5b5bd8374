"""Reductions on a Vulkan device, of rows that leave threads of a kernel without an element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.passes.lower.forms import reductions
from adze.passes.lower.iree.ended_loops import EndedLoops
from adze.runtime.errors import FailedCallError

from ..selection import quick_first
from .drivers import needs_vulkan

DTYPES = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32, np.float32, np.bool_)
REDUCTIONS: dict[str, Any] = {
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "prod": np.prod,
    "argmin": np.argmin,
}


def reduced(xs: Any) -> Any:
    return [getattr(xp, name)(x, axis=0) for name in REDUCTIONS for x in xs]


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.one_in(2)
@pytest.mark.parametrize("length", [24, 320, 40])
def test_elements_of_one_sign(length: int) -> None:
    """Also called twice: what one call writes is no constant of the next one."""
    compiled = adze.jit(reduced, device="vulkan")
    for sign in (-1, 1, 0):
        steps = np.arange(length) % 12 == 7
        xs = [(sign * (1 + steps)).astype(dtype) for dtype in DTYPES]
        want = [reduce(x) for reduce in REDUCTIONS.values() for x in xs]
        for one, other in zip(want, compiled(xs), strict=True):
            np.testing.assert_allclose(np.asarray(other), one.astype(np.asarray(other).dtype), rtol=1e-5)


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("dtype", quick_first([np.float32, np.float16, np.float64], 1))
def test_extrema_of_floats_see_special_values(dtype: type) -> None:
    """NaN wins wherever it lies; of zeros the positive one is greater; infinities are numbers."""
    rows = np.ones((6, 40), dtype)
    rows[0, 39] = rows[1, 0] = np.nan
    rows[2] = -np.inf
    rows[3], rows[3, 17] = -0.0, 0.0
    rows[4] = np.linspace(-3, -1, 40)
    rows[5, 7], rows[5, 30] = np.inf, -np.nan
    most, least = adze.jit(lambda x: (xp.max(x, axis=1), xp.min(x, axis=1)), device="vulkan")(rows)
    np.testing.assert_array_equal(np.max(rows, axis=1), np.asarray(most))
    np.testing.assert_array_equal(np.min(rows, axis=1), np.asarray(least))
    assert not np.signbit(np.asarray(most)[3]) and np.signbit(np.asarray(least)[3])


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
def test_iree_still_loses_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "loses_nan", lambda target, name, dtype: False)
    x = np.ones(8, np.float32)
    x[7] = np.nan
    compiled = adze.trace(xp.max, x).lower("vulkan").compile(cache=False)
    assert np.asarray(compiled(x)) == 1


def summed(x: Any) -> Any:
    return xp.sum(x, axis=1)


def scattered(places: Any, x: Any) -> Any:
    return xp.zeros(10).at[places].add(x)


def refused(compiled: Any, *arrays: np.ndarray) -> None:
    with pytest.raises(FailedCallError, match="lavapipe would leave out some of more than"):
        compiled(*arrays)


@pytest.mark.vulkan
@needs_vulkan
def test_more_elements_than_lavapipe_has_iterations_are_refused() -> None:
    x = np.ones((1, 520_001), np.float32)
    of_any = adze.trace(summed, adze.ShapeDtype((1, "n"))).lower("vulkan:lavapipe").compile()
    assert of_any(x[:, 1:]) == 520_000
    refused(of_any, x)
    assert adze.trace(summed, x).lower("vulkan:lavapipe").compile()(x) == 520_001
    refused(adze.jit(summed, device="vulkan"), np.ones((2, 70_000), np.complex64))
    refused(adze.jit(summed, device="vulkan"), np.ones((2, 70_001), np.float64))


@pytest.mark.vulkan
@needs_vulkan
def test_what_is_computed_of_sums_takes_iterations_too() -> None:
    shares = adze.trace(lambda x: x / xp.sum(x, axis=1, keepdims=True), adze.ShapeDtype((2, "n")))
    compiled, x = shares.lower("vulkan:lavapipe").compile(), np.ones((2, 400_000), np.float32)
    refused(compiled, x)
    np.testing.assert_allclose(np.asarray(compiled(x[:, :260_000])) * 260_000, 1, rtol=1e-5)


@pytest.mark.vulkan
@needs_vulkan
def test_more_updates_than_lavapipe_has_iterations_are_refused() -> None:
    places, x = np.arange(65_001, dtype=np.int32) % 10, np.ones(65_001, np.float32)
    refused(adze.jit(scattered, device="vulkan"), places, x)
    np.testing.assert_array_equal(adze.jit(scattered, device="vulkan")(places[1:], x[1:]), [6500.0] * 10)


@pytest.mark.vulkan
@needs_vulkan
def test_lavapipe_still_ends_reductions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EndedLoops, "run", lambda self, module: False)
    monkeypatch.setenv("ADZE_CACHE", "0")
    of_any = adze.trace(summed, adze.ShapeDtype((1, "n"))).lower("vulkan:lavapipe").compile()
    assert of_any(np.ones((1, 600_000), np.float32)) == 524_280

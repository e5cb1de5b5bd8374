"""Elements that are computed of few sums: all workgroups of a GPU compute them, not those of the sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.passes.lower.iree import two_index_maps

from .drivers import needs_vulkan

pytestmark = [pytest.mark.vulkan, needs_vulkan]

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "shares": lambda x: x / xp.sum(x),
    "unit vector": lambda x: x / xp.sqrt(xp.sum(x * x)),
    "standardised": lambda x: (x - xp.mean(x)) / xp.std(x),
    "softmax": adze.nn.softmax,
}


def compiled(function: Callable[[Any], Any], *sizes: int | str) -> Callable[[Any], Any]:
    return adze.trace(function, ShapeDtype(sizes)).lower("vulkan:lavapipe").compile(cache=False)


def values(*sizes: int) -> np.ndarray:
    return (np.random.default_rng(3).random(sizes) + 0.5).astype(np.float32)


def all_of(x: Any) -> dict[str, Any]:
    return {name: function(x) for name, function in FUNCTIONS.items()}


@pytest.mark.parametrize("size", [1_000_000, "n"])
def test_long_vectors_are_normalised_to_their_end(size: int | str) -> None:
    x = values(1_000_000)
    wide = x.astype(np.float64)
    scaled = np.exp(wide - wide.max())
    wanted = {
        "shares": wide / wide.sum(),
        "unit vector": wide / np.sqrt((wide * wide).sum()),
        "standardised": (wide - wide.mean()) / wide.std(),
        "softmax": scaled / scaled.sum(),
    }
    results = compiled(all_of, size)(x)
    for name, want in wanted.items():
        scale = np.abs(want).max()
        np.testing.assert_allclose(np.asarray(results[name]), want, atol=1e-5 * scale, err_msg=name)


def test_long_rows_are_normalised_to_their_end() -> None:
    x = values(2, 2_000_000)
    got = np.asarray(compiled(lambda x: x / xp.sum(x, axis=1, keepdims=True), 2, 2_000_000)(x))
    np.testing.assert_allclose(got, x / x.sum(1, keepdims=True, dtype=np.float64), rtol=1e-5)


@pytest.mark.thorough
def test_iree_still_has_one_workgroup(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs out of lavapipe's iterations."""
    monkeypatch.setattr(two_index_maps, "broadcast_sums", lambda module, reader: set())
    x = values(1_000_000)
    got = np.asarray(compiled(FUNCTIONS["shares"], 1_000_000)(x))
    is_right = np.isclose(got * x.sum(dtype=np.float64), x, rtol=1e-4)
    assert is_right.any() and not is_right.all()

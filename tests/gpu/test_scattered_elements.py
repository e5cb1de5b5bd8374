"""Scatters of elements that are slices of what was computed, on Vulkan: IREE's compiler died of them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp

from .drivers import needs_vulkan
from .test_fences import compiled_apart

pytestmark = pytest.mark.gpu

ROWS, X, PLACES = np.zeros((3, 1), np.float32), np.float32([3, 1, 2]), np.int32([2, 1, 0])
UPDATES: dict[str, Callable[[Any], Any]] = {
    "reversed": lambda x: xp.flip(x * 2)[0],
    "sorted": lambda x: xp.sort(x)[0],
    "summed": lambda x: xp.cumsum(xp.flip(x))[1],
    "taken": lambda x: x[PLACES][0],
    "rolled": lambda x: xp.roll(x, 1)[0],
    "widened": lambda x: x.astype("int32").astype("float32")[2],
}


def scattered(rows: Any, x: Any, place: Any) -> list[Any]:
    """The rows with each update put into the place, and added there."""
    changed = [rows.at[place].set(update(x)) for update in UPDATES.values()]
    return changed + [rows.at[place].add(update(x)) for update in UPDATES.values()]


@pytest.mark.parametrize("target", ["vulkan:lavapipe", "vulkan:ampere", "metal"])
def test_single_elements_are_scattered(target: str) -> None:
    script = f"""
import adze
from tests.gpu.test_scattered_elements import ROWS, X, scattered
adze.trace(scattered, ROWS, X, adze.ShapeDtype((), "int32")).lower({target!r}).compile(cache=False)
"""
    assert compiled_apart(script) == 0


@pytest.mark.vulkan
@needs_vulkan
def test_scattered_elements_are_numpys() -> None:
    got = adze.jit(scattered, device="vulkan")(ROWS, X, np.int32(1))
    assert [float(rows[1, 0]) for rows in map(np.asarray, got)] == [4, 1, 3, 2, 2, 2] * 2
    assert all(not np.asarray(rows)[[0, 2]].any() for rows in got)


@pytest.mark.thorough
def test_iree_still_dies_of_rows_of_one_element() -> None:
    script = """
import adze
from adze.passes.lower.forms import scatter
from tests.gpu.test_scattered_elements import ROWS, UPDATES, X
scatter._axes_of_rows = lambda row, columns: row
place = adze.ShapeDtype((), "int32")
traced = adze.trace(lambda rows, x, place: rows.at[place].set(UPDATES["reversed"](x)), ROWS, X, place)
traced.lower("vulkan:lavapipe").compile(cache=False)
"""
    assert compiled_apart(script) == -signal.SIGSEGV

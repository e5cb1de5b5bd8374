"""Arrays that turn out empty on a Vulkan device, whose driver binds none to a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.runtime.compile import compiler
from adze.runtime.errors import FailedCallError

from .drivers import needs_vulkan

ROWS = ShapeDtype(("n", 3))


def of_rows(x: Any) -> Any:
    """Results that are empty with their operand, and such that are not."""
    total = xp.sum(x, axis=0)
    return x + total, total, x.T @ x, xp.concatenate([x, xp.ones((2, 3), np.float32)]), x[x.shape[0] :]


@pytest.mark.vulkan
@needs_vulkan
def test_empty_arrays_are_computed_with() -> None:
    compiled = adze.trace(of_rows, ROWS).lower("vulkan").compile()
    for rows in (0, 1, 4):
        x = np.arange(3.0 * rows, dtype=np.float32).reshape(rows, 3)
        want = [x + x.sum(0), x.sum(0), x.T @ x, np.concatenate([x, np.ones((2, 3), np.float32)]), x[rows:]]
        got = compiled(x)
        for one, other in zip(want, got, strict=True):
            np.testing.assert_array_equal(one, np.asarray(other))
        again = compiled(got[4])  # a result without elements is an argument like any other
        np.testing.assert_array_equal(again[1], np.zeros(3, np.float32))


@pytest.mark.vulkan
@needs_vulkan
def test_unfenced_they_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "changes_device_calls", lambda target: False)
    monkeypatch.setenv("ADZE_CACHE", "off")
    compiled = adze.trace(lambda x: x + 1, ROWS).lower("vulkan").compile()
    with pytest.raises(FailedCallError, match="resolved to an empty buffer range"):
        compiled(np.zeros((0, 3), np.float32))

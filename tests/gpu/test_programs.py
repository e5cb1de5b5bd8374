"""Whole programs on a Vulkan device: the cases of the benchmarks at tiny sizes, as on the CPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze

from .drivers import needs_vulkan

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from _agreement import disagreement
from _case import Agreement, Case
from _peers import adze_peer
from families import FAMILIES

pytestmark = [pytest.mark.vulkan, needs_vulkan]

CASES = {
    f"{family}: {case.name}": case
    for family in ("nets", "linear_algebra", "random", "loops", "products", "irregular")
    for case in FAMILIES[family]
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CASES)
def test_a_program_computes_what_it_does_on_the_cpu(name: str) -> None:
    case: Case = CASES[name]
    arrays, peer = case.arrays(tiny=True), adze_peer()

    def function(*inner: Any) -> Any:
        return case.function(peer, *inner)

    got, want = (adze.jit(function, device=device)(*arrays) for device in ("vulkan", "cpu"))
    agreement = Agreement.CLOSE if case.agreement is Agreement.MOMENTS else case.agreement
    assert disagreement(got, want, agreement, case.tolerance) <= 1.0


def test_products_of_bfloat16_are_computed() -> None:
    """IREE refuses those of these sizes where the factors are bfloat16 themselves."""
    x, y = (np.arange(256 * 256).reshape(256, 256) % n - n // 2 for n in (7, 5))
    got = adze.jit(lambda x, y: x @ y, device="vulkan")(*(a.astype(ml_dtypes.bfloat16) for a in (x, y)))
    np.testing.assert_array_equal(np.asarray(got), (x @ y).astype(ml_dtypes.bfloat16))


def test_a_device_that_is_full_goes_on() -> None:
    kept, on_host = adze.device_put(np.full(4, 3, np.float32), "vulkan"), adze.device_put(np.ones(4), "cpu")
    with pytest.raises(MemoryError, match="cannot be copied to vulkan:0: the device has not enough memory"):
        adze.device_put(np.zeros(1 << 30, np.float32), "vulkan")
    wide = adze.jit(lambda x: x[:, None] + adze.numpy.zeros((4, 1 << 29), np.float32), device="vulkan")
    with pytest.raises(adze.AdzeError, match="the device has not enough memory"):
        wide(np.ones(4, np.float32))
    assert np.asarray(kept).tolist() == [3] * 4 and np.asarray(on_host).tolist() == [1] * 4
    assert np.asarray(adze.jit(lambda x: x + 1, device="vulkan")(kept)).tolist() == [4] * 4

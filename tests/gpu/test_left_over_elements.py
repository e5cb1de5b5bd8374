"""Reductions on CUDA of vectors that no row divides: IREE refuses one kernel for rows and the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.passes.lower.forms import reductions
from adze.runtime.targets import TargetKind


def reduced(x: Any) -> list[Any]:
    return [xp.sum(x, dtype=x.dtype), xp.max(x), xp.min(x)]


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_they_compile(dtype: type) -> None:
    assert adze.trace(reduced, ShapeDtype((20000,), dtype)).lower("cuda:sm_80").compile().vmfb


@pytest.mark.gpu
def test_positions_of_extrema_of_dynamic_sizes_compile() -> None:
    """IREE refuses the candidates and the least of them in one kernel."""
    rows = ShapeDtype(("n", "m"))
    assert adze.trace(lambda x: xp.argmax(x, axis=1), rows).lower("cuda:sm_80").compile().vmfb


def test_they_give_what_numpy_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The forms themselves, on the CPU."""

    class AsOnCuda:
        CPU = CUDA = TargetKind.CPU

    monkeypatch.setattr(reductions, "TargetKind", AsOnCuda)
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = np.random.default_rng(0).integers(-9999, 9999, 20011).astype(np.int64)
    got = adze.jit(reduced, device="cpu")(x)
    assert [int(each) for each in got] == [x.sum(), x.max(), x.min()]
    rows = ShapeDtype(("n", "m"), np.int64)
    positions = adze.trace(lambda x: xp.argmin(x, axis=1), rows).lower("cpu").compile()
    assert np.asarray(positions(x.reshape(1, -1))).tolist() == [int(x.argmin())]

"""Cumulative ops on CUDA: passes over the rows, since IREE's scan was wrong on an NVIDIA H200."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.forms import cumulative
from adze.runtime.targets import TargetKind


def running(x: Any) -> list[Any]:
    return [
        xp.cumsum(x, axis=1),
        xp.cumsum(x, axis=0),
        lax.cummax(x, axis=1, reverse=True),
        lax.cumprod(x, axis=0),
    ]


@pytest.mark.parametrize("shape", [(3, 37), (5, 64), (2, 1)])
def test_the_passes_give_what_numpy_gives(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The form itself, on the CPU."""

    class AsOnCuda:
        CUDA = TargetKind.CPU

    monkeypatch.setattr(cumulative, "TargetKind", AsOnCuda)
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = np.random.default_rng(0).standard_normal(shape)
    got = adze.jit(running, device="cpu")(x)
    want = [
        np.cumsum(x, axis=1),
        np.cumsum(x, axis=0),
        np.maximum.accumulate(x[:, ::-1], axis=1)[:, ::-1],
        np.cumprod(x, axis=0),
    ]
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=1e-12, atol=1e-13)


@pytest.mark.gpu
def test_cuda_has_no_scan() -> None:
    def text_for(target: str) -> str:
        return str(adze.trace(lambda x: xp.cumsum(x, axis=1), ShapeDtype((4, 100))).lower(target))

    assert "iree_linalg_ext.scan" in text_for("cpu")
    assert "iree_linalg_ext.scan" not in text_for("cuda:sm_80")

"""Reductions of rows on GPUs whose length no vector of lanes divides: a workgroup has a row, not a thread."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_columns import hides_length
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .drivers import needs_vulkan
from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
import ml_dtypes
lib, rng = adze.numpy, np.random.default_rng(1)
x = rng.standard_normal((5, 1001)).astype(np.float32)
halves = [x.astype(dtype) for dtype in (np.float16, ml_dtypes.bfloat16)]
whole = rng.integers(-99, -1, (3, 1001)).astype(np.int32)

def f(x, halves, whole):
    m = x.mean(1, keepdims=True)
    normalised = (x - m) / lib.sqrt(((x - m) ** 2).mean(1, keepdims=True) + 1e-5)
    loss = adze.grad(lambda x: -lib.mean(adze.nn.log_softmax(x)[:, 3]))
    extrema = [g(y, axis=1) for y in (*halves, whole) for g in (lib.max, lib.min)]
    return adze.nn.softmax(x), normalised, loss(x), [y.sum(1) for y in halves], extrema

names = ("softmax", "normalised", "loss", "sums of halves", "extrema")
for name, one, other in zip(names, *(adze.jit(f, device=d)(x, halves, whole) for d in ("cuda:0", "cpu"))):
    pairs = zip(one, other) if isinstance(one, list) else [(one, other)]
    for a, b in pairs:
        a, b = (np.asarray(each).astype(np.float64) for each in (a, b))
        relative, absolute = (1e-2, 0.2) if "halves" in name else (1e-4, 1e-6)
        if not np.allclose(a, b, rtol=relative, atol=absolute):
            said[name] = float(np.abs(a - b).max())
"""


@needs_compiler
@pytest.mark.parametrize("order", [pytest.param("reversed", marks=pytest.mark.thorough), ""])
def test_programs_on_odd_rows_are_right_on_cuda(order: str) -> None:
    variables = {"PTX_MACHINE_ORDER": order} if order else {}
    assert on_ptx_machine(MACHINE, **variables) == {}


@pytest.mark.parametrize(("target", "least"), [("cuda:sm_80", 1024), ("rocm:gfx1100", 1024)])
def test_a_workgroup_has_a_row(target: str, least: int) -> None:
    lowered = adze.trace(lambda x: xp.sum(x, axis=1), ShapeDtype((64, 50257))).lower(target)
    (kernel,) = gpu_kernels(lowered.compile(cache=False).vmfb)
    assert kernel.threads is not None and np.prod(kernel.threads) >= least


@pytest.mark.parametrize(
    ("name", "shape", "axes", "hides"),
    [
        ("cuda:sm_80", (64, 50257), (1,), True),
        ("cuda:sm_80", (64, 50240), (1,), True),  # 157 * 320: no vectors of 256 lanes
        ("cuda:sm_80", (64, 50176), (1,), False),
        ("cuda:sm_80", (1000, 1000), (1,), True),
        ("cuda:sm_80", (1000, 960), (1,), False),
        ("cuda:sm_80", (64, 500), (1,), False),
        ("cuda:sm_80", (20000, 1001), (1,), False),
        ("cuda:sm_80", (1001, 64), (0,), False),
        ("cuda:sm_80", (1001,), (0,), True),
        ("cuda:sm_80", (63,), (0,), False),
        ("vulkan:lavapipe", (4, 1000), (1,), False),
        ("vulkan:lavapipe", (4, 1001), (1,), True),
        ("cpu:x86-64-v3", (64, 50257), (1,), False),
    ],
)
def test_lengths_are_hidden_where_lanes_do_not_divide_them(
    name: str, shape: tuple[int, ...], axes: tuple[int, ...], hides: bool
) -> None:
    assert hides_length(parse_target(name), shape, axes) is hides


def shares(x: Any) -> Any:
    return xp.sum(x, axis=1), xp.max(x, axis=1), adze.nn.softmax(x)


@pytest.mark.vulkan
@needs_vulkan
def test_odd_rows_are_right_on_vulkan() -> None:
    x = np.random.default_rng(4).standard_normal((2, 100_001)).astype(np.float32)
    scaled = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    wanted = x.sum(1, dtype=np.float64), x.max(1), scaled / scaled.sum(1, keepdims=True)
    for got, want in zip(adze.jit(shares, device="vulkan")(x), wanted, strict=True):
        np.testing.assert_allclose(np.asarray(got), want, atol=1e-4 * np.abs(want).max())

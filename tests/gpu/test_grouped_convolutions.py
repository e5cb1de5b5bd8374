"""Convolutions of groups on CUDA: a product for each group, over its windows, run as C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze.passes.lower.tuning.window_forms import multiplies_groups
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
import ml_dtypes
from adze import lax
from adze.runtime.artifact.device_code.kernels import gpu_kernels

rng = np.random.default_rng(1)
dtype = np.dtype(ml_dtypes.bfloat16 if DTYPE == "bfloat16" else DTYPE)

def convolution(x, w, strides, padding, dilation, features, batches):
    return lax.conv_general_dilated(
        x, w, strides, padding, rhs_dilation=dilation, feature_group_count=features,
        batch_group_count=batches, dimension_numbers=("NHWC", "HWIO", "NHWC"))

for image, kernel, *rest in CASES:
    x, w = (rng.integers(-2, 3, shape).astype(dtype) for shape in (image, kernel))
    program = adze.jit(lambda x, w: convolution(x, w, *rest), device="cuda:0")
    got = program(x, w)
    want = convolution(x.astype(np.float64), w.astype(np.float64), *rest).astype(dtype)
    if got.shape != want.shape or not np.array_equal(np.asarray(got).astype(float), want.astype(float)):
        said[f"{image} {kernel} {rest}"] = [got.shape, want.shape]
"""
CASES: list[Any] = [
    ((2, 10, 9, 128), (3, 3, 64, 64), (1, 1), "SAME", (1, 1), 2, 1),
    ((2, 12, 17, 192), (3, 2, 64, 96), (2, 1), ((1, 2), (0, 1)), (1, 2), 3, 1),
    ((6, 9, 9, 64), (3, 3, 64, 96), (1, 1), "VALID", (1, 1), 1, 3),
]


@needs_compiler
def test_groups_give_what_numpy_gives() -> None:
    assert on_ptx_machine(f"DTYPE, CASES = 'float32', {CASES[:1]}{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_groups_give_what_numpy_gives_in_all_forms(
    dtype: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strides, dilation, odd sizes; groups of features and of images."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"DTYPE, CASES = {dtype!r}, {CASES}{MACHINE}") == {}


def test_groups_are_products_where_tiles_divide_them() -> None:
    cuda, dtype = parse_target("cuda:sm_80"), np.dtype(np.float32)
    assert multiplies_groups(cuda, (8, 32, 32, 4, 64), (3, 3), 64, dtype)
    assert not multiplies_groups(cuda, (8, 32, 32, 64, 1), (3, 3), 1, dtype)
    assert not multiplies_groups(cuda, (8, 32, 32, 4, 32), (3, 3), 32, dtype)
    assert not multiplies_groups(parse_target("cpu"), (8, 32, 32, 4, 64), (3, 3), 64, dtype)
    unknown: Any = object()
    assert not multiplies_groups(cuda, (unknown, 32, 32, 4, 64), (3, 3), 64, dtype)

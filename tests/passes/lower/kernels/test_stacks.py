"""Stacks of a few arrays along the last axis: values as NumPy's, accesses within bounds, what IREE keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.frontend.staging.kernels import KERNELS
from adze.passes.lower.kernels.stacks import BLOCK, StackKernels

from .reductions import AVX2, AVX512, VULKAN, given, run_reduction

DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int64", "bool")


def stacked(count: int) -> Callable[[Any, Any], Any]:
    def function(x: Any, y: Any) -> Any:
        lib = np if isinstance(x, np.ndarray) else xp
        several = [x, y, lib.where(x > y, x, y), x * y, y, x, x * x, y * y]
        return lib.stack(several[:count], -1)

    return function


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_values(count: int, dtype: str) -> None:
    for shape in ((4096,), (5003,), (60, 101), (3, 1, 3000)):
        x, y = (given(*shape, dtype="float32") + k for k in range(2))
        x, y = (v > 0 if dtype == "bool" else v.astype(getattr(ml_dtypes, dtype, dtype)) for v in (x, y))
        got = np.asarray(adze.jit(stacked(count))(x, y))
        want = stacked(count)(x, y)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("count", [2, 3, 5, 8])
@pytest.mark.parametrize("size", [1024, 1029, 2 * BLOCK + 5])
def test_all_accesses_are_within_bounds(size: int, count: int) -> None:
    x, y = given(size), given(size) + 1
    (got,) = run_reduction(stacked(count), x, y, passes=(StackKernels(),))
    np.testing.assert_array_equal(got.reshape(size, count), stacked(count)(x, y))


def test_what_rows_share_is_read_once() -> None:
    x, y = given(40, 70), given(40)

    def function(x: Any, y: Any) -> Any:
        lib = np if isinstance(x, np.ndarray) else xp
        return lib.stack([x * y[:, None], x + 1, y[:, None] - x], -1)

    np.testing.assert_array_equal(adze.jit(function)(x, y), function(x, y))
    (got,) = run_reduction(function, x, y, passes=(StackKernels(),))
    np.testing.assert_array_equal(got.reshape(40, 70, 3), function(x, y))


@pytest.mark.parametrize(
    ("count", "shape", "target", "is_ours"),
    [
        (3, (64, 64), AVX2, True),
        (3, (64, 64), AVX512, True),
        (3, (64, 64), VULKAN, False),
        (9, (64, 64), AVX2, False),
        (3, ("n", 64), AVX2, False),
    ],
)
def test_which_stacks_are_kernels(count: int, shape: Any, target: Any, is_ours: bool) -> None:
    def function(x: Any) -> Any:
        return xp.stack([x + k for k in range(count)], -1)

    text = adze.trace(function, adze.ShapeDtype(shape, "float32")).at_stage(KERNELS, target)
    assert ("vector.shuffle" in text) is is_ours

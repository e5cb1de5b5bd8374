"""Kernels of a few long columns, whose rows workgroups share: values as NumPy's, the same on any device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.tuning.column_tiles import FEW, MOST_PARTS, SHARED, ColumnLoops, row_parts

from .reductions import AVX2, AVX512, given


def total(x: Any) -> Any:
    return x.sum(0)


def standardized(x: Any) -> Any:
    """Three scans: a mean, a variance of what is centered, and elements."""
    centered = x - x.mean(0)
    return centered / xp.sqrt((centered**2).mean(0) + 1)


def moments(x: Any) -> Any:
    """Results of columns alone, one of each scan."""
    return x.mean(0), ((x - x.mean(0)) ** 2).mean(0)


def extremes(x: Any) -> Any:
    """Two reductions in one scan, and elements behind both."""
    return (x - x.min(0)) * x.max(0)


def weighted(x: Any) -> Any:
    """A number for each row beside the elements."""
    return (x * x[:, :1]).sum(0)


def of_images(x: Any) -> Any:
    """Several loops are summed."""
    return x.reshape(16, -1, 8, x.shape[-1]).sum((0, 1, 2))


def flags(x: Any) -> Any:
    """Bools, which are bytes in memory."""
    return (x > 7).any(0), (x > -9).all(0)


def counted(x: Any) -> Any:
    return (x > 0).sum(0)


FUNCTIONS = [total, standardized, moments, extremes, weighted, of_images, flags, counted]
ARRAYS = [("float32", (8192, 40)), ("float32", (1024, 300)), ("float64", (8192, 33)), ("int32", (16384, 21))]


@pytest.mark.parametrize(("dtype", "shape"), ARRAYS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_are_numpys_on_each_device(
    function: Callable[..., Any], dtype: str, shape: tuple[int, int]
) -> None:
    if dtype == "int32" and function in (standardized, moments):
        pytest.skip("means of integers are floats")
    x = given(*shape, dtype=dtype)
    traced = adze.trace(function, x)
    assert "@kernel_columns" in traced.lower("cpu").kernels()
    wide = x.astype(np.float64) if dtype.startswith("float") else x
    want = function(wide)
    results = [adze.jit(function, device=device)(x) for device in ("local-sync", "local-task")]
    for one, pool, expected in zip(
        *(r if isinstance(r, tuple) else (r,) for r in (*results, want)), strict=True
    ):
        np.testing.assert_array_equal(one, pool)
        np.testing.assert_allclose(one, expected, rtol=1e-4 if dtype == "float32" else 1e-12, atol=1e-6)


def test_programs_with_initializers() -> None:
    """The greatest are counted by a constant that IREE computes first, in an op without a name."""
    x = given(1000, 1000)
    traced = adze.trace(lambda x: xp.argmax(x, 0), x)
    assert "@kernel_columns" in traced.lower("cpu").kernels()
    np.testing.assert_array_equal(traced.lower().compile()(x), x.argmax(0))


def test_nan_and_infinity() -> None:
    x = given(8192, 40)
    x[0, 0], x[8191, 1], x[5000, 2] = np.nan, np.inf, -np.inf
    for function in (total, extremes):
        with np.errstate(all="ignore"):
            want = function(x)
        np.testing.assert_allclose(adze.jit(function)(x), want, rtol=1e-4)


@pytest.mark.parametrize("target", [AVX2, AVX512])
def test_number_of_kernels(target: Any) -> None:
    def kernels(function: Callable[..., Any], *shape: int) -> int:
        text = adze.trace(function, adze.ShapeDtype(shape)).lower(target.name).kernels()
        return text.count("stream.executable private @kernel_columns")

    assert kernels(standardized, 8192, 40) == 3
    assert kernels(standardized, 64, 40) == 0, "too few elements"
    assert kernels(total, 8192, 4096) == 0, "as many blocks of columns as threads need"


def test_parts_follow_from_the_sizes() -> None:
    loops = ColumnLoops(16, 4, True, 4, 1)
    assert row_parts(loops, 1, 12544, 64) == MOST_PARTS
    assert row_parts(loops, 1, 13 * 1000, 64) == 13
    assert row_parts(loops, 1, 10007, 64) == 1, "a prime number of rows"
    assert row_parts(loops, 2, 12544, 64) == 1, "groups of rows are shared already"
    assert row_parts(loops, 1, 12544, 64 * (FEW - 1) + 1) == 1
    assert row_parts(loops, 1, SHARED // 64 - 16, 64) == 1

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


def turned(x: Any, y: Any) -> Any:
    """Cross products of rows of three, in what few operations compute of them."""
    lib = np if isinstance(x, np.ndarray) else xp
    return lib.cross(x * 2 + 1, y * 3 - 1)


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(5003, 3), (40, 3), (33, 3), (7, 33, 3), (20, 2, 40, 3), (6, 5, 3), (0, 3), (1, 3)]
)
def test_columns_are_computed_where_they_are_joined(shape: tuple[int, ...], dtype: str) -> None:
    x, y = (given(*shape).astype(dtype) + np.array(k, dtype) for k in range(2))
    np.testing.assert_array_equal(adze.jit(turned)(x, y), turned(x, y))


def test_columns_that_are_computed_are_read_within_bounds() -> None:
    for shape in ((37, 3), (5, 33, 3)):
        x, y = given(*shape), given(*shape) + 1
        flat = [v.reshape(*shape[:-2], -1) for v in (x, y)]
        (got,) = run_reduction(turned, x, y, passes=(StackKernels(),), bound=flat)
        np.testing.assert_array_equal(got.reshape(shape), turned(x, y))


def several(count: int, *, is_sliced: bool = True) -> Callable[[Any], Any]:
    """As many columns of nine operations, of columns or of one vector."""
    column = lambda x, k: x[:, k % x.shape[1]] if is_sliced else x.reshape(-1) + k  # noqa: E731

    def function(x: Any) -> Any:
        columns = [column(x, k) for k in range(count)]
        return xp.stack([c * c * c - c * 3 + c * c * 5 + c * c * c * 7 - c for c in columns], -1)

    return function


def turned_itself(x: Any) -> Any:
    return turned(x, x * x + 1)


@pytest.mark.parametrize(
    ("function", "is_one"),
    [
        (turned_itself, True),
        (several(3), True),
        (several(8), True),
        (several(4, is_sliced=False), True),
        (several(8, is_sliced=False), False),
        (lambda x: xp.stack([xp.exp(x[:, 0]), xp.sin(x[:, 1])], -1), False),  # long to compute
        (lambda x: turned_itself(x) + 1, False),  # IREE fuses this
        (lambda x: (lambda z: (z, z.sum()))(turned_itself(x)), False),
        (lambda x: turned_itself(x[::-1]), False),
        (lambda x: turned_itself(x.reshape(3, -1).T), False),
        (lambda x: turned_itself(xp.cumsum(x, 0)), False),
        (lambda x: turned_itself(x[:20]), False),  # few rows
    ],
)
def test_which_columns_are_computed_where_they_are_joined(function: Any, is_one: bool) -> None:
    for target in (AVX2, AVX512):
        text = adze.trace(function, adze.ShapeDtype((30_000, 3), "float32")).at_stage(KERNELS, target)
        assert (text.count("flow.dispatch @") == 1) is is_one


def test_columns_of_many_operations_are_counted_up_to_a_limit() -> None:
    """Each of 80 steps uses the one before twice: a count of all would never end."""

    def function(x: Any) -> Any:
        y = x
        for _ in range(80):
            y = y * (y + 1)
        return xp.stack([y, x], -1), 0 * y

    x = np.linspace(-1, 0, 70_000, dtype=np.float32)
    y = x
    for _ in range(80):
        y = y * (y + 1)
    got, _ = adze.jit(function)(x)
    np.testing.assert_allclose(got, np.stack([y, x], -1), rtol=1e-4, atol=1e-6)

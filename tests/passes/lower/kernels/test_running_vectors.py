"""Running values of CPUs by vectors: values as NumPy's, accesses within bounds, named sizes, what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.passes.pipeline import lower as lower_module
from adze.runtime.targets import parse_target

from .interpreter import counts_of, run_kernel

SYMBOL = "kernel_running"
Function = Callable[..., Any]
OPS: dict[str, tuple[Function, np.ufunc]] = {
    "cumsum": (lax.cumsum, np.add),
    "cumprod": (lax.cumprod, np.multiply),
    "cummax": (lax.cummax, np.maximum),
    "cummin": (lax.cummin, np.minimum),
}
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "uint64")
SHAPES = [
    ((1,), 0),
    ((40,), 0),
    ((3, 33), 1),
    ((33, 3), 0),
    ((9, 16), 0),
    ((4, 7, 70), 1),
    ((2, 64, 1), 1),
    ((5, 0), 1),
    ((0, 5), 1),
]


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    x = np.random.default_rng(5).integers(-3, 4, shape).astype(np.float64)
    return (np.abs(x) if dtype[0] == "u" else x).astype(getattr(ml_dtypes, dtype, dtype))


def expected(name: str, x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    wide = x.astype(np.float64) if x.dtype.itemsize == 2 else x
    found = OPS[name][1].accumulate(np.flip(wide, axis) if reverse else wide, axis=axis, dtype=wide.dtype)
    with np.errstate(over="ignore"):
        return (np.flip(found, axis) if reverse else found).astype(x.dtype)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype: str) -> None:
    keys = [(*shape, name, reverse) for shape in SHAPES for name in OPS for reverse in (False, True)]
    arrays = [numbers(shape, dtype) for shape, *_ in keys]
    found = adze.jit(
        lambda *xs: [
            OPS[name][0](x, axis=axis, reverse=reverse)
            for x, (_, axis, name, reverse) in zip(xs, keys, strict=True)
        ]
    )(*arrays)
    for x, got, (_, axis, name, reverse) in zip(arrays, found, keys, strict=True):
        np.testing.assert_array_equal(got, expected(name, x, axis, reverse), err_msg=f"{name} {x.shape}")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("shape", [(2, 37), (37, 3), (5, 20), (3, 64), (3, 70), (2, 200)])
def test_all_accesses_are_within_bounds(shape: tuple[int, int], reverse: bool) -> None:
    x = numbers(shape, "float32")
    axis = 1 if shape == (2, 37) else 0
    module = adze.trace(lambda x: lax.cumsum(x, axis=axis, reverse=reverse), x).program.module
    lower_module(module, parse_target("cpu:x86-64-v4"))
    rows = x if axis else x.reshape(1, -1)
    (got,) = run_kernel(module, SYMBOL, [rows], counts_of(module, SYMBOL, []))
    np.testing.assert_array_equal(got.reshape(shape), expected("cumsum", x, axis, reverse))


def test_what_is_not_finite_reaches_what_follows_only() -> None:
    x = np.ones(40, np.float32)
    x[[5, 20]] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(adze.jit(xp.cumsum)(x), np.cumsum(x))
    np.testing.assert_array_equal(adze.jit(lax.cummax)(np.where(x > 9, np.nan, x)), [1] * 5 + [np.nan] * 35)
    zeros = np.full(20, -0.0, np.float32)
    assert np.signbit(np.asarray(adze.jit(xp.cumsum)(zeros))).all()


@pytest.mark.parametrize("target", ["cpu", "cpu:x86-64-v3"])
def test_named_sizes(target: str) -> None:
    both = adze.jit(lambda x: (xp.cumsum(x, 1), lax.cumsum(x, axis=1, reverse=True)), target=target)
    both = both.lower(adze.ShapeDtype(("b", "n", 2), "float32")).compile()
    for shape in [(1, 1, 2), (3, 21, 2), (2, 0, 2), (0, 4, 2)]:
        x = numbers(shape, "float32")
        for got, reverse in zip(both(x), (False, True), strict=True):
            np.testing.assert_array_equal(got, expected("cumsum", x, 1, reverse))


@pytest.mark.parametrize(
    ("shape", "dtype", "target", "count"),
    [
        ((5, 40), "float32", "cpu", 1),
        ((5, 40), "complex64", "cpu", 0),
        ((5, "n"), "float32", "cpu", 0),
        ((5, 40), "float32", "vulkan:ampere", 0),
    ],
)
def test_what_has_a_kernel(shape: tuple[int | str, ...], dtype: str, target: str, count: int) -> None:
    module = adze.trace(lambda x: xp.cumsum(x, 0), adze.ShapeDtype(shape, dtype)).program.module
    lower_module(module, parse_target(target))
    assert str(module).count(f"flow.dispatch @{SYMBOL}") == count

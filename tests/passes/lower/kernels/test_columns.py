"""Kernels of columns: every access within bounds, values as NumPy's, and which kernels IREE keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import nn
from adze import numpy as xp

from .reductions import AVX2, AVX512, VULKAN, given, is_loop, parts, run_reduction


def total(x: Any) -> Any:
    return x.sum(-2)


def squares(x: Any) -> Any:
    return (x * x).sum(-2)


def centered(x: Any) -> Any:
    """Elements behind a reduction, in one kernel with it."""
    return x - x.mean(-2, keepdims=True)


def moments(x: Any) -> Any:
    """A number of each column in the second scan, and two results."""
    return x.mean(-2), x.var(-2)


def normalized(x: Any) -> Any:
    """What is computed of each column once, before its elements."""
    return x / xp.sqrt(1 + (x * x).sum(-2, keepdims=True))


def extremes(x: Any) -> Any:
    """Two reductions in one scan."""
    return x.max(-2) - x.min(-2)


def weighted(x: Any) -> Any:
    """A number for each row, and one for each column, beside the elements."""
    return (x * x[..., :1] * x[..., :1, :]).sum(-2)


def neighbours(x: Any) -> Any:
    """Parts of an array."""
    return (x[..., 1:, :] * x[..., :-1, :]).max(-2)


def counted(x: Any) -> Any:
    return (x > 0).sum(-2)


def numbered(x: Any) -> Any:
    """The places of rows and columns."""
    return (x * xp.arange(x.shape[-1]) * xp.arange(x.shape[-2])[:, None]).max(-2)


def chosen(x: Any) -> Any:
    """Elements at places that are computed."""
    places = np.random.default_rng(3).permutation(x.shape[-1])
    return (x[..., places] * x).max(-2)


def reversed_products(x: Any) -> Any:
    """Rows, and elements of rows, from the other end."""
    return (x[..., ::-1, ::-1] * x).sum(-2)


def highest(x: Any) -> Any:
    return x.argmax(-2)


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    *(total, squares, centered, moments, normalized, extremes, weighted, neighbours, counted, numbered),
    *(chosen, reversed_products, highest),
)


@pytest.mark.each_value(lambda function, columns: ((function, columns > 64), columns))
@pytest.mark.parametrize("columns", [64, 67, 133, 9])
@pytest.mark.parametrize(
    "function", [total, squares, centered, moments, normalized, neighbours, reversed_products]
)
def test_all_accesses_are_within_bounds(function: Callable[[Any], Any], columns: int) -> None:
    x = given(6, 147 if columns == 9 else 21, columns)
    x = x.reshape(-1, columns) if function is reversed_products else x
    for got, want in zip(run_reduction(function, x), parts(function(x)), strict=True):
        np.testing.assert_allclose(got.reshape(np.shape(want)), want, rtol=1e-5, atol=1e-6)


def test_accesses_of_blocks_are_within_bounds() -> None:
    """Rows that are longer than a block: four of them, the last of which is short."""
    x = given(5, 3211)
    for function in (total, centered):
        (got,) = run_reduction(function, x)
        np.testing.assert_allclose(got, function(x), rtol=1e-5)


# A kernel is one algorithm for all dtypes; what differs is how many elements a vector has.
OFTEN = (np.float32, np.float64, np.int8)
RARELY = (np.int32, np.int64, np.uint8, np.uint32)


@pytest.mark.each_value(lambda shape, dtype: (dtype, (shape if dtype is np.float32 else len(shape))))
@pytest.mark.parametrize("dtype", [*OFTEN, *(pytest.param(d, marks=pytest.mark.thorough) for d in RARELY)])
@pytest.mark.parametrize("shape", [(300, 65), (7, 40, 127), (5, 3001), (2000, 5), (40, 6, 16)])
def test_values(shape: tuple[int, ...], dtype: Any) -> None:
    unsigned = np.dtype(dtype).kind == "u"
    x = abs(given(*shape)).astype(dtype) if unsigned else given(*shape, dtype=dtype)
    x = np.sign(x) if np.dtype(dtype) == np.int8 else x  # whose products are those of int64
    unsigned_ones = (total, counted, extremes)
    functions = [f for f in FUNCTIONS if not unsigned or f in unsigned_ones]

    def every(x: Any) -> Any:
        return [function(x) for function in functions]

    got = adze.jit(every)(x)
    wide = x if dtype == np.float64 else x.astype(np.float64 if np.dtype(dtype).kind == "f" else np.int64)
    for function, mine in zip(functions, got, strict=True):
        for result, want in zip(parts(mine), parts(function(wide)), strict=True):
            np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-5, err_msg=function.__name__)


@pytest.mark.parametrize("column", [0, 63, 64, 130, 132])
def test_special_numbers_reach_their_column_alone(column: int) -> None:
    x = given(133, 40).T.copy().reshape(40, 133)
    x[3, column] = np.nan
    x[5, (column + 1) % 133], x[8, (column + 2) % 133] = np.inf, -np.inf
    x[:, (column + 3) % 133] = -0.0

    def reduced(x: Any) -> Any:
        return x.max(0), x.min(0), x.sum(0), (x / 8).prod(0), (x * x).max(0), xp.any(x > 100, axis=0)

    top, bottom, sums, products, greatest, exceeds = adze.jit(reduced)(x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(top, x.max(0))
        np.testing.assert_array_equal(bottom, x.min(0))
        np.testing.assert_array_equal(sums, x.sum(0))
        np.testing.assert_allclose(products, (x / 8).prod(0), rtol=1e-5, atol=1e-30)
        np.testing.assert_array_equal(greatest, (x * x).max(0))
        np.testing.assert_array_equal(exceeds, (x > 100).any(0))


def test_rows_that_are_summed_in_several_loops() -> None:
    """Axes on both sides of one that is kept, and columns that do not lie along memory."""
    x = given(20, 30, 7, 31)

    def reduced(x: Any) -> Any:
        return (x * x).sum((0, 2)), x.max((0, 2)), x[:, :, 0].sum(0), x[..., 5].sum(1), x.sum((1, 3))

    for got, want in zip(adze.jit(reduced)(x), reduced(x), strict=True):
        np.testing.assert_array_equal(got, want)


def test_rows_of_a_table() -> None:
    """Each row that is summed is another row of a table."""
    table, places = given(50, 64), np.random.default_rng(7).integers(0, 50, (40, 12))
    keep = np.random.default_rng(6).random((50, 64)) < 0.5

    def function(table: Any, keep: Any, places: Any) -> Any:
        columns = xp.arange(64)
        bags = table[places[..., None], columns]
        return bags.sum(1), (bags * keep[places[..., None], columns]).max(1)

    for got, want in zip(adze.jit(function)(table, keep, places), function(table, keep, places), strict=True):
        np.testing.assert_array_equal(got, want)


def test_bools_in_memory() -> None:
    x = np.random.default_rng(1).random((333, 50)) < 0.5
    x[:, 3], x[:, 4] = False, True

    def reduced(x: Any) -> Any:
        most = x.sum(0, keepdims=True) > 160
        return xp.any(x, axis=0), xp.all(x, axis=0), x.sum(0), x & most

    want = x.any(0), x.all(0), x.sum(0), x & (x.sum(0, keepdims=True) > 160)
    for got, expected in zip(adze.jit(reduced)(x), want, strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "shape", [(0, 70), (70, 0), (3, 0, 64), (1, 5000), (5000, 1), (4096, 4), (4, 1, 4096)]
)
def test_no_elements_and_few(shape: tuple[int, ...]) -> None:
    x = given(*shape)
    for got, want in zip(adze.jit(lambda x: (total(x), squares(x)))(x), (total(x), squares(x)), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.each_value(lambda function, shape, named: ((function, named), shape))
@pytest.mark.parametrize("named", [("n", "m"), ("n", None), (None, "m")])
@pytest.mark.parametrize("shape", [(9, 64), (7, 133), (3, 5), (41, 9)])
@pytest.mark.parametrize("function", [total, squares, normalized])
def test_all_accesses_are_within_bounds_of_named_sizes(
    function: Callable[[Any], Any], shape: tuple[int, int], named: tuple[str | None, str | None]
) -> None:
    x = given(*shape)
    spec = tuple(name or size for name, size in zip(named, shape, strict=True))
    assert is_loop(function, *spec)
    (got,) = run_reduction(function, x, shapes=[spec])
    np.testing.assert_allclose(got.reshape(np.shape(function(x))), function(x), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.uint8, np.uint32])
def test_values_of_named_sizes(dtype: Any) -> None:
    unsigned = np.dtype(dtype).kind == "u"
    functions = [total, squares, counted]
    functions += [] if unsigned else [centered, moments, normalized]
    functions += [weighted] if np.dtype(dtype).kind == "f" else []

    def every(x: Any) -> Any:
        return [function(x) for function in functions]

    program = adze.trace(every, adze.ShapeDtype(("b", "n", "m"), dtype)).lower().compile()
    for shape in ((7, 40, 127), (2, 300, 64), (5, 1, 3), (1, 5003, 17), (0, 4, 9), (3, 5, 0), (3, 0, 9)):
        x = abs(given(*shape)).astype(dtype) if unsigned else given(*shape, dtype=dtype)
        wide = x if dtype == np.float64 else x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
        for function, mine in zip(functions, program(x), strict=True):
            if 0 in shape[1:] and function not in (total, squares, counted):
                continue  # NumPy has no mean of nothing, and no first column
            for result, want in zip(parts(mine), parts(function(wide)), strict=True):
                message = f"{function.__name__} {shape}"
                np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-4, err_msg=message)


def test_derivative_of_standardized_columns() -> None:
    x = np.random.default_rng(2).standard_normal((200, 33))

    def loss(x: Any) -> Any:
        return xp.sum(((x - x.mean(0)) / xp.sqrt(x.var(0) + 1e-6)) ** 3)

    got = np.asarray(adze.jit(adze.grad(loss))(x))
    step = 1e-6
    for place in ((0, 0), (113, 17), (199, 32)):
        above, below = x.copy(), x.copy()
        above[place] += step
        below[place] -= step
        slope = (float(loss(adze.numpy.asarray(above))) - float(loss(adze.numpy.asarray(below)))) / (2 * step)
        assert abs(got[place] - slope) < 1e-4 * max(1.0, abs(slope))


def test_which_kernels_are_loops() -> None:
    assert is_loop(total, 1000, 1000)
    assert is_loop(squares, 100, 1000, target=AVX512)
    assert is_loop(squares, 20, 100, 301)
    assert is_loop(normalized, 20, 100, 301)
    assert is_loop(squares, 2000, 10, target=AVX512)  # vectors of eight
    assert not is_loop(squares, 100, 1000, target=VULKAN)
    assert not is_loop(squares, 5000, 3)  # shorter than a vector of four: IREE joins them
    assert not is_loop(squares, 10, 64)  # too small for any gain
    assert not is_loop(squares, 100, 1000, dtype=np.complex64)
    assert is_loop(squares, 100, 1000, dtype=np.float16)
    assert not is_loop(squares, 100, 1000, dtype=np.complex128)


def test_long_elements_are_not_computed_twice() -> None:
    assert is_loop(lambda x: nn.softmax(x, axis=0), 100, 1000)  # whose exponentials are stored in between
    assert is_loop(lambda x: xp.exp(x * 2).sum(0), 100, 1000)


def test_equal_programs_are_equal_bytes() -> None:
    def built() -> bytes:
        return adze.trace(moments, adze.ShapeDtype((64, 200))).lower(AVX2).compile(cache=False).vmfb

    assert built() == built()

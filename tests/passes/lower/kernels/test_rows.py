"""Kernels of rows: every access within bounds, values as NumPy's, and which kernels IREE keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import nn
from adze import numpy as xp
from adze.dialects import mlir
from adze.frontend.staging.kernels import KERNELS
from adze.passes.lower.kernels import reduced_rows as rows
from adze.passes.lower.kernels.written_kernels import KernelWarning

from .reductions import AVX2, AVX512, VULKAN, given, is_loop, parts, run_reduction


def total(x: Any) -> Any:
    return x.sum(-1)


def squares(x: Any) -> Any:
    return (x * x).sum(-1)


def moments(x: Any) -> Any:
    """A number of the row in the second loop, and two results."""
    return x.mean(-1), x.var(-1)


def normalized(x: Any) -> Any:
    """Elements of the row after a reduction."""
    return x / (1 + abs(x).max(-1, keepdims=True))


def cosines(x: Any) -> Any:
    """Three reductions in one loop."""
    y = x[..., ::-1]
    return (x * y).sum(-1) / (1 + (x * x).sum(-1) * (y * y).sum(-1))


def beside_first(x: Any) -> Any:
    """A part of an array along its rows, and a number for each row."""
    return (x * x[..., :1, :] + x[..., :1]).sum(-1)


def greatest(x: Any) -> Any:
    return x.max(-1)


def extremes(x: Any) -> Any:
    return x.max(-1) - x.min(-1)


def counted(x: Any) -> Any:
    return (x > 0).sum(-1)


def reversed_products(x: Any) -> Any:
    """Elements at places that are computed."""
    return (x[..., ::-1] * x).sum(-1)


def ordered(x: Any) -> Any:
    """Elements at places that are read, of an array that is taken apart along two axes."""
    places = np.random.default_rng(3).permutation(x.shape[-1])
    return x[..., places].max(-1)


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    total,
    squares,
    moments,
    normalized,
    cosines,
    beside_first,
    extremes,
    counted,
    reversed_products,
    ordered,
)


@pytest.mark.each_value(lambda function, size: ((function, size == 64), size))
@pytest.mark.parametrize("size", [64, 67, 133])
@pytest.mark.parametrize("function", [total, squares, normalized, beside_first, greatest, reversed_products])
def test_all_accesses_are_within_bounds(function: Callable[[Any], Any], size: int) -> None:
    x = given(5, 17, size) if function is beside_first else given(85, size)
    bound = [x.reshape(5, -1), x] if function is beside_first else None  # as the kernel sees its column
    (got,) = run_reduction(function, x, bound=bound)
    np.testing.assert_allclose(got.reshape(np.shape(function(x))), function(x), rtol=1e-5)


@pytest.mark.each_value(lambda function, shape, named: ((function, named), shape))
@pytest.mark.parametrize("named", [("n", "m"), ("n", None), (None, "m")])
@pytest.mark.parametrize("shape", [(9, 64), (5, 133), (3, 5), (1, 300)])
@pytest.mark.parametrize("function", [total, squares, normalized, greatest])
def test_all_accesses_are_within_bounds_of_named_sizes(
    function: Callable[[Any], Any], shape: tuple[int, int], named: tuple[str | None, str | None]
) -> None:
    x = given(*shape)
    spec = tuple(name or size for name, size in zip(named, shape, strict=True))
    if not is_loop(function, *spec):
        assert spec == ("n", 5)  # shorter than two vectors
        return
    (got,) = run_reduction(function, x, shapes=[spec], bound=[x[0]] if spec[0] == 1 else None)
    np.testing.assert_allclose(got.reshape(np.shape(function(x))), function(x), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8, np.uint32])
def test_values_of_named_sizes(dtype: Any) -> None:
    unsigned = np.dtype(dtype).kind == "u"
    functions = [total, squares, counted] if unsigned else [total, squares, moments, normalized, counted]

    def every(x: Any) -> Any:
        return [function(x) for function in functions]

    program = adze.trace(every, adze.ShapeDtype(("b", "n", "m"), dtype)).lower().compile()
    for shape in ((7, 40, 127), (2, 300, 64), (5, 3, 1), (1, 1, 5003), (0, 4, 9), (3, 0, 9)):
        x = abs(given(*shape)).astype(dtype) if unsigned else given(*shape, dtype=dtype)
        wide = x if dtype == np.float64 else x.astype(np.float64 if x.dtype.kind == "f" else np.int64)
        for function, mine in zip(functions, program(x), strict=True):
            for result, want in zip(parts(mine), parts(function(wide)), strict=True):
                np.testing.assert_allclose(result, want, rtol=1e-4, err_msg=f"{function.__name__} {shape}")


def masked_means(x: Any, counts: Any) -> Any:
    """Of the first elements of each row, two of which are left out."""
    mask = xp.arange(x.shape[-1] - 2) < counts[:, None]
    return xp.where(mask, x[:, 2:], 0).sum(-1) / x.shape[-1]


def test_numbers_of_the_host_in_kernels_of_named_sizes() -> None:
    """Means divide by a size, and slices begin at a place, that show at the call."""
    specs = adze.ShapeDtype(("n", "m"), np.float32), adze.ShapeDtype(("n",), np.int32)
    program = adze.trace(masked_means, *specs)
    assert '"reduction"' not in program.at_stage(KERNELS, AVX2)
    compiled = program.lower("cpu").compile()
    for n, m in ((3, 2), (2, 3), (5, 19), (4, 133), (0, 9), (7, 64)):
        x, counts = given(n, m), np.arange(n, dtype=np.int32) * 3 - 1
        mask = np.arange(m - 2) < counts[:, None]
        want = np.where(mask, x[:, 2:], 0).sum(-1, dtype=np.float64) / m
        np.testing.assert_allclose(compiled(x, counts), want, rtol=1e-6)


@pytest.mark.parametrize("axis", [1, 2])
def test_masks_of_a_few_axes_of_named_sizes(axis: int) -> None:
    """The lengths of sequences are converted on the way, by an op that has the first axis alone."""

    def totals(x: Any, counts: Any) -> Any:
        mask = xp.arange(x.shape[axis]) < counts[:, None]
        return xp.where(xp.expand_dims(mask, 3 - axis), x, 0).sum(axis)

    specs = adze.ShapeDtype(("b", "t", "d"), np.float32), adze.ShapeDtype(("b",), np.int32)
    program = adze.trace(totals, *specs)
    assert '"reduction"' not in program.at_stage(KERNELS, AVX2)
    compiled = program.lower("cpu").compile()
    for shape in ((3, 5, 7), (4, 33, 64), (2, 0, 3), (0, 2, 2), (1, 1, 40)):
        x, counts = given(*shape), np.arange(shape[0], dtype=np.int32) * 3
        mask = np.expand_dims(np.arange(shape[axis]) < counts[:, None], 3 - axis)
        np.testing.assert_array_equal(compiled(x, counts), np.where(mask, x, 0).sum(axis))


def test_special_numbers_in_the_ends_of_rows_of_named_sizes() -> None:
    program = adze.trace(lambda x: (x.max(-1), x.sum(-1), x.min(-1)), adze.ShapeDtype(("n", "m"), np.float32))
    compiled = program.lower().compile()
    for size in (1, 7, 16, 65, 131):
        x = np.full((4, size), -3.0, np.float32)
        x[0, -1], x[1, -1], x[2, -1], x[3] = np.nan, np.inf, -np.inf, -0.0
        for got, want in zip(compiled(x), (x.max(-1), x.sum(-1), x.min(-1)), strict=True):
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got[1:3]), np.signbit(want[1:3]))


def test_sums_of_all_elements_of_named_sizes_take_no_copy() -> None:
    """Where it is not known how many rows a vector is, all of it is one row."""
    program = adze.trace(lambda x: (x * x).sum(), adze.ShapeDtype(("n", "m"), np.float32))
    assert "flow.tensor.slice" not in program.at_stage(KERNELS, AVX2)
    compiled = program.lower().compile()
    for shape in ((1, 1), (300, 700), (5, 0), (1, 100003)):
        x = given(*shape)
        assert compiled(x) == (x.astype(np.float64) ** 2).sum()


@pytest.mark.parametrize("size", [1000, 100_003, 1_000_003])
def test_long_sums_of_named_sizes_are_as_exact_as_known_ones(size: int) -> None:
    x = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    compiled = adze.trace(lambda x: x.sum(), adze.ShapeDtype(("n",), np.float32)).lower().compile()
    assert abs(float(compiled(x)) - x.sum(dtype=np.float64)) < 2e-7 * np.sqrt(size) * 4


@pytest.mark.each_value(lambda shape, dtype: (dtype, (shape, dtype is np.float32)))
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint8, np.uint32])
@pytest.mark.parametrize("shape", [(300, 65), (7, 40, 127), (3, 5000), (1, 40003)])
def test_values(shape: tuple[int, ...], dtype: Any) -> None:
    unsigned = np.dtype(dtype).kind == "u"
    x = abs(given(*shape)).astype(dtype) if unsigned else given(*shape, dtype=dtype)
    functions = [f for f in FUNCTIONS if not unsigned or f in (total, squares, counted, extremes, ordered)]

    def every(x: Any) -> Any:
        return [function(x) for function in functions]

    got = adze.jit(every)(x)
    wide = x if dtype == np.float64 else x.astype(np.float64 if np.dtype(dtype).kind == "f" else np.int64)
    for function, mine in zip(functions, got, strict=True):
        for result, want in zip(parts(mine), parts(function(wide)), strict=True):
            # The moments of integers are computed in 32 bits.
            np.testing.assert_allclose(result, want, rtol=1e-4, err_msg=function.__name__)


def test_special_numbers_reach_their_row_alone() -> None:
    x = given(40, 133)
    for number, place in enumerate([0, 63, 64, 130, 132]):
        nan, inf, less, zero = range(4 * number, 4 * number + 4)
        x[nan, place], x[inf, place], x[less, place], x[zero] = np.nan, np.inf, -np.inf, -0.0

    def reduced(x: Any) -> Any:
        return x.max(1), x.min(1), x.sum(1), (x / 8).prod(1), (x * x).max(1), xp.any(x > 100, axis=1)

    top, bottom, sums, products, greatest, exceeds = adze.jit(reduced)(x)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(top, x.max(1))
        np.testing.assert_array_equal(bottom, x.min(1))
        np.testing.assert_array_equal(sums, x.sum(1))
        np.testing.assert_allclose(products, (x / 8).prod(1), rtol=1e-5, atol=1e-30)
        np.testing.assert_array_equal(greatest, (x * x).max(1))
        np.testing.assert_array_equal(exceeds, (x > 100).any(1))


def test_rows_that_do_not_lie_along_memory() -> None:
    """Every second element, and rows along an axis that is not the last: parts of an array."""
    x = given(40, 300, 2)

    def parts_of(x: Any) -> Any:
        return x[:, :, 0].sum(1), (x[:, :, 1] * x[:, :, 0]).sum(1), x[:, ::2].max(2), x[:, 3:, 1].max(1)

    for got, want in zip(adze.jit(parts_of)(x), parts_of(x), strict=True):
        np.testing.assert_array_equal(got, want)
    y = given(300, 3, 64)
    for got, want in zip(
        adze.jit(lambda y: (y[:, 1].sum(1), y[5:, 2].max(1)))(y),
        (y[:, 1].sum(1), y[5:, 2].max(1)),
        strict=True,
    ):
        np.testing.assert_array_equal(got, want)


def test_places_beyond_the_row_of_another_array() -> None:
    """Rows of a table that the places of each row choose, and bools among what is gathered."""
    table = given(9, 50)
    keep = np.random.default_rng(6).random((9, 50)) < 0.5
    rows = np.random.default_rng(7).integers(0, 9, 300)
    columns = np.random.default_rng(8).integers(0, 50, (40, 300))

    def chosen(table: Any, keep: Any, rows: Any, columns: Any) -> Any:
        return table[rows, columns].sum(1), (keep[rows, columns] & (table[rows, columns] > 0)).sum(1)

    got = adze.jit(chosen)(table, keep, rows, columns)
    for mine, want in zip(got, chosen(table, keep, rows, columns), strict=True):
        np.testing.assert_array_equal(mine, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [4, 5, 12, 31])
def test_short_rows_of_elements_at_places(count: int, dtype: Any) -> None:
    """A sparse matrix by a vector: rows that are shorter than two vectors."""

    def products(entries: Any, places: Any, x: Any) -> Any:
        return xp.sum(entries * x[places], axis=1)

    rng = np.random.default_rng(count)
    entries, x = (rng.standard_normal(size).astype(dtype) for size in ((2000, count), 100))
    places = rng.integers(-100, 100, (2000, count), np.int32)
    (got,) = run_reduction(products, entries, places, x, bound=[x, places, entries])
    np.testing.assert_allclose(got, products(entries, places, x), rtol=1e-4, atol=1e-5)


def test_elements_of_tables_that_a_whole_row_takes() -> None:
    """An element that the place of the row chooses: behind the sum, and in each of its elements."""
    x, table = given(80, 200), given(50)
    chosen = np.random.default_rng(9).integers(0, 50, 80)
    columns = np.random.default_rng(10).integers(0, 50, (80, 200))

    def function(x: Any, table: Any, chosen: Any, columns: Any) -> Any:
        mine = table[chosen]
        centered = x - x.mean(1, keepdims=True)
        return (
            x.sum(1) + mine,
            (x * mine[:, None]).sum(1),
            (centered**2).sum(1) + x.max(1) * mine,
            (x[3][columns % 5] * x).sum(1),
        )

    expected = function(x.astype(np.float64), table, chosen, columns)
    for got, want in zip(adze.jit(function)(x, table, chosen, columns), expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


@pytest.mark.parametrize("size", [20_000, 32_768, 300_001])
def test_long_rows_are_summed_by_blocks(size: int) -> None:
    """Sums of 15,000 in a row, as of a million elements without blocks, are off by 1e-4."""
    x = np.full((3, size), 0.1, np.float32)
    x[1, -1], x[2, 17000] = 7.0, -3.0

    def reduced(x: Any) -> Any:
        return x.sum(1), x.max(1), x.min(1)

    total, top, bottom = adze.jit(reduced)(x)
    np.testing.assert_allclose(total, x.astype(np.float64).sum(1), rtol=5e-6)
    np.testing.assert_array_equal(top, x.max(1))
    np.testing.assert_array_equal(bottom, x.min(1))


def test_bools_in_memory() -> None:
    x = np.random.default_rng(1).random((50, 333)) < 0.5
    x[3], x[4] = False, True

    def reduced(x: Any) -> Any:
        most = x.sum(1, keepdims=True) > 160
        return xp.any(x, axis=1), xp.all(x, axis=1), x.sum(1), x & most

    def expected(x: Any) -> Any:
        return x.any(1), x.all(1), x.sum(1), x & (x.sum(1, keepdims=True) > 160)

    for got, want in zip(adze.jit(reduced)(x), expected(x), strict=True):
        np.testing.assert_array_equal(got, want)


def test_derivatives_of_norms() -> None:
    x = np.random.default_rng(2).standard_normal((64, 200))

    def loss(x: Any) -> Any:
        return xp.sum((x / xp.sqrt(xp.mean(x * x, axis=1, keepdims=True) + 1e-6)) ** 3)

    got = np.asarray(adze.jit(adze.grad(loss))(x))
    step = 1e-6
    for place in ((0, 0), (13, 77), (63, 199)):
        above, below = x.copy(), x.copy()
        above[place] += step
        below[place] -= step
        slope = (float(loss(adze.numpy.asarray(above))) - float(loss(adze.numpy.asarray(below)))) / (2 * step)
        assert abs(got[place] - slope) < 1e-4 * max(1.0, abs(slope))


def test_which_kernels_are_loops() -> None:
    assert is_loop(squares, 100, 1000)
    assert is_loop(squares, 100, 1000, target=AVX512)
    assert is_loop(normalized, 20, 10, 300)
    assert not is_loop(squares, 100, 1000, target=VULKAN)
    assert not is_loop(squares, 5000, 8)  # shorter than two vectors
    assert not is_loop(squares, 10, 64)  # too small for any gain
    assert not is_loop(lambda x: x @ x, 128, 128)
    assert is_loop(squares, 100, 1000, dtype=np.complex64)  # of the real and the imaginary parts
    assert not is_loop(squares, 100, 1000, dtype=np.complex128)


def shares(x: Any) -> Any:
    """Exponentials that are summed, and divided by their sum."""
    return nn.softmax(x, axis=-1)


def great_ones(x: Any) -> Any:
    """Which exponentials are greater than their mean, a result that has no room for them."""
    e = xp.exp(x)
    return e > e.mean(-1, keepdims=True)


def shares_and_counts(x: Any) -> Any:
    """Exponentials, and a bool that takes as long and is needed twice."""
    e = xp.exp(x - x.max(-1, keepdims=True))
    is_large = xp.cos(x) > 0.3
    share = e / e.sum(-1, keepdims=True)
    return share, xp.where(is_large, is_large.sum(-1, keepdims=True), -1)


@pytest.mark.each_value(lambda size, function: ((function, size == 64), size))
@pytest.mark.parametrize("function", [shares, great_ones])
@pytest.mark.parametrize("size", [64, 67, 133])
def test_accesses_to_elements_that_are_kept_are_within_bounds(function: Any, size: int) -> None:
    x = given(85, size) / 8
    (got,) = run_reduction(function, x)
    np.testing.assert_allclose(got, function(xp.asarray(x)), rtol=2e-6)


@pytest.mark.each_value
@pytest.mark.parametrize("shape", [(300, 65), (7, 40, 127), (3, 5000), (3, 13_001), (4096, 16), (0, 65)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_of_elements_that_are_kept(shape: tuple[int, ...], dtype: Any) -> None:
    x = given(*shape, dtype=dtype)
    if x.size:
        x[0, ..., 3], x[1, ..., -1], x[2, ..., 0] = np.nan, np.inf, -np.inf
    epsilon = np.finfo(dtype).eps

    def function(x: Any) -> Any:
        return shares(x), nn.log_softmax(x, axis=-1), shares_and_counts(x), great_ones(x)

    got, want = adze.jit(function)(x), function(xp.asarray(x.astype(np.float64)))
    for mine, expected in zip(adze.tree.leaves(got), adze.tree.leaves(want), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=40 * epsilon, atol=4 * epsilon)


def test_long_elements_are_kept_where_a_result_or_the_stack_has_room() -> None:
    assert is_loop(shares, 100, 50_257)
    assert is_loop(great_ones, 100, 12_288)
    assert not is_loop(great_ones, 100, 12_289)
    assert not is_loop(great_ones, 100, 12_288, dtype=np.float64)
    assert is_loop(lambda x: xp.exp(x).sum(1), 100, 1000)


def test_equal_programs_are_equal_bytes() -> None:
    def built() -> bytes:
        return adze.trace(moments, adze.ShapeDtype((64, 200))).lower(AVX2).compile(cache=False).vmfb

    assert built() == built()


def test_a_kernel_that_is_not_written_is_left_to_iree(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any) -> None:
        mlir.arith.constant(mlir.ir.IndexType.get(), 7)  # something is made before
        raise KeyError("arith.unheard_of")

    monkeypatch.setenv("ADZE_CACHE", "off")
    monkeypatch.setattr(rows.Rows, "run", fails)
    x = np.arange(120_000, dtype=np.float32).reshape(200, 600) % 7
    with pytest.warns(
        KernelWarning, match="a kernel of rows was not written, and IREE's is slower: KeyError"
    ):
        total = adze.jit(lambda x: xp.sum(x * x + x, axis=1))(x)
    np.testing.assert_allclose(np.asarray(total), (x * x + x).sum(1), rtol=1e-5)

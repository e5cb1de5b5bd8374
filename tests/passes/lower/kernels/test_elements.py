"""Kernels that take elements from elsewhere: accesses within bounds, values as NumPy's, what IREE keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import lax
from adze import numpy as xp
from adze.dialects import mlir
from adze.frontend.staging.kernels import KERNELS
from adze.passes.lower.kernels import element_kernels
from adze.passes.lower.kernels.builder import Array
from adze.passes.lower.kernels.computed_places import Affine, Places
from adze.passes.lower.kernels.executable import Kernel, Kernels, Result
from adze.passes.lower.kernels.strided_vectors import load_strided
from adze.passes.lower.kernels.written_kernels import KernelWarning
from adze.passes.lower.tuning.row_tiles import piece_of
from adze.runtime.cpu import host_cpu
from adze.runtime.targets import parse_target

from .interpreter import run_kernel
from .reductions import AVX2, AVX512, ELEMENTS, VULKAN, given, is_loop, kernels_of, run_reduction


def reversed_columns(x: Any) -> Any:
    return x[..., ::-1]


def reversed_all(x: Any) -> Any:
    return x[::-1, ::-1]


def reversed_rows(x: Any) -> Any:
    """Rows in another order, and what is computed of both."""
    return x[::-1] * 2 + x


def folded(x: Any) -> Any:
    return x + x[..., ::-1]


def thirds(x: Any) -> Any:
    return x[..., 1::3]


def quarters_reversed(x: Any) -> Any:
    return x[..., ::-4] - 1


def every_seventh(x: Any) -> Any:
    return x[..., ::7]


def two_ways(x: Any) -> Any:
    """Two results, one with elements that are reversed twice."""
    y = x[..., ::-1]
    return y * y, y[..., ::-1] + y


FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    reversed_columns,
    reversed_all,
    reversed_rows,
    folded,
    thirds,
    quarters_reversed,
    every_seventh,
)


@pytest.mark.parametrize("size", [256, 251, 301])
@pytest.mark.parametrize("function", [reversed_columns, reversed_rows, folded, thirds, quarters_reversed])
def test_all_accesses_are_within_bounds(function: Callable[[Any], Any], size: int) -> None:
    x = given(71, size)
    arrays = [x, x] if function in (folded, reversed_rows) else [x]  # IREE passes it with one axis, too
    (got,) = run_reduction(function, *arrays[:1], passes=ELEMENTS, bound=arrays)
    np.testing.assert_array_equal(got.reshape(function(x).shape), function(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int32, np.int64, np.uint16, np.bool_])
def test_values(dtype: Any) -> None:
    functions = FUNCTIONS if dtype != np.bool_ else (reversed_columns, reversed_all, thirds, every_seventh)

    def every(x: Any) -> Any:
        return [function(x) for function in functions]

    x = given(70, 301)
    x = x > 0 if dtype == np.bool_ else abs(x).astype(dtype)
    for got, want in zip(adze.jit(every)(x), every(x), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("size", [1 << 16, 100_000, 65_537, 3])
def test_one_axis(size: int) -> None:
    """Divided into equal pieces for workgroups, where the size has divisors, else into all but equal ones."""
    x = given(size)
    got = adze.jit(lambda x: (x[::-1], x[::-1] + x, x[::2]))(x)
    for mine, want in zip(got, (x[::-1], x[::-1] + x, x[::2]), strict=True):
        np.testing.assert_array_equal(mine, want)


@pytest.mark.parametrize("mode", ["clip", "fill", "promise_in_bounds"])
@pytest.mark.parametrize("width", [1, 3, 32, 100, 1030])
def test_rows_of_which_elements_are_computed(mode: str, width: int) -> None:
    """Rows from two places, beyond the ends too, times a number each."""
    table, weights = given(50, width), given(600)
    rng = np.random.default_rng(width)
    least, most = (0, 50) if mode == "promise_in_bounds" else (-70, 90)
    first, second = (rng.integers(least, most, shape, dtype=np.int32) for shape in (600, (20, 30)))

    def combined(table: Any, weights: Any, first: Any, second: Any) -> Any:
        taken = xp.asarray(table)
        rows = taken.at[first].get(mode=mode, fill_value=3) * weights[:, None]
        return (
            rows,
            rows + taken.at[second.reshape(-1)].get(mode=mode, fill_value=3),
            taken.at[second].get(mode=mode),
        )

    def taken(places: Any, fill: float) -> Any:
        places = np.where(places < 0, places + 50, places)
        rows = table[np.clip(places, 0, 49)]
        return np.where(((places >= 0) & (places < 50))[..., None], rows, fill) if mode == "fill" else rows

    rows = taken(first, 3) * weights[:, None]
    want = rows, rows + taken(second.reshape(-1), 3), taken(second, np.nan)
    for mine, other in zip(adze.jit(combined)(table, weights, first, second), want, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float64", "complex64"])
def test_dtypes_of_rows_of_which_elements_are_computed(dtype: str) -> None:
    table = (given(40, 130) * 20).astype(dtype)
    places = np.random.default_rng(0).integers(0, 40, (2, 500))
    got = adze.jit(lambda table, places: xp.where(table[places[0]] == table[places[1]], table[places[0]], 0))
    want = np.where(table[places[0]] == table[places[1]], table[places[0]], np.zeros((), dtype))
    np.testing.assert_array_equal(got(table, places), want)


def columns_of_points(x: Any) -> Any:
    """Coordinates side by side, in one axis, and of more axes."""
    flat, boxes = x.reshape(-1), x.reshape(4, -1, x.shape[-1])
    lengths = x[:, 0] * x[:, 0] + x[:, 1] * x[:, 1]
    return x[:, -1] + x[:, 0], lengths, flat[:: x.shape[1]] - flat[1 :: x.shape[1]], boxes[..., 1] * 2


@pytest.mark.parametrize("count", [4, 1000, 10_000, 65_540, 99_996])
@pytest.mark.parametrize("width", [2, 3, 4, 5])
def test_columns_of_narrow_rows(count: int, width: int) -> None:
    x = given(count, width)
    for got, want in zip(adze.jit(columns_of_points)(x), columns_of_points(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64"])
def test_dtypes_of_columns(dtype: str) -> None:
    x = (given(20_000, 3) * 50).astype(dtype)
    got = adze.jit(lambda x: [x[:, k] for k in range(3)])(x)
    for k in range(3):
        np.testing.assert_array_equal(got[k], x[:, k])


@pytest.mark.parametrize("width", [2, 3, 4])
def test_columns_are_read_within_bounds(width: int) -> None:
    x = given(20_000, width)
    pieces = x.reshape(-1, width * (piece_of(20_000) or 20_000))  # as the kernel sees it
    (got,) = run_reduction(lambda x: x[:, 0] - x[:, -1], x, passes=ELEMENTS, bound=[pieces])
    np.testing.assert_array_equal(got.reshape(-1), x[:, 0] - x[:, -1])


def parts_of_columns(x: Any) -> Any:
    """Columns of wide rows, of short ones of several axes, and of some of the rows."""
    lib = np if isinstance(x, np.ndarray) else xp
    return (
        x[..., 0] * x[..., -1] - 3,
        x[..., 1:, 0] + x[..., :-1, 0],
        x[..., ::2, 1] * 2,
        x[..., 3:, -1].sum(-1),
        lib.maximum(x[..., 0], x[..., 1]).max(-1),
        x[..., 5:17, 1] + x[..., 0, :1],
        x[..., ::-1, 0],
    )


@pytest.mark.parametrize("dtype", ["int8", "int32", "float32", "float64", "complex64"])
@pytest.mark.parametrize(
    "shape", [(16, 2), (20, 3), (301, 7), (40, 19, 5), (3, 1, 24, 70), (0, 20, 3), (17, 1, 2)]
)
def test_columns_of_some_rows(shape: tuple[int, ...], dtype: str) -> None:
    x = given(*shape).astype(dtype)
    got = adze.jit(lambda x: parts_of_columns(x.real if dtype == "complex64" else x))(x)
    for each, want in zip(got, parts_of_columns(x.real if dtype == "complex64" else x), strict=True):
        np.testing.assert_array_equal(np.asarray(each).astype(want.dtype), want)


def test_a_long_row_without_divisors_is_read_within_bounds() -> None:
    size = 16_411  # a prime
    pairs = given(size, 5)
    for function, x, seen in (
        (lambda x: x[::-1] * 2, given(size), None),
        (folded, given(size), None),
        (lambda x: x[::3] + 1, given(3 * size - 2), None),
        (lambda x: x[1:, 0] - x[:-1, 0], pairs, pairs.reshape(-1)),
    ):
        (got,) = run_reduction(function, x, passes=ELEMENTS, bound=[x if seen is None else seen])
        np.testing.assert_array_equal(got, function(x))


@pytest.mark.parametrize("target", [AVX2, AVX512], ids=["avx2", "avx512"])
def test_columns_of_short_and_of_wide_rows_have_kernels(target: Any) -> None:
    for shape in ((200, 250, 2), (50_000, 5), (300, 40, 7)):
        assert is_loop(lambda x: x[..., 0] * x[..., 1] + 1, *shape, target=target), shape
    assert is_loop(lambda x: x[..., 1:, 0] - x[..., :-1, 0], 200, 250, 2, target=target)
    assert not is_loop(lambda x: x[..., 0] * x[..., 1] + 1, 300, 4, 7, target=target)  # too few rows


def test_columns_of_short_rows_are_read_within_bounds() -> None:
    x = given(5, 1003, 3)
    flat = x.reshape(5, -1)  # as the kernel sees it
    for function in (lambda x: x[..., 0] * x[..., 2] - x[..., 1], lambda x: x[:, 4:, 2] - x[:, :-4, 0] * 2):
        (got,) = run_reduction(function, x, passes=ELEMENTS, bound=[flat])
        np.testing.assert_array_equal(got, function(x))


def test_three_axes_that_are_one_for_iree() -> None:
    x = given(6, 40, 130)

    def turned(x: Any) -> Any:
        return x[::-1, :, ::-1] + x[:, ::-1, ::-1] * 2, x[:, ::-1, ::3]

    for got, want in zip(adze.jit(turned)(x), turned(x), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("mode", "dtype"), [("clip", "float32"), ("fill", "float64"), ("fill", "int32")])
def test_gathered_elements(mode: str, dtype: str) -> None:
    """Places that are read, beyond the ends too: of columns, of rows and columns, along an axis, counted."""
    x = (given(90, 133) * 100).astype(dtype)
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(-120, 120, 70, dtype=np.int32), rng.integers(-150, 150, 91)
    places = rng.integers(-133, 133, (90, 65), dtype=np.int16)

    def gathered(x: Any, rows: Any, columns: Any, places: Any) -> Any:
        crossed = x.at[rows[:, None], columns].get(mode=mode, fill_value=7)
        counted = x.at[:, xp.arange(132, -1, -1)].get(mode=mode, fill_value=7)
        return (
            crossed,
            x.at[:, columns].get(mode=mode, fill_value=7),
            xp.take_along_axis(x, places, 1),
            counted,
        )

    def wanted(table: np.ndarray, *at: np.ndarray) -> np.ndarray:
        found = [np.where(i < 0, i + n, i) for i, n in zip(at, table.shape, strict=True)]
        inside = np.all([(i >= 0) & (i < n) for i, n in zip(found, table.shape, strict=True)], axis=0)
        values = table[tuple(np.clip(i, 0, n - 1) for i, n in zip(found, table.shape, strict=True))]
        return values if mode == "clip" else np.where(inside, values, 7)

    crossed, of_columns, along, counted = adze.jit(gathered)(x, rows, columns, places)
    np.testing.assert_array_equal(crossed, wanted(x, *np.broadcast_arrays(rows[:, None], columns)))
    np.testing.assert_array_equal(
        of_columns, wanted(x, *np.broadcast_arrays(np.arange(90)[:, None], columns))
    )
    np.testing.assert_array_equal(along, np.take_along_axis(x, places.astype(np.int64), 1))
    np.testing.assert_array_equal(counted, x[:, ::-1])


def test_derivatives_of_gathers_by_rows_and_columns() -> None:
    """The transposed scatter reads the same index vectors, which are no arrays for the gather."""
    x, rows, columns = given(80, 90), np.arange(79, 0, -2), np.arange(0, 90, 3)
    weights = given(len(rows), len(columns))
    got = adze.jit(adze.grad(lambda x: (x[rows[:, None], columns] * weights).sum()))(x)
    want = np.zeros_like(x)
    want[rows[:, None], columns] = weights
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 7), (1, 9000)])
def test_few_elements(shape: tuple[int, int]) -> None:
    x = given(*shape)
    got = adze.jit(lambda x: [function(x) for function in FUNCTIONS])(x)
    for mine, function in zip(got, FUNCTIONS, strict=True):
        np.testing.assert_array_equal(mine, function(x))


def test_sizes_that_are_known_when_the_program_runs() -> None:
    jitted = adze.jit(lambda x: (x[:, ::-1], x[:, ::3]))
    traced = adze.trace(lambda x: (x[:, ::-1], x[:, ::3]), adze.ShapeDtype(("n", 200)))
    for rows in (1, 61):
        x = given(rows, 200)
        for got in (jitted(x), traced.lower("cpu").compile()(x)):
            np.testing.assert_array_equal(got[0], x[:, ::-1])
            np.testing.assert_array_equal(got[1], x[:, ::3])


NAMED: tuple[tuple[Callable[[Any], Any], tuple[int | str, ...]], ...] = (
    (folded, ("n", 256)),
    (folded, ("n", "m")),
    (folded, ("b", "n", "m")),
    (reversed_columns, ("n", "m")),
    (reversed_all, ("n", "m")),
    (reversed_rows, ("n", "m")),
    (folded, ("n",)),
    (lambda x: x[..., ::3], (40, "m")),
)


@pytest.mark.parametrize("size", [5, 16, 133])
@pytest.mark.parametrize("case", range(len(NAMED) - 1))
def test_all_accesses_are_within_bounds_of_named_sizes(case: int, size: int) -> None:
    function, spec = NAMED[case]
    if not is_loop(function, *spec):
        raise AssertionError(f"{function.__name__} {spec} is IREE's")
    rows = {"b": 2, "n": size if len(spec) == 1 else 3, "m": size}
    x = given(*(n if isinstance(n, int) else rows[n] for n in spec))
    takes_two = function in (folded, reversed_rows)  # IREE passes it with one axis, too
    bound = [x, x] if takes_two and len(spec) > 1 else [x]
    (got,) = run_reduction(function, x, passes=ELEMENTS, bound=bound, shapes=[spec])
    np.testing.assert_array_equal(got.reshape(function(x).shape), function(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, np.float16, np.bool_])
@pytest.mark.parametrize("case", range(len(NAMED)))
def test_values_of_named_sizes(case: int, dtype: Any) -> None:
    """Also of no elements, and of fewer than a vector has."""
    function, spec = NAMED[case]
    if dtype == np.bool_ and function is not reversed_all:
        return
    program = adze.trace(function, adze.ShapeDtype(spec, dtype)).lower("cpu").compile()
    for b, n, m in (
        (2, 3, 5),
        (1, 0, 3),
        (2, 3, 0),
        (0, 2, 2),
        (1, 1, 1),
        (2, 4, 16),
        (1, 70, 301),
        (3, 9, 64),
    ):
        sizes = {"b": b, "n": n, "m": m}
        x = given(*(size if isinstance(size, int) else sizes[size] for size in spec), dtype=dtype)
        np.testing.assert_array_equal(program(x), function(x), err_msg=str(x.shape))


def plain(x: Any) -> Any:
    return x * x.dtype.type(3) + x.dtype.type(1)


@pytest.mark.parametrize("spec", [("n",), ("n", "m"), ("n", 24), ("b", "n", 3), (4, "m")])
def test_elements_of_a_named_number_are_read_within_bounds(spec: tuple[int | str, ...]) -> None:
    """No element is taken from elsewhere: the loops alone are counted at the call."""
    assert is_loop(plain, *spec)
    for n, m in ((1, 1), (3, 16), (133, 37), (2, 64)):
        x = given(*({"b": 2, "n": n, "m": m}.get(str(size), size) for size in spec))
        (got,) = run_reduction(plain, x, passes=ELEMENTS, bound=[x.reshape(-1)], shapes=[spec])
        np.testing.assert_array_equal(got.reshape(x.shape), plain(x), err_msg=str(x.shape))


def several(x: Any, y: Any) -> Any:
    """Results of other dtypes, rows and columns that repeat, and a number for all."""
    both = x[:, None] * y
    return (
        both,
        both > 1,
        (both + x[:, None]).astype(np.float32),
        xp.where(both > y, y, both),
        y - y.dtype.type(1),
    )


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64"]
)
def test_results_of_named_sizes_are_those_of_known_sizes(dtype: str) -> None:
    type_ = np.dtype(getattr(ml_dtypes, dtype, dtype))
    named = adze.trace(several, adze.ShapeDtype(("n",), type_), adze.ShapeDtype(("m",), type_))
    program = named.lower("cpu").compile()
    rng = np.random.default_rng(2)
    for n, m in ((1, 1), (3, 70), (0, 5), (5, 0), (64, 33), (7, 4096)):
        x, y = (rng.integers(0, 5, size).astype(type_) for size in (n, m))
        for got, want in zip(program(x, y), adze.jit(several)(x, y), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"{n} {m}")


def test_functions_of_a_named_number_of_elements_are_those_of_known_ones() -> None:
    def functions(x: Any) -> Any:
        return xp.tanh(x) + xp.exp(x), xp.sin(x * 100), x**0.3, xp.log1p(xp.abs(x)), xp.floor(x), -x

    program = adze.trace(functions, adze.ShapeDtype(("n", 5), np.float32)).lower("cpu").compile()
    special = np.float32([np.nan, np.inf, -np.inf, 0.0, -0.0, 88.7, -104.0, 1e-38, 3e38, 0.5])
    for rows in (0, 2, 13, 4000):
        x = np.resize(np.concatenate([special, given(31)]), (rows, 5)).astype(np.float32)
        for got, want in zip(program(x), adze.jit(functions)(x), strict=True):
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


def test_rows_that_a_named_number_of_places_takes_are_computed_with() -> None:
    """Rows of known length: copied first by IREE, they would be gone through twice."""

    def scaled(table: Any, places: Any, weights: Any) -> Any:
        return table[places] * weights[..., None] + 1

    specs = [adze.ShapeDtype((50, 24)), adze.ShapeDtype(("b", "s"), np.int64), adze.ShapeDtype(("b", "s"))]
    text = adze.trace(scaled, *specs).at_stage(KERNELS, AVX2)
    assert "iree_linalg_ext.gather" not in text
    program = adze.trace(scaled, *specs).lower("cpu").compile()
    rng = np.random.default_rng(0)
    table = given(50, 24)
    for b, s in ((1, 1), (3, 70), (0, 4), (2, 0)):
        places, weights = rng.integers(-50, 50, (b, s)), rng.integers(0, 9, (b, s)).astype(np.float32)
        np.testing.assert_array_equal(program(table, places, weights), scaled(table, places, weights))


COLUMNS: tuple[tuple[Callable[[Any], Any], tuple[int | str, ...]], ...] = (
    (lambda x: x[:, 0] * x[:, 3] + 1, ("n", 5)),
    (lambda x: abs(x[:, 2] - x[:, 0]), ("n", 3)),
    (lambda x: x[..., 1] - x[..., 0], ("b", "n", 2)),
)


@pytest.mark.parametrize("case", range(len(COLUMNS)))
def test_columns_of_rows_of_a_named_number_are_read_within_bounds(case: int) -> None:
    function, spec = COLUMNS[case]
    for size in (2, 17, 133):
        x = given(*({"b": 3, "n": size}.get(str(n), n) for n in spec))
        flat = x.reshape(-1 if len(spec) == 2 else 3, *(() if len(spec) == 2 else (-1,)))
        (got,) = run_reduction(function, x, passes=ELEMENTS, bound=[flat], shapes=[spec])
        np.testing.assert_array_equal(got.reshape(function(x).shape), function(x))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64", "complex64"])
def test_dtypes_of_columns_of_rows_of_a_named_number(dtype: str) -> None:
    """Also of no rows, and of fewer than a vector has."""

    def every(x: Any) -> list[Any]:
        return [x[..., 1], x[::-1, 2], x[1:, 0], (x[:, 2] != x[:, 0]).sum()]

    program = adze.trace(every, adze.ShapeDtype(("n", 3), dtype)).lower("cpu").compile()
    for size in (0, 1, 2, 16, 70, 1001):
        x = given(size, 3).astype(dtype)
        for got, wanted in zip(program(x), every(x), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_a_long_row_of_named_length_is_shared_by_workgroups() -> None:
    program = adze.trace(folded, adze.ShapeDtype(("n",), np.float32)).lower("cpu").compile()
    for size in (1 << 15, 65_537, 1_000_003):
        x = given(size)
        np.testing.assert_array_equal(program(x), folded(x))


def test_special_numbers_at_computed_places_of_named_sizes() -> None:
    program = adze.trace(reversed_columns, adze.ShapeDtype(("n", "m"), np.float32)).lower("cpu").compile()
    for size in (3, 17, 64):
        x = np.full((2, size), -0.0, np.float32)
        x[0, 0], x[1, -1], x[1, 0] = np.nan, np.inf, -np.inf
        np.testing.assert_array_equal(program(x), x[:, ::-1])
        np.testing.assert_array_equal(np.signbit(program(x)), np.signbit(x[:, ::-1]))


def taken_along(x: Any, i: Any) -> Any:
    return xp.take_along_axis(x, i, 1)


def taken_columns(x: Any, i: Any) -> Any:
    return x[:, i[0]] * x.dtype.type(2)


def taken_rows(x: Any, i: Any) -> Any:
    return x[i]


def taken_of_all(x: Any, i: Any) -> Any:
    return x.ravel()[i] - x.dtype.type(1)


TAKEN: tuple[tuple[Callable[..., Any], tuple[tuple[int | str, ...], ...]], ...] = (
    (taken_along, (("n", "m"), ("n", "k"))),
    (taken_columns, (("n", "m"), (1, "k"))),
    (taken_rows, (("n", "m"), ("b", "k"))),
    (taken_of_all, (("n", "m"), ("b", "k"))),
)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("case", range(len(TAKEN)))
def test_elements_at_places_that_are_read_of_named_sizes(case: int, dtype: str) -> None:
    """Negative ones count from the end, whose place shows at the call."""
    function, specs = TAKEN[case]
    dtypes = np.dtype(dtype), np.dtype(np.int32)
    named = [adze.ShapeDtype(spec, type_) for spec, type_ in zip(specs, dtypes, strict=True)]
    program = adze.trace(function, *named).lower("cpu").compile()
    rng = np.random.default_rng(0)
    for n, m, k, b in ((3, 5, 2, 2), (2, 1, 0, 1), (1, 70, 133, 3), (9, 40, 64, 0), (33, 17, 16, 4)):
        x = given(n, m, dtype=dtypes[0])
        rows = {"n": n, "b": b}.get(str(specs[1][0]), 1)
        end = {2: n, 3: n * m}.get(case, m)
        places = rng.integers(-end, end, (rows, k), np.int32)
        np.testing.assert_array_equal(
            program(x, places), function(x, places), err_msg=f"{x.shape} {places.shape}"
        )


def test_which_kernels_of_named_sizes_are_written() -> None:
    for function, specs in TAKEN[:3]:
        specs_ = [adze.ShapeDtype(spec, d) for spec, d in zip(specs, (np.float32, np.int32), strict=True)]
        text = adze.trace(function, *specs_).at_stage(KERNELS, AVX512)
        assert "tensor.extract" not in text
        assert "iree_linalg_ext.gather" not in text


def test_which_kernels_are_written() -> None:
    for target in (AVX2, AVX512):
        for function in (reversed_columns, folded, thirds, two_ways):
            assert is_loop(function, 100, 200, target=target), function.__name__
    assert is_loop(lambda x: x[::-1], 100_000)
    assert is_loop(lambda x: x[::-1], 65_537)  # a prime
    assert is_loop(lambda x: xp.where(xp.arange(200) < x[:, :1], x, 0), 100, 200)
    assert not is_loop(lambda x: x + 1, 100, 200)
    assert not is_loop(reversed_columns, 100, 200, target=VULKAN)
    assert not is_loop(reversed_columns, 100, 200, dtype=np.complex64)


def along_columns(x: Any, places: Any) -> Any:
    return xp.take_along_axis(x, places, 1)


@pytest.mark.parametrize(
    ("target", "dtype", "is_gathered"),
    [
        ("cpu:skylake-avx512", "float32", True),
        ("cpu:skylake-avx512", "float16", False),
        ("cpu:znver4", "float32", False),  # slower than loads there
        ("cpu:x86-64-v4", "float32", False),
        ("cpu:x86-64-v3", "float32", False),
    ],
)
def test_which_elements_are_gathered_by_the_processor(target: str, dtype: str, is_gathered: bool) -> None:
    places = np.random.default_rng(0).integers(0, 133, (900, 65), np.int32)
    x = given(900, 133).astype(dtype)
    text = str(kernels_of(along_columns, x, places, target=parse_target(target), passes=ELEMENTS))
    assert ("llvm.intr.masked.gather" in text) == is_gathered


@pytest.mark.parametrize("target", ["cpu:skylake-avx512", "cpu:x86-64-v4", "cpu:x86-64-v3"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_elements_are_the_same_gathered_or_loaded(target: str, dtype: Any) -> None:
    if host_cpu().missing(parse_target(target).required_features):
        pytest.skip("this processor lacks something of the target's")
    x = given(90, 133).astype(dtype)
    places = np.random.default_rng(1).integers(-140, 140, (90, 65), np.int32)
    program = adze.trace(along_columns, x, places).lower(target).compile()
    inside = np.where(places < 0, places + 133, places)
    is_inside = (inside >= 0) & (inside < 133)
    got = np.asarray(program(x, places))
    want = np.take_along_axis(x, np.where(is_inside, inside, 0), 1)
    np.testing.assert_array_equal(got[is_inside], want[is_inside])


def test_kernels_that_cannot_be_written_stay_with_iree(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ValueError("no such code")

    monkeypatch.setattr(element_kernels, "Rows", fail)
    monkeypatch.setenv("ADZE_CACHE", "off")
    x = given(100, 200)
    with pytest.warns(KernelWarning, match="a kernel of elements was not written"):
        got = adze.jit(reversed_columns)(x)
    np.testing.assert_array_equal(got, x[:, ::-1])


# -- vectors of elements at equal distances --------------------------------------------------------


def loaded(x: np.ndarray, width: int, load: Callable[[Array], Any]) -> np.ndarray:
    """What a kernel loads of an array, every access of which is checked."""

    def emit(given: Any, written: Any) -> None:
        Array(written[0])[0] = load(Array(given[0]))

    with mlir.new_context() as context, mlir.ir.Location.unknown(context):
        mlir.load_dialects(context)
        f32 = mlir.ir.F32Type.get()
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            type_ = mlir.ir.FunctionType.get([mlir.ir.RankedTensorType.get([len(x)], f32)], [])
            function = mlir.func.FuncOp("f", type_)
            with mlir.ir.InsertionPoint(function.add_entry_block()):
                kernel = Kernel("load", (Result(mlir.ir.RankedTensorType.get([width], f32)),), emit)
                Kernels(module).call(kernel, list(function.arguments))
                mlir.func.ReturnOp([])
        (got,) = run_kernel(module, "kernel_load", [x], (1, 1, 1))
    return got


@pytest.mark.parametrize("width", [4, 8])
@pytest.mark.parametrize("step", [-5, -4, -3, -2, -1, 1, 2, 3, 4, 5])
def test_strided_vectors(step: int, width: int) -> None:
    """Every count up to the width, with nothing beyond the first and the last element."""
    for count in range(1, width + 1):
        size = abs(step) * (count - 1) + 1
        x = np.arange(1, size + 1, dtype=np.float32)
        first = size - 1 if step < 0 else 0
        got = loaded(
            x, width, lambda array, count=count, first=first: load_strided(array, width, count, step, first)
        )
        np.testing.assert_array_equal(got[:count], x[first::step])


@pytest.mark.parametrize("width", [4, 8, 16])
@pytest.mark.parametrize("step", [2, 3, 4, 5])
def test_columns_of_a_block_are_taken_from_the_same_vectors(step: int, width: int) -> None:
    """Every column, with nothing beyond the block of all of them."""
    x = np.arange(1, step * width + 1, dtype=np.float32)
    for column in range(step):
        got = loaded(x, width, lambda array, c=column: load_strided(array, width, width, step, c, before=c))
        np.testing.assert_array_equal(got, x[column::step])


# -- places ----------------------------------------------------------------------------------------

CODE = """
func.func @f(%t: tensor<7xf32>, %u: index) {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c30 = arith.constant 30 : index
  %c400 = arith.constant 400 : index
  %w0 = arith.constant 0 : i64
  %w399 = arith.constant 399 : i64
  %e = tensor.empty() : tensor<2x12000xf32>
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}} outs(%e : tensor<2x12000xf32>) {{
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      {}
      linalg.yield %z : f32
  }} -> tensor<2x12000xf32>
  return
}}
"""


@pytest.mark.parametrize(
    "lines, constant, factors",
    [
        ("%v = arith.remsi %j, %c400 : index", 0, {2: 1}),
        ("%v = arith.divsi %j, %c400 : index", 0, {1: 1}),
        ("%q = arith.divui %j, %c2 : index\n%v = arith.muli %q, %c2 : index", None, {}),
        ("%m = arith.muli %j, %c2 : index\n%v = arith.subi %c30, %m : index", 30, {1: -800, 2: -2}),
        ("%v = arith.muli %i, %j : index", None, {}),
        ("%v = arith.addi %i, %u : index", None, {}),
        ("%v = arith.maxsi %i, %c2 : index", 2, {}),
        ("%v = arith.minsi %j, %c400 : index", None, {}),
        ("%s = arith.subi %c0, %i : index\n%v = arith.divsi %s, %c2 : index", None, {}),
        ("%s = arith.subi %c0, %i : index\n%v = arith.maxui %s, %c2 : index", None, {}),
        (
            "%r0 = arith.remsi %j, %c400 : index\n%k = arith.index_cast %r0 : index to i64\n"
            "%b = arith.subi %w399, %k : i64\n%n = arith.cmpi slt, %b, %w0 : i64\n"
            "%p = arith.addi %b, %w399 : i64\n%s = arith.select %n, %p, %b : i64\n"
            "%m = arith.minsi %s, %w399 : i64\n%x = arith.maxsi %m, %w0 : i64\n"
            "%v = arith.index_castui %x : i64 to index",
            399,
            {2: -1},
        ),
        ("%n = arith.cmpi ult, %i, %c0 : index\n%v = arith.select %n, %c30, %c2 : index", 2, {}),
        ("%n = arith.cmpi eq, %i, %j : index\n%v = arith.select %n, %c30, %c2 : index", None, {}),
        ("%n = arith.cmpi ne, %i, %c30 : index\n%v = arith.select %n, %c30, %c2 : index", 30, {}),
        ("%v = arith.index_cast %j : index to i8", None, {}),
        ("%v = arith.index_cast %i : index to i8", 0, {0: 1}),
    ],
)
def test_places(lines: str, constant: int | None, factors: dict[int, int]) -> None:
    """Of loops of 2, and of 30 times 400 that are one; None where a number is no sum of multiples."""
    with mlir.new_context() as context, mlir.ir.Location.unknown(context):
        module = mlir.ir.Module.parse(CODE.format(lines))
        function = module.body.operations[0].operation.regions[0].blocks[0]
        (generic,) = (o.operation for o in function.operations if o.operation.name == "linalg.generic")
        *_, last, _ = generic.regions[0].blocks[0].operations
        found = Places((2, 30, 400), ((0,), (1, 2))).of(last.operation.results[0], {})
        assert found == (None if constant is None else Affine(constant, factors))


def test_a_loop_that_reverses_in_each_step() -> None:
    """Within a loop of the host, whose steps are programs of their own."""
    x = given(300, 400)
    got = adze.jit(lambda x: lax.fori_loop(0, 3, lambda _, a: a[:, ::-1] + x, x))(x)
    want = x
    for _ in range(3):
        want = want[:, ::-1] + x
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_places_of_named_sizes_as_floats(dtype: Any) -> None:
    """Where floats no longer have all integers, they are rounded as NumPy rounds them."""
    first = 2**24 - 9 if dtype == np.float32 else 2**53 - 9 if dtype == np.float64 else 2030

    def places(p: Any, x: Any) -> Any:
        forward = (p.arange(x.shape[0]) + first).astype(dtype)
        return forward, ((x.shape[0] - 2 * p.arange(x.shape[0])) * 3).astype(dtype) + x.astype(dtype)

    program = adze.trace(lambda x: places(xp, x), adze.ShapeDtype(("n",), np.int8)).lower().compile()
    for count in (0, 1, 7, 8, 33, 40):
        x = np.zeros(count, np.int8)
        for found, wanted in zip(program(x), places(np, x), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_long_computations_on_elements_have_several_registers_an_op() -> None:
    def text(function: Any) -> str:
        return adze.trace(function, adze.ShapeDtype(("n",), np.float32)).at_stage(KERNELS, AVX2)

    assert "arith.mulf" in text(xp.tanh) and "vector<32xf32>" in text(xp.tanh)
    assert "vector<32xf32>" not in text(lambda x: x * 2)


@pytest.mark.parametrize("name", ["tanh", "exp", "cosh", "sqrt"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_long_computations_on_a_named_number_of_elements(name: str, dtype: Any) -> None:
    def function(p: Any, x: Any, y: Any) -> Any:
        return getattr(p, name)(x) * y + x, x - y

    specs = adze.ShapeDtype(("n", "m"), dtype), adze.ShapeDtype(("m",), dtype)
    program = adze.trace(lambda x, y: function(xp, x, y), *specs).lower().compile()
    rng = np.random.default_rng(7)
    for rows, columns in ((3, 70), (1, 1), (2, 31), (2, 32), (5, 33), (0, 4), (4, 0), (1, 1000)):
        x, y = (rng.uniform(0.1, 2, shape).astype(dtype) for shape in ((rows, columns), columns))
        tolerance = {np.float16: 4e-3, np.float32: 2e-6}.get(dtype, 1e-14)
        for found, wanted in zip(program(x, y), function(np, x, y), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("shape", [("n", "m"), ("n", "n"), ("b", "n", "m"), ("n", 40), (70, 40)], ids=str)
def test_parts_of_matrices_beside_the_diagonal(shape: tuple[Any, ...]) -> None:
    def function(p: Any, x: Any) -> Any:
        columns = p.arange(x.shape[-1])
        return p.tril(x), p.triu(x, 1), p.where(columns < x[..., :1], x, 0), x + p.eye(*x.shape[-2:])

    program = adze.trace(lambda x: function(xp, x), adze.ShapeDtype(shape, np.float64)).lower().compile()
    for n, m in ((70, 40), (1, 1), (3, 40), (40, 3), (9, 8)):
        sizes = [{"n": n, "m": m, "b": 2}.get(size, size) for size in shape]
        x = np.random.default_rng(n).integers(1, 30, sizes).astype(np.float64)
        for found, wanted in zip(program(x), function(np, x), strict=True):
            np.testing.assert_array_equal(found, wanted)

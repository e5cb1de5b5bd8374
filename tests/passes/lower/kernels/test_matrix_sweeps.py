"""Products of a matrix with two vectors in one sweep: which are, values, and places of all accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax
from adze.dialects.dialect import OPS
from adze.passes.lower.kernels.matrix_sweeps import ARRAYS, QUICK
from adze.passes.lower.kernels.swept_rows import RowCode, Step, sweep_rows
from adze.passes.lower.tuning.product_tiles import RowTiles
from adze.passes.lower.tuning.sweep_tiles import SweepTiles

from .test_products import given, module_with, run_kernel

AVX2 = "cpu:x86-64-v3"
M, K = 300, 200
MATRIX, BY, RIGHT = adze.ShapeDtype((M, K), np.float64), *(adze.ShapeDtype((n,), np.float64) for n in (K, M))


def squares(x: Any, a: Any, b: Any) -> Any:
    return xp.sum((a @ x - b) ** 2)


def likelihood(x: Any, a: Any, b: Any) -> Any:
    return xp.sum(xp.log1p(xp.exp(-b * (a @ x))))


def huber(x: Any, a: Any, b: Any) -> Any:
    error = a @ x - b
    return xp.sum(xp.where(xp.abs(error) < 1, error**2, 2 * xp.abs(error) - 1))


def counted(x: Any, a: Any, b: Any) -> Any:
    """Poisson's model with numbers of an integer dtype."""
    rate = a @ x
    return xp.sum(xp.exp(rate) - (b * 4).astype(xp.int32) * rate)


def softmax(x: Any, a: Any, b: Any) -> Any:
    return xp.sum(xp.max(a @ x) * b)


Function = Callable[[Any, Any, Any], Any]
SWEPT: dict[str, Function] = {
    "both sides": lambda x, a, b: (a @ x) @ a,
    "transposed": lambda x, a, b: a.T @ (a @ x - b),
    "apart": lambda x, a, b: (b @ a, a @ x),
    "apart, columns first": lambda x, a, b: (xp.sin(b @ a), xp.cos(a @ x)),
    "squares": adze.value_and_grad(squares),
    "logistic": adze.value_and_grad(likelihood),
    "huber": adze.grad(huber),
    "counts": adze.grad(counted),
    "numbers of rows returned": lambda x, a, b: (xp.tanh(a @ x) @ a, xp.tanh(a @ x), a @ x),
    "by the same numbers twice": lambda x, a, b: (a @ x * 2) @ a + (a @ x * 2) @ xp.cos(a),
    "numbers of others": lambda x, a, b: (xp.sin(b) @ a, a @ xp.cos(x)),
    "numbers of a loop before": lambda x, a, b: (a @ x * lax.fori_loop(0, 9, lambda i, c: xp.cos(c), b)) @ a,
    "a chosen constant": lambda x, a, b: xp.where(a @ x > b, 1.5, -0.5) @ a,
}
APART: dict[str, Function] = {
    "numbers of all rows": lambda x, a, b: xp.exp(a @ x - xp.max(a @ x)) @ a,
    "columns first": lambda x, a, b: a @ xp.tanh(b @ a),
    "two matrices": lambda x, a, b: (a @ x) @ (a + 1),
    "a computed matrix": lambda x, a, b: ((a * 2) @ x) @ (a * 2),
    "rows twice": lambda x, a, b: (a @ x, a @ xp.cos(x)),
    "several columns": lambda x, a, b: (a @ xp.stack([x, x], 1)).T @ a,
}


def sweeps(function: Function, *specs: Any, target: str = AVX2) -> int:
    """How many sweeps a function has."""
    lowered = adze.trace(function, *(specs or (BY, MATRIX, RIGHT))).lower(target)
    return lowered.mlir().count("flow.dispatch @kernel_swept_rows")


def arrays(m: int, k: int, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(m + k)
    numbers = (rng.standard_normal(n) for n in (k, (m, k), m))
    x, a, b = (array.astype(dtype) for array in numbers)
    return x, a / np.sqrt(np.asarray(k, dtype)), b


@pytest.mark.parametrize("name", SWEPT)
def test_what_is_one_sweep(name: str) -> None:
    assert sweeps(SWEPT[name]) == 1


@pytest.mark.parametrize("name", APART)
def test_other_products_stay_apart(name: str) -> None:
    function = APART[name]
    assert sweeps(function) == 0
    x, a, b = arrays(M, K, np.float64)
    for got, want in zip(*map(_leaves, (adze.jit(function)(x, a, b), function(x, a, b))), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


def _leaves(results: Any) -> list[np.ndarray]:
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


def test_small_matrices_named_sizes_and_other_targets_stay_apart() -> None:
    function = SWEPT["both sides"]
    small = [adze.ShapeDtype(shape, np.float64) for shape in ((90,), (60, 90), (60,))]
    named = [adze.ShapeDtype(shape, np.float64) for shape in ((K,), ("m", K), ("m",))]
    half = [adze.ShapeDtype(spec.shape, np.float16) for spec in (BY, MATRIX, RIGHT)]
    for specs in (small, named, half):
        assert sweeps(function, *specs) == 0
    assert sweeps(function, target="cuda:sm_80") == 0


def test_functions_of_short_rows_stay_apart() -> None:
    """They would be computed one by one, and take longer than the rows."""
    specs = [adze.ShapeDtype(shape, np.float64) for shape in ((40,), (4000, 40), (4000,))]
    assert sweeps(adze.grad(squares), *specs) == 1
    assert sweeps(adze.grad(likelihood), *specs) == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "k"), [(300, 300), (2049, 37), (71, 1003), (517, 255)])
def test_values_of_every_size(dtype: Any, m: int, k: int) -> None:
    """Rows and columns that are left over, and several parts; twice as many digits as the results have."""
    x, a, b = arrays(m, k, dtype)
    wide = [array.astype(np.float64) for array in (x, a, b)]
    tolerance = 3e-5 if dtype == np.float32 else 1e-12
    for name, function in SWEPT.items():
        for got, want in zip(*map(_leaves, (adze.jit(function)(x, a, b), function(*wide))), strict=True):
            scale = np.abs(want).max()
            np.testing.assert_allclose(got / scale, want / scale, rtol=0, atol=tolerance, err_msg=name)


def test_ops_of_a_few_operations_are_ops_of_adze() -> None:
    """A name that no op has would say nothing."""
    assert {op.name for op in OPS} >= QUICK


def test_nan_and_infinity_reach_what_they_reach_in_numpy() -> None:
    x, a, b = arrays(M, K, np.float64)
    a[7, 3], a[299, 199], a[12, 0] = np.nan, np.inf, -np.inf
    for name in ("both sides", "transposed", "apart"):
        with np.errstate(invalid="ignore"):
            wants = _leaves(SWEPT[name](x, a, b))
        for got, want in zip(_leaves(adze.jit(SWEPT[name])(x, a, b)), wants, strict=True):
            np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
            np.testing.assert_array_equal(got[np.isinf(want)], want[np.isinf(want)])
            finite = np.isfinite(want)
            np.testing.assert_allclose(got[finite], want[finite], rtol=1e-9, atol=1e-9)


def test_sweeps_in_a_loop_and_more_than_one() -> None:
    """Steps of gradient descent; two matrices with a sweep each."""
    x, a, b = arrays(M, K, np.float64)

    def descent(x: Any, a: Any, b: Any) -> Any:
        return lax.fori_loop(0, 5, lambda _, x: x - 0.1 * (a.T @ (a @ x - b)), x)

    want = x
    for _ in range(5):
        want = want - 0.1 * (a.T @ (a @ want - b))
    np.testing.assert_allclose(adze.jit(descent)(x, a, b), want, rtol=1e-12)

    def twice(x: Any, a: Any, c: Any) -> Any:
        return (a @ x) @ a + (c @ x) @ c

    c = np.cos(a)
    assert sweeps(twice, BY, MATRIX, MATRIX) == 2
    np.testing.assert_allclose(adze.jit(twice)(x, a, c), twice(x, a, c), rtol=1e-10)


@pytest.mark.parametrize(("m", "k", "parts"), [(8, 9, 1), (9, 21, 2), (11, 16, 3), (2, 43, 1), (16, 35, 2)])
def test_all_accesses_are_within_bounds(m: int, k: int, parts: int) -> None:
    rows = RowTiles(width=4, rows=2, vectors=2, block_rows=2)
    of_part = -(-m // (2 * parts)) * 2
    tiles = SweepTiles(rows, parts, of_part, vectors=2)
    dtypes = (np.dtype(np.float32),) * 2
    code = RowCode(
        1, ((dtypes[0], 2.0),), (Step("sub", (0, 1), dtypes, ()), Step("mul", (3, 2), dtypes, ())), 4
    )
    matrix, vector, right = given((1, m, k)), given((1, k)), given((m,))
    module = module_with(
        [(1, m, k), (1, k), (m,)],
        lambda kernels, values: sweep_rows(kernels, values[0], values[1], [values[2]], code, tiles)[1],
    )
    sums, partial = run_kernel(module, "kernel_swept_rows", [matrix, vector, right], (parts, 1, 1))
    with np.errstate(all="ignore"):
        want = np.einsum("bmk,bk->bm", matrix, vector)
        numbers = (want[0] - right) * np.float32(2)
        padded = np.zeros((parts * of_part, k), np.float32)
        padded[:m] = numbers[:, None] * matrix[0]
        of_parts = padded.reshape(parts, of_part, k).sum(1)
    assert np.array_equal(sums, want, equal_nan=True)
    np.testing.assert_allclose(partial, of_parts, rtol=1e-5)


def test_dtypes_of_arrays_are_those_of_memory() -> None:
    assert all(dtype.kind in "iuf" and dtype.itemsize <= 8 for dtype in ARRAYS)

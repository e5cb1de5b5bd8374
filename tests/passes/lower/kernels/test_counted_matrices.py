"""Kernels of routines on as many matrices or rows as show at the call, or of such sizes, in the interpreter.

A kernel of a counted batch is the one of a known batch but for how matrices are counted, and for rows that
are lanes of vectors: of these there may be fewer than lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import TensorType

from .linear_algebra import TARGETS, run_routine

RNG = np.random.default_rng(23)

Arrays = tuple[np.ndarray, ...]


def normal(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive(*shape: int) -> np.ndarray:
    a = normal(*shape)
    return (a @ np.swapaxes(a, -1, -2) + 4 * np.eye(shape[-1])).astype(np.float64)


Case = tuple[str, Callable[[int, int], Arrays], Callable[..., Any]]

CASES: tuple[Case, ...] = (
    ("cholesky", lambda b, c: (positive(b, c, 5, 5),), np.linalg.cholesky),
    (
        "solve_lower",
        lambda b, c: (np.tril(positive(b, c, 5, 5)), normal(b, c, 5, 18)),
        np.linalg.solve,
    ),
    ("qr", lambda b, c: (normal(b, c, 5, 3),), lambda a: tuple(np.linalg.qr(a))),
    ("eigvalsh", lambda b, c: (positive(b, c, 6, 6),), np.linalg.eigvalsh),
    ("svdvals", lambda b, c: (normal(b, c, 6, 6),), lambda a: np.linalg.svd(a, compute_uv=False)),
    (
        "fft_columns",
        lambda b, c: (normal(b, c, 6, 9, dtype=np.complex128),),
        lambda a: np.fft.fft(a, axis=-2),
    ),
    ("fft", lambda b, c: (normal(b, c, 6, dtype=np.complex128),), np.fft.fft),
    ("fft", lambda b, c: (normal(b, c, 37, dtype=np.complex64),), np.fft.fft),
    ("ifft", lambda b, c: (normal(b, c, 12, dtype=np.complex64),), lambda a: 12 * np.fft.ifft(a)),
    ("fft", lambda b, c: (normal(b, c, 2048, dtype=np.complex64),), np.fft.fft),
    ("rfft", lambda b, c: (normal(b, c, 12, dtype=np.float32),), np.fft.rfft),
    ("rfft", lambda b, c: (normal(b, c, 2048, dtype=np.float32),), np.fft.rfft),
    ("irfft", lambda b, c: (normal(b, c, 9, dtype=np.complex64),), lambda a: 16 * np.fft.irfft(a)),
)


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_counted(case: Case, target: str) -> None:
    kernel, make, reference = case
    for counts in ((0, 2), (1, 1), (3, 3)):
        arrays = make(*counts)
        expected = reference(*arrays)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        dtypes = [np.result_type(w.dtype, arrays[0].dtype) for w in wanted]
        if kernel == "rfft":
            dtypes = [np.dtype(np.complex64)]
        elif kernel in ("fft", "ifft", "irfft"):
            dtypes = [arrays[0].real.dtype if kernel == "irfft" else arrays[0].dtype]
        results = [TensorType(w.shape, dtype) for w, dtype in zip(wanted, dtypes, strict=True)]
        got = run_routine(kernel, arrays, results, target, named=2)
        for one, want, dtype in zip(got, wanted, dtypes, strict=True):
            assert one.shape == want.shape
            units = 100 * float(np.finfo(dtype).eps)
            magnitudes = [np.abs(x) if kernel == "qr" else x for x in (one, want)]  # signs are free
            np.testing.assert_allclose(*magnitudes, rtol=0, atol=units * np.abs(want).max(initial=1))


SIZED: tuple[tuple[str, Callable[[int, Any], Arrays], Callable[..., Any]], ...] = (
    ("cholesky", lambda n, dtype: (definite(n, dtype),), np.linalg.cholesky),
    ("lu", lambda n, dtype: (normal(n, n, dtype=dtype),), None),
    *(
        (f"solve_{form}", lambda n, dtype: (definite(n, dtype), normal(n, n % 7, dtype=dtype)), solution)
        for form, solution in (
            ("lower", lambda a, b: np.linalg.solve(np.tril(a), b)),
            ("upper", lambda a, b: np.linalg.solve(np.triu(a), b)),
            ("upper_transposed", lambda a, b: np.linalg.solve(np.triu(a).T, b)),
            ("lower_unit", lambda a, b: np.linalg.solve(np.tril(a, -1) + np.eye(len(a)), b)),
        )
    ),
)


def definite(n: int, dtype: Any) -> np.ndarray:
    a = normal(n, n, dtype=dtype)
    return (a @ a.conj().T / max(n, 1) + np.eye(n)).astype(dtype)


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("case", SIZED, ids=lambda case: case[0])
def test_sizes_of_matrices(case: Any, dtype: Any, target: str) -> None:
    kernel, make, reference = case
    for n in (0, 1, 3, 6, 21, 33) if target == TARGETS[0] else (5, 19):
        arrays = make(n, dtype)
        types = [TensorType(arrays[-1].shape, np.dtype(dtype))]
        if kernel == "lu":
            types += [TensorType((n,), np.dtype(np.int32))] * 2
        got = run_routine(kernel, arrays, types, target, named=2)
        units = 500 * float(np.finfo(dtype).eps)
        if kernel == "lu":
            packed, pivots, order = got
            check_pivots(pivots, order)
            upper, lower = np.triu(packed), np.tril(packed, -1) + np.eye(n)
            np.testing.assert_allclose(lower @ upper, arrays[0][order], rtol=0, atol=units)
            assert (np.abs(lower) < 1.5).all()
            continue
        wanted = reference(*arrays)
        np.testing.assert_allclose(got[0], wanted, rtol=0, atol=units * np.abs(wanted).max(initial=1))


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_solutions_and_pivots_of_factors(dtype: Any, target: str) -> None:
    """Systems with factors and an order of rows, and their transposes; sizes are named or known."""
    units = 500 * float(np.finfo(dtype).eps)
    for n, m in ((0, 2), (1, 1), (6, 3), (21, 18)) if target == TARGETS[0] else ((5, 33), (4, 0)):
        packed, b = definite(n, dtype), normal(n, m, dtype=dtype)
        order = RNG.permutation(n).astype(np.int32)
        a = np.empty_like(packed)
        a[order] = (np.tril(packed, -1) + np.eye(n)) @ np.triu(packed)
        for named in (2, 0) if n and m else (2,):
            for kernel, matrix in (("lu_solve", a), ("lu_solve_transposed", a.T)):
                types = [TensorType(b.shape, b.dtype)]
                (x,) = run_routine(kernel, (packed, order, b), types, target, named=named)
                wanted = np.linalg.solve(matrix, b)
                np.testing.assert_allclose(x, wanted, rtol=0, atol=units * np.abs(wanted).max(initial=1))
            other = normal(n, n, dtype=dtype)
            types = [TensorType((n,), other.dtype)]
            (pivots,) = run_routine("signed_pivots", (other,), types, target, named=named)
            np.testing.assert_allclose(np.prod(pivots), np.linalg.det(other), rtol=20 * max(n, 1) * units)


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_qr_factors_of_sizes_that_show_at_the_call(dtype: Any, target: str) -> None:
    """High, wide and square matrices, of no elements too, and of more columns than a panel has."""
    for rows, columns in ((0, 0), (3, 0), (0, 3), (1, 1), (1, 6), (5, 5), (22, 7), (7, 22), (35, 34)):
        a, least = normal(rows, columns, dtype=dtype), min(rows, columns)
        for kernel, width in (("qr", least), ("qr_complete", rows)):
            types = [TensorType(s, np.dtype(dtype)) for s in ((rows, width), (width, columns))]
            q, r = run_routine(kernel, (a,), types, target, named=2)
            units = 100 * float(np.finfo(dtype).eps)
            np.testing.assert_allclose(q @ r, a, rtol=0, atol=units * np.abs(a).max(initial=1))
            np.testing.assert_allclose(q.conj().T @ q, np.eye(width), rtol=0, atol=units)
            np.testing.assert_array_equal(np.tril(r, -1), 0)


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_spectra_of_sizes_that_show_at_the_call(dtype: Any, target: str) -> None:
    """Eigenvalues and singular values, with vectors and without: of no rows, of one leaf and of more."""
    units = 100 * float(np.finfo(dtype).eps)
    for n in (0, 1, 2, 5, 18, 37) if target != TARGETS[2] else (3, 70):
        a = normal(n, n, dtype=dtype)
        a /= np.abs(a).max(initial=1)
        matrix, row = TensorType((n, n), a.dtype), TensorType((n,), a.real.dtype)
        symmetric = (a + a.conj().T) / 2
        wanted = np.linalg.eigvalsh(symmetric)
        values, vectors = run_routine("eigh", (symmetric,), [row, matrix], target, named=2)
        for got in (values, *run_routine("eigvalsh", (symmetric,), [row], target, named=2)):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=units * max(n, 1) / 4)
        np.testing.assert_allclose(symmetric @ vectors, vectors * values, rtol=0, atol=units * max(n, 1) / 4)
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(n), rtol=0, atol=units)
        wanted = np.linalg.svd(a, compute_uv=False)
        u, values, vh = run_routine("svd", (a,), [matrix, row, matrix], target, named=2)
        for got in (values, *run_routine("svdvals", (a,), [row], target, named=2)):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=units * max(n, 1) / 4)
        np.testing.assert_allclose((u * values) @ vh, a, rtol=0, atol=units * max(n, 1) / 4)
        for vectors in (u.T, vh):
            np.testing.assert_allclose(vectors @ vectors.conj().T, np.eye(n), rtol=0, atol=units)


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_thin_decompositions_of_sizes_that_show_at_the_call(dtype: Any, target: str) -> None:
    """High, wide and square matrices: of no elements, of one panel and of more, and of many rows."""
    shapes = [(0, 0), (0, 3), (2, 0), (1, 1), (1, 5), (7, 2), (4, 4), (9, 19)]
    if target == TARGETS[2]:
        shapes = [(40, 37), (3, 150)] if np.dtype(dtype).itemsize == 4 else [(150, 2)]
    units = 100 * float(np.finfo(dtype).eps)
    for rows, columns in shapes:
        a, least = 1e3 * normal(rows, columns, dtype=dtype), min(rows, columns)
        a = a.astype(dtype)
        sizes = ((rows, least), (least,), (least, columns))
        types = [TensorType(s, a.dtype if len(s) == 2 else a.real.dtype) for s in sizes]
        u, values, vh = run_routine("thin_svd", (a,), types, target, named=2)
        wanted = np.linalg.svd(a, compute_uv=False)
        scale = units * wanted.max(initial=1)
        for got in (values, *run_routine("thin_svdvals", (a,), types[1:2], target, named=2)):
            np.testing.assert_allclose(got, wanted, rtol=0, atol=scale)
        np.testing.assert_allclose((u * values) @ vh, a, rtol=0, atol=scale)
        for vectors in (u.T, vh):
            np.testing.assert_allclose(vectors @ vectors.conj().T, np.eye(least), rtol=0, atol=units)


@pytest.mark.parametrize("dtype", [np.float64, np.complex64])
@pytest.mark.parametrize("kernel", ["eigh", "eigvalsh", "svd", "svdvals", "thin_svd", "thin_svdvals"])
def test_nan_of_a_size_that_shows_at_the_call(kernel: str, dtype: Any) -> None:
    """One matrix of three has NaN: its results are NaN, and those of the others are not."""
    a = np.stack([definite(6, dtype) / 8 for _ in range(3)])
    a[1, 2, 3] = a[1, 3, 2] = np.nan
    matrix, row = TensorType((3, 6, 6), a.dtype), TensorType((3, 6), a.real.dtype)
    factors = [matrix, row, matrix]
    types = {"eigh": [row, matrix], "svd": factors, "thin_svd": factors}.get(kernel, [row])
    for result in run_routine(kernel, (a,), types, TARGETS[0], named=3):
        assert np.isnan(result[1]).all()
        assert np.isfinite(result[[0, 2]]).all()


def check_pivots(pivots: np.ndarray, order: np.ndarray) -> None:
    """The permutation is that of the exchanges."""
    rows = np.arange(len(order))
    for row, other in enumerate(pivots):
        rows[[row, other]] = rows[[other, row]]
    np.testing.assert_array_equal(rows, order)


def test_panels_and_blocks_of_sizes_that_show_at_the_call() -> None:
    """More rows than one block has, and more columns than one panel, which workgroups share."""
    n, target = 140, TARGETS[2]
    a = definite(n, np.float32)
    (factor,) = run_routine("cholesky", (a,), [TensorType(a.shape, a.dtype)], target, named=2)
    np.testing.assert_allclose(factor, np.linalg.cholesky(a), rtol=0, atol=1e-4)
    t, b = definite(9, np.float32), normal(9, 75, dtype=np.float32)
    (x,) = run_routine("solve_lower", (t, b), [TensorType(b.shape, b.dtype)], target, named=2)
    np.testing.assert_allclose(x, np.linalg.solve(np.tril(t), b), rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS[:2])
def test_many_matrices_of_a_size_that_shows_at_the_call(target: str) -> None:
    a = np.stack([definite(6, np.float64) for _ in range(7)])
    a[3] = -a[3]
    (factor,) = run_routine("cholesky", (a,), [TensorType(a.shape, a.dtype)], target, named=3)
    np.testing.assert_array_equal(np.isnan(factor[3]), np.tri(6, dtype=bool))
    others = [n for n in range(7) if n != 3]
    np.testing.assert_allclose(factor[others], np.linalg.cholesky(a[others]), rtol=0, atol=1e-12)

"""Factorizations against their definitions (LAPACK's test ratios) and against LAPACK's own results."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import linalg as scipy_linalg

from adze import numpy as xp
from adze.scipy import linalg as sp

from .matrices import (
    DTYPES,
    SIZES,
    adjoint,
    conditioned,
    hermitian,
    normal,
    off_unitary,
    positive,
    ratio,
    wide,
)

LIMIT = 6.0  # LAPACK's own tests pass below 30

each_dtype = pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
each_size = pytest.mark.parametrize("n", SIZES)


@pytest.mark.each_value
@each_dtype
@each_size
def test_cholesky_factors_and_is_lower(n: int, dtype: Any) -> None:
    a = positive(2, n, n, dtype=dtype)
    factor = np.asarray(xp.linalg.cholesky(a))
    assert factor.dtype == a.dtype and (factor == np.tril(factor)).all()
    assert ratio(wide(factor) @ adjoint(wide(factor)) - a, a, a, n) < LIMIT
    np.testing.assert_array_equal(np.asarray(xp.linalg.cholesky(a, upper=True)), adjoint(factor))


@pytest.mark.each_value
@each_dtype
@each_size
def test_solve_has_a_small_residual(n: int, dtype: Any) -> None:
    a, b = normal(2, n, n, dtype=dtype), normal(n, 3, dtype=dtype, seed=5)
    x = np.asarray(xp.linalg.solve(a, b))
    assert x.dtype == a.dtype
    scale = np.max(np.abs(a), initial=0) * np.max(np.abs(x), initial=0) + np.max(np.abs(b), initial=0)
    assert ratio(wide(a) @ wide(x) - b, scale, a, n) < LIMIT


@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (40, 33), (33, 40), (0, 3), (3, 0)])
def test_lu_multiplies_back(shape: tuple[int, int], dtype: Any) -> None:
    a = normal(2, *shape, dtype=dtype)
    p, lower, upper = (np.asarray(f) for f in sp.lu(a))
    assert ratio(wide(p) @ wide(lower) @ wide(upper) - a, a, a, max(shape)) < LIMIT
    if min(shape):
        expected = scipy_linalg.lu(a[0])
        for ours, theirs in zip((p, lower, upper), expected, strict=True):
            np.testing.assert_allclose(ours[0], theirs, atol=400 * np.finfo(dtype).eps)


@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (8, 3), (3, 8), (40, 33), (33, 40), (0, 0), (4, 0)])
def test_qr_is_orthonormal_and_multiplies_back(shape: tuple[int, int], mode: str, dtype: Any) -> None:
    a = normal(2, *shape, dtype=dtype)
    q, r = xp.linalg.qr(a, mode)
    expected = np.linalg.qr(a, mode)
    assert q.shape == expected.Q.shape and r.shape == expected.R.shape and q.dtype == a.dtype
    assert off_unitary(q) < LIMIT
    assert ratio(wide(q) @ wide(r) - a, a, a, max(shape)) < LIMIT
    np.testing.assert_allclose(np.asarray(r), expected.R, atol=600 * np.finfo(dtype).eps)


@each_dtype
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (8, 3), (3, 8), (40, 33), (33, 40), (4, 0), (0, 4)])
def test_raw_reflections_of_qr_are_those_of_lapack(shape: tuple[int, int], dtype: Any) -> None:
    a = normal(2, *shape, dtype=dtype)
    h, tau = xp.linalg.qr(a, "raw")
    expected, factors = np.linalg.qr(a, "raw")
    assert h.shape == expected.shape and tau.shape == factors.shape and h.dtype == tau.dtype == a.dtype
    np.testing.assert_allclose(np.asarray(h), expected, atol=600 * np.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(tau), factors, atol=600 * np.finfo(dtype).eps)


@pytest.mark.one_in(2)
@pytest.mark.each_value
@each_dtype
@each_size
def test_eigh_is_orthonormal_and_multiplies_back(n: int, dtype: Any) -> None:
    a = hermitian(2, n, n, dtype=dtype)
    w, v = xp.linalg.eigh(a)
    assert w.dtype == np.zeros(0, dtype).real.dtype and v.dtype == a.dtype
    assert off_unitary(v) < LIMIT
    assert ratio(wide(a) @ wide(v) - wide(v) * np.asarray(w)[:, None, :], a, a, n) < LIMIT
    assert ratio(np.asarray(w) - np.linalg.eigvalsh(a), w, a, n) < LIMIT
    np.testing.assert_allclose(
        np.asarray(xp.linalg.eigvalsh(a)), np.asarray(w), atol=60 * np.finfo(dtype).eps * max(n, 1)
    )


@each_dtype
@pytest.mark.parametrize("n", [1, 4, 9, 36])
def test_eigenvectors_have_the_phases_of_lapack_up_to_the_sign(n: int, dtype: Any) -> None:
    """The first component is real and positive; in blocks of zeros, that of the block is."""
    a = hermitian(2, n, n, dtype=dtype)
    a[1, : n // 2, n // 2 :] = a[1, n // 2 :, : n // 2] = 0
    v, expected = np.asarray(xp.linalg.eigh(a)[1]), np.linalg.eigh(a.astype(np.complex128))[1]
    heads = np.take_along_axis(expected, (abs(expected) > 1e-6).argmax(axis=-2)[:, None], axis=-2)
    np.testing.assert_allclose(heads.imag, np.zeros_like(heads.imag), atol=1e-9)
    np.testing.assert_allclose(v, expected * np.sign(heads.real), atol=5e4 * np.finfo(dtype).eps)


@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (2, 2), (3, 0), (8, 3), (3, 8), (20, 17)])
@pytest.mark.parametrize("full", [False, True])
def test_svd_is_orthonormal_and_multiplies_back(shape: tuple[int, int], full: bool, dtype: Any) -> None:
    a = normal(2, *shape, dtype=dtype)
    check_svd(a, full)


def check_svd(a: np.ndarray, full: bool = False) -> None:
    """The definition, and the singular values of LAPACK, which computes in double precision."""
    u, s, vh = xp.linalg.svd(a, full_matrices=full)
    expected = np.linalg.svd(wide(a), full_matrices=full)
    assert (u.shape, s.shape, vh.shape) == tuple(e.shape for e in expected)
    least, most = min(a.shape[-2:]), max(a.shape[-2:])
    assert off_unitary(u) < LIMIT and off_unitary(adjoint(vh)) < LIMIT
    product = (wide(u)[..., :least] * np.asarray(s)[..., None, :]) @ wide(vh)[..., :least, :]
    assert ratio(product - a, expected[1], a, most) < LIMIT
    assert ratio(np.asarray(s) - expected[1], expected[1], a, most) < LIMIT
    assert (np.diff(np.asarray(s), axis=-1) <= 0).all()


@pytest.mark.one_in(3)
@pytest.mark.each_value
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "make",
    [
        lambda: conditioned(16, 1e3),
        lambda: conditioned(16, 1e12),
        lambda: 1 / (np.arange(12.0)[:, None] + np.arange(12.0) + 1),
        lambda: np.outer(np.arange(6.0), np.arange(1.0, 9.0)),
        lambda: np.zeros((4, 3)) + np.diag([1.0, 0, 0, 0])[:, :3],
        lambda: np.eye(5),
        lambda: np.ones((7, 7)),
        lambda: normal(5, 5) * 1e30,
        lambda: normal(5, 5) * 1e-30,
    ],
    ids=["1e3", "1e12", "hilbert", "rank1", "one", "identity", "ones", "large", "small"],
)
def test_hard_matrices_keep_the_ratios(make: Any, dtype: Any) -> None:
    a = make().astype(dtype)
    check_svd(a, full=True)
    q, r = xp.linalg.qr(a)
    assert off_unitary(q) < LIMIT and ratio(wide(q) @ wide(r) - a, a, a, max(a.shape)) < LIMIT
    h = (a.T @ a if abs(a).max() < 1e10 else a[:3, :3] + a[:3, :3].T).astype(dtype)
    w, v = xp.linalg.eigh(h)
    assert off_unitary(v) < LIMIT
    assert ratio(wide(h) @ wide(v) - wide(v) * np.asarray(w), h, h, len(h)) < LIMIT
    if a.shape[0] == a.shape[1] and np.linalg.matrix_rank(a) == len(a):
        b = normal(len(a), 2, dtype=dtype)
        x = np.asarray(xp.linalg.solve(a, b))
        scale = abs(a).max() * abs(x).max() + abs(b).max()
        assert ratio(wide(a) @ wide(x) - b, scale, a, len(a)) < LIMIT


def test_small_singular_values_keep_their_digits() -> None:
    """One-sided Jacobi finds them to relative precision where columns are scaled; a Gram matrix would not."""
    a = normal(8, 8) * np.logspace(0, -14, 8)
    mpmath.mp.dps = 40
    exact = sorted(
        (float(x) for x in mpmath.svd_r(mpmath.matrix(a.tolist()), compute_uv=False)), reverse=True
    )
    np.testing.assert_allclose(np.asarray(xp.linalg.svdvals(a)), exact, rtol=1e-12)


@pytest.mark.thorough
def test_blocks_above_the_loop_size() -> None:
    n = 150
    a, s = normal(n, n), positive(n, n)
    factor = np.asarray(xp.linalg.cholesky(s))
    assert ratio(factor @ factor.T - s, s, s, n) < LIMIT
    b = normal(n, 2, seed=3)
    x = np.asarray(xp.linalg.solve(a, b))
    assert ratio(a @ x - b, abs(a).max() * abs(x).max(), a, n) < LIMIT
    q, r = xp.linalg.qr(a)
    assert off_unitary(q) < LIMIT and ratio(np.asarray(q) @ np.asarray(r) - a, a, a, n) < LIMIT


def clusters(n: int) -> np.ndarray:
    q, _ = np.linalg.qr(normal(n, n, seed=4))
    return (q * np.round(np.arange(n) / 7)) @ q.T


# Larger than what is rotated as a whole: four leaves and eight, all padded.
DIVIDED = {
    "random": lambda n: hermitian(n, n),
    "complex": lambda n: hermitian(n, n, dtype=np.complex128),
    "identity": np.eye,
    "zeros": lambda n: np.zeros((n, n)),
    "ones": lambda n: np.ones((n, n)),
    "diagonal": lambda n: np.diag(normal(n)),
    "clusters": clusters,
    "rank 3": lambda n: normal(n, 3) @ normal(n, 3).T,
    "second differences": lambda n: 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1),
    "wilkinson": lambda n: np.diag(abs(np.arange(n) - n // 2) * 1.0) + np.eye(n, k=1) + np.eye(n, k=-1),
    "almost diagonal": lambda n: np.diag(np.arange(n) * 1.0) + 1e-9 * hermitian(n, n),
    "graded": lambda n: np.logspace(0, -20, n)[:, None] * hermitian(n, n) * np.logspace(0, -20, n),
    "large": lambda n: 1e30 * hermitian(n, n),
    "small": lambda n: 1e-30 * hermitian(n, n),
}
ALIKE = (
    "zeros",
    "diagonal",
    "almost diagonal",
    "rank 3",
    "second differences",
    "wilkinson",
    "large",
    "small",
    "identity",
    "ones",
)
"""Of these one is enough for `make test`."""


@pytest.mark.one_in(2)
@pytest.mark.each_value(lambda n, name, single: (name in ALIKE or name, single))
@pytest.mark.parametrize("single", [True, False], ids=["single", "double"])
@pytest.mark.parametrize("name", DIVIDED)
@pytest.mark.parametrize("n", [33, pytest.param(70, marks=pytest.mark.thorough)])
def test_eigenvectors_of_divided_matrices(n: int, name: str, single: bool) -> None:
    """To the bounds of LAPACK, which are relative to the norm of the matrix."""
    a = DIVIDED[name](n)
    a = a.astype(np.complex64 if a.dtype.kind == "c" else np.float32) if single else a
    a = (a + adjoint(a)) / 2
    w, v = xp.linalg.eigh(a)
    norm = np.linalg.norm(wide(a), 2)
    assert off_unitary(v) < LIMIT
    assert ratio(wide(a) @ wide(v) - wide(v) * wide(w), norm, a, n) < LIMIT
    assert ratio(wide(w) - np.linalg.eigvalsh(wide(a)), norm, a, n) < LIMIT
    assert (np.diff(np.asarray(w)) >= 0).all()
    np.testing.assert_array_equal(np.asarray(xp.linalg.eigvalsh(a)), np.asarray(w))


@pytest.mark.parametrize("unknown", [np.nan, np.inf])
@pytest.mark.parametrize("n", [1, 2, 3, 9, 40])
def test_eigenvectors_of_a_matrix_with_nan_or_infinity_are_nan(n: int, unknown: float) -> None:
    a = np.stack([np.eye(n), np.diag(np.arange(1.0, n + 1))])
    a[0, 0, -1] = a[0, -1, 0] = unknown
    w, v = (np.asarray(x) for x in xp.linalg.eigh(a))
    assert np.isnan(w[0]).all() and np.isnan(v[0]).all()
    np.testing.assert_allclose(w[1], np.arange(1.0, n + 1), rtol=1e-14)
    np.testing.assert_allclose(abs(v[1]), np.eye(n), atol=1e-14)


def test_divided_matrices_in_batches_with_nan() -> None:
    a = hermitian(3, 36, 36)
    a[1, 4, 4] = np.nan
    w = np.asarray(xp.linalg.eigvalsh(a))
    assert np.isnan(w[1]).all()
    np.testing.assert_allclose(w[[0, 2]], np.linalg.eigvalsh(a[[0, 2]]), atol=1e-13)


def test_reflections_of_the_smallest_floats_are_unitary() -> None:
    for size in (1e-38, 1e-42):
        q, _ = xp.linalg.qr((size * normal(9, 6)).astype(np.float32))
        assert off_unitary(q) < LIMIT

"""Norms, ranks, least squares, functions of matrices against NumPy and SciPy; arguments that are refused."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg

import adze
from adze import AdzeError
from adze import numpy as xp
from adze.scipy import linalg as sp

from .matrices import normal, positive

A = normal(3, 5, 4)
SQUARE = normal(2, 4, 4)


def same(actual: Any, expected: Any, tolerance: float = 1e-11) -> None:
    assert np.asarray(actual).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("order", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_norms_and_condition_numbers(order: Any) -> None:
    same(xp.linalg.norm(A, order, axis=(0, 2)), np.linalg.norm(A, order, axis=(0, 2)))
    kept = np.linalg.norm(A, order, axis=(1, 0), keepdims=True)
    same(xp.linalg.norm(A, order, axis=(1, 0), keepdims=True), kept)
    same(xp.linalg.cond(SQUARE, order), np.linalg.cond(SQUARE, order))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 0)])
def test_norms_of_nothing_are_zero(shape: tuple[int, ...]) -> None:
    a = np.zeros(shape)
    for order in (None, "fro", "nuc", 1, 2, np.inf):
        same(xp.linalg.norm(a, order, axis=(-2, -1)), np.linalg.norm(a, order, axis=(-2, -1)))
    for order in (0, 1, 2, 3, np.inf):
        same(xp.linalg.norm(a, order, axis=-1), np.linalg.norm(a, order, axis=-1))


def test_empty_batches_and_matrices() -> None:
    for shape in ((0, 3, 3), (2, 0, 0)):
        a = np.zeros(shape)
        for name in ("inv", "det", "cholesky", "eigvalsh", "svdvals", "pinv", "slogdet", "matrix_rank"):
            same_trees(getattr(xp.linalg, name)(a), getattr(np.linalg, name)(a))
        same(xp.linalg.solve(a, a), np.linalg.solve(a, a))
        same(xp.linalg.matrix_power(a, -2), np.linalg.matrix_power(a, -2))
        same(xp.linalg.diagonal(a), np.linalg.diagonal(a))
        same(sp.expm(a), scipy.linalg.expm(a))
    for offset in (-4, 0, 4):
        same(xp.diagonal(np.ones((2, 3)), offset), np.diagonal(np.ones((2, 3)), offset))


def same_trees(actual: Any, expected: Any) -> None:
    parts = expected if isinstance(expected, tuple) else (expected,)
    for ours, theirs in zip(adze.tree.leaves(actual), parts, strict=True):
        same(ours, theirs)


@pytest.mark.thorough
def test_batches_of_a_size_that_is_known_when_the_program_runs() -> None:
    def everything(a: Any) -> Any:
        s = xp.matmul(a, a.mT)
        return (
            xp.linalg.cholesky(s),
            xp.linalg.solve(s, a),
            xp.linalg.det(a),
            tuple(xp.linalg.qr(a)),
            xp.linalg.eigvalsh(s),
            xp.linalg.svdvals(a),
        )

    program = adze.trace(everything, adze.ShapeDtype(("n", 4, 4), np.float64)).lower().compile()
    for n in (1, 3):
        a = normal(n, 4, 4)
        for ours, theirs in zip(adze.tree.leaves(program(a)), adze.tree.leaves(everything(a)), strict=True):
            np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-10, atol=1e-12)


def test_pseudoinverse_rank_and_least_squares() -> None:
    same(xp.linalg.pinv(A), np.linalg.pinv(A))
    low = np.outer(np.arange(1.0, 6), np.arange(1.0, 4))
    same(xp.linalg.pinv(low), np.linalg.pinv(low))
    assert int(xp.linalg.matrix_rank(low)) == 1 and int(xp.linalg.matrix_rank(np.zeros((3, 3)))) == 0
    assert np.asarray(xp.linalg.matrix_rank(A)).tolist() == [4, 4, 4]
    for b in (normal(5), normal(5, 2)):
        for ours, theirs in zip(xp.linalg.lstsq(A[0], b), np.linalg.lstsq(A[0], b), strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-11)
    wide = xp.linalg.lstsq(A[0].T, normal(4))
    np.testing.assert_allclose(np.asarray(wide[0]), np.linalg.lstsq(A[0].T, normal(4))[0], rtol=1e-11)


def exact_exponential(a: np.ndarray) -> np.ndarray:
    """In 40 digits: SciPy's own result is off by up to 800 eps here."""
    with mpmath.workdps(40):
        result = mpmath.expm(mpmath.matrix(a.tolist()), method="pade")
        return np.array(result.tolist(), dtype=complex)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("scale", [0.01, 1.0, 5.0])
def test_expm_is_exact_to_rounding(scale: float, dtype: Any) -> None:
    a = scale * normal(2, 5, 5, dtype=dtype)
    a = a.astype(dtype)
    expected = np.stack([exact_exponential(x) for x in a])
    error = np.abs(np.asarray(sp.expm(a)) - expected).max() / np.abs(expected).max()
    assert error < 100 * np.finfo(dtype).eps
    assert np.isnan(np.asarray(sp.expm(1e9 * np.eye(2)))).all()


def test_powers_and_tensor_equations() -> None:
    for n in (-3, -1, 0, 1, 5):
        same(xp.linalg.matrix_power(SQUARE, n), np.linalg.matrix_power(SQUARE, n))
    t, b = normal(4, 6, 8, 3), normal(4, 6)
    same(xp.linalg.tensorinv(t), np.linalg.tensorinv(t))
    same(xp.linalg.tensorsolve(t, b), np.linalg.tensorsolve(t, b))
    same(xp.linalg.det(np.zeros((2, 0, 0))), np.ones(2))
    same(xp.linalg.inv([[2, 0], [0, 4]]), np.float32([[0.5, 0], [0, 0.25]]))


def test_what_no_exception_can_report_is_nan() -> None:
    bad = np.stack([positive(3, 3), -positive(3, 3)])
    results = np.asarray(xp.linalg.cholesky(bad))
    assert np.isfinite(results[0]).all() and (np.isnan(results[1]) == np.tri(3, dtype=bool)).all()
    assert not np.isfinite(np.asarray(xp.linalg.inv(np.ones((2, 2))))).any()
    assert float(xp.linalg.det(np.ones((2, 2)))) == 0
    poisoned = np.full((3, 3), np.nan)
    assert np.isnan(np.asarray(xp.linalg.eigvalsh(poisoned))).all()
    assert np.isnan(np.asarray(xp.linalg.svdvals(poisoned))).all()


def test_numpys_functions_find_them() -> None:
    x = xp.asarray(SQUARE)
    same(np.linalg.inv(x), np.linalg.inv(SQUARE))
    assert isinstance(np.linalg.eigh(x).eigenvalues, adze.Array)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: xp.linalg.inv(A), "inv: expected square matrices, got f64[3,5,4]"),
        (
            lambda: xp.linalg.cholesky(np.ones(3)),
            "cholesky: expected an array of at least 2 dimensions, got f64[3]",
        ),
        (
            lambda: xp.linalg.solve(SQUARE, np.ones(3)),
            "solve: f64[2,4,4] and f64[3] do not fit: expected 4 rows on the right-hand side",
        ),
        (lambda: xp.linalg.qr(A, "full"), "qr: mode is 'full', expected one of 'reduced', 'complete', 'r'"),
        (lambda: xp.linalg.eigh(SQUARE, UPLO="X"), "eigh: UPLO is 'X', expected 'L' or 'U'"),
        (
            lambda: xp.linalg.norm(A[0], "spectral"),
            "norm: the order is 'spectral', expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices",
        ),
        (lambda: xp.linalg.norm(A, axis=(0, 1, 2)), "norm: expected one axis or two, got (0, 1, 2)"),
        (lambda: xp.linalg.matrix_power(SQUARE, 1.5), "matrix_power: the power must be an integer, got 1.5"),
        (
            lambda: xp.linalg.svd(np.ones((2, 2), np.float16)),
            "svd: f16[2,2] is too narrow for linear algebra",
        ),
        (lambda: xp.linalg.pinv(A, 0.1, rtol=0.1), "pinv: rtol and rcond mean the same, give one of them"),
        (
            lambda: xp.linalg.lstsq(A, np.ones(5)),
            "lstsq: expected a matrix and right-hand sides of as many rows",
        ),
        (
            lambda: xp.linalg.tensorinv(A),
            "tensorinv: the first 2 axes of f64[3,5,4] hold 15 elements, the rest 4",
        ),
        (
            lambda: adze.grad(lambda x: xp.sum(xp.linalg.svd(x)[0]))(A[0]),
            "with full_matrices the vectors beyond the rank are arbitrary and have no derivative",
        ),
        (
            lambda: adze.trace(
                adze.grad(lambda x: xp.sum(xp.linalg.svd(x)[2])), adze.ShapeDtype((2, 3))
            ).lower(),
            "with full_matrices the vectors beyond the rank are arbitrary and have no derivative",
        ),
    ],
)
def test_misuse_says_what_was_expected(call: Any, text: str) -> None:
    with pytest.raises(AdzeError) as raised:
        call()
    assert text in str(raised.value)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_determinants_of_few_rows_are_cofactors(n: int) -> None:
    """Exact for small integers, also where the matrix is singular."""
    a = np.arange(2.0 * n * n, dtype=np.float32).reshape(2, n, n) % 7
    a[1, -1] = a[1, 0]
    for det in (xp.linalg.det, adze.jit(xp.linalg.det)):
        np.testing.assert_array_equal(np.asarray(det(a)), np.round(np.linalg.det(a.astype(float))))

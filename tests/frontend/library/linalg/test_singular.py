"""Derivatives of functions of matrices where a factorization degenerates: singular, equal values, zeros."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.numpy import linalg


def of_rank(n: int, rank: int, dtype: Any = np.float64) -> np.ndarray:
    """A matrix of small integers, exact in every dtype."""
    rng = np.random.default_rng(100 * n + rank)
    while True:
        left, right = rng.integers(-2, 3, (n, rank)), rng.integers(-2, 3, (rank, n))
        a = (left @ right).astype(np.complex128)
        if np.dtype(dtype).kind == "c":
            a = (left + 1j * rng.integers(-2, 3, (n, rank))) @ right
        if np.linalg.matrix_rank(a) == rank:
            return (a if np.dtype(dtype).kind == "c" else a.real).astype(dtype)


def minors_of_det(a: np.ndarray) -> np.ndarray:
    """The second derivatives of the determinant: minors without two rows and two columns, with signs."""
    n = len(a)
    result = np.zeros((n,) * 4, np.complex128)
    for (i, k), (j, m) in itertools.product(itertools.permutations(range(n), 2), repeat=2):
        rest = np.delete(np.delete(a.astype(np.complex128), (i, k), 0), (j, m), 1)
        sign = (-1) ** (i + j + k + m) * (1 if (i < k) == (j < m) else -1)
        result[i, j, k, m] = sign * (np.linalg.det(rest) if n > 2 else 1.0)
    return result


def second_of_det(a: Any) -> np.ndarray:
    """All second derivatives of the determinant of one matrix by forward over reverse mode."""
    n = a.shape[-1]
    gradient = adze.grad(linalg.det, holomorphic=a.dtype.kind == "c")
    units = np.eye(n * n, dtype=a.dtype).reshape(n * n, n, n)
    columns = adze.vmap(lambda d: adze.jvp(gradient, (a,), (d,))[1])(units)
    return np.moveaxis(np.asarray(columns), 0, -1).reshape((n,) * 4)


@pytest.mark.one_in(2)
@pytest.mark.each_value
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32, np.complex64])
@pytest.mark.parametrize(("n", "rank"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 2), (4, 3), (4, 4)])
def test_second_derivatives_of_det(n: int, rank: int, dtype: Any) -> None:
    a = of_rank(n, rank, dtype)
    exact = minors_of_det(a)
    tolerance = 30 * np.finfo(dtype).eps * max(np.abs(exact).max(), 1)
    np.testing.assert_allclose(second_of_det(a), exact, rtol=0, atol=tolerance)


def test_second_derivatives_of_det_vanish_far_below_full_rank() -> None:
    np.testing.assert_allclose(second_of_det(of_rank(4, 1)), 0, atol=1e-13)
    np.testing.assert_array_equal(second_of_det(np.zeros((4, 4))), 0)


@pytest.mark.parametrize("n", [3, 4])
def test_hessian_of_det_at_a_matrix_that_is_singular_but_for_rounding(n: int) -> None:
    """1 to 16 in rows: LU factors have last pivots of the size of rounding errors, and no zeros."""
    a = np.arange(1.0, n * n + 1).reshape(n, n)
    np.testing.assert_allclose(np.asarray(adze.hessian(linalg.det)(a)), minors_of_det(a).real, atol=2e-12)


@pytest.mark.thorough
def test_hessian_of_det_by_reverse_over_reverse_and_in_batches() -> None:
    """Singular matrices and others side by side."""
    batch = np.stack([of_rank(4, 2), of_rank(4, 4), of_rank(4, 3)])
    direction = np.random.default_rng(0).standard_normal((4, 4))

    def slope(a: Any) -> Any:
        return xp.sum(adze.grad(lambda x: xp.sum(linalg.det(x)))(a) * direction)

    exact = [np.tensordot(minors_of_det(a).real, direction, 2) for a in batch]
    np.testing.assert_allclose(np.asarray(adze.grad(slope)(batch)), exact, atol=1e-12)
    one_by_one = adze.vmap(adze.grad(lambda a: xp.sum(adze.grad(linalg.det)(a) * direction)))
    np.testing.assert_allclose(np.asarray(one_by_one(batch)), exact, atol=1e-12)


def test_third_derivatives_of_det_at_singular_matrices() -> None:
    """Of three rows they are constant: signs of permutations."""

    def third(a: Any) -> Any:
        e = [np.eye(3)[i][:, None] * np.eye(3)[i] for i in range(3)]
        along = lambda f, d: lambda x: adze.jvp(f, (x,), (d,))[1]  # noqa: E731
        return along(along(along(linalg.det, e[0]), e[1]), e[2])(a)

    for a in (np.zeros((3, 3)), of_rank(3, 1), of_rank(3, 2), of_rank(3, 3)):
        assert float(third(a)) == pytest.approx(1)


@pytest.mark.thorough
def test_compiled_hessian_of_det() -> None:
    a = np.stack([of_rank(3, 1), of_rank(3, 3)])
    slope = adze.jit(adze.grad(lambda a: xp.sum(adze.grad(lambda x: xp.sum(linalg.det(x)))(a))))
    exact = [minors_of_det(x).real.sum((2, 3)) for x in a]
    np.testing.assert_allclose(np.asarray(slope(a)), exact, atol=1e-12)


def test_second_derivatives_at_equal_eigenvalues_are_nan_rather_than_wrong() -> None:
    """Eigenvalues do not say how a function of them changes where two part; the first order is right."""
    total = lambda a: xp.sum(linalg.eigvalsh(a) ** 2)  # noqa: E731
    np.testing.assert_allclose(np.asarray(adze.grad(total)(np.eye(2))), 2 * np.eye(2), atol=1e-15)
    assert np.isnan(np.asarray(adze.hessian(total)(np.eye(2)))).any()
    apart = adze.hessian(total)(np.diag([1.0, 2.0]))
    np.testing.assert_allclose(np.asarray(apart).reshape(4, 4)[0], [2, 0, 0, 0], atol=1e-14)


@pytest.mark.parametrize("ord", [None, 2, 1, 3, 1.5, np.inf])
def test_norm_of_zero_is_flat(ord: Any) -> None:
    """As the magnitude of a number is; so the derivative of a sum of norms is finite."""
    gradient = adze.grad(lambda x: xp.sum(linalg.norm(x, ord, axis=-1)))(np.array([[0.0, 0.0], [3.0, 0.0]]))
    np.testing.assert_allclose(np.asarray(gradient), [[0, 0], [1, 0]], atol=1e-15)


def test_frobenius_norm_of_zero_is_flat() -> None:
    np.testing.assert_array_equal(np.asarray(adze.grad(linalg.norm)(np.zeros((2, 3)))), 0)
    assert float(linalg.norm(np.zeros((2, 3)))) == 0
    assert np.isnan(float(linalg.norm(np.array([np.nan, 0.0]))))
    np.testing.assert_array_equal(
        np.asarray(adze.hessian(linalg.norm)(np.array([0.0, 2.0]))), [[0.5, 0], [0, 0]]
    )

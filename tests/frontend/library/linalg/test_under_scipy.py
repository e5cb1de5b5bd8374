"""`adze.scipy.linalg` against SciPy: conventions, triangles that are not read, patterns, misuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adze
from adze import AdzeError
from adze.scipy import linalg as sp

from .matrices import hermitian, normal, positive

A, B = normal(5, 5), normal(5, 2, seed=1)
Z = normal(5, 5, dtype=np.complex128)
S = positive(5, 5)
H = positive(5, 5, dtype=np.complex128)
V, W = normal(4), normal(3, seed=2)


def same(actual: Any, expected: Any, tolerance: float = 1e-11) -> None:
    for ours, theirs in zip(adze.tree.leaves(actual), adze.tree.leaves(expected), strict=True):
        result = np.asarray(ours)
        assert result.dtype == np.asarray(theirs).dtype and result.shape == np.shape(theirs)
        np.testing.assert_allclose(result, theirs, rtol=tolerance, atol=tolerance)


def half(a: np.ndarray, lower: bool) -> np.ndarray:
    """The triangle that is read; what is on the other side must not matter."""
    noise = np.full_like(a, 1e9)
    return np.tril(a) + np.triu(noise, 1) if lower else np.triu(a) + np.tril(noise, -1)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("a", [S, H], ids=["real", "complex"])
def test_one_triangle_is_read(a: np.ndarray, lower: bool) -> None:
    given = half(a, lower)
    same(sp.cholesky(given, lower), scipy.linalg.cholesky(given, lower))
    same(sp.eigh(given, lower=lower, eigvals_only=True), np.linalg.eigvalsh(a))
    for assumption in ("her", "pos"):
        same(sp.solve(given, B, lower, assume_a=assumption), np.linalg.solve(a, B))
    same(sp.solve(half(S, lower), B[:, 0], lower, assume_a="sym"), np.linalg.solve(S, B[:, 0]))


def test_what_is_numpys_too() -> None:
    same(sp.solve(A, B), scipy.linalg.solve(A, B))
    same(sp.det(A), np.linalg.det(A))
    same(sp.inv(Z), scipy.linalg.inv(Z))
    same(sp.svd(A, compute_uv=False), scipy.linalg.svd(A, compute_uv=False))
    u, s, vh = (np.asarray(x) for x in sp.svd(normal(5, 3)))
    assert u.shape == (5, 5) and vh.shape == (3, 3)
    np.testing.assert_allclose((u[:, :3] * s) @ vh, normal(5, 3), atol=1e-13)


@pytest.mark.each_value
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("mode", ["full", "economic", "r"])
def test_qr(shape: tuple[int, int], mode: str) -> None:
    result = sp.qr(normal(*shape), mode=mode)
    assert isinstance(result, tuple)
    same(result, scipy.linalg.qr(normal(*shape), mode=mode))


@pytest.mark.parametrize("lower", [False, True])
def test_generalized_eigenvalues(lower: bool) -> None:
    a, b = hermitian(5, 5, dtype=np.complex128), H
    w, v = sp.eigh(half(a, lower), half(b, lower), lower=lower)
    same(w, scipy.linalg.eigh(a, b, eigvals_only=True))
    same(sp.eigh(a, b, eigvals_only=True), np.asarray(w))
    vectors = np.asarray(v)
    np.testing.assert_allclose(a @ vectors, b @ vectors * np.asarray(w), atol=1e-12)
    np.testing.assert_allclose(vectors.conj().T @ b @ vectors, np.eye(5), atol=1e-13)


def test_tridiagonal_eigenvalues() -> None:
    d, e = normal(6), normal(5, seed=3)
    w, v = (np.asarray(x) for x in sp.eigh_tridiagonal(d, e))
    full = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    same(w, scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True))
    np.testing.assert_allclose(full @ v, v * w, atol=1e-13)
    same(sp.eigh_tridiagonal(d, e, eigvals_only=True), w)
    same(sp.eigh_tridiagonal(d[:1], e[:0], eigvals_only=True), d[:1])


@pytest.mark.each_value
@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_polar_factors(shape: tuple[int, int], side: str) -> None:
    a = normal(*shape)
    same(sp.polar(a, side), scipy.linalg.polar(a, side))


def test_derivative_of_the_exponential() -> None:
    same(sp.expm_frechet(A, Z.real), scipy.linalg.expm_frechet(A, Z.real))
    same(sp.expm_frechet(A, Z.real, compute_expm=False), scipy.linalg.expm_frechet(A, Z.real)[1])


def test_patterns() -> None:
    z = V + 1j
    for c, r in ((V, None), (V, W), (z, None), (V[:1], W), (V, W[:1]), (np.arange(3), None)):
        same(sp.toeplitz(c, r), scipy.linalg.toeplitz(c, r))
        same(sp.hankel(c, r), scipy.linalg.hankel(c, r))
    same(sp.circulant(V), scipy.linalg.circulant(V))
    same(sp.companion(V), scipy.linalg.companion(V))
    same(sp.block_diag(A, V, B), scipy.linalg.block_diag(A, V, B))
    same(sp.hilbert(4), scipy.linalg.hilbert(4).astype(np.float32), 1e-6)
    for scale in (None, "n", "sqrtn"):
        same(sp.dft(5, scale, dtype=np.complex128), scipy.linalg.dft(5, scale))


def test_patterns_of_traced_vectors_and_their_derivatives() -> None:
    weights = normal(4, 4, seed=4)

    def total(c: Any) -> Any:
        return (sp.toeplitz(c) * weights).sum() + (sp.block_diag(c, c).sum())

    expected = [np.trace(weights, k) + (np.trace(weights, -k) if k else 0) + 2 for k in range(4)]
    same(adze.grad(total)(V), np.array(expected))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: sp.solve(A, B, assume_a="diagonal"),
            "solve: assume_a is 'diagonal', expected one of 'gen', 'sym', 'her', 'pos'",
        ),
        (lambda: sp.qr(A, mode="complete"), "qr: mode is 'complete', expected 'full', 'economic' or 'r'"),
        (lambda: sp.eigh(A, A, type=2), "eigh: all eigenvalues of problems of type 1 are computed"),
        (
            lambda: sp.eigh(S, np.eye(3)),
            "eigh: f64[5,5] and f64[3,3] are matrices of different sizes",
        ),
        (lambda: sp.eigh_tridiagonal(V, V), "eigh_tridiagonal: f64[4] and f64[4] are no diagonal and off-"),
        (lambda: sp.polar(A, "up"), "polar: side is 'up', expected 'right' or 'left'"),
        (lambda: sp.companion(V[:1]), "companion: expected at least two coefficients, got f64[1]"),
        (
            lambda: sp.block_diag(np.ones((2, 2, 2))),
            "block_diag: expected matrices or vectors, got f64[2,2,2]",
        ),
        (lambda: sp.dft(3, "rows"), "dft: scale is 'rows', expected None, 'sqrtn' or 'n'"),
        (lambda: sp.expm_frechet(A, np.eye(3)), "expm_frechet: f64[5,5] and f64[3,3] differ in shape"),
        (lambda: sp.cholesky(B), "cholesky: expected square matrices, got f64[5,2]"),
        (
            lambda: sp.lu_solve((A, np.zeros(3, np.int32)), B),
            "lu_solve: f64[5,5] and the pivots i32[3] do not",
        ),
        (lambda: sp.solve_triangular(A, np.ones(4)), "solve_triangular: f64[5,5] and f64[4] do not fit"),
    ],
)
def test_misuse_says_what_was_expected(call: Any, text: str) -> None:
    with pytest.raises(AdzeError) as raised:
        call()
    assert text in str(raised.value)

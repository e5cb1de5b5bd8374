"""The real Schur form: residuals, LAPACK's form of its blocks, and eigenvalues, of awkward matrices too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import adze
import adze.scipy.linalg as ours
from adze import lax
from adze.frontend.library.linalg.real_schur import values_of

RANDOM = np.random.default_rng(0)
MATRICES = {
    **{f"random {n}": RANDOM.normal(size=(n, n)) for n in (1, 2, 3, 5, 8, 13)},
    "zeros": np.zeros((4, 4)),
    "one": np.eye(4),
    "cycle": np.roll(np.eye(7), 1, 0),
    "nilpotent": np.eye(5, k=1),
    "lower nilpotent": np.eye(6, k=-1),
    "rotation": np.array([[0.0, 1], [-1, 0]]),
    "rotations": np.kron(np.eye(4), [[0.0, 1], [-1, 0]]),
    "lower triangle": np.array([[2.0, 0], [1, 2]]),
    "nearly symmetric": np.array([[1.0, 1e-8], [1e-8, 1]]),
    "a defective pair": np.array([[1.0, -2, 3, 0], [2, 1, 0, 3], [0, 0, 1, -2], [0, 0, 2, 1]]),
    "triangle": np.triu(np.ones((6, 6))),
    "powers": np.vander(np.arange(1.0, 9)),
    "companion": scipy.linalg.companion(np.poly(np.arange(1.0, 8))),
    "roots of one": scipy.linalg.companion([1.0] + [0] * 7 + [-1]),
    "symmetric": scipy.linalg.hadamard(8).astype(float),
    "circulant": scipy.linalg.circulant(np.arange(10.0)),
    "huge": 1e300 * np.array([[1.0, 2], [3, 4]]),
    "tiny": 1e-300 * np.array([[1.0, 2, 3], [3, 4, 9], [5, -3, 1]]),
}


def check(a: np.ndarray, t: np.ndarray, z: np.ndarray) -> None:
    n, eps = len(a), np.finfo(a.dtype).eps
    limit = 40 * max(n, 4) * eps
    assert t.dtype == z.dtype == a.dtype
    assert np.abs(z @ t @ z.T - a).max() <= limit * np.abs(a).max()
    assert np.abs(z.T @ z - np.eye(n)).max() <= limit
    assert not np.tril(t, -2).any()
    below = np.diagonal(t, -1)
    for i in np.flatnonzero(below):
        assert i + 2 > len(below) or not below[i + 1]
        assert t[i, i] == t[i + 1, i + 1]
        assert np.sign(t[i, i + 1]) == -np.sign(t[i + 1, i]) != 0


@pytest.mark.parametrize("name", MATRICES)
def test_factors(name: str) -> None:
    a = MATRICES[name]
    t, z = map(np.asarray, ours.schur(a))
    check(a, t, z)
    real, imaginary = map(np.asarray, values_of(t))
    values = list(np.linalg.eigvals(a / np.abs(a).max()) if a.any() else np.zeros(len(a)))
    size = np.abs(a).max() or 1
    is_defective = name in ("a defective pair", "powers", "companion", "nearly symmetric")
    for value in (real + 1j * imaginary) / size:
        nearest = int(np.argmin(np.abs(np.array(values) - value)))
        assert abs(values.pop(nearest) - value) < (1e-5 if is_defective else 1e-12)


def test_batches_of_float32_compiled() -> None:
    a = RANDOM.normal(size=(2, 6, 6)).astype(np.float32)
    t, z = map(np.asarray, adze.jit(ours.schur)(a))
    for one, factor, vectors in zip(a, t, z, strict=True):
        check(one, factor, vectors)
    check(a[0], *map(np.asarray, lax.linalg.schur(a[0])))
    assert len(lax.linalg.schur(a[0], compute_schur_vectors=False)) == 1


def test_what_is_not_finite_and_what_is_empty() -> None:
    for bad in (np.nan, np.inf):
        t, z = ours.schur(np.array([[1.0, bad], [0, 1]]))
        assert np.isnan(t).all() and np.isnan(z).all()
    assert ours.schur(np.zeros((0, 0)))[0].shape == (0, 0)


def test_the_complex_form_follows_from_the_real_one() -> None:
    a = MATRICES["random 5"]
    t, z = map(np.asarray, ours.rsf2csf(*ours.schur(a)))
    assert np.abs(np.tril(t, -1)).max() < 1e-12
    np.testing.assert_allclose(z @ t @ z.conj().T, a, atol=1e-12)

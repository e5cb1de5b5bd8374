"""Matrices that are divided and conquered: residuals, orthogonality and values of awkward spectra."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp

from ....selection import quick_first
from .matrices import wide

each_case = pytest.mark.parametrize(
    "case",
    quick_first([(70, np.float64), (70, np.float32), (129, np.float64), (333, np.float32)], 1),
    ids=str,
)


def matrices(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Symmetric matrices, by what their spectra are like."""
    normal = rng.standard_normal((n, n))
    normal = normal + normal.T
    q, places = np.linalg.qr(normal)[0], np.arange(n)
    grades = 10.0 ** -np.linspace(0, 20, n)
    beside = np.eye(n, k=1) + np.eye(n, k=-1)
    glued = np.diag(np.abs(places % 21 - 10.0)) + beside * np.where(places % 21 == 20, 1e-7, 1)
    return {
        "normal": normal,
        "zero": np.zeros((n, n)),
        "one value": 3 * np.eye(n),
        "ones": np.ones((n, n)),
        "few values": (q * (places % 5)) @ q.T,
        "half zero": (q * (places < n // 2)) @ q.T,
        "graded": (q * 10.0 ** -np.linspace(0, 12, n)) @ q.T,
        "graded rows": grades[:, None] * normal * grades,
        "graded rows, small first": (grades[:, None] * normal * grades)[::-1, ::-1],
        "second differences": 2 * np.eye(n) - beside,
        "Wilkinson": np.diag(np.abs(places - n // 2) * 1.0) + beside,
        "glued": glued,
        "blocks": np.kron(np.eye(-(-n // 37)), normal[:37, :37])[:n, :n],
        "diagonal": np.diag(rng.standard_normal(n)),
    }


@each_case
def test_eigh_of_awkward_spectra(case: tuple[int, Any]) -> None:
    size, dtype = case
    named = matrices(size, np.random.default_rng(3))
    a = np.stack([(x + x.T) / 2 for x in named.values()]).astype(dtype)
    a = np.concatenate([a, a[:2]])
    a[-2, 3, 5] = a[-2, 5, 3] = np.nan
    a[-1, 0, 0] = np.inf
    values, vectors = (np.asarray(x) for x in adze.jit(lambda a: tuple(xp.linalg.eigh(a)))(a))
    assert np.isnan(values[-2:]).all() and np.isnan(vectors[-2:]).all()
    bound = 4 * np.sqrt(size) * np.finfo(dtype).eps
    for name, matrix, w, v in zip(named, wide(a), wide(values), wide(vectors), strict=False):
        exact = np.linalg.eigvalsh(matrix)
        most = max(np.abs(exact).max(), np.finfo(dtype).tiny)
        assert np.abs(matrix @ v - v * w).max() <= bound * most, name
        assert np.abs(v.T @ v - np.eye(size)).max() <= bound, name
        assert (np.diff(w) >= 0).all(), name
        assert np.abs(w - exact).max() <= bound * most, name


@pytest.mark.parametrize("size", quick_first([150, 30, 200], 1))
@pytest.mark.parametrize("dtype", quick_first([np.float32, np.float64], 1), ids=lambda d: d.__name__)
def test_values_alone_of_awkward_spectra(size: int, dtype: Any) -> None:
    """Also where couplings are so small that rotations restore them."""
    named = matrices(size, np.random.default_rng(3))
    a = np.stack([(x + x.T) / 2 for x in named.values()]).astype(dtype)
    for name, matrix, w in zip(named, wide(a), wide(adze.jit(xp.linalg.eigvalsh)(a)), strict=True):
        exact = np.linalg.eigvalsh(matrix)
        bound = 4 * np.sqrt(size) * np.finfo(dtype).eps * np.abs(exact).max()
        assert np.abs(w - exact).max() <= bound, name


@each_case
def test_svd_of_awkward_spectra(case: tuple[int, Any]) -> None:
    """Also of matrices whose columns between halves are zeros, or alone are not."""
    size, dtype = case
    rng = np.random.default_rng(5)
    places = np.arange(size)
    named = matrices(size, rng) | {
        "low rank": rng.standard_normal((size, 3)) @ rng.standard_normal((3, size)),
        "ones beside": np.eye(size, k=1),
        "one": np.eye(size) * (places == 33),
        "without the last": rng.standard_normal((size, size)) * (places < size - 1),
        "bidiagonal": np.eye(size) + np.eye(size, k=1),
        "triangle": np.triu(np.full((size, size), -0.9), 1) + np.eye(size),
    }
    a = np.stack(list(named.values())).astype(dtype)
    a = np.concatenate([a, a[:2]])
    a[-2, 3, 5] = np.nan
    a[-1, size - 1, 0] = np.inf
    function = adze.jit(lambda a: tuple(xp.linalg.svd(a, full_matrices=False)))
    left, values, right = (np.asarray(x) for x in function(a))
    assert all(np.isnan(x[-2:]).all() for x in (left, values, right))
    bound = 6 * np.sqrt(size) * np.finfo(dtype).eps
    for name, matrix, u, s, v in zip(named, wide(a), wide(left), wide(values), wide(right), strict=False):
        exact = np.linalg.svd(matrix, compute_uv=False)
        assert np.abs((u * s) @ v - matrix).max() <= bound * exact.max(), name
        # Reflections of equal elements round alike: norms drift up to an eps with each (LAPACK's tests let
        # thirty eps pass for each column).
        drift = size * np.finfo(dtype).eps if name == "ones" else bound
        assert np.abs(u.T @ u - np.eye(size)).max() <= drift, name
        assert np.abs(v @ v.T - np.eye(size)).max() <= drift, name
        assert (np.diff(s) <= 0).all() and (s >= 0).all(), name
        assert np.abs(s - exact).max() <= bound * exact.max(), name


def test_singular_values_of_many_more_columns_than_rows() -> None:
    """The composition, which the evaluator and GPUs use, is traced beside the kernel."""
    a = np.random.default_rng(6).standard_normal((65, 75))
    a = np.concatenate([a] * 4, axis=1)

    def function(a: Any) -> Any:
        return xp.linalg.svd(a, full_matrices=False), xp.linalg.svd(a, compute_uv=False)

    (u, s, v), values = adze.jit(function)(a)
    exact = np.linalg.svd(a, compute_uv=False)
    assert np.allclose((u * s) @ v, a) and np.allclose(s, exact) and np.allclose(values, exact)

"""`adze.lax.linalg` has the calling conventions of `jax.lax.linalg`: the same call, the same results."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from jax.lax import linalg as jax_linalg

import adze
from adze import AdzeError
from adze.lax import linalg

from ....selection import quick_first
from .matrices import normal, positive

pytestmark = pytest.mark.oracle

A, S, T, B = normal(2, 4, 4), positive(2, 4, 4), np.tril(normal(4, 4)) + 3 * np.eye(4), normal(4, 2)
Z = positive(3, 3, dtype=np.complex128)


def same(call: Any) -> None:
    """`call(module)` returns equal leaves for both modules."""
    with jax.enable_x64(True):
        expected = [np.asarray(x) for x in jax.tree.leaves(call(jax_linalg))]
    results = [np.asarray(x) for x in adze.tree.leaves(call(linalg))]
    assert [x.shape for x in results] == [x.shape for x in expected]
    for ours, theirs in zip(results, expected, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_cholesky() -> None:
    same(lambda m: m.cholesky(S))
    same(lambda m: m.cholesky(np.tril(S), symmetrize_input=False))
    r = np.linalg.cholesky(S[0]).T.copy()
    same(lambda m: m.cholesky_update(r, B[:, 0].copy()))


def test_eigh_gives_the_vectors_first() -> None:
    v, w = linalg.eigh(S)
    same(lambda m: m.eigh(S)[1])
    np.testing.assert_allclose(S @ np.asarray(v), np.asarray(v) * np.asarray(w)[:, None, :], atol=1e-12)
    for lower in (True, False):
        half = np.tril(Z) if lower else np.triu(Z)
        same(lambda m, half=half, lower=lower: m.eigh(half, lower=lower, symmetrize_input=False)[1])
    some, few = linalg.eigh(S, subset_by_index=(1, 3))
    np.testing.assert_array_equal(np.asarray(some), np.asarray(v)[..., 1:3])
    np.testing.assert_array_equal(np.asarray(few), np.asarray(w)[..., 1:3])


@pytest.mark.parametrize("shape", quick_first([(5, 3), (4, 4), (3, 5)], 1))
def test_lu_and_its_permutation(shape: tuple[int, int]) -> None:
    a = normal(2, *shape)
    same(lambda m: m.lu(a))
    pivots = np.asarray(linalg.lu(a)[1])
    same(lambda m: m.lu_pivots_to_permutation(pivots, shape[0]))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("full", [True, False])
def test_qr_and_svd(full: bool) -> None:
    a = normal(5, 3)
    same(lambda m: m.qr(a, full_matrices=full))
    same(lambda m: m.svd(a, full_matrices=full, compute_uv=False))
    same(lambda m: m.svd(a, full_matrices=full)[1])
    u, s, vh = (np.asarray(x) for x in linalg.svd(a, full_matrices=False, subset_by_index=(0, 2)))
    assert u.shape == (5, 2) and s.shape == (2,) and vh.shape == (2, 3)


@pytest.mark.parametrize("left_side", [True, False])
@pytest.mark.parametrize("transpose_a", [True, False])
def test_triangular_solve(left_side: bool, transpose_a: bool) -> None:
    b = B if left_side else B.T.copy()
    for lower, unit in ((True, False), (False, True)):
        t = T if lower else T.T.copy()
        same(
            lambda m, t=t, lower=lower, unit=unit: m.triangular_solve(
                t, b, left_side=left_side, lower=lower, transpose_a=transpose_a, unit_diagonal=unit
            )
        )


def test_products_and_tridiagonal_systems() -> None:
    same(lambda m: m.symmetric_product(A[:, :2], S[:, :2, :2], alpha=2.0, beta=0.5))
    dl, d, du = normal(3, 6, seed=1)
    same(lambda m: m.tridiagonal_solve(dl, d + 4, du, normal(6, 2)))


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_tridiagonal_systems(n: int, dtype: Any) -> None:
    """Of any diagonals, zeros too, where rows are exchanged; of a batch, its derivative, and a named size."""
    dl, d, du = (normal(2, n, seed=k).astype(dtype) for k in range(3))
    d[:, ::2] = 0
    d[:, -1:] += 3
    b = normal(2, n, 3, seed=5).astype(dtype)

    def full(dl: Any, d: Any, du: Any) -> Any:
        rows = range(n)
        a = np.zeros((*d.shape, n), dtype)
        a[:, rows, rows] = d
        a[:, rows[1:], rows[:-1]] = dl[:, 1:]
        a[:, rows[:-1], rows[1:]] = du[:, :-1]
        return a

    x = np.linalg.solve(full(dl, d, du), b)
    unused = dl.copy(), du.copy()
    unused[0][:, :1] = unused[1][:, -1:] = np.nan
    np.testing.assert_allclose(linalg.tridiagonal_solve(unused[0], d, unused[1], b), x, atol=1e-10)
    tangents = [normal(*v.shape, seed=9 + k).astype(dtype) for k, v in enumerate((dl, d, du, b))]
    _, moved = adze.jvp(linalg.tridiagonal_solve, (dl, d, du, b), tuple(tangents))
    wanted = np.linalg.solve(full(dl, d, du), tangents[3] - full(*tangents[:3]) @ x)
    np.testing.assert_allclose(moved, wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: linalg.eigh(S, subset_by_index=(2, 9)), "eigh: subset_by_index is (2, 9), expected a range"),
        (lambda: linalg.svd(A, subset_by_index=(0, 2)), "svd: subset_by_index needs full_matrices=False"),
        (
            lambda: linalg.triangular_solve(T, np.ones(4), left_side=True),
            "triangular_solve: the right-hand side must have at least 2 dimensions, got f64[4]",
        ),
        (lambda: linalg.cholesky_update(T, np.ones(3)), "cholesky_update: f64[4,4] and f64[3] are no real"),
        (
            lambda: linalg.symmetric_product(B, T[:3, :3]),
            "symmetric_product: f64[4,2] and f64[3,3] do not fit",
        ),
        (
            lambda: linalg.tridiagonal_solve(np.ones(3), np.ones(4), np.ones(4), B),
            "tridiagonal_solve: the diagonals f64[3], f64[4] and f64[4] differ in shape",
        ),
        (lambda: linalg.lu(np.ones(3)), "lu: expected an array of at least 2 dimensions, got f64[3]"),
    ],
)
def test_misuse_says_what_was_expected(call: Any, text: str) -> None:
    with pytest.raises(AdzeError) as raised:
        call()
    assert text in str(raised.value)

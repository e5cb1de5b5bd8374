"""Primitives of linear algebra and of named axes compute what their functions do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.lax import linalg

A = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]], np.float32)
V = np.array([1, 2, 3], np.float32)
R = np.array([[2, 1, 0], [0, 3, 1], [0, 0, 1]], np.float32)


def _same(got: Any, want: Any) -> None:
    got, want = (list(x) if isinstance(x, (tuple, list)) else [x] for x in (got, want))
    for one, other in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-6, atol=1e-6)


def test_linear_algebra() -> None:
    p = linalg
    skewed = A + np.triu(np.ones_like(A), 1)
    _same(p.cholesky_p.bind(skewed), linalg.cholesky(A))  # of the lower triangle alone
    _same(p.cholesky_update_p.bind(R, V), linalg.cholesky_update(R, V))
    _same(p.eigh_p.bind(skewed, lower=True, sort_eigenvalues=True, subset_by_index=None), linalg.eigh(A))
    _same(p.eig_p.bind(A, compute_left_eigenvectors=False), linalg.eig(A, compute_left_eigenvectors=False))
    _same(p.lu_p.bind(A), linalg.lu(A))
    pivots = np.int32([1, 2, 2])
    want = linalg.lu_pivots_to_permutation(pivots, 3)
    _same(p.lu_pivots_to_permutation_p.bind(pivots, permutation_size=3), want)
    _same(p.qr_p.bind(A, pivoting=False, full_matrices=True, use_magma=None), linalg.qr(A))
    left, values, right = linalg.svd(A)
    _same(p.svd_p.bind(A, full_matrices=True, compute_uv=True, algorithm=None), (values, left, right))
    _same(p.svd_p.bind(A, full_matrices=True, compute_uv=False), values)
    packed, taus = p.hessenberg_p.bind(A)
    _same((packed, taus), linalg.hessenberg(A))
    _same(p.householder_product_p.bind(A, V), linalg.householder_product(A, V))
    _same(p.ormqr_p.bind(A, V, R, left=True, transpose=True), linalg.ormqr(A, V, R, transpose=True))
    _same(p.symmetric_product_p.bind(A, R, alpha=2.0, beta=0.5), 2 * A @ A.T + R / 2)
    solved = p.triangular_solve_p.bind(
        R, A, left_side=True, lower=False, transpose_a=False, conjugate_a=False, unit_diagonal=False
    )
    _same(solved, np.linalg.solve(R, A))
    bands = (np.float32([0, 1, 1]), np.float32([4, 3, 2]), np.float32([1, 1, 0]))
    _same(
        p.tridiagonal_solve_p.bind(*bands, V[:, None], perturb_singular=False), np.linalg.solve(A, V[:, None])
    )


def test_named_axes() -> None:
    def each(x: Any) -> Any:
        (total,) = lax.psum_p.bind(x, axes=("i",), axis_index_groups=None)
        most, least = lax.pmax_p.bind(x, axes=("i",)), lax.pmin_p.bind(x, axes=("i",))
        (gathered,) = lax.all_gather_p.bind(
            x, all_gather_dimension=0, axis_name=("i",), axis_index_groups=None, axis_size=3, tiled=False
        )
        (moved,) = lax.ppermute_p.bind(x, axis_name=("i",), perm=((0, 1),))
        exchanged = lax.all_to_all_p.bind(x, split_axis=0, concat_axis=0, axis_name="i", tiled=False)
        return total, most[0], least[0], gathered, moved, exchanged, lax.axis_index_p.bind(axis_name="i")

    got = adze.vmap(each, axis_name="i")(A)
    rows = np.ones((3, 1), np.float32)
    _same(got[0], rows * A.sum(0))
    _same(got[1], rows * A.max(0))
    _same(got[2], rows * A.min(0))
    _same(got[3], np.stack([A] * 3))
    _same(got[4], np.stack([0 * A[0], A[0], 0 * A[0]]))
    _same(got[5], A.T)
    _same(got[6], np.arange(3))
    with pytest.raises(TypeError):
        lax.psum_p.bind(A)


def test_attributes_without_a_meaning_here_are_refused() -> None:
    band = np.float32([0, 1, 1])
    with pytest.raises(NotImplementedError, match="perturb_singular"):
        linalg.tridiagonal_solve_p.bind(band, band, band, np.ones((3, 1), np.float32), perturb_singular=True)

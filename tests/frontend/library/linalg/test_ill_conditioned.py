"""Hilbert, graded and rank-deficient matrices: residuals, ranks and results beside those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze import numpy as xp

from .matrices import normal, ratio, wide

LIMIT = 6.0
GRADES = np.logspace(0, -12, 9)

REGULAR = {
    "hilbert": 1 / (np.arange(10)[:, None] + np.arange(10) + 1.0),
    "graded rows": GRADES[:, None] * normal(9, 9),
    "graded columns": normal(9, 9) * GRADES,
    "graded both ways": GRADES[:, None] * normal(9, 9) / GRADES,
    "vandermonde": np.vander(np.linspace(0, 1, 9)),
}
DEFICIENT = {
    "rank 3": (normal(8, 3) @ normal(3, 8, seed=1), 3),
    "tall rank 2": (normal(9, 2) @ normal(2, 5, seed=1), 2),
    "wide rank 2": (normal(5, 2) @ normal(2, 9, seed=1), 2),
    "zeros": (np.zeros((4, 4)), 0),
    "a column twice": (normal(6, 4)[:, [0, 1, 1, 3]], 3),
}

each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)


@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("name", REGULAR)
def test_systems_of_regular_matrices(name: str, dtype: Any) -> None:
    """Elements of residuals are bounded by those of ``|a| |x| + |b|``, whatever the condition."""
    a = REGULAR[name].astype(dtype)
    b = normal(len(a), dtype=dtype)
    x = np.asarray(xp.linalg.solve(a, b))
    scale = (np.abs(wide(a)) @ np.abs(wide(x)) + np.abs(b)).max()
    assert ratio(wide(a) @ wide(x) - b, scale, a, len(a)) < LIMIT
    for ours, theirs in zip(xp.linalg.slogdet(a), np.linalg.slogdet(wide(a)), strict=True):
        bound = len(a) * np.finfo(dtype).eps * np.linalg.cond(wide(a))
        assert abs(float(ours) - theirs) < bound


@pytest.mark.one_in(2)
@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("name", REGULAR)
def test_singular_values_of_regular_matrices(name: str, dtype: Any) -> None:
    a = REGULAR[name].astype(dtype)
    expected = np.linalg.svd(wide(a), compute_uv=False)
    assert ratio(np.asarray(xp.linalg.svdvals(a)) - expected, expected[0], a, len(a)) < LIMIT
    assert ratio(float(xp.linalg.norm(a, 2)) - expected[0], expected[0], a, len(a)) < LIMIT
    assert ratio(float(xp.linalg.norm(a, "nuc")) - expected.sum(), expected.sum(), a, len(a)) < LIMIT


@pytest.mark.one_in(2)
@pytest.mark.each_value
@each_dtype
@pytest.mark.parametrize("name", DEFICIENT)
def test_ranks_and_least_squares_of_deficient_matrices(name: str, dtype: Any) -> None:
    """The limit of what counts as zero is in the matrix's own dtype, so NumPy is given it too."""
    exact, rank = DEFICIENT[name]
    a = exact.astype(dtype)
    rows, columns = a.shape
    b = normal(rows, 2, dtype=dtype)
    limit = float(max(a.shape) * np.finfo(dtype).eps)
    x, _, result, values = xp.linalg.lstsq(a, b)
    assert int(result) == int(xp.linalg.matrix_rank(a)) == rank
    inverse = np.linalg.pinv(wide(a), rcond=10 * limit)
    scale = np.abs(inverse).max(initial=1e-300)
    condition = np.linalg.cond(exact) if rank == min(a.shape) else np.abs(a).max() * scale * max(a.shape)
    bound = 10 * limit * max(condition, 1) * scale
    np.testing.assert_allclose(np.asarray(xp.linalg.pinv(a)), inverse, atol=bound)
    np.testing.assert_allclose(np.asarray(x), inverse @ wide(b), atol=bound * rows)
    assert values.shape == (min(rows, columns),)


@each_dtype
def test_determinants_of_deficient_matrices_are_roundings(dtype: Any) -> None:
    for name in ("rank 3", "zeros"):
        a = DEFICIENT[name][0].astype(dtype)
        # By Hadamard's inequality no minor is larger than the product of the norms of the rows.
        minor = np.prod(np.maximum(np.linalg.norm(wide(a), axis=-1), 1))
        assert abs(float(xp.linalg.det(a))) <= len(a) ** 2 * np.finfo(dtype).eps * minor

"""Factors of matrices whose elements have very different sizes, those near the smallest floats among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adze import numpy as xp
from adze.numpy import linalg


def graded(dtype: Any, least: int, most: int) -> np.ndarray:
    """60 matrices of 4 rows and 3 columns, elements between these powers of ten, some of them zero."""
    rng = np.random.default_rng(least % 7)
    x = 10.0 ** rng.uniform(least, most, (60, 4, 3)) * (rng.random((60, 4, 3)) < 0.6)
    angles = rng.uniform(0, 2 * np.pi, x.shape) if dtype is complex else np.pi * rng.integers(0, 2, x.shape)
    return (x * np.exp(1j * angles)).astype(dtype) if dtype is complex else x * np.cos(angles)


@pytest.mark.parametrize("sizes", [(-160, 160), (-308, -200), (-323, -300), (100, 150)])
@pytest.mark.parametrize("dtype", [float, complex])
def test_factors_are_finite_and_right(dtype: Any, sizes: tuple[int, int]) -> None:
    """Complex ones were NaN where a length was subnormal, which has no reciprocal."""
    x = graded(dtype, *sizes)
    u, s, vh = map(np.asarray, linalg.svd(x, full_matrices=False))
    largest = s[:, :1]
    np.testing.assert_allclose(s / np.maximum(largest, 5e-324), np.linalg.svd(x)[1] / largest, atol=1e-9)
    assert (s[:, :-1] >= s[:, 1:]).all()
    q, r = map(np.asarray, linalg.qr(x))
    square = x[:, :3] + np.swapaxes(x[:, :3], -1, -2).conj()
    w, v = map(np.asarray, linalg.eigh(square))
    for basis in (q, v, np.swapaxes(vh, -1, -2)):
        gram = np.swapaxes(basis, -1, -2).conj() @ basis
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(3), gram.shape), atol=1e-12)
    assert all(np.isfinite(each).all() for each in (u, s, vh, q, r, w, v))
    if sizes[0] > -200:
        scale = np.abs(x).max((1, 2), keepdims=True)
        np.testing.assert_allclose(q @ (r / scale), x / scale, atol=1e-13)


def test_phases_of_the_smallest_numbers() -> None:
    x = np.array([[5e-324 + 0j, 0], [0, 1e-320j]])
    assert np.asarray(linalg.svd(x)[1]).tolist() == [1e-320, 5e-324]
    np.testing.assert_array_equal(np.abs(np.asarray(xp.linalg.qr(x)[0])), np.eye(2))

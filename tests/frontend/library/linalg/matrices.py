"""Matrices to test with, and LAPACK's test ratios: errors in units of what rounding may do to them."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES = (np.float32, np.float64, np.complex64, np.complex128)
SIZES = (0, 1, 2, 3, 8, 33)


def normal(*shape: int, dtype: Any = np.float64, seed: int = 0) -> np.ndarray:
    """Normally distributed elements."""
    generator = np.random.default_rng(seed)
    drawn = generator.normal(size=shape)
    if np.dtype(dtype).kind == "c":
        drawn = drawn + 1j * generator.normal(size=shape)
    return np.asarray(drawn).astype(dtype)


def positive(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Hermitian positive definite matrices."""
    a = normal(*shape, dtype=dtype)
    return a @ adjoint(a) + np.eye(shape[-1], dtype=dtype)


def hermitian(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    """Hermitian matrices."""
    a = normal(*shape, dtype=dtype)
    return (a + adjoint(a)) / 2


def conditioned(n: int, condition: float, dtype: Any = np.float64) -> np.ndarray:
    """A matrix of the condition number asked for, singular values spread evenly in the logarithm."""
    left, _ = np.linalg.qr(normal(n, n, seed=1))
    right, _ = np.linalg.qr(normal(n, n, seed=2))
    return ((left * np.logspace(0, -np.log10(condition), n)) @ right).astype(dtype)


def adjoint(a: Any) -> np.ndarray:
    """The conjugate transpose."""
    return np.conj(np.swapaxes(np.asarray(a), -1, -2))


def wide(a: Any) -> np.ndarray:
    """The same numbers in double precision."""
    array = np.asarray(a)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def ratio(error: Any, scale: Any, like: Any, n: int) -> float:
    """The largest error over ``scale * n * eps``: of order 1 for a backward stable algorithm."""
    largest = np.max(np.abs(error), initial=0.0)
    unit = max(float(np.max(np.abs(scale), initial=0.0)), np.finfo(np.float64).tiny)
    return float(largest / (unit * max(n, 1) * np.finfo(np.asarray(like).dtype).eps))


def off_unitary(q: Any) -> float:
    """How far the columns are from orthonormal, as a ratio."""
    result = wide(q)
    n = result.shape[-1]
    return ratio(adjoint(result) @ result - np.eye(n), 1.0, q, max(result.shape[-2], 1))

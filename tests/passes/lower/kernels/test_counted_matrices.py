"""Kernels of routines on as many matrices or rows as show at the call, in the interpreter.

A kernel of a counted batch is the one of a known batch but for how matrices are counted, and for rows that
are lanes of vectors: of these there may be fewer than lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import TensorType

from .linear_algebra import TARGETS, run_routine

RNG = np.random.default_rng(23)

Arrays = tuple[np.ndarray, ...]


def normal(*shape: int, dtype: Any = np.float64) -> np.ndarray:
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive(*shape: int) -> np.ndarray:
    a = normal(*shape)
    return (a @ np.swapaxes(a, -1, -2) + 4 * np.eye(shape[-1])).astype(np.float64)


Case = tuple[str, Callable[[int, int], Arrays], Callable[..., Any]]

CASES: tuple[Case, ...] = (
    ("cholesky", lambda b, c: (positive(b, c, 5, 5),), np.linalg.cholesky),
    (
        "solve_lower",
        lambda b, c: (np.tril(positive(b, c, 5, 5)), normal(b, c, 5, 18)),
        np.linalg.solve,
    ),
    ("qr", lambda b, c: (normal(b, c, 5, 3),), lambda a: tuple(np.linalg.qr(a))),
    ("eigvalsh", lambda b, c: (positive(b, c, 6, 6),), np.linalg.eigvalsh),
    ("svdvals", lambda b, c: (normal(b, c, 6, 6),), lambda a: np.linalg.svd(a, compute_uv=False)),
    (
        "fft_columns",
        lambda b, c: (normal(b, c, 6, 9, dtype=np.complex128),),
        lambda a: np.fft.fft(a, axis=-2),
    ),
    ("fft", lambda b, c: (normal(b, c, 6, dtype=np.complex128),), np.fft.fft),
    ("fft", lambda b, c: (normal(b, c, 37, dtype=np.complex64),), np.fft.fft),
    ("ifft", lambda b, c: (normal(b, c, 12, dtype=np.complex64),), lambda a: 12 * np.fft.ifft(a)),
    ("fft", lambda b, c: (normal(b, c, 2048, dtype=np.complex64),), np.fft.fft),
    ("rfft", lambda b, c: (normal(b, c, 12, dtype=np.float32),), np.fft.rfft),
    ("rfft", lambda b, c: (normal(b, c, 2048, dtype=np.float32),), np.fft.rfft),
    ("irfft", lambda b, c: (normal(b, c, 9, dtype=np.complex64),), lambda a: 16 * np.fft.irfft(a)),
)


@pytest.mark.each_value
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_counted(case: Case, target: str) -> None:
    kernel, make, reference = case
    for counts in ((0, 2), (1, 1), (3, 3)):
        arrays = make(*counts)
        expected = reference(*arrays)
        wanted = expected if isinstance(expected, tuple) else (expected,)
        dtypes = [np.result_type(w.dtype, arrays[0].dtype) for w in wanted]
        if kernel == "rfft":
            dtypes = [np.dtype(np.complex64)]
        elif kernel in ("fft", "ifft", "irfft"):
            dtypes = [arrays[0].real.dtype if kernel == "irfft" else arrays[0].dtype]
        results = [TensorType(w.shape, dtype) for w, dtype in zip(wanted, dtypes, strict=True)]
        got = run_routine(kernel, arrays, results, target, named=2)
        for one, want, dtype in zip(got, wanted, dtypes, strict=True):
            assert one.shape == want.shape
            units = 100 * float(np.finfo(dtype).eps)
            magnitudes = [np.abs(x) if kernel == "qr" else x for x in (one, want)]  # signs are free
            np.testing.assert_allclose(*magnitudes, rtol=0, atol=units * np.abs(want).max(initial=1))

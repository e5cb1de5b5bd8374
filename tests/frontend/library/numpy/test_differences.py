"""`diff`, which takes up to four differences at once: the numbers of NumPy, rounded alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.int32, np.uint8, np.bool_, np.complex64], ids=str
)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 9])
def test_differences_of_differences(dtype: Any, size: int) -> None:
    x = RNG.random((size, 6)) > 0.5 if dtype == np.bool_ else (RNG.random((size, 6)) * 99).astype(dtype)
    for times in range(8):
        for axis in (0, 1):
            want, got = np.diff(x, n=times, axis=axis), np.asarray(xp.diff(x, n=times, axis=axis))
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("times", [2, 4, 5])
def test_differences_are_compiled_as_they_are_evaluated(times: int) -> None:
    x = RNG.standard_normal((40, 70)).astype(np.float32)
    got = adze.jit(lambda x: xp.diff(x, n=times, axis=0))(x)
    np.testing.assert_array_equal(np.asarray(got), np.diff(x, n=times, axis=0))


def test_differences_along_an_unknown_axis() -> None:
    program = adze.trace(lambda x: xp.diff(x, n=3), adze.ShapeDtype(("n",))).lower().compile()
    x = RNG.standard_normal(20).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(program(x)), np.diff(x, n=3))

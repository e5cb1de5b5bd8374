"""Remainders of floats by constants: those by 1, 2, 4, ... have short code of their own, exact too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp

DIVISORS = (1.0, 2.0, -4.0, 1024.0, 3.0, 0.5)
SPECIAL = [0.0, -0.0, 1, -1, 2, -2, np.inf, -np.inf, np.nan, 65504, -65504, 3.5, -3.5, 0.99999999]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_remainders_by_constants(dtype: str) -> None:
    rng, largest = np.random.default_rng(0), float(np.finfo(dtype).max)
    parts = [rng.normal(size=500) * 100, rng.normal(size=50) * 1e-3, SPECIAL, 2.0 ** np.arange(-10, 15)]
    x = np.concatenate([*parts, [largest, -largest / 3]]).astype(dtype)

    def remainders(x: Any) -> Any:
        return [(xp.fmod(x, y), xp.remainder(x, y)) for y in DIVISORS]

    with np.errstate(all="ignore"):
        for y, results in zip(DIVISORS, adze.jit(remainders)(x), strict=True):
            for got, want in zip(
                results, (np.fmod(x, x.dtype.type(y)), np.remainder(x, x.dtype.type(y))), strict=True
            ):
                np.testing.assert_array_equal(got, want, str(y))
                numbers = ~np.isnan(want)
                np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers], str(y))


def test_the_short_code_is_for_powers_of_two() -> None:
    def lines(y: float) -> int:
        traced = adze.trace(lambda x: xp.fmod(x, y), adze.ShapeDtype((100,)))
        return len(traced.mlir("linalg").splitlines())

    assert lines(2.0) < 60 < lines(3.0)


def test_the_slope_at_a_multiple_is_one() -> None:
    assert adze.jit(adze.grad(lambda x: x % 1.0))(np.float32(2.0)) == 1.0

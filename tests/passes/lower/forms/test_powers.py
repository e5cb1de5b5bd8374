"""Powers of floats by 1.5 and its kin are roots and products, with the special cases of pow."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import numpy as xp

EXPONENTS = (-1.5, -0.5, 0.5, 1.5, 2.5)
SPECIAL = [0.0, -0.0, 1, -1, 4, -4, np.inf, -np.inf, np.nan]
UNITS = 2.0  # in the last place; three roundings err by 1.8


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("count", [0, 1, 2500])
def test_powers_by_halves(dtype: type, count: int) -> None:
    x = _bases(np.dtype(dtype), count)
    traced = adze.jit(lambda x: [adze.lax.pow(x, xp.full_like(x, y)) for y in EXPONENTS])
    for y, got in zip(EXPONENTS, traced(x), strict=True):
        with np.errstate(all="ignore"):
            wide = np.power(x.astype(np.longdouble), np.longdouble(y))
        _check(np.asarray(got), wide, y)


def _bases(dtype: np.dtype, count: int) -> np.ndarray:
    rng, limits = np.random.default_rng(0), _limits(dtype)
    spread = np.exp(rng.uniform(np.log(float(limits.tiny)), np.log(float(limits.max)), size=count))
    edges = [*SPECIAL, float(limits.max), float(limits.tiny)] if count > 1 else []
    return np.concatenate([spread, rng.random(count) * 10, edges]).astype(dtype)


def _limits(dtype: np.dtype) -> Any:
    return np.finfo(dtype) if dtype.kind == "f" else np.finfo(np.float32)


def _check(got: np.ndarray, wide: np.ndarray, y: float) -> None:
    """`got` within `UNITS` where it is a normal number; infinite, zero or NaN where it is not."""
    limits = _limits(got.dtype)
    epsilon = limits.eps if got.dtype.kind == "f" else 2.0**-7
    result = got.astype(np.longdouble)
    normal = (wide >= float(limits.tiny)) & (wide < float(limits.max))
    np.testing.assert_allclose(result[normal], wide[normal], rtol=UNITS * float(epsilon), err_msg=str(y))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(wide), str(y))
    assert np.all(result[wide > 1.01 * float(limits.max)] == np.inf)
    assert np.all(np.abs(result[wide < float(limits.tiny)]) <= float(limits.tiny))
    assert not np.any(np.signbit(result[~np.isnan(wide)]))


def test_the_short_code_is_for_halves() -> None:
    def calls(y: float) -> bool:
        traced = adze.trace(lambda x: xp.power(x, y), adze.ShapeDtype((100,)))
        return "scalar.pow" in traced.mlir("linalg")

    assert not calls(1.5)
    assert calls(1.25)
    assert calls(4.5)


def test_derivatives_at_zero_and_in_loops() -> None:
    x = np.array([0.0, 0.25, 4.0], np.float32)
    slopes = adze.jit(adze.grad(lambda x: (xp.power(x, 1.5) + xp.power(x, 2.5)).sum()))(x)
    np.testing.assert_allclose(slopes, 1.5 * x**0.5 + 2.5 * x**1.5, rtol=1e-6)

    def steps(x: Any) -> Any:
        return adze.lax.fori_loop(0, 5, lambda _, x: xp.power(x, 1.5) * 0.5 + 0.1, x)

    wanted = x.astype(np.float64)
    for _ in range(5):
        wanted = wanted**1.5 * 0.5 + 0.1
    np.testing.assert_allclose(adze.jit(steps)(x), wanted, rtol=1e-5)

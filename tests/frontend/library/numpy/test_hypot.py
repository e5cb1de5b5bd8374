"""`hypot` where squares overflow, vanish or are not numbers: NumPy's results to a few last digits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adze
import adze.numpy as anp


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_compiled", [False, True])
def test_no_side_is_too_long_or_too_short(dtype: type[np.floating], is_compiled: bool) -> None:
    info = np.finfo(dtype)
    sides = [0, -0.0, 1, -3, 4, 2.5, info.max, info.max / 2, info.tiny, 1e-30, 1e30, np.inf, -np.inf, np.nan]
    x, y = (np.array(column, dtype) for column in zip(*itertools.product(sides, sides), strict=True))
    got = np.asarray((adze.jit(anp.hypot) if is_compiled else anp.hypot)(x, y))
    with np.errstate(all="ignore"):
        want = np.hypot(x, y)
        is_same = (got == want) | (np.isnan(got) & np.isnan(want))
        assert np.all(is_same | (np.abs(got - want) <= 3 * np.spacing(np.abs(want))))


def test_slopes_at_the_origin_at_ties_and_at_infinity() -> None:
    x, y = np.array([0.0, 3.0, 1e-300, np.inf, 0.0, 2.0]), np.array([0.0, 4.0, 0.0, 1.0, 2.0, 2.0])
    dx, dy = adze.grad(lambda x, y: anp.sum(anp.hypot(x, y)), argnums=(0, 1))(x, y)
    half = np.sqrt(0.5)
    np.testing.assert_allclose(dx, [0, 0.6, 1, 1, 0, half], rtol=1e-15)
    np.testing.assert_allclose(dy, [0, 0.8, 0, 0, 1, half], rtol=1e-15)

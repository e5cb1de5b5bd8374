"""Integers beyond int32 among the arguments of functions: diagonals, shifts, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze.frontend.errors import ArgumentError

from .running import assert_same

X = np.arange(12.0).reshape(3, 4)
FAR = [s * n for n in (2**31 - 1, 2**31, 2**32, 2**32 + 1, 2**33, 2**62, 2**63, 2**70) for s in (1, -1)]


@pytest.mark.parametrize("k", FAR)
def test_far_diagonals_are_all_or_nothing(k: int) -> None:
    near = 100 if k > 0 else -100
    for name in ("tri", "eye"):
        assert_same(getattr(anp, name)(3, 4, k), getattr(np, name)(3, 4, near, np.float32))
    for name in ("triu", "tril", "diagonal"):
        assert_same(getattr(anp, name)(X, k), getattr(np, name)(X, near))


@pytest.mark.parametrize("k", FAR)
def test_far_shifts_and_bounds(k: int) -> None:
    assert_same(anp.roll(X, k), np.roll(X, k % 12))
    assert_same(anp.roll(X, k, axis=1), np.roll(X, k % 4, axis=1))
    assert_same(anp.rot90(X, k), np.rot90(X, k % 4))
    assert_same(anp.asarray(X)[:, :k], X[:, :k])
    assert_same(anp.asarray(X)[k:], X[k:])
    assert_same(anp.asarray(X)[::k], X[::k])


@pytest.mark.parametrize("ends", [(2**33, 2**33 + 3), (2**33, 2**33 + 10, 3), (-(2**33), 2 - 2**33)])
def test_arange_beyond_int32(ends: tuple[int, ...]) -> None:
    assert_same(anp.arange(*ends), np.arange(*ends))
    assert_same(anp.arange(*ends, dtype=np.float64), np.arange(*ends, dtype=np.float64))


@pytest.mark.parametrize(
    ("ends", "dtype"),
    [((2**33, 2**33 + 3), np.int32), ((300,), np.int8), ((-1, 3), np.uint8), ((0, 1e5, 1e4), np.float16)],
)
def test_arange_whose_numbers_do_not_fit_is_an_error(ends: Any, dtype: Any) -> None:
    with pytest.raises(OverflowError, match="is out of range for") as raised:
        anp.arange(*ends, dtype=dtype)
    assert isinstance(raised.value, adze.AdzeError)
    assert_same(anp.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))


def test_a_diagonal_is_an_integer() -> None:
    for function in (anp.tri, anp.eye):
        with pytest.raises(ArgumentError, match=r"the diagonal k must be an integer, got 1\.5"):
            function(3, 3, 1.5)

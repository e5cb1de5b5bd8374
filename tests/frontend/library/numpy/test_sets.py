"""Sets of traced arrays, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze import numpy as xp


@pytest.mark.parametrize("count", [0, 3, 32, 40])
def test_members_of_few_and_of_many(count: int) -> None:
    rng = np.random.default_rng(count)
    candidates = np.append(rng.integers(-9, 9, count), [np.nan, -0.0][: count // 3]).astype(np.float32)
    x = np.array([[0.0, np.nan, 3.0, np.inf], *rng.integers(-9, 9, (3, 4))], np.float32)
    for invert in (False, True):
        got = adze.jit(lambda x, c: xp.isin(x, c, invert=invert))(x, candidates)  # noqa: B023
        np.testing.assert_array_equal(got, np.isin(x, candidates, invert=invert))


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("size", [0, 1, 3, 5, 9])
def test_distinct_values_cut_off_at_a_size_are_numpys_first_ones(size: int, equal_nan: bool) -> None:
    arrays = [
        np.array([[3, 1, 3], [2, 1, 1]], np.int16),
        np.array([2, np.nan, -0.0, np.nan, 0.0, 2, -np.inf], np.float32),
        np.array([1j, np.nan, 1, 1j, np.nan]),
        np.array([False, True, True]),
    ]
    options = {"return_index": True, "return_inverse": True, "return_counts": True, "equal_nan": equal_nan}
    sized = {**options, "size": size, "fill_value": 0}
    found = adze.jit(lambda *given: [xp.unique(x, **sized) for x in given])(*arrays)
    for x, got in zip(arrays, found, strict=True):
        values, indices, inverse, counts = np.unique(x, **options)
        fillers = (0, indices[0], 0)  # values that are given, the first one's place, and none of them
        parts = zip((values, indices, counts), (got[0], got[1], got[3]), fillers, strict=True)
        for wanted, part, filler in parts:
            padded = np.full(size, filler, wanted.dtype)
            padded[: len(wanted)] = wanted[:size]
            np.testing.assert_array_equal(part, padded)
        np.testing.assert_array_equal(np.ravel(got[2]), np.ravel(inverse))


def test_distinct_values_of_an_empty_array_are_none() -> None:
    distinct = adze.jit(lambda x: xp.unique(x, return_counts=True, size=2))
    values, counts = distinct(np.zeros((0, 3), np.float32))
    np.testing.assert_array_equal(values, [0, 0])
    np.testing.assert_array_equal(counts, [0, 0])


def test_one_nan_is_distinct_by_numpys_name_and_each_by_the_standards() -> None:
    x = np.array([np.nan, 1, np.nan])
    assert xp.unique(x).shape == xp.union1d(x, x).shape == (2,)
    assert xp.unique_values(x).shape == xp.unique(x, equal_nan=False).shape == (3,)

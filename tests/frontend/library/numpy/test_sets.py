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

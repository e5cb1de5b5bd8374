"""How many rows of few columns become one before they are reduced."""

from __future__ import annotations

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.tuning.joined_rows import rows_joined
from adze.runtime.targets import parse_target


@pytest.mark.parametrize(
    ("target", "rows", "columns", "expected"),
    [
        ("cpu:x86-64-v4", 6400, 3, 64),  # four registers of 16
        ("cpu:x86-64-v4", 300_000, 3, 16),  # three registers; 64 would leave a rest
        ("cpu:x86-64-v4", 300_007, 3, 64),  # so would all others
        ("cpu:x86-64-v3", 300_000, 3, 32),
        ("cpu:x86-64-v3", 100_008, 3, 8),
        ("cpu:x86-64-v4", 100, 3, None),
        ("cuda:sm_80", 6400, 3, None),
    ],
)
def test_rows_without_a_rest_where_there_are_such(
    target: str, rows: int, columns: int, expected: int | None
) -> None:
    sizes = (1, rows, columns)
    assert rows_joined(parse_target(target), sizes, np.dtype(np.float32), is_stored=True) == expected


@pytest.mark.parametrize("rows", [6000, 6007, 8192])
@pytest.mark.parametrize("columns", [2, 3, 7])
def test_points_around_their_mean(rows: int, columns: int) -> None:
    x = np.random.default_rng(rows).standard_normal((rows, columns)) + 3
    got = adze.jit(lambda x: (x - xp.mean(x, axis=0), x.max(0)))(x)
    np.testing.assert_allclose(np.asarray(got[0]), x - x.mean(0), atol=1e-12)
    np.testing.assert_array_equal(np.asarray(got[1]), x.max(0))

"""Positions of extrema along rows so long that their positions are no array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.forms.argument_extrema import LONG, VERY_LONG


def both(x: Any) -> Any:
    return xp.argmax(x, axis=-1), xp.argmin(x, axis=-1)


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((LONG,), np.int8), ((2, LONG), np.float64), ((VERY_LONG + 5,), np.uint8), ((LONG,), np.bool_)],
)
def test_positions_in_long_rows_are_numpys(shape: tuple[int, ...], dtype: Any) -> None:
    search = adze.jit(both)
    values = np.random.default_rng(0).integers(0, 2 if dtype is np.bool_ else 100, shape).astype(dtype)
    late = np.zeros(shape, dtype)
    late[..., -1] = 1
    arrays = [values, late, np.zeros(shape, dtype)]
    if dtype is np.float64:
        values[0, -3:] = np.nan
        arrays.append(np.full(shape, -np.inf))
    for x in arrays:
        for result, expected in zip(search(x), (np.argmax(x, axis=-1), np.argmin(x, axis=-1)), strict=True):
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("size", "is_array"), [(LONG, False), (LONG // 2, True), (2**31 + 8, False)])
def test_positions_in_a_long_row_are_no_array(size: int, is_array: bool) -> None:
    text = adze.trace(both, adze.ShapeDtype((size,), "int8")).mlir("convert")
    assert (f"tensor<{size}xi32>" in text or f"tensor<{size}xi64>" in text) is is_array

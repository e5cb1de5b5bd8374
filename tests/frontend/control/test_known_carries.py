"""While loops whose state gets a constant, or one value twice, and whose bodies compute what never changes.

IREE moves such an op before the loop, rotates the loop for that, and crashed then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax

MATRIX = np.full((300, 300), 0.01, np.float32)
ROW = np.arange(300, dtype=np.float32)


def ends_with_a_flag(x: Any, dtype: Any) -> Any:
    def body(s: Any) -> Any:
        i, a, is_late = s
        a = xp.where(is_late > 0, xp.sin(a), a) + (MATRIX @ MATRIX)[0]
        return i + 1, a, xp.ones_like(is_late)

    return lax.while_loop(lambda s: s[0] < x[1] * 3, body, (0, x, xp.zeros_like(x[0], dtype)))


def ends_with_a_row(x: Any, dtype: Any) -> Any:
    def body(s: Any) -> Any:
        i, a, row = s
        return i + 1, a + xp.sum(row) + (MATRIX @ MATRIX)[0], xp.asarray(ROW[::-1]).astype(dtype)

    return lax.while_loop(lambda s: s[0] < x[1] * 3, body, (0, x, x.astype(dtype)))


def ends_with_one_value_thrice(x: Any, dtype: Any) -> Any:
    def body(s: Any) -> Any:
        i, a, b, c, d = s
        a, b = a.astype(dtype), xp.sin(b) + (MATRIX @ MATRIX)[0].astype(dtype)
        new = xp.where(b > c, b + a, c - d)
        return i + 1, b.astype(x.dtype), new, new, new

    y = x.astype(dtype)
    return lax.while_loop(lambda s: s[0] < x[1] * 3, body, (0, x, y + 1, y * 2, y * 3))


CASES = [
    *((ends_with_a_flag, dtype) for dtype in (np.bool_, np.int8, np.int32, np.int64, np.float32, np.float64)),
    *((ends_with_a_row, dtype) for dtype in (np.int32, np.float16, np.float32, np.float64)),
    *((ends_with_one_value_thrice, dtype) for dtype in (np.float32, np.float64)),
]


@pytest.mark.parametrize(("loop", "dtype"), CASES)
@pytest.mark.parametrize("count", [0, 1, 3])
def test_loops_that_iree_rotates(loop: Callable[..., Any], dtype: Any, count: int) -> None:
    x = np.linspace(0, 1, 300, dtype=np.float32)
    x[1] = count / 3
    with adze.disable_jit():
        expected = loop(x, dtype)
    got = adze.jit(loop, static_argnums=1)(x, dtype)
    for own, wanted in zip(got, expected, strict=True):
        assert own.dtype == wanted.dtype
        np.testing.assert_allclose(own, wanted, rtol=2e-5)

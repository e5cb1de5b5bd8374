"""Sums of many equal numbers, whose errors all have one sign: no kernel adds them one by one.

Adding 100,000 float32 numbers of 0.1 in their order is wrong by 3e-5; NumPy's pairwise sum by 1e-7. Operands
are computed, moved and of many dtypes, since each may get a kernel of another kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
import adze.numpy as anp

PRIME: Final = 99_991
TENTH: Final = np.float32(0.1)

OPERANDS: Final[dict[str, Callable[[Any], Any]]] = {
    "itself": lambda x: x,
    "tail": lambda x: x[5:],
    "strided": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
    "two": lambda x: anp.concatenate([x, x]),
    "chosen": lambda x: anp.where(anp.arange(x.shape[0]) % 2 == 0, x, 0),
    "gathered": lambda x: x[anp.arange(x.shape[0])[::-1]],
    "repeated": lambda x: anp.broadcast_to(x[0], x.shape),
    "exponentials": lambda x: anp.exp(x),
    "squares": lambda x: x * x + 1,
    "halves": lambda x: x.astype("float16").astype("float32"),
    "outer": lambda x: x[:, None] * anp.ones(3, "float32"),
    "complex": lambda x: x.astype("complex64"),
}


@pytest.mark.parametrize("name", OPERANDS)
def test_the_sum_of_equal_numbers_is_right_to_seven_digits(name: str) -> None:
    operand = OPERANDS[name]
    x = np.full(PRIME, TENTH)
    got = np.asarray(adze.jit(lambda x: anp.sum(operand(x)))(x))
    wide = np.asarray(operand(x)).astype(np.complex128).sum()
    # Complex numbers have no kernel of rows: parts of 1024 are added one by one.
    assert abs(got - wide) <= (2e-5 if name == "complex" else 2e-6) * abs(wide)


@pytest.mark.parametrize("size", [600, 1000, 4095, 5000, 16_384, 100_000, 1 << 20, (1 << 20) + 7])
def test_vectors_of_every_size_are_summed_in_parts(size: int) -> None:
    x = np.full(size, TENTH)
    total, mean = adze.jit(lambda x: (anp.sum(x), anp.mean(x)))(x)
    # Equal numbers round alike: a million come to 2.7e-6 in the eight lanes of AVX2, to less in sixteen.
    np.testing.assert_allclose(total, size * np.float64(TENTH), rtol=4e-6)
    np.testing.assert_allclose(mean, np.float64(TENTH), rtol=4e-6)


@pytest.mark.parametrize("size", [600, 5000, 99_991])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_special_elements_are_found_anywhere(size: int, dtype: str) -> None:
    f = adze.jit(lambda x: (anp.max(x), anp.min(x), anp.sum(x), anp.prod(x)))
    x = np.ones(size, dtype)
    for place in (0, size // 2, size - 1):
        y = x.copy()
        y[place] = 3
        assert [float(v) for v in f(y)] == [3, 1, size + 2, 3]
        if dtype.startswith("float"):
            y[place] = np.nan
            assert all(np.isnan(v) for v in f(y))
            y[place] = -np.inf
            assert [float(v) for v in f(y)] == [1, -np.inf, -np.inf, -np.inf]

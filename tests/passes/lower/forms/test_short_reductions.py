"""Reductions of a few elements that are computed of smaller arrays: the numbers of NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp

RNG = np.random.default_rng(3)
REDUCTIONS: dict[str, Callable[..., Any]] = {
    "squares": lambda p, x, y: ((x[:, None] - y[None]) ** 2).sum(-1),
    "greatest": lambda p, x, y: p.abs(x[:, None] - y[None]).max(-1),
    "least": lambda p, x, y: (x[:, None] * y[None] + y[None]).min(-1),
    "products": lambda p, x, y: (x[:, None] + y[None]).prod(-1),
    "the same array twice": lambda p, x, y: ((x[:, None] - x[None]) ** 2).sum(-1),
    "used again": lambda p, x, y: (x[:, None] - y[None]) * ((x[:, None] - y[None]) ** 2).sum(-1)[..., None],
    "within": lambda p, x, y: p.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)).mean(1),
}


@pytest.mark.parametrize(
    ("name", "count", "dtype"),
    [
        *itertools.product(REDUCTIONS, (2, 3, 5), (np.float32, np.float64)),
        *itertools.product(("squares", "greatest"), (1, 4), (np.float32, np.int32)),
    ],
    ids=str,
)
def test_elements_of_two_small_arrays(name: str, count: int, dtype: Any) -> None:
    rows = 301 if name != "used again" else 150
    x, y = (RNG.integers(-9, 10, (n, count)).astype(dtype) for n in (rows, 299))
    if dtype != np.int32:
        x[3], y[5, -1] = np.nan, np.inf
        x[7], y[7] = -0.0, -0.0
    with np.errstate(all="ignore"):
        want = REDUCTIONS[name](np, x, y)
        got = adze.jit(lambda x, y: REDUCTIONS[name](xp, x, y))(x, y)
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5 if dtype == np.float32 else 1e-12)


def test_batches_of_points() -> None:
    x, y = RNG.standard_normal((5, 101, 3)), RNG.standard_normal((5, 103, 3))
    got = adze.jit(lambda x, y: ((x[:, :, None] - y[:, None]) ** 2).sum(-1))(x, y)
    np.testing.assert_allclose(np.asarray(got), ((x[:, :, None] - y[:, None]) ** 2).sum(-1), rtol=1e-12)


def test_no_reduction_is_left_of_distances() -> None:
    x, y = adze.ShapeDtype((300, 3)), adze.ShapeDtype((200, 3))
    near = adze.trace(lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1), x, y)
    assert '"reduction"' not in near.lower("cpu:x86-64-v3").mlir()
    far = adze.trace(
        lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1) + x[0, 0],
        *(adze.ShapeDtype((n, 9)) for n in (300, 200)),
    )  # nine elements are a vector
    assert '"reduction"' in far.lower("cpu:x86-64-v3").mlir()

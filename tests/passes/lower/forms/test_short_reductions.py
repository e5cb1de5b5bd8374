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


NAMED: dict[str, Callable[..., Any]] = {
    **{
        name: REDUCTIONS[name]
        for name in ("squares", "least", "the same array twice", "used again", "within")
    },
    "nearest": lambda p, x, y: ((x[:, None] - y[None]) ** 2).sum(-1).min(1, initial=1e9),
    "forces": lambda p, x, y: (
        (x[:, None] - y[None]) / (1 + ((x[:, None] - y[None]) ** 2).sum(-1, keepdims=True))
    ).sum(1),
    "of no array with all": lambda p, x, y: p.maximum(x[:, None, 0] - y[None, :, 0], 0).sum(0),
    "rows of no array with all": lambda p, x, y: (x[:, None, 0] * y[None, :, 1] + 1).sum(1),
    "all": lambda p, x, y: (x[:, None] * y[None]).sum(),
}


@pytest.mark.parametrize("name", NAMED)
def test_points_whose_number_shows_at_the_call(name: str) -> None:
    shapes = adze.ShapeDtype(("n", 3)), adze.ShapeDtype(("m", 3))
    program = adze.trace(lambda x, y: NAMED[name](xp, x, y), *shapes).lower().compile()
    for n, m in ((300, 299), (1, 5), (17, 1), (0, 4), (4, 0)):
        x, y = RNG.standard_normal((n, 3)).astype(np.float32), RNG.standard_normal((m, 3)).astype(np.float32)
        if name == "within" and not m:
            continue  # the mean of no element
        np.testing.assert_allclose(program(x, y), NAMED[name](np, x, y), rtol=2e-4, atol=2e-4)


def test_the_gradient_of_an_energy_of_points() -> None:
    def energy(p: Any, x: Any) -> Any:
        return (1 / (((x[:, None] - x[None]) ** 2).sum(-1) + 0.1)).sum()

    gradient = adze.trace(adze.grad(lambda x: energy(xp, x)), adze.ShapeDtype(("n", 3), np.float64))
    program = gradient.lower().compile()
    for n in (0, 1, 50):
        x, step = RNG.standard_normal((n, 3)), 1e-6
        ways = [step * np.eye(3 * n)[k].reshape(n, 3) for k in range(3 * n)]
        want = [(energy(np, x + way) - energy(np, x - way)) / (2 * step) for way in ways]
        np.testing.assert_allclose(np.ravel(program(x)), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.float16])
def test_all_elements_of_arrays_whose_sizes_show_at_the_call(dtype: Any) -> None:
    x = adze.ShapeDtype(("n", "m"), dtype)
    traced = adze.trace(lambda x, y: ((x * y + 1).sum(), xp.abs(x - y).max(initial=0)), x, x)
    program = traced.lower().compile()
    for shape in ((7, 9), (1, 1), (0, 3), (200, 3), (3, 1001)):
        x, y = (RNG.integers(-3, 4, shape).astype(dtype) for _ in range(2))
        total, greatest = program(x, y)
        np.testing.assert_allclose(total, (x * y + 1).sum(dtype=np.float64), rtol=1e-3)
        np.testing.assert_array_equal(greatest, np.abs(x - y).max(initial=0))

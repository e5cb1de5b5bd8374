"""`searchsorted` in tables of any length: the places that NumPy finds, in each form of the search."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.frontend.library.numpy.searching import LONG
from adze.frontend.staging.traced import Traced

from ....passes.lower.kernels.test_loops import decisions

DTYPES: Final = ("f4", "f8", "f2", "i1", "u2", "i8", "b1")
LENGTHS: Final = (0, 1, LONG - 1, LONG, 1000)
SHAPES: Final[tuple[tuple[int, ...], ...]] = ((), (0,), (1,), (40,), (3, 7))


def table(length: int, dtype: str, seed: int = 0) -> np.ndarray:
    """Ascending numbers with ties, the last of which are not numbers where the dtype has such."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "biu":
        return np.sort(rng.integers(0, 2 if dtype == "b1" else 100, length).astype(dtype))
    values = np.sort(rng.integers(-50, 50, length).astype(dtype) / 4)
    values[length - length // 10 :] = np.nan
    return values


def wanted(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = np.random.default_rng(1).integers(-60, 60, shape) / 4
    if np.dtype(dtype).kind == "f":
        special = np.array([np.nan, np.inf, -np.inf, -0.0])
        values.reshape(-1)[:4] = special[: values.size]
    return values.astype(dtype)


def searched(a: Any, v: Any) -> Any:
    return xp.searchsorted(a, v), xp.searchsorted(a, v, side="right")


def traced_for(*arrays: np.ndarray) -> Traced:
    return adze.trace(searched, *(adze.ShapeDtype(a.shape, a.dtype) for a in arrays))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", LENGTHS)
def test_places_are_those_of_numpy(length: int, dtype: str) -> None:
    for shape in SHAPES if dtype == "f4" and length in (0, LONG) else SHAPES[-1:]:
        a, v = table(length, dtype), wanted(shape, dtype)
        compiled = traced_for(a, v).lower().compile()
        for found, at_once, side in zip(compiled(a, v), searched(a, v), ("left", "right"), strict=True):
            expected = np.searchsorted(a, v, side=side)
            np.testing.assert_array_equal(found, expected, f"{dtype} {shape} {side}")
            np.testing.assert_array_equal(at_once, expected, f"{dtype} {shape} {side}, not jitted")


def test_a_long_table_is_searched_by_a_kernel_on_a_cpu() -> None:
    long, short, places = table(LONG, "f4"), table(LONG - 1, "f4"), wanted((40,), "f4")
    assert decisions(traced_for(long, places)) == ["kernel", "kernel"]
    assert not decisions(traced_for(short, places))


def test_forms_are_equal_in_batches_and_loops() -> None:
    tables = np.stack([table(300, "f4", seed) for seed in range(3)])
    places = np.stack([wanted((20,), "f4")] * 3)
    expected = [np.searchsorted(a, v) for a, v in zip(tables, places, strict=True)]
    np.testing.assert_array_equal(adze.jit(adze.vmap(xp.searchsorted))(tables, places), expected)

    def one_by_one(a: Any, v: Any) -> Any:
        return adze.lax.scan(lambda n, row: (n + 1, xp.searchsorted(*row)), 0, (a, v))[1]

    np.testing.assert_array_equal(adze.jit(one_by_one)(tables, places), expected)


def test_what_is_interpolated_in_a_long_table_has_derivatives() -> None:
    knots = np.linspace(0, 1, 300)
    values, x = knots**2, np.float64([0.3, 0.501, 2.0])
    slopes = adze.jit(adze.grad(lambda x: xp.interp(x, knots, values).sum()))(x)
    np.testing.assert_allclose(slopes, [0.6, 1.0, 0.0], atol=4e-3)

"""The kernel that reduces columns: every access within bounds, values as NumPy's, and when it is used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adze.dialects.types import FLOAT16, FLOAT32, FLOAT64, TensorType
from adze.passes.lower.kernels.columns import reduce_columns
from adze.passes.lower.tuning import column_tiles
from adze.passes.lower.tuning.column_tiles import ColumnTiles

from ..programs import Compiled, lowered_text
from .interpreter import run_kernel
from .test_products import module_with

RNG = np.random.default_rng(5)
NUMPY = {"reduce_sum": np.sum, "reduce_max": np.max, "reduce_min": np.min}
KERNEL = "flow.dispatch @kernel_columns"


def given(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Whole numbers, whose sums are exact, zeros of both signs, a NaN and infinities."""
    x = RNG.integers(-4, 5, shape).astype(dtype)
    x.flat[0], x.flat[-1], x.flat[x.size // 2] = np.nan, np.inf, -np.inf
    return x


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize(("b", "r", "c"), [(1, 1, 1), (2, 7, 21), (1, 3, 16), (3, 4, 5), (1, 8, 35)])
def test_all_accesses_are_within_bounds(name: str, b: int, r: int, c: int) -> None:
    tiles = ColumnTiles(width=4, vectors=2, rows=3, block_columns=16)
    x = given((b, r, c))
    module = module_with([x.shape], lambda kernels, values: reduce_columns(kernels, values[0], name, tiles))
    (got,) = run_kernel(module, "kernel_columns", [x], (-(-c // 16), b, 1))
    with np.errstate(all="ignore"):
        assert np.array_equal(got, NUMPY[name](x, axis=1), equal_nan=True)


def apart(b: Any, x: Any, y: Any, z: Any) -> Any:
    return b.reduce_sum(x, axes=(0,)), b.reduce_max(y, axes=(1, 2)), b.reduce_min(z, axes=(1,))


SHAPES = ((37, 3, 131), (2, 19, 3, 131), (3, 18, 64))


@pytest.fixture(scope="module")
def compiled() -> Iterator[Compiled]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LEAST_BYTES", "ROW_LEAST"):
            patch.setattr(column_tiles, name, 1)
        types = {d.name: [TensorType(s, d) for s in SHAPES] for d in (FLOAT32, FLOAT64)}
        programs = Compiled({name: (apart, given_types) for name, given_types in types.items()})
        assert all(lowered_text(apart, *each).count(KERNEL) == 3 for each in types.values())
        programs("float32", *(given(s) for s in SHAPES))
        yield programs


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_compiled_kernels_compute_what_numpy_does(compiled: Compiled, dtype: np.dtype) -> None:
    x, y, z = (given(s, dtype) for s in SHAPES)
    x[:, 1, 1], y[0, 1, 1, 2], z[:, 3, 5] = -0.0, -0.0, 0.0
    with np.errstate(all="ignore"):
        wanted = x.sum(0), y.max((1, 2)), z.min(1)
    for got, want in zip(compiled(dtype.name, x, y, z), wanted, strict=True):
        assert np.array_equal(got, want, equal_nan=True)


LARGE = (1024, 1024)


@pytest.mark.parametrize(
    ("rule", "dtype", "count"),
    [
        (lambda b, x: b.reduce_sum(x, axes=(0,)), FLOAT32, 1),
        (lambda b, x: b.reduce_sum(b.reshape(x, shape=(32, 32, 1024)), axes=(0, 1)), FLOAT64, 1),
        (lambda b, x: b.reduce_sum(x, axes=(1,)), FLOAT32, 0),
        (lambda b, x: b.reduce_prod(x, axes=(0,)), FLOAT32, 0),
        (lambda b, x: b.reduce_sum(x, axes=(0,)), FLOAT16, 0),
        (lambda b, x: b.reduce_sum(b.exp(x), axes=(0,)), FLOAT32, 0),
        (lambda b, x: (b.reduce_sum(x, axes=(0,)), b.reduce_max(x, axes=(0,))), FLOAT32, 0),
    ],
    ids=["sum", "of a reshape", "rows", "product", "f16", "computed", "two of one array"],
)
def test_what_is_stored_and_reduced_once_is_a_kernel(rule: Any, dtype: np.dtype, count: int) -> None:
    assert lowered_text(rule, TensorType(LARGE, dtype)).count(KERNEL) == count

"""Chains of ops that move rows are one copy: values as NumPy's, accesses within bounds, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.passes.lower.kernels import row_moves
from adze.passes.lower.kernels.row_moves import rows_of
from adze.passes.pipeline import lower as lower_module
from adze.runtime.targets import parse_target

from .interpreter import counts_of, run_kernel

SYMBOL = "kernel_row_move"
DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "uint8", "int64", "uint32", "bool")


def windows(lib: Any, x: Any) -> Any:
    b, h, w, c = x.shape
    moved = lib.roll(x, (-2, -1), (1, 2)).reshape(b, h // 4, 4, w // 2, 2, c)
    return lib.transpose(moved, (0, 1, 3, 2, 4, 5)).reshape(-1, 8, c)


def images(lib: Any, x: Any) -> Any:
    """The way back from windows."""
    n, _, c = x.shape
    moved = lib.transpose(x.reshape(n // 8, 2, 4, 4, 2, c), (0, 1, 3, 2, 4, 5))
    return lib.roll(moved.reshape(n // 8, 8, 8, c), (2, 1), (1, 2))


def patches(lib: Any, x: Any) -> Any:
    b, h, w, c = x.shape
    return lib.transpose(x.reshape(b, h // 4, 4, w // 4, 4, c), (0, 1, 3, 2, 4, 5)).reshape(b, -1, 16 * c)


def heads(lib: Any, x: Any) -> Any:
    b, t, d = x.shape
    return lib.transpose(x.reshape(b, t, 4, d // 4), (0, 2, 1, 3))


def backwards(lib: Any, x: Any) -> Any:
    """Rows from the end, every second one, which repeat with a negative step."""
    return lib.flip(lib.flip(x, 0)[:, ::2], 1)


CASES: dict[str, tuple[Callable[[Any, Any], Any], tuple[int, ...]]] = {
    "windows": (windows, (3, 8, 6, 32)),
    "images": (images, (16, 8, 40)),
    "patches": (patches, (2, 8, 16, 13)),
    "heads": (heads, (3, 7, 4 * 300)),
    "backwards": (backwards, (9, 5, 67)),
    "many rows": (heads, (2, 3001, 4 * 32)),
}


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    made = np.random.default_rng(3).integers(0, 100, shape)
    return made > 50 if dtype == "bool" else made.astype(getattr(ml_dtypes, dtype, dtype))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES)
def test_values(case: str, dtype: str) -> None:
    function, shape = CASES[case]
    x = numbers(shape, dtype)
    got = np.asarray(adze.jit(lambda x: function(xp, x))(x))
    want = function(np, x)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("case", CASES)
def test_all_accesses_are_within_bounds(case: str) -> None:
    function, shape = CASES[case]
    x = numbers(shape, "float32")
    module = adze.trace(lambda x: function(xp, x), x).program.module
    lower_module(module, parse_target("cpu:x86-64-v4"))
    assert str(module).count(f"flow.dispatch @{SYMBOL}::") == 1
    rows = rows_of(function(np, np.arange(x.size, dtype=np.int32).reshape(shape)))
    assert rows is not None
    (got,) = run_kernel(module, SYMBOL, [x.reshape(-1), rows.starts], counts_of(module, SYMBOL, []))
    np.testing.assert_array_equal(got, function(np, x).reshape(-1))


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (np.arange(12).reshape(3, 4), None),
        (np.arange(12).reshape(3, 4)[::-1], (4, [8], 3, -4)),
        (np.arange(12).reshape(3, 4)[:, :2], (2, [0], 3, 4)),
        (np.arange(12).reshape(2, 3, 2).transpose(1, 0, 2), (2, [0, 6], 3, 2)),
        (np.arange(12)[[4, 5, 6, 7, 8, 9, 0, 1]], (2, [4, 6, 8, 0], 1, 0)),
        (np.arange(12)[[1, 0]], (1, [1], 2, -1)),
    ],
)
def test_rows_and_what_repeats(places: np.ndarray, expected: Any) -> None:
    rows = rows_of(places)
    found = None if rows is None else (rows.length, rows.starts.tolist(), rows.count, rows.step)
    assert found == expected


def kernels_of(function: Callable[[Any], Any], *shape: int, target: str = "cpu") -> int:
    """How many copies of rows a program has."""
    module = adze.trace(function, adze.ShapeDtype(shape, "float32")).program.module
    lower_module(module, parse_target(target))
    return str(module).count(f"flow.dispatch @{SYMBOL}")


def rolled(x: Any) -> Any:
    return xp.roll(x, (1, 2), (0, 1))


def shared(x: Any) -> Any:
    return x, x * 2


@pytest.mark.parametrize(
    ("function", "shape", "count"),
    [
        (lambda x: windows(xp, x), (2, 8, 8, 16), 1),
        (lambda x: windows(xp, x) * 2, (2, 32, 32, 16), 1),
        (lambda x: heads(xp, x), (4, 16, 64), 1),
        (lambda x: heads(xp, x) * 2, (4, 16, 64), 0),
        (lambda x: heads(xp, x * 2), (4, 16, 64), 0),
        (lambda x: heads(xp, x), (4, 16, 16), 0),
        (lambda x: shared(rolled(x)), (64, 32, 16), 1),
        (lambda x: rolled(xp.stack([x, x + 1])), (64, 32, 16), 1),
        (lambda x: xp.transpose(x, (0, 2, 1)), (8, 16, 32), 0),
        (lambda x: heads(xp, x), (1, 2, 64), 0),
    ],
    ids=[
        *("windows", "used", "returned", "fused", "computed", "short rows", "twice"),
        *("of a joined array", "columns", "small"),
    ],
)
def test_which_chains_become_copies(function: Any, shape: tuple[int, ...], count: int) -> None:
    assert kernels_of(function, *shape) == count


def test_other_targets_and_unknown_sizes_keep_their_ops() -> None:
    assert kernels_of(lambda x: windows(xp, x), 2, 8, 8, 16, target="vulkan:lavapipe") == 0
    traced = adze.trace(lambda x: xp.roll(x, (1, 1), (0, 1)), adze.ShapeDtype(("n", 8, 16), "float32"))
    assert SYMBOL not in traced.mlir("kernels")


def test_gradients_are_chains_too() -> None:
    """The cotangent of windows goes back to the image by one copy."""
    weights = numbers((18, 8, 32), "float32")
    x = numbers((3, 8, 6, 32), "float32")
    got = adze.jit(adze.grad(lambda x: (windows(xp, x) * weights).sum()))(x)
    places = windows(np, np.arange(x.size).reshape(x.shape)).reshape(-1)
    want = np.zeros(x.size, np.float32)
    want[places] = weights.reshape(-1)
    np.testing.assert_array_equal(np.asarray(got).reshape(-1), want)


def test_places_are_not_computed_for_large_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_moves, "MOST_ELEMENTS", 1 << 10)
    assert kernels_of(lambda x: windows(xp, x), 2, 8, 8, 16) == 0

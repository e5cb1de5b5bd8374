"""Pads, signals and edits of axes whose sizes show at the call, beside NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import numpy as xp
from adze.frontend.errors import ShapeError

SIZES = (1, 2, 3, 8, 33)
RNG = np.random.default_rng(5)
WEIGHTS = np.array([1, -2, 0.5, 4], np.float32)

Function = Callable[[Any, Any], Any]
"""Of a module with NumPy's names, and an array."""


def program(function: Function, shape: tuple[Any, ...], dtype: Any = np.float32) -> Any:
    spec = adze.ShapeDtype(shape, np.dtype(dtype))
    return adze.trace(lambda x: function(xp, x), spec).lower().compile()


def check(function: Function, shape: tuple[Any, ...], least: int = 1) -> None:
    compiled = program(function, shape)
    for n in SIZES:
        if n < least:
            continue
        x = RNG.standard_normal([n if size == "n" else size for size in shape]).astype(np.float32)
        got, wanted = compiled(x), function(np, x)
        several = wanted if isinstance(wanted, (tuple, list)) else [wanted]
        for one, other in zip(adze.tree.leaves(got), several, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


PADS = ("edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean", "maximum", "median")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mode", PADS)
def test_pads(mode: str) -> None:
    """Also longer ones than the array, which repeat it."""
    check(lambda np, x: np.pad(x, ((2, 5), (0, 1)), mode=mode), ("n", 3))
    check(lambda np, x: np.pad(x, ((0, 0), (0, 4)), mode=mode), (2, "n"))


def test_statistics_of_the_elements_at_an_edge() -> None:
    check(lambda np, x: np.pad(x, (2, 1), mode="mean", stat_length=3), ("n",))


def test_the_gradient_of_a_pad() -> None:
    def slope(x: Any) -> Any:
        return adze.grad(lambda x: (xp.pad(x, (3, 2), mode="reflect") ** 3).sum())(x)

    compiled = adze.trace(slope, adze.ShapeDtype(("n",))).lower().compile()
    for n in SIZES:
        x = RNG.standard_normal(n).astype(np.float32)
        np.testing.assert_allclose(compiled(x), slope(x), rtol=1e-5, atol=1e-5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_signals(name: str, mode: str, count: int) -> None:
    """The vector of the unknown length may be the shorter one."""
    check(lambda np, x: getattr(np, name)(x, WEIGHTS[:count], mode), ("n",))
    check(lambda np, x: getattr(np, name)(WEIGHTS[:count], x, mode), ("n",))


def test_two_signals_of_unknown_length_are_refused() -> None:
    specs = adze.ShapeDtype(("n",)), adze.ShapeDtype(("m",))
    with pytest.raises(ShapeError, match=r"convolve: one of the vectors must have a static length"):
        adze.trace(lambda a, b: xp.convolve(a, b, "same"), *specs)


EDITS: dict[str, tuple[Function, tuple[Any, ...], int]] = {
    "delete": (lambda np, x: np.delete(x, 1), ("n",), 2),
    "delete from the end": (lambda np, x: np.delete(x, -2, axis=1), (2, "n"), 2),
    "delete several": (lambda np, x: np.delete(x, [0, 2, 0], axis=0), ("n", 2), 3),
    "delete several from the end": (lambda np, x: np.delete(x, [-1, -3]), ("n",), 3),
    "delete a slice": (lambda np, x: np.delete(x, slice(1, 4), axis=0), ("n", 2), 1),
    "delete the last two": (lambda np, x: np.delete(x, slice(-2, None)), ("n",), 1),
    "delete nothing": (lambda np, x: np.delete(x, slice(3, 1)), ("n",), 1),
    "insert": (lambda np, x: np.insert(x, 1, 9), ("n",), 1),
    "insert before the last": (lambda np, x: np.insert(x, -1, WEIGHTS[:2], axis=1), (2, "n"), 1),
    "insert rows": (lambda np, x: np.insert(x, 0, WEIGHTS[:3], axis=0), ("n", 3), 1),
    "insert two columns": (lambda np, x: np.insert(x, 0, WEIGHTS.reshape(2, 2), axis=1), (2, "n"), 1),
    "split": (lambda np, x: np.array_split(x, 3, axis=0), ("n", 2), 1),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", EDITS)
def test_edits(name: str) -> None:
    check(*EDITS[name])


def test_positions_that_are_not_there_fail_at_the_call() -> None:
    for function in (lambda np, x: np.delete(x, 3), lambda np, x: np.insert(x, 4, 0)):
        with pytest.raises(adze.AdzeError, match="axis 0"):
            program(function, ("n",))(np.zeros(3, np.float32))


def test_edits_that_need_a_static_size_say_so() -> None:
    spec = adze.ShapeDtype(("n",))
    with pytest.raises(ShapeError, match=r"delete: positions in axis 0 of f32\[n\] must count from one end"):
        adze.trace(lambda x: xp.delete(x, [0, -1]), spec)
    with pytest.raises(
        ShapeError, match=r"insert: expected one position in axis 0 of f32\[n\], got \[0, 1\]"
    ):
        adze.trace(lambda x: xp.insert(x, [0, 1], 5.0), spec)
    with pytest.raises(ShapeError, match=r"delete: axis 0 of f32\[n\] must be static for steps of 2"):
        adze.trace(lambda x: xp.delete(x, slice(0, 4, 2)), spec)


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2, 2), (2,), ()])
def test_what_is_inserted_at_one_position_follows_each_other_in_its_first_axis(
    shape: tuple[int, ...],
) -> None:
    x, values = np.zeros((2, 3)), WEIGHTS[: int(np.prod(shape))].reshape(shape)
    np.testing.assert_array_equal(xp.insert(x, 1, values, axis=1), np.insert(x, 1, values, axis=1))


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_in_a_table_of_unknown_length_are_found_by_halving_it(side: str) -> None:
    vector = adze.ShapeDtype(("n",), np.float32), adze.ShapeDtype(("m",), np.float32)
    traced = adze.trace(lambda table, x: xp.searchsorted(table, x, side=side), *vector)
    assert "adze.while" in traced.mlir() and "adze.reduce_sum" not in traced.mlir()
    search = traced.lower("cpu").compile()
    rng = np.random.default_rng(0)
    for length in (0, 1, 2, 3, 7, 8, 9, 100):
        table = np.sort(rng.integers(0, 20, length)).astype(np.float32)
        table[length // 2 + 3 :] = np.nan
        x = np.concatenate([rng.integers(-1, 22, 30), [np.nan, np.inf, -np.inf, -0.0]]).astype(np.float32)
        for wanted in (x, x[:0]):
            np.testing.assert_array_equal(
                np.asarray(search(table, wanted)), np.searchsorted(table, wanted, side=side)
            )


def test_searches_of_unknown_length_under_transforms() -> None:
    table, x = np.linspace(0, 2, 9, dtype=np.float32) ** 2, np.float32([0.1, 3.9, 2.5, -1.0, 9.0])
    shapes = adze.ShapeDtype(("n",), np.float32), adze.ShapeDtype((5,), np.float32)
    slope = adze.grad(lambda x, table: xp.interp(x, table, table * table).sum())
    compiled = adze.trace(lambda table, x: slope(x, table), *shapes).lower("cpu").compile()
    np.testing.assert_allclose(np.asarray(compiled(table, x)), np.asarray(slope(x, table)), rtol=1e-5)
    batches = adze.ShapeDtype(("b", "n"), np.float32), adze.ShapeDtype(("b", 5), np.float32)
    each = adze.trace(adze.vmap(lambda table, x: xp.searchsorted(table, x)), *batches).lower("cpu").compile()
    tables, xs = np.stack([table, table * 2, table - 1]), np.stack([x, x + 1, -x])
    wanted = [np.searchsorted(*pair) for pair in zip(tables, xs, strict=True)]
    np.testing.assert_array_equal(np.asarray(each(tables, xs)), wanted)


def test_histograms_over_edges_of_unknown_number() -> None:
    shapes = adze.ShapeDtype(("n",), np.float32), adze.ShapeDtype(("m",), np.float32)
    compiled = adze.trace(lambda edges, x: xp.histogram(x, edges)[0], *shapes).lower("cpu").compile()
    x = np.float32([0, 0.5, 1, 2, 2.5, 3, 3.1, -1, np.nan])
    for edges in (np.float32([0, 1, 2, 3]), np.float32([0.5, 3]), np.float32([-1, 0, 2, 2, 4])):
        np.testing.assert_array_equal(np.asarray(compiled(edges, x)), np.histogram(x, edges)[0])

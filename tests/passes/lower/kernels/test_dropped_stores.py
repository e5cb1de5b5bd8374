"""Updates whose places may lie outside, in kernels of loops: a branch drops them, as the evaluator does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects import mlir
from adze.passes.analysis.evaluate import evaluate
from adze.passes.lower.kernels.loops.dropped_stores import branch_around_dropped

from .checked import run_checked
from .test_loops import decisions, same

DTYPES: Final = ("f4", "f8", "i1", "u2", "i8", "b1", "c8")


def repeated(update: Callable[..., Any]) -> Callable[..., Any]:
    """Three steps, whose places move by 5: from far before the first to far behind the last."""

    def loop(x: Any, places: Any, updates: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, x: update(x, places + 5 * i.astype(places.dtype), updates), x)

    return loop


UPDATES: Final[dict[str, Callable[..., Any]]] = {
    "set": lambda x, i, u: x.at[i].set(u, mode="drop"),
    "added": lambda x, i, u: x.at[i].add(u),
    "multiplied": lambda x, i, u: x.at[i].multiply(u),
    "least": lambda x, i, u: x.at[i].min(u),
    "computed of others": lambda x, i, u: x.at[i].add(x[::-1][: u.shape[0]] * u),
    "clipped": lambda x, i, u: x.at[i].add(u, mode="clip"),
    "of rows": lambda x, i, u: x.reshape(3, 4).at[i // 2].add(u[:, None]).reshape(-1),
    "of two axes": lambda x, i, u: x.reshape(3, 4).at[i // 4, i % 7].add(u, mode="drop").reshape(-1),
    "twice": lambda x, i, u: x.at[i].set(u, mode="drop").at[i + 1].add(u),
}


def arrays(dtype: str, index: str = "i4") -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    low = 0 if np.dtype(index).kind == "u" else -25
    places = rng.integers(low, 20, 9).astype(index)
    return [rng.integers(0, 5, 12).astype(dtype), places, rng.integers(0, 5, 9).astype(dtype)]


def check(update: Callable[..., Any], given: list[np.ndarray]) -> None:
    traced = adze.trace(repeated(update), *given)
    assert decisions(traced) == ["kernel"]
    expected = [np.asarray(v) for v in evaluate(traced.program.module, traced.program.symbol, list(given))]
    same(adze.tree.leaves(traced.lower().compile()(*given)), expected, "compiled")
    same(run_checked(traced, given).results, expected, "each access checked")


@pytest.mark.parametrize("name", UPDATES)
def test_updates_outside_are_dropped(name: str) -> None:
    check(UPDATES[name], arrays("f4"))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_of_every_dtype(dtype: str) -> None:
    check(UPDATES["set" if dtype in ("b1", "c8") else "added"], arrays(dtype))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("index", ["i1", "u1", "u4", "i8", "u8"])
def test_places_of_every_dtype(index: str) -> None:
    check(UPDATES["added"], arrays("f4", index))


def test_numbers_that_are_not_are_kept_and_spread() -> None:
    x, places, updates = arrays("f4")
    x[:3], updates[-2:] = [np.nan, -0.0, np.inf], [np.nan, -np.inf]
    check(UPDATES["added"], [x, places, updates])


BETWEEN: Final = """
func.func @f(%a: memref<4xf32>, %b: memref<4xf32>, %index: i32, %k: index) {{
  %zero = arith.constant 0 : i32
  %last = arith.constant 3 : i32
  %low = arith.maxsi %index, %zero : i32
  %clamped = arith.minsi %low, %last : i32
  %inside = arith.cmpi eq, %clamped, %index : i32
  %place = arith.index_cast %clamped : i32 to index
  %update = memref.load %b[%k] : memref<4xf32>
  %old = memref.load %a[%place] : memref<4xf32>
  %new = arith.addf %old, %update : f32
  %chosen = arith.select %inside, %new, %old : f32
  {between}
  memref.store %chosen, %a[%place] : memref<4xf32>
  return
}}
"""


@pytest.mark.parametrize("array", [None, "%a", "%b"])
def test_nothing_is_loaded_behind_a_store_that_was_before_it(array: str | None) -> None:
    between = "" if array is None else f"memref.store %update, {array}[%k] : memref<4xf32>"
    with mlir.new_context(), mlir.ir.Location.unknown():
        module = mlir.ir.Module.parse(BETWEEN.format(between=between))
        assert branch_around_dropped(module) == (array is None)
        assert ("scf.if" in str(module)) is (array is None)


@pytest.mark.parametrize("has_branch", [True, False])
def test_a_branch_is_where_a_place_may_lie_outside(has_branch: bool) -> None:
    update = UPDATES["added" if has_branch else "clipped"]
    code = adze.trace(repeated(update), *arrays("f4")).mlir("loop-kernels")
    assert ("scf.if" in code) is has_branch

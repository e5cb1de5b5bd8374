"""Functions of rows and numbers that are broadcast: computed once, and IREE still computes them for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, nn
from adze.passes.lower.iree import two_index_maps
from adze.passes.lower.iree.dear_broadcasts import WORTH

SIZE = 300  # squared, and times 64, more than what a kernel saves at least
BARRIER = "compute_barrier.start"


def barriers(function: Callable[..., Any], *specs: ShapeDtype, target: str = "cpu") -> int:
    return str(adze.trace(function, *specs).lower(target).mlir()).count(BARRIER)


def by_sine(x: Any, r: Any) -> Any:
    return x * xp.sin(r)


MATRIX, ROW, NUMBER = ShapeDtype((SIZE, SIZE)), ShapeDtype((SIZE,)), ShapeDtype(())
NAMED = ShapeDtype(("n", "m")), ShapeDtype(("m",))


@pytest.mark.parametrize(
    ("function", "specs", "count"),
    [
        (by_sine, (MATRIX, ROW), 1),
        (lambda x, r: x * xp.sin(r)[:, None], (MATRIX, ROW), 1),
        (lambda x, r: x * (2 * xp.exp(r) + 1), (MATRIX, ROW), 1),
        (lambda x, r: xp.cos(r)[:, None] * xp.sin(r), (MATRIX, ROW), 2),
        (by_sine, NAMED, 1),
        (by_sine, (NAMED[0], NUMBER), 1),
        (by_sine, (MATRIX, NUMBER), 0),  # computed once as it is
        (by_sine, (ShapeDtype((8, 8)), ShapeDtype((8,))), 0),  # less than a kernel takes
        (by_sine, (MATRIX, MATRIX), 0),
        (lambda x, r: x * (r + 1), (MATRIX, ROW), 0),
        (lambda x, r: x * xp.sum(xp.sin(r)), (MATRIX, ROW), 0),  # a sum is a kernel of its own
        (lambda x, r: nn.log_softmax(x) * r, (MATRIX, ROW), 0),  # a kernel of rows has logarithms of its sums
        (lambda x, r: nn.log_softmax(x) * r, NAMED, 0),
        (lambda x, r: x * xp.sin(xp.sum(r)), NAMED, 1),
        (lambda x, r: x + xp.exp(xp.tanh(xp.sum(r + 1j))).real, NAMED, 1),  # of which a compile did not end
        (lambda x, r: x + xp.exp(xp.tanh(xp.sum(r))), NAMED, 0),
    ],
)
def test_what_takes_long_is_computed_before_it_is_broadcast(
    function: Callable[..., Any], specs: tuple[ShapeDtype, ...], count: int
) -> None:
    assert SIZE * (SIZE - 1) * 64 >= WORTH
    assert barriers(function, *specs) == count


def test_a_gpu_computes_such_functions_where_they_are_used() -> None:
    """A kernel more takes it longer."""
    assert barriers(by_sine, MATRIX, ROW, target="cuda:sm_80") == 0


def test_results_are_the_evaluated_ones() -> None:
    rng = np.random.default_rng(0)
    x, r = rng.standard_normal((SIZE, SIZE)).astype(np.float32), rng.standard_normal(SIZE).astype(np.float32)
    expected = x * np.sin(r), x * np.exp(r)[:, None], x * np.sin(r[0]) + r

    def function(x: Any, r: Any) -> Any:
        return x * xp.sin(r), x * xp.exp(r)[:, None], x * xp.sin(r[0]) + r

    known = adze.jit(function)(x, r)
    named = adze.trace(function, ShapeDtype(("n", "n")), ShapeDtype(("n",))).lower().compile()
    for results in (known, named(x, r)):
        for result, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, want, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(named(x[:1, :1], r[:1])[0], expected[0][:1, :1], rtol=2e-6)


def kernels_of(function: Callable[..., Any], *specs: ShapeDtype) -> int:
    return adze.trace(function, *specs).mlir("kernels").count("flow.dispatch @")


def test_iree_still_computes_them_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kernels_of(by_sine, MATRIX, ROW) == 2
    monkeypatch.setattr(two_index_maps, "dear_broadcasts", lambda module, reader: set())
    assert kernels_of(by_sine, MATRIX, ROW) == 1

"""Programs of four ranks for which JAX has another answer than adze, or none; and what goes beyond values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze.sharding import PartitionSpec as P

from .four_devices import ADZE
from .programs_of_ranks import RING, A, B, V, X


def on_all(f: Callable[[], Any]) -> list[Any]:
    """What `f` returns on local ranks, and in the first and the last of four ranks of threads."""
    return [f(), *adze.distributed.run(f, 4)[::3]]


def test_unchecked_derivatives_are_those_of_the_result_that_is_returned() -> None:
    """The ranks differ, against the word of the program. JAX returns the first rank's result too, and the
    derivative of the mean of all."""

    def gradient() -> Any:
        f = ADZE.ranks(lambda x: xp.sin(xp.sum(x)), P("d"), P(), check_vma=False)
        return np.asarray(adze.grad(f)(V))

    for found in on_all(gradient):
        expected = np.where(np.arange(8) < 2, np.cos(V[0] + V[1]), np.float32(0))
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_sum_over_an_axis_of_a_vmap_and_one_of_the_mesh() -> None:
    """JAX refuses the two names together, and fails with one after the other."""

    def found() -> Any:
        def f(x: Any) -> Any:
            return adze.vmap(lambda row: row * adze.lax.psum(row, ("v", "d")), axis_name="v")(x)

        g = ADZE.ranks(f, P("d"), P("d"))
        return np.asarray(g(X)), np.asarray(adze.grad(lambda x: xp.sum(g(x)))(X))

    for y, gradient in on_all(found):
        np.testing.assert_allclose(y, X * X.sum(axis=0), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gradient, np.tile(2 * X.sum(axis=0), (8, 1)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(0, 4), (8, 0)])
def test_empty_arrays(shape: tuple[int, int]) -> None:
    """JAX's compiler refuses some of these."""
    x = np.zeros(shape, np.float32)

    def shapes() -> Any:
        def f(x: Any) -> Any:
            lax = ADZE.lax
            return lax.psum(x, "d"), lax.all_gather(x, "d", tiled=True), lax.ppermute(x, "d", RING)

        g = ADZE.ranks(f, P("d"), (P(), P("d"), P("d")))
        return [y.shape for y in g(x)], adze.grad(lambda x: sum(map(xp.sum, g(x))))(x).shape

    part_ = (shape[0] // 4, shape[1])
    gathered = (shape[0] * 4, shape[1])
    assert on_all(shapes) == [([part_, gathered, shape], shape)] * 3


def test_unchecked_sums_send_what_checked_ones_do() -> None:
    """No rank sends a result that its program says is the same everywhere."""

    def sent(is_checked: bool) -> int:
        def f(w: Any, x: Any) -> Any:
            return adze.lax.pmean(xp.sum(xp.tanh(x @ w)), "d")

        loss = ADZE.ranks(f, (P(), P("d")), P(), check_vma=is_checked)
        return adze.trace(adze.value_and_grad(loss), A[:4, :3], B).mlir("simplified").count('all_reduce"')

    assert adze.distributed.run(lambda: (sent(True), sent(False)), 4) == [(2, 2)] * 4


def test_a_loop_of_each_rank_takes_what_all_have() -> None:
    """Constants and arrays from outside are the rank's own in it, also for derivatives."""

    def found() -> Any:
        def f(w: Any, x: Any) -> Any:
            def body(x: Any) -> Any:
                return x * w + xp.asarray(V[:2]) ** 2

            return adze.while_loop(lambda x: xp.max(x) < 3, body, x, saved_states=4)

        g = ADZE.ranks(f, (P(), P("d")), P("d"))
        x = V + 2
        return adze.tree.map(np.asarray, (g(W, x), adze.grad(lambda w: xp.sum(g(w, x)))(W)))

    def whole(w: Any) -> Any:
        rows = []
        for part_ in np.split(V + 2, 4):
            x: Any = xp.asarray(part_)
            while np.max(np.asarray(x)) < 3:
                x = x * w + xp.asarray(V[:2]) ** 2
            rows.append(x)
        return xp.concatenate(rows)

    W = np.float32(1.25)
    h = 1e-2
    slope = (
        np.sum(np.asarray(whole(W + h)), dtype=float) - np.sum(np.asarray(whole(W - h)), dtype=float)
    ) / (2 * h)
    for value_, gradient in on_all(found):
        np.testing.assert_allclose(value_, np.asarray(whole(W)), rtol=1e-5)
        np.testing.assert_allclose(gradient, slope, rtol=2e-2)

"""Python functions that are called in loops get what the loop carries, whatever computed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax

Y = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
SEEN: list[np.ndarray] = []


def half(x: np.ndarray) -> np.ndarray:
    SEEN.append(np.array(x))
    return np.array(x) * np.float32(0.5)


def call(x: Any) -> Any:
    return adze.pure_callback(half, adze.ShapeDtype(x.shape, x.dtype), x)


def computed(y: Any) -> Any:
    return lax.scan(lambda c, _: (call(c), None), xp.cos(y), None, length=3)[0]


def constant(y: Any) -> Any:
    z = xp.full((8, 8), 3.0, np.float32)
    return lax.scan(lambda c, _: (call(c), None), z, None, length=3)[0] + y


def captured(y: Any) -> Any:
    z = xp.cos(y)
    return lax.scan(lambda c, _: (c + call(z), None), y * 2, None, length=3)[0]


def rows(y: Any) -> Any:
    return lax.scan(lambda c, r: (c + call(r), None), y[0] * 2, xp.cos(y))[0]


def chosen(y: Any) -> Any:
    def step(c: Any, i: Any) -> Any:
        return lax.cond(i > 0, call, lambda v: v * np.float32(1.5), c), None

    return lax.scan(step, xp.cos(y), xp.arange(3))[0]


def nested(y: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        return lax.scan(lambda d, _: (call(d), None), c, None, length=2)[0], None

    return lax.scan(step, xp.cos(y), None, length=2)[0]


def asked(y: Any) -> Any:
    return lax.while_loop(lambda s: xp.sum(call(s)) > 0.5, lambda s: s * np.float32(0.1), xp.cos(y) ** 2)


def reshaped(y: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        return call(c.reshape(4, 16)).reshape(8, 8), None

    return lax.scan(step, xp.cos(y), None, length=3)[0]


def two(y: Any) -> Any:
    def step(c: Any, _: Any) -> Any:
        return (call(c[1]), call(c[0])), None

    return lax.scan(step, (xp.cos(y), xp.full((8, 8), 3.0, np.float32)), None, length=3)[0]


def number(y: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: call(c), xp.cos(y[0, 0]))


def as_often_as_told(y: Any) -> Any:
    return lax.fori_loop(0, xp.sum(y[0] < 9).astype(np.int32), lambda i, c: call(c), xp.cos(y))


PROGRAMS = (
    *(computed, constant, captured, rows, chosen, nested, asked, reshaped, two, number),
    as_often_as_told,
)


@pytest.mark.each_value
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
@pytest.mark.parametrize("function", PROGRAMS)
def test_calls_in_loops_get_what_is_carried(function: Callable[[Any], Any], device: str) -> None:
    SEEN.clear()
    compiled = adze.jit(function, device=device)(Y)
    seen = list(SEEN)
    SEEN.clear()
    evaluated = function(Y)
    assert len(seen) == len(SEEN)
    results = (*seen, *adze.tree.leaves(compiled)), (*SEEN, *adze.tree.leaves(evaluated))
    for actual, expected in zip(*results, strict=True):
        np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-5, atol=1e-6)


def test_sums_of_ranks_are_of_what_is_carried() -> None:
    """The backward pass of a pipeline: cotangents that begin as zeros go from rank to rank."""
    from adze.sharding import PartitionSpec as P

    def piped(w: Any, x: Any) -> Any:
        def of_rank(w: Any, x: Any) -> Any:
            def tick(c: Any, _: Any) -> Any:
                y = xp.tanh(xp.tanh((x + c) @ w[0, 0]) @ w[0, 1])
                return lax.ppermute(y, "d", [(0, 1)]), xp.sum(y**2)

            start = lax.pvary(xp.zeros_like(x), "d")
            return lax.psum(xp.sum(lax.scan(tick, start, None, length=3)[1]), "d")

        mesh = adze.make_mesh((2,), ("d",))
        return adze.shard_map(of_rank, mesh=mesh, in_specs=(P("d"), P()), out_specs=P())(w, x)

    w = np.random.default_rng(1).standard_normal((2, 2, 4, 4)).astype(np.float32) / 2
    expected = np.asarray(adze.grad(piped)(w, Y[:, :4]))
    for slope in adze.distributed.run(lambda: adze.jit(adze.grad(piped))(w, Y[:, :4]), 2):
        np.testing.assert_allclose(np.asarray(slope), expected, rtol=1e-4, atol=1e-5)

"""Collectives of compiled programs that travel while something else is computed."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import lax
from adze.dialects.communicator import DistributedError
from adze.runtime.distributed.threads import ThreadCommunicator
from adze.sharding import PartitionSpec as P

X = np.random.default_rng(0).standard_normal((2, 184, 184)) / 14  # more than is combined


WHOLE = P()


def of_ranks(of_rank: Any, *args: Any, out_specs: Any = WHOLE) -> Any:
    mesh = adze.make_mesh((2,), ("d",))
    return adze.shard_map(of_rank, mesh=mesh, in_specs=(P("d"),) * len(args), out_specs=out_specs)(*args)


def chain(y: Any, w: Any) -> Any:
    for _ in range(3):
        y = xp.tanh(y @ w)
    return y


def test_what_comes_between_is_computed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum that ends only when a function behind its start was called: without overlap it waits in vain."""
    seen: list[bool] = []
    reduce = ThreadCommunicator.all_reduce

    def when_told(self: Any, group: tuple[int, ...], kind: str, x: np.ndarray) -> np.ndarray:
        seen.append(is_there[self.rank].wait(60))
        return reduce(self, group, kind, x)

    is_there = [threading.Event(), threading.Event()]

    def tell(rank: np.ndarray, value: np.ndarray) -> None:
        is_there[int(rank)].set()

    def of_rank(x: Any) -> Any:
        total = lax.psum(x[0] @ x[0], "d")
        y = chain(x[0], x[0])
        adze.debug.callback(tell, lax.axis_index("d"), y[0, 0], ordered=True)
        return total, y[None]

    def program(x: Any) -> Any:
        return of_ranks(of_rank, x, out_specs=(P(), P("d")))

    monkeypatch.setattr(ThreadCommunicator, "all_reduce", when_told)
    results = adze.distributed.run(lambda: adze.jit(program)(X), 2)
    assert seen == [True, True]
    expected = X[0] @ X[0] + X[1] @ X[1]
    np.testing.assert_allclose(np.asarray(results[0][0]), expected, rtol=1e-9, atol=1e-9)


def several(x: Any) -> Any:
    """Sums that start one after the other, and are needed in another order."""
    first = lax.psum(x[0] @ x[0], "d")
    second = lax.psum(xp.exp(x[0]), "d")
    y = chain(x[0], x[0])
    third = lax.psum(y, "d")
    return second @ third + first


def ring(x: Any) -> Any:
    """A scan that sends on what it computes with, as ring attention does."""

    def step(carry: Any, _: Any) -> Any:
        block, total = carry
        total = total + chain(x[0] @ block, x[0])
        return (lax.ppermute(block, "d", [(0, 1), (1, 0)]), total), None

    return lax.psum(lax.scan(step, (x[0], xp.zeros_like(x[0])), None, length=3)[0][1], "d")


def gathered(x: Any) -> Any:
    every = lax.all_gather(x[0], "d")
    y = chain(x[0], x[0])
    back = lax.psum_scatter(xp.tanh(every[0] @ y), "d", tiled=True)
    y = chain(y, x[0])
    return lax.psum(xp.sum(back) * y, "d")


@pytest.mark.each_value
@pytest.mark.parametrize("of_rank", [several, ring, gathered])
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_compiled_programs_agree_with_one_process(of_rank: Any, device: str) -> None:
    def program(x: Any) -> Any:
        return of_ranks(of_rank, x)

    def loss(x: Any) -> Any:
        return xp.sum(xp.tanh(program(x)) ** 2)

    def both(x: Any) -> Any:
        return program(x), adze.grad(loss)(x)

    expected = both(X)

    def compiled() -> Any:
        jitted = adze.jit(both, device=device)
        return [tuple(map(np.asarray, jitted(X))) for _ in range(3)]

    for calls in adze.distributed.run(compiled, 2):
        for call in calls:
            for actual, wanted in zip(call, expected, strict=True):
                np.testing.assert_allclose(actual, wanted, rtol=1e-9, atol=1e-9)


def test_sums_are_started_early() -> None:
    def program(x: Any) -> Any:
        return of_ranks(several, x)

    def lowered() -> str:
        return adze.jit(program).trace(X).lower().mlir()

    lines = [line for line in adze.distributed.run(lowered, 2)[0].splitlines() if "call @" in line]
    started = [i for i, line in enumerate(lines) if '.start"(%' in line]
    finished = [i for i, line in enumerate(lines) if '.finish"(%' in line]
    tanh = [i for i, line in enumerate(lines) if "tanh" in line]
    assert max(started[:2]) < min(tanh) and max(tanh) < min(finished)


def test_an_exchange_that_fails_is_the_error_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any, group: tuple[int, ...], kind: str, x: np.ndarray) -> np.ndarray:
        raise DistributedError("the cable is out")

    def program(x: Any) -> Any:
        return of_ranks(several, x)

    compiled = adze.jit(program)
    adze.distributed.run(lambda: compiled(X), 2)
    monkeypatch.setattr(ThreadCommunicator, "all_reduce", broken)
    with pytest.raises(DistributedError, match="the cable is out"):
        adze.distributed.run(lambda: compiled(X), 2)
    monkeypatch.undo()
    again = adze.distributed.run(lambda: compiled(X), 2)[1]
    np.testing.assert_allclose(np.asarray(again), np.asarray(program(X)), rtol=1e-9, atol=1e-9)

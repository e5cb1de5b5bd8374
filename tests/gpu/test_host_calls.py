"""Programs on a Vulkan device that call functions of the process: Python's, and collectives between ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.runtime.errors import HostCallError
from adze.sharding import NamedSharding
from adze.sharding import PartitionSpec as P

from .drivers import needs_vulkan

pytestmark = [pytest.mark.vulkan, needs_vulkan]

F32 = np.float32
X = np.linspace(-1, 1, 64 * 32, dtype=F32).reshape(64, 32)
W = np.linspace(-0.3, 0.3, 32 * 32, dtype=F32).reshape(32, 32)


def halved(x: Any) -> Any:
    return adze.pure_callback(lambda a: a * F32(0.5), ShapeDtype(x.shape, F32), x)


def in_loops(x: Any) -> Any:
    """Calls of what was just computed, and of what loops carry."""
    y = halved(x @ x.T)
    last, steps = lax.scan(lambda c, _: (halved(c) + xp.cos(c), c), xp.cos(y), None, length=3)
    return last, steps, lax.fori_loop(0, 3, lambda i, c: halved(c) + 1, y[0])


def test_python_functions_get_what_the_device_computed() -> None:
    want = adze.jit(in_loops, device="cpu")(X)
    compiled = adze.jit(in_loops, device="vulkan")
    for _ in range(3):
        for one, other in zip(want, compiled(X), strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5, atol=1e-5)


def test_what_a_python_function_raises_reaches_the_caller() -> None:
    def refuse(a: np.ndarray) -> np.ndarray:
        raise ValueError("not today")

    compiled = adze.jit(lambda x: adze.pure_callback(refuse, ShapeDtype((2,), F32), x * 2), device="vulkan")
    with pytest.raises(HostCallError, match="raised ValueError: not today"):
        compiled(np.ones(2, F32))


def mapped(device: str) -> Callable[[], np.ndarray]:
    """Steps of training under `shard_map`, with a loop in the loss."""

    def loss(w: Any, x: Any) -> Any:
        def of_rank(w: Any, x: Any) -> Any:
            h, _ = lax.scan(lambda h, _: (xp.tanh(h @ w), None), x, None, length=2)
            return lax.pmean(xp.mean(h**2), "data")

        mesh = adze.make_mesh((2,), ("data",))
        return adze.shard_map(of_rank, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())(w, x)

    def train() -> np.ndarray:
        step = adze.jit(lambda w, x: w - F32(0.1) * adze.grad(loss)(w, x), device=device)
        return np.asarray(step(step(W, X), X))

    return train


def divided(device: str) -> Callable[[], np.ndarray]:
    """Steps of training on arrays that stay divided."""

    def train() -> np.ndarray:
        mesh = adze.make_mesh((2,), ("data",))
        whole, rows = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
        slope = adze.grad(lambda w, x: xp.mean(xp.tanh(x @ w) ** 2))
        step = adze.jit(
            lambda w, x: w - F32(0.1) * slope(w, x),
            in_shardings=(whole, rows),
            out_shardings=whole,
            device=device,
        )
        x = adze.device_put(X, rows)
        return np.asarray(step(step(W, x), x))

    return train


@pytest.mark.parametrize("program", [divided, pytest.param(mapped, marks=pytest.mark.thorough)])
def test_ranks_exchange_arrays_of_their_devices(program: Callable[[str], Callable[[], np.ndarray]]) -> None:
    if program is divided:
        pytest.importorskip("jaxlib", reason="Shardy is in jaxlib, of the extra shard")
    (want, _), (one, other) = (adze.distributed.run(program(d), 2) for d in ("cpu", "vulkan"))
    np.testing.assert_allclose(one, want, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(one, other)

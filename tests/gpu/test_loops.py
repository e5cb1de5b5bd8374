"""Loops for CUDA that are one kernel each, run as PTX: the same numbers as on a CPU, whoever goes first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.runtime.artifact.device_code.kernels import gpu_kernels

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

LOOPS = """
import adze.numpy as xp
from adze import lax
rng = np.random.default_rng(0)
def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32)
square = normal(24, 24)
square = square @ square.T + 24 * np.eye(24, dtype=np.float32)
f4, fori = np.float32, lax.fori_loop
def recurrence(w, xs):
    return adze.scan(lambda h, x: (xp.tanh(h @ w + x), h), xs[0], xs)
xs, w = normal(10, 4, 8), f4(.3) * normal(8, 8)
cases = {
    "elements": (lambda x: fori(0, 20, lambda i, v: v - (v * v - x) / (2 * v), x), abs(normal(100)) + 1),
    "elements that stop": (
        lambda x: lax.while_loop(lambda v: xp.any(v > 1), lambda v: xp.where(v > 1, v / 2, v), x),
        normal(100) * 50),
    "numbers": (
        lambda x: lax.while_loop(
            lambda v: abs(v[0] * v[0] - 2) > 1e-6, lambda v: (v[0] / 2 + 1 / v[0], v[1] + 1), (x, 0)),
        f4(30)),
    "arrays that change places": (
        lambda x, y: fori(0, 5, lambda i, v: (v[1][::-1], v[0] + 1), (x, y)), normal(40), normal(40)),
    "products and sums": (
        lambda a, x: fori(0, 9, lambda i, v: a @ v / xp.sqrt(xp.sum(v * v)), x), normal(80, 80), normal(80)),
    "a recurrence": (recurrence, w, xs),
    "its gradient": (adze.grad(lambda w, xs: recurrence(w, xs)[1].sum()), w, xs),
    "elements at places": (
        lambda x: fori(0, 9, lambda i, v: v.at[xp.argmax(v)].set(0).at[i + 1].add(v[i]), x), normal(40)),
    "complex numbers": (
        lambda z: fori(0, 5, lambda i, v: v * v * f4(.1) + z, z), normal(50) + np.complex64(1j) * normal(50)),
    "sums of complex numbers": (
        lambda z: fori(0, 5, lambda i, v: v * f4(.1) + v.sum(), z),
        normal(50) + np.complex64(1j) * normal(50)),
    "long sums": (
        lambda x: fori(0, 4, lambda i, v: v - v.max(axis=1, keepdims=True) + v.min() + v.sum(axis=0) / 9, x),
        normal(8, 300)),
    "a factor": (xp.linalg.cholesky, square),
    "a solution": (xp.linalg.solve, square, normal(24, 2)),
}
def distance(a, b):
    return float(abs(np.asarray(a) - np.asarray(b)).max() / abs(np.asarray(b)).max())
for name, (function, *arguments) in cases.items():
    got, want = (adze.jit(function, device=device)(*arguments) for device in ("cuda:0", "cpu"))
    pairs = zip(got, want) if isinstance(got, tuple) else [(got, want)]
    said[name] = max(distance(a, b) for a, b in pairs)
"""


@needs_compiler
@pytest.mark.thorough
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_loops_give_what_they_give_on_a_cpu(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    off = on_ptx_machine(LOOPS)
    assert max(off.values()) < 2e-5, off


def newton(x: Any) -> Any:
    return lax.fori_loop(0, 50, lambda _, v: v - (v * v - x) / (2 * v), x)


def power(a: Any, x: Any) -> Any:
    return lax.fori_loop(0, 50, lambda _, v: a @ v / xp.sqrt(xp.sum(v * v)), x)


def compiled(function: Any, *shapes: tuple[int, ...]) -> Any:
    specs = [ShapeDtype(shape, np.dtype(np.float32)) for shape in shapes]
    return adze.trace(function, *specs).lower("cuda:sm_80").compile()


@pytest.mark.parametrize(
    ("function", "shapes", "stages"),
    [(newton, [(1000,)], 0), (newton, [()], 0), (power, [(64, 64), (64,)], 10)],
)
def test_loops_with_small_bodies_are_one_kernel(
    function: Any, shapes: list[tuple[int, ...]], stages: int
) -> None:
    """`stages`: how often all threads wait for each other, in the code; one element needs nobody else."""
    program = compiled(function, *shapes)
    assert len(gpu_kernels(program.vmfb)) == 1
    assert program.vmfb.count(b"bar.sync") == stages


def test_loops_with_large_bodies_have_the_whole_gpu() -> None:
    program = compiled(lambda x: lax.fori_loop(0, 50, lambda _, v: v - xp.mean(v), x), (1 << 20,))
    assert b"kernel_loop" not in program.vmfb

"""Loops for Vulkan and Metal that are one kernel each: a CPU's numbers on lavapipe, valid code everywhere."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.frontend.staging import lowered
from adze.passes.lower.kernels.loops import iterations
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.compile import compiler
from adze.runtime.compile.separate import compile_in_subprocess
from adze.runtime.errors import CompileError
from adze.runtime.targets import parse_target

from ..passes.lower.kernels.loops import GROUPS, many_steps
from ..passes.lower.kernels.test_loops import arguments_of, program, same
from .drivers import needs_vulkan
from .spirv_val import ABSENT, complaints, validator
from .test_loops import newton, power

pytestmark = pytest.mark.gpu

FAMILIES = ["lavapipe", "ampere", "rdna3", "adreno", "valhall4"]
F32 = np.dtype(np.float32)


def exchanged(x: Any, y: Any) -> Any:
    """Two results of one kernel, which are parts of one array."""
    return lax.fori_loop(0, 5, lambda i, v: (v[1][:, ::-1], v[0] + 1), (x, y))


def root(x: Any) -> Any:
    """A loop over numbers, which one thread runs."""
    return lax.while_loop(lambda v: abs(v * v - x) > 1e-5, lambda v: (v + x / v) / 2, x)


def halved(x: Any) -> Any:
    return lax.fori_loop(0, 5, lambda _, v: v / 2, x)


LOOPS: dict[str, tuple[Any, ...]] = {
    "elements": (newton, (1000,)),
    "arrays": (power, (64, 64), (64,)),
    "two results": (exchanged, (3, 8), (3, 8)),
    "numbers": (root, ()),
}


def compiled(function: Any, *shapes: tuple[int, ...], target: str = "vulkan:lavapipe") -> Any:
    return adze.trace(function, *[ShapeDtype(shape, F32) for shape in shapes]).lower(target).compile()


@pytest.mark.parametrize("target", ["vulkan:ampere", "metal"])
@pytest.mark.parametrize("name", LOOPS)
def test_loops_with_small_bodies_are_one_kernel(name: str, target: str) -> None:
    function, *shapes = LOOPS[name]
    (kernel,) = gpu_kernels(compiled(function, *shapes, target=target).vmfb)
    assert kernel.name.startswith("kernel_loop")


def test_threads_of_metal_share_the_memory_of_their_workgroup() -> None:
    source = compiled(*LOOPS["two results"], target="metal").vmfb
    assert b"threadgroup_barrier(mem_flags::mem_threadgroup)" in source and b"threadgroup _" in source


@pytest.mark.thorough
@pytest.mark.skipif(validator() is None, reason=ABSENT)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", LOOPS)
def test_their_code_is_valid(name: str, family: str) -> None:
    function, *shapes = LOOPS[name]
    module = compiled(function, *shapes, target=f"vulkan:{family}").vmfb
    assert not complaints(module)


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", LOOPS)
def test_they_compute_what_they_do_on_a_cpu(name: str) -> None:
    function, *shapes = LOOPS[name]
    rng = np.random.default_rng(3)
    arrays = [np.asarray(rng.random(shape), np.float32) + 1 for shape in shapes]
    got, want = (adze.jit(function, device=device)(*arrays) for device in ("vulkan", "cpu"))
    same(got, want, name)


@pytest.mark.thorough
@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("group", GROUPS)
def test_loops_of_every_kind_compute_what_their_ops_do(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of unknown length as kernels too: all but one are short."""
    monkeypatch.setattr(iterations, "MOST_ON_LAVAPIPE", inf)
    monkeypatch.setenv("ADZE_CACHE", "0")
    loops = [each for each in GROUPS[group] if each[0] is not many_steps]
    arguments = arguments_of(loops)
    got = adze.jit(program(loops), device="vulkan")(arguments)
    for result, (loop, given) in zip(got, loops, strict=True):
        same(result, loop(*given), loop.__name__)


@pytest.mark.vulkan
@needs_vulkan
def test_more_elements_than_a_grid_has_threads() -> None:
    x = np.arange(64 * 65535 + 77, dtype=np.float32)
    np.testing.assert_array_equal(adze.jit(halved, device="vulkan")(x), x / 32)


def test_arrays_that_do_not_fit_in_a_workgroup_stay_on_the_host() -> None:
    """A barrier orders the workgroup's memory alone, and there are 16 KiB of it."""

    def shifted(x: Any) -> Any:
        return lax.fori_loop(0, 5, lambda _, v: v[::-1] + 1, x)

    def said(n: int) -> str:
        return str(adze.trace(shifted, ShapeDtype((n,), F32)).remarks("vulkan:ampere"))

    assert "kernel: " in said(1024)
    assert "threads would share 65536 bytes: a workgroup has 16384" in said(8192)


def test_iree_still_refuses_parts_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "with_strided_bindings", lambda program: program)
    monkeypatch.setattr(lowered, "has_loop_kernels", lambda module: False)
    monkeypatch.setenv("ADZE_CACHE", "0")
    with pytest.raises(CompileError, match="unresolved"):
        compiled(exchanged, (3, 8), (3, 8))


def test_a_process_of_its_own_takes_parts_of_arrays() -> None:
    module = adze.trace(exchanged, *[ShapeDtype((3, 8), F32)] * 2).lower("vulkan:lavapipe").mlir().encode()
    assert compile_in_subprocess(module, parse_target("vulkan:lavapipe")).vmfb


def many(x: Any) -> Any:
    return lax.fori_loop(0, 70_000, lambda i, c: c * 5 + 1, x)


@pytest.mark.parametrize(
    ("function", "spec"),
    [
        (many, ShapeDtype((), np.dtype(np.uint32))),
        (root, ShapeDtype((), F32)),
        (lambda x: lax.fori_loop(0, 70_000, lambda i, c: c * 5 + 1, x), ShapeDtype((64,), F32)),
    ],
)
def test_loops_of_many_or_of_unknown_iterations_are_kernels_elsewhere(function: Any, spec: Any) -> None:
    """Lavapipe ends the loops of a kernel after 65,535 iterations, silently."""
    traced = adze.trace(function, spec)
    assert "lavapipe ends the loops of a kernel after 65000 iterations" in str(
        traced.remarks("vulkan:lavapipe")
    )
    assert "kernel: " in str(traced.remarks("vulkan:ampere"))


def test_loops_of_a_second_stay_on_the_host() -> None:
    """Drivers of Vulkan take the device from a kernel of some seconds."""

    def long(x: Any) -> Any:
        return lax.fori_loop(0, 10_000_000, lambda _, v: xp.cumsum(v), x)

    said = str(adze.trace(long, ShapeDtype((64,), F32)).remarks("vulkan:ampere"))
    assert "drivers of Vulkan end such" in said


@needs_vulkan
@pytest.mark.vulkan
def test_lavapipe_still_ends_loops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterations, "MOST_ON_LAVAPIPE", 1 << 40)
    monkeypatch.setenv("ADZE_CACHE", "0")
    assert int(adze.jit(many, device="vulkan")(np.uint32(7))) == 101342249  # of 65,534 steps

"""Products of float64 on CUDA by tensor cores: a kernel of our own, run as C in both orders of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_products import TENSOR_BLOCKS, tensor_block
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
F64 = np.dtype(np.float64)
A100, RTX = parse_target("cuda:sm_80"), parse_target("cuda:sm_86")

MACHINE = """
rng = np.random.default_rng(0)
PRODUCTS = {
    "both": (lambda a, b: a @ b, (64, 48), (48, 128)),
    "left": (lambda a, b: a.T @ b, (32, 64), (32, 64)),
    "right": (lambda a, b: a @ b.T, (64, 16), (128, 16)),
    "transposed": (lambda a, b: (a.T @ b.T).T, (32, 64), (64, 32)),
    "batch": (lambda a, b: a @ b, (3, 64, 32), (3, 32, 64)),
    "batches inside": (lambda a, b: adze.numpy.einsum("mbk,knb->bmn", a, b), (64, 2, 16), (16, 64, 2)),
    "ragged": (lambda a, b: a @ b, (130, 150), (150, 120)),
    "deep": (lambda a, b: a @ b, (64, 2048), (2048, 64)),
    "used": (lambda a, b: adze.numpy.tanh((a @ b) * 0.01) + a[:1, :64], (64, 64), (64, 64)),
    "large": (lambda a, b: a @ b, (5, 384, 16), (5, 16, 448)),
}
for name in NAMES:
    function, *shapes = PRODUCTS[name]
    arrays = [rng.integers(-9, 10, shape).astype(float) for shape in shapes]
    got, want = (np.asarray(adze.jit(function, device=d)(*arrays)) for d in ("cuda:0", "cpu"))
    said[name] = bool(np.array_equal(got, want)) if name != "used" else bool(np.allclose(got, want))
"""
QUICK = ("both", "transposed")
NAMES = ("both", "left", "right", "transposed", "batch", "batches inside", "ragged", "deep", "used", "large")


@needs_compiler
def test_products_of_tensor_cores_are_exact() -> None:
    assert on_ptx_machine(f"NAMES = {QUICK}{MACHINE}") == dict.fromkeys(QUICK, True)


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_products_of_all_forms_are_exact(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy arrives as late as it may: threads that did not wait for it would multiply what was there."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"NAMES = {NAMES}{MACHINE}") == dict.fromkeys(NAMES, True)


@pytest.mark.thorough
@needs_compiler
def test_infinities_and_nan_stay_in_their_rows() -> None:
    said = on_ptx_machine("""
a, b = np.ones((64, 64)), np.ones((64, 64))
a[3, 5], a[63, 0], b[2, 9] = np.nan, np.inf, -np.inf
got = adze.jit(lambda a, b: a @ b, device="cuda:0")(a, b)
with np.errstate(invalid="ignore"):
    said["same"] = bool(np.array_equal(np.asarray(got), a @ b, equal_nan=True))
""")
    assert said == {"same": True}


def kernels_of(target: str, *shapes: tuple[int, ...]) -> list[Any]:
    specs = [ShapeDtype(shape, F64) for shape in shapes]
    return gpu_kernels(adze.trace(lambda a, b: a @ b, *specs).lower(target).compile().vmfb)


def test_doubles_use_the_tensor_cores_that_have_them() -> None:
    (kernel,) = kernels_of("cuda:sm_80", (512, 512), (512, 512))
    assert kernel.matrix_products >= 64 and kernel.async_copies >= 8 and kernel.fused_multiply_adds == 0
    (kernel,) = kernels_of("cuda:sm_86", (512, 512), (512, 512))
    assert kernel.matrix_products == 0 and kernel.fused_multiply_adds >= 256


def test_blocks_are_chosen_by_sizes_and_architecture() -> None:
    large, small = TENSOR_BLOCKS
    many, few = {"m": 1024, "n": 1024, "k": 64}, {"m": 128, "n": 128, "k": 64}
    assert tensor_block(A100, many, "mnk", F64, F64) == large
    assert tensor_block(A100, few, "mnk", F64, F64) == small
    assert tensor_block(A100, {"b": 100, **few}, "bmnk", F64, F64) == large
    assert tensor_block(A100, {**few, "k": 60}, "mnk", F64, F64) is None
    assert tensor_block(A100, {**few, "m": object()}, "mnk", F64, F64) is None
    assert tensor_block(A100, few, "mnk", np.dtype(np.float32), F64) is None
    assert tensor_block(RTX, many, "mnk", F64, F64) is None
    assert tensor_block(parse_target("cpu"), many, "mnk", F64, F64) is None

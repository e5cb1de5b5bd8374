"""Convolutions on CUDA whose features lie before their positions: products without transposed images."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.tuning import gpu_convolutions
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
CUDA = parse_target("cuda:sm_80")

MACHINE = """
import ml_dtypes
from adze import lax
from adze.passes.lower.tuning import window_forms
window_forms.WINDOWS = ROOM
rng = np.random.default_rng(1)
dtype = np.dtype(ml_dtypes.bfloat16 if DTYPE == "bfloat16" else DTYPE)

def convolution(x, w, strides, padding, dilation):
    return lax.conv_general_dilated(
        x, w, strides, padding, rhs_dilation=dilation, dimension_numbers=("NCHW", "OIHW", "NCHW"))

def both(x, w, ct, *window):
    result, pull = adze.vjp(lambda x, w: convolution(x, w, *window), x, w)
    return (result, *pull(ct))

for image, kernel, *window in CASES:
    x, w = (rng.integers(-2, 3, shape).astype(dtype) for shape in (image, kernel))
    shape = adze.eval_shape(lambda x, w: convolution(x, w, *window), x, w).shape
    ct = rng.integers(-1, 2, shape).astype(dtype)
    got = adze.jit(lambda *a: both(*a, *window), device="cuda:0")(x, w, ct)
    want = both(*(a.astype(np.float64) for a in (x, w, ct)), *window)
    for name, one, other in zip(("result", "image", "kernel"), got, want):
        other = np.asarray(other).astype(dtype).astype(np.float64)
        one = np.asarray(one).astype(np.float64)
        if one.shape != other.shape or not np.array_equal(one, other):
            said[f"{name} {image} {window}"] = [one.shape, float(np.abs(one - other).max())]
"""
PLAIN = ((1, 1), "SAME", (1, 1))
CASES: dict[str, Any] = {
    "same": ((2, 16, 16, 16), (64, 16, 3, 3), *PLAIN),
    "strided": ((3, 16, 32, 32), (32, 16, 3, 3), (2, 2), "SAME", (1, 1)),
    "dilated": ((2, 32, 20, 20), (16, 32, 3, 3), (1, 1), "VALID", (2, 2)),
    "of one element": ((2, 96, 16, 32), (64, 96, 1, 1), *PLAIN),
    "of one image": ((1, 40, 16, 32), (24, 40, 3, 3), (1, 1), ((2, 0), (0, 2)), (1, 1)),
    "few features": ((4, 3, 32, 32), (64, 3, 3, 3), *PLAIN),
    "few results": ((2, 64, 32, 32), (1, 64, 5, 5), *PLAIN),
}


@needs_compiler
@pytest.mark.parametrize(
    ("name", "dtype", "room"), [("same", "float32", 1 << 28), ("same", "float16", 1 << 17)]
)
def test_results_and_gradients_are_numpys(name: str, dtype: str, room: int) -> None:
    """Integers, whose sums all dtypes have exactly; with room for the windows of one image, one by one."""
    assert on_ptx_machine(f"DTYPE, ROOM, CASES = {dtype!r}, {room}, [{CASES[name]}]{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_are_numpys_in_all_forms(name: str, dtype: str) -> None:
    assert on_ptx_machine(f"DTYPE, ROOM, CASES = {dtype!r}, {1 << 28}, [{CASES[name]}]{MACHINE}") == {}


def gradients(x: Any, w: Any) -> Any:
    def loss(x: Any, w: Any) -> Any:
        return xp.sum(lax.conv(x, w, (1, 1), "SAME") ** 2)

    return adze.grad(loss, argnums=(0, 1))(x, w)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_no_image_is_transposed(dtype: Any) -> None:
    specs = ShapeDtype((8, 64, 32, 32), dtype), ShapeDtype((64, 64, 3, 3), dtype)
    program = adze.trace(gradients, *specs).lower("cuda:sm_80").compile()
    kernels = gpu_kernels(program.vmfb)
    assert len(kernels) <= 8 and not any("transpose" in kernel.name for kernel in kernels)
    if dtype == np.float32:
        assert sum(kernel.fused_multiply_adds for kernel in kernels) >= 768
        assert sum(kernel.loads for kernel in kernels) <= 24
    else:
        assert sum(kernel.matrix_products for kernel in kernels) >= 96


@pytest.mark.parametrize(
    ("layouts", "sizes", "is_taken"),
    [
        (((0, 1, 2, 3), (0, 1, 2, 3)), (8, 32, 32, 64), True),
        (((0, 3, 1, 2), (0, 3, 1, 2)), (8, 32, 32, 64), False),
        (((0, 1, 2, 3), (0, 3, 1, 2)), (8, 32, 32, 64), False),
        (((0, 1, 2, 3), (0, 1, 2, 3)), (8, 14, 14, 64), False),
    ],
)
def test_only_such_layouts_are_taken_whose_positions_are_whole_tiles(
    layouts: Any, sizes: tuple[int, ...], is_taken: bool
) -> None:
    for parts in (gpu_convolutions.column_parts, gpu_convolutions.gradient_parts):
        found = parts(CUDA, layouts, sizes, (3, 3), 64, np.dtype(np.float32))
        assert (found is not None) == is_taken
        assert parts(parse_target("cpu"), layouts, sizes, (3, 3), 64, np.dtype(np.float32)) is None

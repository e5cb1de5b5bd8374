"""Gradients of strided convolutions on CUDA with respect to the image: one product, run as C."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.dialects.ops.contraction.convolution_window import Window
from adze.passes.lower.tuning.gpu_convolutions import sums_products
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
F16, F32 = np.float16, np.float32

MACHINE = """
import ml_dtypes
from adze import lax

rng = np.random.default_rng(1)
dtype = np.dtype(ml_dtypes.bfloat16 if DTYPE == "bfloat16" else DTYPE)
LAYOUTS = {4: ("NHWC", "HWIO", "NHWC"), 3: ("NWC", "WIO", "NWC"), 5: ("NDHWC", "DHWIO", "NDHWC")}

def convolution(x, w, padding, dilation):
    return lax.conv_general_dilated(
        x, w, (1,) * len(dilation), padding, lhs_dilation=dilation, dimension_numbers=LAYOUTS[x.ndim])

for image, kernel, padding, dilation in CASES:
    x, w = (rng.integers(-2, 3, shape).astype(dtype) for shape in (image, kernel))
    got = adze.jit(lambda x, w: convolution(x, w, padding, dilation), device="cuda:0")(x, w)
    want = convolution(x.astype(np.float64), w.astype(np.float64), padding, dilation).astype(dtype)
    if got.shape != want.shape or not np.array_equal(np.asarray(got).astype(float), want.astype(float)):
        said[f"{image} {kernel} {padding} {dilation}"] = [got.shape, want.shape]
"""
CASES: list[Any] = [
    ((3, 16, 16, 32), (3, 3, 32, 16), ((1, 2), (2, 1)), (2, 2)),
    ((2, 20, 11, 40), (5, 4, 40, 24), ((4, 4), (-1, 3)), (3, 2)),
    ((2, 32, 32, 64), (2, 2, 64, 16), ((0, 0), (0, 0)), (2, 2)),
    ((2, 32, 32, 64), (1, 1, 64, 32), ((0, 1), (0, 1)), (2, 2)),
    ((2, 24, 24, 32), (3, 3, 32, 16), ((1, 1), (1, 2)), (1, 2)),
    ((4, 300, 64), (7, 64, 32), ((6, 5),), (4,)),
    ((1, 8, 8, 8, 32), (3, 3, 3, 32, 16), ((1, 2), (1, 2), (2, 2)), (2, 2, 2)),
]


@needs_compiler
def test_a_dilated_image_makes_what_numpy_makes() -> None:
    """More steps than the window has, cropped images, axes that are not dilated."""
    assert on_ptx_machine(f"DTYPE, CASES = 'float32', {CASES[:2]}{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_dilated_images_of_all_kinds(dtype: str) -> None:
    assert on_ptx_machine(f"DTYPE, CASES = {dtype!r}, {CASES}{MACHINE}") == {}


@pytest.mark.parametrize("dtype", [F32, F16])
def test_there_are_few_kernels(dtype: Any) -> None:
    def gradients(x: Any, w: Any) -> Any:
        def loss(x: Any, w: Any) -> Any:
            numbers = ("NHWC", "HWIO", "NHWC")
            return xp.sum(lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=numbers) ** 2)

        return adze.grad(loss, argnums=(0, 1))(x, w)

    specs = ShapeDtype((8, 32, 32, 64), dtype), ShapeDtype((3, 3, 64, 64), dtype)
    kernels = gpu_kernels(adze.trace(gradients, *specs).lower("cuda:sm_80").compile().vmfb)
    assert len(kernels) <= 8
    if dtype == F16:
        assert sum(kernel.matrix_products for kernel in kernels) >= 128


@pytest.mark.parametrize(
    ("shape", "dilation", "is_taken"),
    [
        ((8, 32, 32, 64), (2, 2), True),
        ((8, 2, 2, 64), (2, 2), False),  # too small to repay
        ((8, 1024, 1024, 64), (2, 2), False),  # no room for the products
        ((8, 32, 32, 3), (2, 2), False),  # few terms
    ],
)
def test_only_products_with_room_are_taken(
    shape: tuple[int, ...], dilation: tuple[int, ...], is_taken: bool
) -> None:
    window = Window((1, 1), ((1, 1), (1, 1)), dilation, (1, 1))
    dtype = np.dtype(F32)
    assert sums_products(parse_target("cuda:sm_80"), shape, (3, 3), 64, window, dtype) == is_taken
    assert not sums_products(parse_target("cpu"), shape, (3, 3), 64, window, dtype)
    spread = window._replace(rhs_dilation=(1, 3))
    assert not sums_products(parse_target("cuda:sm_80"), shape, (3, 3), 64, spread, dtype)

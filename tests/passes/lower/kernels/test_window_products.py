"""Convolutions of images of named height or width: every access within bounds, and values as NumPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax
from adze.dialects import mlir
from adze.frontend.staging.kernels import KERNELS
from adze.passes.lower.kernels.executable import Kernels, tensor_sizes
from adze.passes.lower.kernels.panels import pack
from adze.passes.lower.kernels.window_products import WindowRows, multiply_windows
from adze.passes.lower.tuning.product_tiles import ProductSizes

from .reductions import AVX512
from .test_products import dispatches_of, module_with, run_dispatch, tiles

NHWC = ("NHWC", "HWIO", "NHWC")
RNG = np.random.default_rng(5)


def whole_numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Numbers of which sums are exact."""
    return RNG.integers(-4, 5, shape).astype(dtype)


def convolved(x: Any, kernel: Any, window: WindowRows) -> Any:
    strides = (window.down, window.right)
    return lax.conv_general_dilated(
        x, kernel, strides, "VALID", rhs_dilation=(window.apart, 1), dimension_numbers=NHWC
    )


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("window", [WindowRows(3, 1, 1, 1, 2), WindowRows(2, 2, 2, 3, 5)], ids=str)
@pytest.mark.parametrize("shape", [(1, 3, 5), (2, 6, 9), (1, 5, 17), (3, 4, 3), (1, 1, 4)], ids=str)
@pytest.mark.parametrize("features", [3, 8, 21])
def test_all_accesses_are_within_bounds(
    shape: tuple[int, int, int], window: WindowRows, features: int, is_packed: bool
) -> None:
    batch, height, width = shape
    columns = 3
    t = tiles(is_packed=is_packed, packed_panels=2)
    sizes = ProductSizes(None, None, features, window.count * columns * window.features)
    covered = (window.count - 1) * window.apart + 1

    def body(kernels: Kernels, values: Sequence[Any]) -> None:
        image, weights = values
        if is_packed:
            weights = pack(kernels, weights, sizes, t, along_k=False)

        def number(n: int) -> Any:
            return mlir.arith.constant(mlir.ir.IndexType.get(), n)

        def positions(size: Any, covered: int, step: int) -> Any:
            whole = mlir.arith.divui(mlir.arith.subi(size, number(covered)), number(step))
            return mlir.arith.addi(whole, number(1))

        images, rows, elements = tensor_sizes(image)
        lines = mlir.arith.muli(images, positions(rows, covered, window.down))
        step = window.right * window.features
        result = (lines, positions(elements, columns * window.features, step), features)
        multiply_windows(kernels, image, weights, sizes, t, window, result, tensor_sizes)

    module = module_with([(None, None, None), (1, sizes.k, features)], body)
    image = whole_numbers(batch, height, width, window.features)
    kernel = whole_numbers(window.count, columns, window.features, features)
    want = convolved(image, kernel, window)
    if height < covered:
        return  # the host counts no workgroups there, and this counts sizes without a sign
    *packing, product = dispatches_of(module)
    main = module.body.operations[len(module.body.operations) - 1].operation.regions[0].blocks[0]
    given = image.reshape(batch, height, -1), kernel.reshape(1, -1, features)
    arrays = dict(zip(main.arguments, given, strict=True))
    for each in packing:
        (arrays[each.results[0]],) = run_dispatch(module, each, arrays)
    (got,) = run_dispatch(module, product, arrays)
    np.testing.assert_array_equal(got.reshape(want.shape), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("spec", "taps", "window"),
    [
        (("b", "h", "w", 8), (3, 3), WindowRows(3, 1, 1, 1, 8)),
        ((2, "h", 26, 3), (5, 5), WindowRows(5, 1, 2, 2, 3)),
        ((1, 9, "w", 16), (3, 1), WindowRows(3, 2, 1, 1, 16)),
    ],
    ids=str,
)
def test_values(spec: tuple[int | str, ...], taps: tuple[int, int], window: WindowRows, dtype: Any) -> None:
    features = 24
    kernel = whole_numbers(*taps, window.features, features, dtype=dtype)
    program = adze.trace(
        lambda x, k: (convolved(x, k, window), convolved(x, kernel, window)),
        adze.ShapeDtype(spec, dtype),
        adze.ShapeDtype(kernel.shape, dtype),
    )
    assert "conv_2d" not in program.mlir("linalg")
    compiled = program.lower("cpu").compile()
    for b, h, w in ((2, 7, 7), (1, 5, 5), (0, 6, 9), (3, 12, 40), (1, 70, 33)):
        named = {"b": b, "h": h, "w": w}
        x = whole_numbers(*(n if isinstance(n, int) else named[n] for n in spec), dtype=dtype)
        want = convolved(x, kernel, window)
        for got in compiled(x, kernel):
            np.testing.assert_array_equal(got, want)


def test_special_numbers_reach_their_windows_alone() -> None:
    x = whole_numbers(1, 9, 13, 8)
    x[0, 4, 6, 2], x[0, 0, 0, 0] = np.nan, np.inf
    kernel = np.ones((3, 3, 8, 16), np.float32)
    window = WindowRows(3, 1, 1, 1, 8)
    specs = adze.ShapeDtype((1, "h", "w", 8), np.float32), adze.ShapeDtype(kernel.shape, np.float32)
    got = adze.trace(lambda x, k: convolved(x, k, window), *specs).lower("cpu").compile()(x, kernel)
    np.testing.assert_array_equal(got, convolved(x, kernel, window))


def test_gradients_and_other_layouts() -> None:
    kernel = whole_numbers(16, 8, 3, 3)

    def loss(x: Any, k: Any) -> Any:
        return (lax.conv_general_dilated(x, k, (1, 1), "SAME") ** 2).sum()

    x = whole_numbers(2, 8, 11, 6)
    specs = adze.ShapeDtype(("b", 8, "h", "w"), np.float32), adze.ShapeDtype(kernel.shape, np.float32)
    got = adze.trace(adze.grad(loss, argnums=(0, 1)), *specs).lower("cpu").compile()(x, kernel)
    for mine, want in zip(got, adze.jit(adze.grad(loss, argnums=(0, 1)))(x, kernel), strict=True):
        np.testing.assert_allclose(mine, want, rtol=1e-5)


def test_which_have_the_kernel() -> None:
    def text(spec: tuple[int | str, ...], kernel: tuple[int, ...], dtype: Any = np.float32) -> str:
        window = WindowRows(kernel[0], 1, 1, 1, kernel[2])
        specs = adze.ShapeDtype(spec, dtype), adze.ShapeDtype(kernel, dtype)
        return adze.trace(lambda x, k: convolved(x, k, window), *specs).at_stage(KERNELS, AVX512)

    assert "kernel_windows" in text(("b", "h", "w", 8), (3, 3, 8, 16))
    assert "kernel_windows" not in text(("b", 10, 12, 8), (3, 3, 8, 16))  # kernels of one image
    assert "kernel_windows" not in text(("b", "h", "w", 8), (3, 3, 8, 2))  # few columns of a vector
    assert "kernel_windows" not in text(("b", "h", "w", 8), (3, 3, 8, 16), np.float16)

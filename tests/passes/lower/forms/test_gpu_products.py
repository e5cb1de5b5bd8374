"""The forms of products and convolutions for CUDA: windows copied to rows, sizes rounded to tiles.

No GPU is needed: the forms are those of any target, and are run here where there is a device.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype, lax
from adze.passes.lower.forms import contraction
from adze.passes.lower.tuning import convolution_plans, gpu_products, product_forms, window_forms
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from ....gpu.drivers import needs_vulkan

CUDA = parse_target("cuda:sm_80")
CPU = parse_target("cpu:x86-64-v3")
NHWC = ("NHWC", "HWIO", "NHWC")


@pytest.fixture
def as_on_cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every target takes CUDA's forms, and no kernel of our own; nothing comes from the cache."""
    parts, rounded = window_forms.window_parts, product_forms.rounded_product
    monkeypatch.setattr(window_forms, "window_parts", lambda target, *rest: parts(CUDA, *rest))
    monkeypatch.setattr(product_forms, "rounded_product", lambda target, *rest: rounded(CUDA, *rest))
    monkeypatch.setattr(product_forms, "matrix_product", lambda *_: None)
    exact, deep = gpu_products.exact_parts, gpu_products.deep_parts
    monkeypatch.setattr(gpu_products, "exact_parts", lambda target, *rest: exact(CUDA, *rest))
    monkeypatch.setattr(gpu_products, "deep_parts", lambda target, *rest: deep(CUDA, *rest))
    monkeypatch.setattr(gpu_products, "ROUNDED", 1)
    monkeypatch.setattr(contraction, "product_by_kernel", lambda *_: None)
    monkeypatch.setattr(contraction, "product_of_groups", lambda *_: None)
    monkeypatch.setattr(convolution_plans, "WORK", 1 << 62)
    monkeypatch.setenv("ADZE_CACHE", "0")
    yield


def integers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Small integers, whose sums are exact."""
    return (np.arange(np.prod(shape)) * 7 % 11 - 5).reshape(shape).astype(dtype)


def windows_of(x: np.ndarray, taps: tuple[int, int], stride: int, dilation: int) -> np.ndarray:
    span = [(n - 1) * dilation + 1 for n in taps]
    seen = np.lib.stride_tricks.sliding_window_view(x, span, axis=(1, 2))
    return seen[:, ::stride, ::stride, :, ::dilation, ::dilation]


def check_convolution(device: str, stride: int, dilation: int, dtype: Any, batch: int) -> None:
    x, w = integers(batch, 9, 10, 5, dtype=dtype), integers(3, 2, 5, 6, dtype=dtype)

    def convolve(x: Any, w: Any) -> Any:
        return lax.conv_general_dilated(
            x, w, (stride, stride), "VALID", rhs_dilation=(dilation, dilation), dimension_numbers=NHWC
        )

    got = adze.jit(convolve, device=device)(x, w)
    seen = windows_of(x.astype(np.float64), (3, 2), stride, dilation)
    want = np.einsum("nhwcij,ijcf->nhwf", seen, w.astype(np.float64))
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.usefixtures("as_on_cuda")
def test_products_over_windows_are_convolutions(monkeypatch: pytest.MonkeyPatch) -> None:
    check_convolution("cpu", 2, 2, np.float32, 2)
    # Windows of two images at most at once: two products.
    monkeypatch.setattr(window_forms, "WINDOWS", 2 * 7 * 9 * 30 * 4)
    check_convolution("cpu", 1, 1, np.float32, 4)


@pytest.mark.vulkan
@pytest.mark.thorough
@needs_vulkan
@pytest.mark.usefixtures("as_on_cuda")
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("stride, dilation", [(1, 1), (2, 1), (1, 2)])
def test_products_over_windows_on_vulkan(stride: int, dilation: int, dtype: Any) -> None:
    check_convolution("vulkan", stride, dilation, dtype, 2)


@pytest.mark.usefixtures("as_on_cuda")
def test_rounded_products_are_products() -> None:
    """Each axis rounded, and an axis with a batch before it."""
    for shapes in (((17, 33), (33, 20)), ((2, 40, 32), (2, 32, 130))):
        x, y = (integers(*shape) for shape in shapes)
        np.testing.assert_array_equal(adze.jit(lambda x, y: x @ y)(x, y), x @ y)
        assert "tensor.pad" in adze.trace(lambda x, y: x @ y, x, y).lower("cpu").mlir()


@pytest.mark.usefixtures("as_on_cuda")
def test_zeros_behind_the_operands_meet_no_infinities() -> None:
    x, y = np.full((17, 33), np.inf, np.float32), np.ones((33, 20), np.float32)
    assert np.isposinf(np.asarray(adze.jit(lambda x, y: x @ y)(x, y))).all()


def test_sizes_are_rounded_to_the_tiles_of_cuda() -> None:
    def rounded(m: int, n: int, k: int) -> tuple[int, ...] | None:
        sizes = product_forms.rounded_product(CUDA, {"b": 1, "m": m, "n": n, "k": k}, "mnk", np.dtype("f4"))
        return None if sizes is None else tuple(sizes[letter] for letter in "mnk")

    assert rounded(1000, 1000, 1000) == (1024, 1024, 1024)
    assert rounded(999, 777, 513) == (1024, 832, 576)
    assert rounded(1800, 30, 576) == (1856, 32, 576)
    assert rounded(1024, 1024, 1024) is None
    assert rounded(100, 100, 100) is None, "too small to repay the copies"
    assert rounded(4096, 4096, 1) is None and rounded(8, 4096, 4096) is None


@pytest.mark.usefixtures("as_on_cuda")
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("depth", [300, 1100])
def test_integers_of_8_bits_are_exact_as_floats(dtype: Any, depth: int) -> None:
    """At the ends of their range too, where float32 would lose bits of longer sums."""
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max + 1, (33, depth)).astype(dtype)
    x[0] = info.min if info.min else info.max
    for result in (np.int32, dtype):
        function = lambda x, y: lax.dot(x, y, preferred_element_type=result)  # noqa: B023, E731
        assert "f16" in adze.trace(function, x, x.T).lower("cpu").mlir()
        want = (x.astype(np.int64) @ x.T.astype(np.int64)).astype(result)
        np.testing.assert_array_equal(adze.jit(function)(x, x.T), want)


@pytest.mark.usefixtures("as_on_cuda")
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_long_sums_of_few_results_are_cut(dtype: Any) -> None:
    x, y = integers(2, 20, 1100, dtype=dtype), integers(2, 1100, 30, dtype=dtype)
    for a, b in ((x, y), (x[0], y[0])):
        assert "x4x320x" in adze.trace(lambda a, b: a @ b, a, b).lower("cpu").mlir()
        want = (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype)
        np.testing.assert_array_equal(adze.jit(lambda a, b: a @ b)(a, b), want)


def tiles_of(m: int, n: int, k: int, **more: Any) -> str | None:
    sizes, target = {"b": more.get("b", 1), "m": m, "n": n, "k": k}, more.get("target", CUDA)
    dtype = np.dtype(more.get("dtype", np.float32))
    return gpu_products.tiles(target, sizes, "bmnk" if "b" in more else "mnk", dtype)


def test_products_share_blocks_of_their_operands() -> None:
    for sizes, tiles in (
        ((4096, 4096, 64), "reduction = [0, 0, 8], thread = [8, 8, 0], workgroup = [128, 128, 0]"),
        ((1024, 1024, 64), "reduction = [0, 0, 16], thread = [8, 4, 0], workgroup = [128, 64, 0]"),
        ((64, 64, 16), "reduction = [0, 0, 16], thread = [4, 4, 0], workgroup = [64, 64, 0]"),
    ):
        text = tiles_of(*sizes)
        assert text is not None and f"promote_operands = [0, 1], {tiles}" in text
        assert "workgroup_size = [256, 1, 1]" in text
    batched = tiles_of(128, 128, 8, b=96)
    assert batched is not None and "thread = [1, 8, 8, 0], workgroup = [1, 128, 128, 0]" in batched
    assert tiles_of(96, 64, 16) is None and tiles_of(64, 64, 4) is None
    wide = tiles_of(1024, 1024, 16, dtype=np.float64)
    assert wide is not None and "thread = [8, 4, 0], workgroup = [128, 64, 0]" in wide
    assert tiles_of(64, 64, 16, dtype=np.complex64) is None and tiles_of(64, 64, 16, target=CPU) is None


def test_few_results_of_long_sums_occupy_a_gpu() -> None:
    def parts(m: int, n: int, k: int, dtype: Any = np.float32) -> gpu_products.Parts | None:
        sizes = {"b": 1, "m": m, "n": n, "k": k}
        return gpu_products.deep_parts(CUDA, sizes, "mnk", np.dtype(dtype))

    assert parts(128, 128, 8192) == gpu_products.Parts(32, 256)
    assert parts(1024, 1024, 8192) is None and parts(128, 128, 512) is None
    assert parts(128, 128, 8192, np.complex64) is None


def test_parts_of_integers_have_exact_sums() -> None:
    def parts(k: int, dtype: Any) -> gpu_products.Parts | None:
        sizes = {"b": 1, "m": 1024, "n": 1024, "k": k}
        return gpu_products.exact_parts(CUDA, sizes, "mnk", np.dtype(dtype))

    assert parts(512, np.int8) == gpu_products.Parts(1, 512)
    assert parts(1000, np.int8) == gpu_products.Parts(2, 512)
    assert parts(1024, np.uint8) == gpu_products.Parts(8, 128)
    assert parts(1024, np.int16) is None


@pytest.mark.gpu
def test_iree_takes_these_tiles() -> None:
    """Also with what is fused behind the product."""
    specs = ShapeDtype((256, 128)), ShapeDtype((128, 192)), ShapeDtype((192,))
    compiled = adze.trace(lambda x, y, z: adze.nn.relu(x @ y + z), *specs).lower("cuda:sm_80").compile()
    [kernel] = gpu_kernels(compiled.vmfb)
    assert kernel.fused_multiply_adds >= 256 and kernel.shared_bytes == 8192


def test_only_cuda_copies_windows() -> None:
    sizes, dtype = ((8, 32, 32, 64), (3, 3), 64), np.dtype(np.float32)
    assert window_forms.window_parts(CUDA, *sizes, dtype) == 1
    assert window_forms.window_parts(CPU, *sizes, dtype) is None
    assert window_forms.window_parts(CUDA, *sizes, np.dtype(np.complex64)) is None
    assert window_forms.window_parts(CUDA, (64, 112, 112, 64), (3, 3), 64, dtype) == 8
    assert window_forms.window_parts(CUDA, (1, 4096, 4096, 64), (3, 3), 64, dtype) is None
    specs = ShapeDtype((8, 32, 32, 64)), ShapeDtype((3, 3, 64, 64))
    traced = adze.trace(
        lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=NHWC), *specs
    )
    assert "linalg.conv" not in traced.lower("cuda:sm_80").mlir()

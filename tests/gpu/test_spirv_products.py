"""Products of unknown sizes on Vulkan and Metal: blocks of known sizes, whose threads have 8 x 8 sums."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import adze
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_products import block_of, block_tiles
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .drivers import needs_vulkan

pytestmark = pytest.mark.gpu


def gradients(a: Any, b: Any, c: Any) -> Any:
    return adze.vjp(lambda a, b: a @ b, a, b)[1](c)


PRODUCTS: dict[str, tuple[Any, ...]] = {
    "rows": (lambda a, b: a @ b, ("n", 70), (70, 100)),
    "columns": (lambda a, b: a @ b, (64, 64), (64, "n")),
    "terms": (lambda a, b: a.T @ b, ("n", 64), ("n", 96)),
    "transposed": (lambda a, b: (a @ b.T).T, ("n", 64), (64, 64)),
    "rows of a batch": (lambda a, b: a @ b, (2, "n", 64), (2, 64, 64)),
    "rows and terms": (lambda a, b: a @ b, ("n", "m"), ("m", 70)),
    "rows and columns": (lambda a, b: a @ b.T, ("n", 20), ("m", 20)),
    "all of a batch": (lambda a, b: a @ b, ("c", "n", "m"), ("c", "m", "n")),
    "gradients": (gradients, ("n", "c"), ("c", "m"), ("n", "m")),
}


@pytest.mark.one_in(4)
@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int32])
def test_products_of_any_size_are_numpys(name: str, dtype: Any) -> None:
    """Integers, whose sums all dtypes have exactly; no rows, one, and such that no block divides."""
    function, *shapes = PRODUCTS[name]
    if name == "gradients" and np.dtype(dtype).kind == "i":
        pytest.skip("integers have no gradients")
    specs = [ShapeDtype(shape, dtype) for shape in shapes]
    compiled = adze.trace(function, *specs).lower("vulkan").compile(device="vulkan")
    rng = np.random.default_rng(1)
    for n in (0, 1, 64, 130):
        known = {"n": n, "m": abs(n - 3), "c": n % 5}
        arrays = [rng.integers(-2, 3, [known.get(s, s) for s in shape]).astype(dtype) for shape in shapes]
        wanted = adze.tree.leaves(function(*(array.astype(float) for array in arrays)))
        for got, want in zip(adze.tree.leaves(compiled(*arrays)), wanted, strict=True):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(want).astype(dtype), f"n = {n}")


@pytest.mark.parametrize("target", ["vulkan:ampere", "vulkan:lavapipe", "metal"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    "shapes", [(("n", 256), (256, 512)), ((256, "k"), ("k", 512)), (("m", "k"), ("k", "n"))]
)
def test_blocks_are_computed_in_tiles(target: str, dtype: Any, shapes: Any) -> None:
    specs = [ShapeDtype(shape, dtype) for shape in shapes]
    found = gpu_kernels(adze.trace(lambda a, b: a @ b, *specs).lower(target).compile().vmfb)
    assert sum(kernel.fused_multiply_adds for kernel in found) >= 64


def test_products_of_known_sizes_have_tiles_of_iree() -> None:
    unknown: Any = object()
    vulkan, dtype = parse_target("vulkan:ampere"), np.dtype(np.float32)
    of_blocks = {"p": unknown, "m": 64, "n": 128, "k": 256}
    assert block_of(vulkan, {"m": unknown, "n": 64, "k": 64}, "mnk", dtype) == ("m", 64)
    assert block_tiles(vulkan, of_blocks, "pmnk") is not None
    assert block_tiles(vulkan, {**of_blocks, "p": 3}, "pmnk") is None
    assert block_tiles(vulkan, {**of_blocks, "n": 100}, "pmnk") is None
    assert block_tiles(parse_target("cuda:sm_80"), of_blocks, "pmnk") is None

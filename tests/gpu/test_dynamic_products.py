"""Products on CUDA of which some sizes are known only when they run: blocks of known sizes, run as C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_products import block_of, blocks_of
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
F16, F32 = np.float16, np.float32

MACHINE = """
import ml_dtypes
rng = np.random.default_rng(1)
dtype = np.dtype(ml_dtypes.bfloat16 if DTYPE == "bfloat16" else DTYPE)

def gradients(a, b, c):
    return adze.vjp(lambda a, b: a @ b, a, b)[1](c)

PRODUCTS = {
    "rows": (lambda a, b: a @ b, ("n", 64), (64, 128)),
    "rows of any size": (lambda a, b: a @ b, ("n", 70), (70, 100)),
    "columns": (lambda a, b: a @ b, (64, 64), (64, "n")),
    "terms": (lambda a, b: a.T @ b, ("n", 64), ("n", 96)),
    "transposed": (lambda a, b: (a @ b.T).T, ("n", 64), (64, 64)),
    "rows of a batch": (lambda a, b: a @ b, (2, "n", 64), (2, 64, 64)),
    "products": (lambda a, b: a @ b, ("n", 64, 64), ("n", 64, 64)),
    "gradients": (gradients, ("n", 64), (64, 128), ("n", 128)),
    "rows and terms": (lambda a, b: a @ b, ("n", "m"), ("m", 70)),
    "rows and columns": (lambda a, b: a @ b.T, ("n", 20), ("m", 20)),
    "columns and terms": (lambda a, b: (a @ b).T, (64, "n"), ("n", "m")),
    "all of a batch": (lambda a, b: a @ b, ("c", "n", "m"), ("c", "m", "n")),
    "gradients of all": (gradients, ("n", "c"), ("c", "m"), ("n", "m")),
}
if dtype.kind in "iu":
    del PRODUCTS["gradients"], PRODUCTS["gradients of all"]
for name in NAMES.split(",") if NAMES else PRODUCTS:
    function, *shapes = PRODUCTS[name]
    specs = [adze.ShapeDtype(shape, dtype) for shape in shapes]
    compiled = adze.trace(function, *specs).lower("cuda:sm_80").compile(device="cuda:0")
    for n in SIZES:
        sizes = [[{"n": n, "m": abs(n - 3), "c": n % 5}.get(s, s) for s in shape] for shape in shapes]
        arrays = [rng.integers(0 if dtype.kind == "u" else -2, 3, shape).astype(dtype) for shape in sizes]
        want = function(*(a.astype(np.float64) for a in arrays))
        got = compiled(*arrays)
        for one, other in zip(*((x if isinstance(x, (tuple, list)) else (x,)) for x in (got, want))):
            one, other = np.asarray(one).astype(float), np.asarray(other).astype(dtype).astype(float)
            if one.shape != other.shape or not np.array_equal(one, other):
                said[f"{name} {n}"] = [one.shape, other.shape]
"""


@needs_compiler
@pytest.mark.parametrize(
    ("dtype", "names"), [("float32", "rows,rows and terms"), ("float16", "gradients,gradients of all")]
)
def test_products_of_any_size_are_numpys(dtype: str, names: str) -> None:
    """Integers, whose sums all dtypes have exactly; no rows, one, and such that no block divides."""
    said = on_ptx_machine(f"DTYPE, NAMES, SIZES = {dtype!r}, {names!r}, (0, 1, 64, 130){MACHINE}")
    assert said == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int32", "uint64"])
def test_products_of_any_size_are_numpys_in_all_forms(dtype: str) -> None:
    assert on_ptx_machine(f"DTYPE, NAMES, SIZES = {dtype!r}, '', (0, 1, 63, 64, 65, 300){MACHINE}") == {}


CONVOLUTIONS = """
from adze import lax

rng = np.random.default_rng(1)
LAYOUTS = {
    "NHWC": (("NHWC", "HWIO", "NHWC"), (12, 16, 24), (3, 3, 24, 64), (12, 16, 64)),
    "NCHW": (("NCHW", "OIHW", "NCHW"), (24, 12, 16), (64, 24, 3, 3), (64, 12, 16)),
}
layout, *shapes = LAYOUTS[LAYOUT]

def both(x, w, cotangent):
    def convolution(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)

    result, pull = adze.vjp(convolution, x, w)
    return result, *pull(cotangent)

shapes[0], shapes[2] = ("n", *shapes[0]), ("n", *shapes[2])
specs = [adze.ShapeDtype(shape, DTYPE) for shape in shapes]
compiled = adze.trace(both, *specs).lower("cuda:sm_80").compile(device="cuda:0")
for n in (0, 1, 3):
    sizes = [[n if s == "n" else s for s in shape] for shape in shapes]
    arrays = [rng.integers(-1, 2, shape).astype(DTYPE) for shape in sizes]
    want = both(*(a.astype(np.float64) for a in arrays))
    for name, one, other in zip(("result", "image", "kernel"), compiled(*arrays), want):
        if not np.array_equal(np.asarray(one).astype(float), np.asarray(other).astype(DTYPE).astype(float)):
            said[f"{name} {n}"] = [np.asarray(one).shape, np.asarray(other).shape]
"""


@needs_compiler
@pytest.mark.parametrize(("dtype", "layout"), [("float32", "NCHW"), ("float16", "NHWC")])
def test_convolutions_of_any_batch_are_numpys(dtype: str, layout: str) -> None:
    """With both gradients; float16 was refused."""
    assert on_ptx_machine(f"DTYPE, LAYOUT = {dtype!r}, {layout!r}{CONVOLUTIONS}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize(("dtype", "layout"), [("float32", "NHWC"), ("float64", "NHWC"), ("float16", "NCHW")])
def test_convolutions_of_any_batch_in_other_forms(dtype: str, layout: str) -> None:
    assert on_ptx_machine(f"DTYPE, LAYOUT = {dtype!r}, {layout!r}{CONVOLUTIONS}") == {}


@needs_compiler
def test_convolutions_of_halves_of_any_sizes_are_numpys() -> None:
    """IREE refuses them."""
    said = on_ptx_machine("""
from adze import lax

def convolution(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))

specs = adze.ShapeDtype(("n", "h", "w", "c"), "float16"), adze.ShapeDtype(("a", "b", "c", "d"), "float16")
compiled = adze.trace(convolution, *specs).lower("cuda:sm_80").compile(device="cuda:0")
rng = np.random.default_rng(1)
for n, h, w, c, a, b, d in ((2, 9, 7, 5, 3, 2, 4), (1, 4, 4, 1, 4, 4, 1), (0, 5, 5, 3, 2, 2, 3)):
    x, k = (rng.integers(-2, 3, shape).astype(np.float16) for shape in ((n, h, w, c), (a, b, c, d)))
    said[f"{n} {h}"] = bool(np.array_equal(np.asarray(compiled(x, k)), np.asarray(convolution(x, k))))
""")
    assert said == {"2 9": True, "1 4": True, "0 5": True}


@pytest.mark.thorough
@needs_compiler
def test_infinities_and_nan_stay_in_their_rows() -> None:
    said = on_ptx_machine("""
a, b = np.ones((65, 64), np.float32), np.ones((64, 64), np.float32)
a[3, 5], a[64, 0], b[2, 9] = np.nan, np.inf, -np.inf
specs = adze.ShapeDtype(("n", 64)), adze.ShapeDtype((64, 64))
got = adze.trace(lambda a, b: a @ b, *specs).lower("cuda:sm_80").compile(device="cuda:0")(a, b)
with np.errstate(invalid="ignore"):
    said["same"] = bool(np.array_equal(np.asarray(got), a @ b, equal_nan=True))
""")
    assert said == {"same": True}


@pytest.mark.parametrize(
    ("function", "shapes", "dtype", "kernels", "counts"),
    [
        (lambda a, b: a @ b, (("n", 256), (256, 512)), F32, 2, {"fused_multiply_adds": 256}),
        (lambda a, b: a @ b, (("n", 256), (256, 512)), F16, 2, {"matrix_products": 32}),
        (lambda a, b: a.T @ b, (("n", 256), ("n", 512)), F32, 2, {"fused_multiply_adds": 256}),
        (lambda a, b: a.T @ b, (("n", 256), ("n", 512)), F16, 3, {"matrix_products": 32}),
        (lambda a, b: a @ b, (("n", 128, 64), ("n", 64, 128)), F32, 1, {"fused_multiply_adds": 256}),
        (lambda a, b: a @ b, (("n", "m"), ("m", 512)), F32, 3, {"fused_multiply_adds": 256}),
        (lambda a, b: a @ b, (("n", "m"), ("m", "k")), F32, 5, {"fused_multiply_adds": 256}),
        (lambda a, b: a @ b, (("n", "m"), ("m", "k")), F16, 5, {"matrix_products": 32}),
        (lambda a, b: a @ b.T, (("n", 64), ("k", 64)), F16, 5, {"matrix_products": 32}),
    ],
)
def test_blocks_are_computed_in_tiles(
    function: Callable[..., Any], shapes: Any, dtype: Any, kernels: int, counts: dict[str, int]
) -> None:
    specs = [ShapeDtype(shape, dtype) for shape in shapes]
    found = gpu_kernels(adze.trace(function, *specs).lower("cuda:sm_80").compile().vmfb)
    assert len(found) <= kernels
    for name, count in counts.items():
        assert sum(getattr(kernel, name) for kernel in found) >= count


def test_products_of_several_unknown_sizes_have_blocks_of_each() -> None:
    unknown: Any = object()
    cuda, dtype = parse_target("cuda:sm_80"), np.dtype(F32)
    of_all = {"m": 64, "n": 64, "k": 64}
    assert blocks_of(cuda, dict.fromkeys("mnk", unknown), "mnk", dtype) == of_all
    assert blocks_of(cuda, {"m": unknown, "n": 16, "k": unknown}, "mnk", dtype) == of_all
    assert blocks_of(cuda, {"m": unknown, "n": 8, "k": unknown}, "mnk", dtype) is None
    assert blocks_of(cuda, {"m": unknown, "n": 64, "k": 64}, "mnk", dtype) is None
    assert blocks_of(parse_target("cpu"), dict.fromkeys("mnk", unknown), "mnk", dtype) is None


def test_products_of_one_unknown_size_have_blocks_of_that() -> None:
    unknown: Any = object()
    cuda, dtype = parse_target("cuda:sm_80"), np.dtype(F32)
    assert block_of(cuda, {"m": unknown, "n": 64, "k": 64}, "mnk", dtype) == ("m", 64)
    assert block_of(cuda, {"m": 4096, "n": 4096, "k": unknown}, "mnk", dtype) == ("k", 1024)
    assert block_of(cuda, {"m": unknown, "n": unknown, "k": 64}, "mnk", dtype) is None
    assert block_of(cuda, {"m": unknown, "n": 8, "k": 64}, "mnk", dtype) is None
    assert block_of(cuda, {"m": 64, "n": 64, "k": 64}, "mnk", dtype) is None
    assert block_of(parse_target("cpu"), {"m": unknown, "n": 64, "k": 64}, "mnk", dtype) is None

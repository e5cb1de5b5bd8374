"""Reductions of few long columns on GPUs: parts of them first, run as C for CUDA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_columns import column_parts, reduced_first
from adze.passes.lower.tuning.gpu_facts import BUSY
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
CUDA = parse_target("cuda:sm_80")

MACHINE = """
import ml_dtypes
lib, rng = adze.numpy, np.random.default_rng(1)
SHAPES = [((512, 5), (0,)), ((2, 300, 3), (1,)), ((16, 32, 2), (0, 1))]
SHAPES += [((3, 7, 260), (0, 2)), ((257, 3), (0,))]
SUMS = ("sum", "prod", "max", "min")

def array(shape, name):
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    if name == "bool":
        return rng.random(shape) > 0.002
    x = rng.integers(-3, 4, shape).astype(dtype)
    if dtype.kind == "c":
        return (x + 1j * rng.integers(-2, 3, shape)).astype(dtype)
    if dtype.kind not in "iu":
        x = np.where(rng.random(shape) < 0.001, np.asarray(np.inf, dtype), x)
        x[..., 0] = np.where(rng.random(shape[:-1]) < 0.01, np.asarray(np.nan, dtype), x[..., 0])
    return x

def wide(x):
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x

cases = []
for name in DTYPES:
    some = ("any", "all") if name == "bool" else ("sum",) if name[0] == "c" else SUMS
    cases += [(each, array(shape, name), axes) for shape, axes in SHAPES for each in some]
results = adze.jit(
    lambda *xs: [getattr(lib, n)(x, axis=a) for (n, _, a), x in zip(cases, xs)], device="cuda:0"
)(*[x for _, x, _ in cases])
for (name, x, axes), got in zip(cases, results):
    got = np.asarray(got)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(wide(x), axis=axes).astype(wide(got).dtype)
        good = np.allclose(wide(got), want.astype(got.dtype).astype(want.dtype), rtol=1e-2, equal_nan=True)
    if not good or got.shape != want.shape:
        said[f"{name} {x.dtype}{x.shape} {axes}"] = [str(got.ravel()[:9]), str(want.ravel()[:9])]
"""
MANY = [
    "float16,int8",
    "float64,uint8",
    "bfloat16,int16",
    "uint32,int64",
    "complex64,bool",
    "complex128,uint64",
]


@needs_compiler
@pytest.mark.parametrize(("dtypes", "order"), [("float32", "forward"), ("int32", "reversed")])
def test_parts_of_columns_make_what_numpy_makes(
    dtypes: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NaN and infinities; axes side by side and apart; rows that no number divides."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"DTYPES = {dtypes.split(',')}{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtypes", MANY)
def test_parts_of_columns_in_all_dtypes(dtypes: str) -> None:
    assert on_ptx_machine(f"DTYPES = {dtypes.split(',')}{MACHINE}") == {}


def deviation(x: Any, axes: Any) -> Any:
    return xp.mean((x - xp.mean(x, axis=axes, keepdims=True)) ** 2, axis=axes)


@pytest.mark.parametrize(
    ("function", "shape", "count"),
    [
        (lambda x: xp.sum(x, axis=0), (512, 1024), 2),
        (lambda x: xp.sum(x, axis=0), (1 << 20, 8), 3),
        (lambda x: xp.max(x, axis=(0, 2, 3)), (8, 64, 32, 32), 2),
        (lambda x: xp.sum(x, axis=0), (64, 1024), 1),
        # In one kernel the compiler takes minutes for the sum of squares.
        (lambda x: deviation(x, 0), (8192, 64), 4),
        (lambda x: deviation(x, (0, 2, 3)), (8, 64, 32, 32), 4),
    ],
)
def test_many_threads_share_few_columns(
    function: Callable[[Any], Any], shape: tuple[int, ...], count: int
) -> None:
    program = adze.trace(function, ShapeDtype(shape, np.float32)).lower("cuda:sm_80").compile()
    assert len(gpu_kernels(program.vmfb)) <= count


@pytest.mark.parametrize("target", ["vulkan:ampere", pytest.param("rocm:gfx942", marks=pytest.mark.thorough)])
def test_other_gpus_share_columns_too(target: str) -> None:
    """IREE's compiler did not end within minutes."""
    lowered = adze.trace(lambda x: deviation(x, 0), ShapeDtype((8192, 64), np.float32)).lower(target)
    assert lowered.compile(cache=False).vmfb


@pytest.mark.parametrize(
    "sizes", [(1, 8192, 64), (4, 300, 2), (1, 1 << 20, 1), (3, 257, 7), (1, 300, 4 * BUSY)]
)
def test_parts_divide_rows(sizes: tuple[int, int, int]) -> None:
    parts = column_parts(CUDA, *sizes, 32)
    batches, rows, columns = sizes
    if parts is None:
        assert rows == 257 or batches * columns >= 4 * BUSY
    else:
        assert rows % parts == 0 and 1 < parts**2 <= rows
    assert column_parts(parse_target("cpu"), *sizes, 32) is None


@pytest.mark.parametrize(
    ("shape", "axes", "first"),
    [
        ((8, 64, 32, 32), (0, 2, 3), (2, 3)),
        ((8, 64, 32, 32), (2, 3), ()),
        ((1, 64, 1024), (0, 2), ()),
        ((8, 4096, 1024), (0, 2), ()),
        ((8, 0, 1024), (0, 2), ()),
        ((8, 64, 0), (0, 2), ()),
        ((8, 64), (0,), ()),
    ],
)
def test_rows_of_several_axes_are_reduced_one_by_one(
    shape: tuple[int, ...], axes: tuple[int, ...], first: tuple[int, ...]
) -> None:
    assert reduced_first(CUDA, shape, axes) == first

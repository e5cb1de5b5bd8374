"""Sums of vectors and of rows of 64 bits on GPUs: no thread has a long row alone, run as C and on Vulkan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_columns import columns_of_rows
from adze.passes.lower.tuning.gpu_facts import BUSY
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .drivers import needs_vulkan
from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
CUDA = parse_target("cuda:sm_90")

MACHINE = """
lib, rng = adze.numpy, np.random.default_rng(3)
SHAPES = [((65,), 0), ((579,), 0), ((976,), 0), ((4096,), 0), ((20011,), 0), ((40, 50), None), ((3, 1000), 1)]
SHAPES += [((64, 128), 1), ((2, 5, 96), 2), ((2, 30, 40), (1, 2)), ((0, 70), None), ((3, 0), 1)]

def array(shape, name):
    x = rng.integers(-3, 4, shape).astype(name)
    if x.dtype.kind == "f":
        x = np.where(rng.random(shape) < 0.0005, np.asarray(np.inf, x.dtype), x)
        x = np.where(rng.random(shape) < 0.0005, np.asarray(np.nan, x.dtype), x)
    return (x + 1j * rng.integers(-2, 3, shape)).astype(name) if x.dtype.kind == "c" else x

def forms(name, shape):
    if name[0] == "c":
        return ("sum",)
    return ("sum", "any") if 0 in shape else ("sum", "max", "min", "all")

cases = [(f, array(s, n), a) for n in DTYPES for s, a in SHAPES for f in forms(n, s)]
results = adze.jit(
    lambda xs: [getattr(lib, f)(x, axis=a) for (f, _, a), x in zip(cases, xs)], device=DEVICE
)([x for _, x, _ in cases])
summed = [case for case in cases if case[0] == "sum"]
means = adze.jit(lambda xs: [lib.mean(x * x) / 2 for x in xs], device=DEVICE)([x for _, x, _ in summed])
wanted = [getattr(np, f)(x, axis=a) for f, x, a in cases]
with np.errstate(all="ignore"):
    import warnings
    warnings.simplefilter("ignore")
    wanted += [np.mean(x * x) / 2 for _, x, _ in summed]
for got, want, (name, x, axis) in zip([*results, *means], wanted, [*cases, *summed]):
    got = np.asarray(got)
    want = np.asarray(want).astype(got.dtype)
    if got.shape != want.shape or not np.allclose(got, want, rtol=1e-3, equal_nan=True):
        said[f"{name} {x.dtype}{x.shape} {axis}"] = [str(got.ravel()[:5]), str(want.ravel()[:5])]
"""


@needs_compiler
@pytest.mark.parametrize(("dtypes", "order"), [("float64", "forward"), ("float32,int32", "reversed")])
def test_sums_make_what_numpy_makes(dtypes: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths that nothing divides, several axes, empty arrays, NaN and infinities, means of squares."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"DTYPES, DEVICE = {dtypes.split(',')}, 'cuda:0'{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtypes", ["int64,uint64", "complex64,complex128"])
def test_sums_in_all_wide_dtypes(dtypes: str) -> None:
    assert on_ptx_machine(f"DTYPES, DEVICE = {dtypes.split(',')}, 'cuda:0'{MACHINE}") == {}


@pytest.mark.vulkan
@needs_vulkan
@pytest.mark.parametrize("dtypes", ["float32,float64", "int32,int64"])
def test_sums_on_vulkan_make_what_numpy_makes(dtypes: str) -> None:
    names: dict[str, Any] = {
        "DTYPES": dtypes.split(","),
        "DEVICE": "vulkan:0",
        "said": {},
        "np": np,
        "adze": adze,
    }
    exec(MACHINE, names)
    assert names["said"] == {}


@pytest.mark.parametrize(
    ("shape", "axis", "dtype", "alone"),
    [
        ((1 << 22,), 0, np.float64, 32),  # the last kernel alone has one thread
        ((1 << 22,), 0, np.int64, 32),
        ((64, 1000), 1, np.float64, 0),
        ((10007,), 0, np.float32, 0),
        ((1000003,), 0, np.float32, 0),
    ],
)
def test_no_thread_has_a_long_row_alone(shape: tuple[int, ...], axis: int, dtype: Any, alone: int) -> None:
    lowered = adze.trace(lambda x: xp.sum(x, axis=axis), ShapeDtype(shape, dtype)).lower(CUDA)
    kernels = gpu_kernels(lowered.compile(cache=False).vmfb)
    single = [each for each in kernels if each.threads == (1, 1, 1) and "reduction" in each.name]
    assert len(single) == (1 if alone else 0)
    assert all(f"reduction_{alone}_" in each.name for each in single)


@pytest.mark.parametrize(
    ("kept", "size", "columns"),
    [([], 1 << 22, 256), ([64], 1000, 25), ([64], 4096, 64), ([], 64, 32), ([], 63, None), ([], 579, None)],
)
def test_rows_are_seen_as_columns(kept: list[int], size: int, columns: int | None) -> None:
    assert columns_of_rows(CUDA, kept, size) == columns
    assert columns_of_rows(CUDA, [*kept, BUSY], size) is None
    assert columns_of_rows(parse_target("cpu"), kept, size) is None
    assert columns_of_rows(parse_target("vulkan:ampere"), kept, size) is None

"""Sorting, top_k and arguments of extrema on CUDA: kernels of our own, run as C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.tuning.gpu_rows import divided, shared
from adze.runtime.artifact.device_code.kernels import gpu_kernels

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
import ml_dtypes
from adze import lax

lib, rng = adze.numpy, np.random.default_rng(1)

def array(shape, name):
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    x = rng.integers(-20, 20, shape)
    x = x + 1j * rng.integers(-2, 2, shape) if dtype.kind == "c" else x > 0 if name == "bool" else x
    x = x.astype(dtype)
    if name.endswith(("float16", "float32", "float64")):
        x.reshape(-1)[:5] = -0.0, np.nan, np.inf, -np.inf, 0.0
    return x

def wide(x):
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x

def greatest(x, k):
    order = x.shape[-1] - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
    return np.take_along_axis(x, order, -1), order

def ours(name, x, axis):
    return lax.top_k(x, axis) if name == "top_k" else (getattr(lib, name)(x, axis=axis),)

def numpys(name, x, axis):
    if name == "top_k":
        return greatest(x, axis)
    return (getattr(np, name)(x, axis=axis, **({"kind": "stable"} if "sort" in name else {})),)

cases = []
for name in DTYPES:
    for shape, axis in [((9,), 0), ((3, 37), 1), ((5, 7, 3), 1), ((2, 5000), 1), ((300, 2), 0), ((1, 6), 1)]:
        x = array(shape, name)
        searched = [] if name.startswith("complex") else ["argmax", "argmin"]
        cases += [(each, x, axis) for each in ("sort", "argsort", *searched)]
        if searched and name != "bool" and axis == len(shape) - 1:
            cases += [("top_k", x, k) for k in (1, 3, 9, 40) if k <= shape[-1]]

results = adze.jit(lambda *xs: [ours(n, x, a) for (n, _, a), x in zip(cases, xs)], device="cuda:0")(
    *[x for _, x, _ in cases]
)
for (name, x, axis), got in zip(cases, results):
    for one, other in zip(got, numpys(name, wide(x), axis)):
        one = wide(np.asarray(one))
        if not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
            said[f"{name} {x.dtype}{x.shape} {axis}"] = [str(one.ravel()[:9]), str(other.ravel()[:9])]
"""
UNKNOWN = """
def sorted_along(shape, axis, name, keys):
    x = adze.ShapeDtype(shape, array((9,), name).dtype)
    def function(x):
        found = [lib.sort(x, axis=axis), lib.argsort(x, axis=axis)]
        return found + [each for k in keys for each in lax.top_k(x, k)]
    return adze.trace(function, x).lower("cuda").compile()

for name in DTYPES:
    for shape, axis, keys, sizes in SHAPES:
        program = sorted_along(shape, axis, name, keys)
        for size in sizes:
            x = array(size, name) if np.prod(size) > 5 else np.ones(size, array((9,), name).dtype)
            wanted = [each for n in ("sort", "argsort") for each in numpys(n, wide(x), axis)]
            wanted += [each for k in keys for each in greatest(wide(x), k)]
            for position, (one, other) in enumerate(zip(map(np.asarray, program(x)), wanted)):
                if not np.array_equal(wide(one), other, equal_nan=other.dtype.kind in "fc"):
                    said[f"{position} {name}{size}"] = [str(each.ravel()[:9]) for each in (wide(one), other)]
"""
VECTORS = (("n",), 0, (), [(0,), (1,), (2,), (9,), (4096,), (4097,), (9000,)])
MATRICES = (("m", "n"), 1, (), [(0, 3), (3, 0), (5, 1), (300, 2), (2, 4100)])
COLUMNS = (("n", 3), 0, (), [(0, 3), (1, 3), (70, 3)])
LONG_ROWS = (("n", 5000), 1, (3, 40), [(0, 5000), (3, 5000)])
FIRST = (("n",), 0, (3,), [(3,), (5000,)])
MANY = ["float16,int8", "float64,uint8", "bfloat16,int16", "uint32,int64", "complex64,bool", "uint64"]


@needs_compiler
@pytest.mark.parametrize(("dtype", "order"), [("float32", "forward"), ("int32", "reversed")])
def test_kernels_give_what_numpy_gives(dtype: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties, NaN, zeros of both signs; rows of one workgroup and of several; whichever thread goes first."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"DTYPES = ['{dtype}']{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtypes", MANY)
def test_kernels_give_what_numpy_gives_in_all_dtypes(dtypes: str) -> None:
    assert on_ptx_machine(f"DTYPES = {dtypes.split(',')}{MACHINE}") == {}


@needs_compiler
@pytest.mark.parametrize(
    ("dtype", "shapes", "order"),
    [("float32", [VECTORS], "forward"), ("int32", [MATRICES, FIRST], "reversed")],
)
def test_rows_of_unknown_sizes_are_sorted_by_kernels(
    dtype: str, shapes: list[Any], order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None, one, and more than a workgroup sorts, by programs that know neither."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    script = MACHINE[: MACHINE.index("cases = []")] + UNKNOWN
    assert on_ptx_machine(f"DTYPES, SHAPES = ['{dtype}'], {shapes}{script}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtypes", MANY)
def test_rows_of_unknown_sizes_are_sorted_in_all_dtypes(dtypes: str) -> None:
    script = MACHINE[: MACHINE.index("cases = []")] + UNKNOWN
    names = dtypes.split(",")
    shapes = [VECTORS, COLUMNS] if any(n in ("complex64", "bool") for n in names) else [MATRICES, LONG_ROWS]
    assert on_ptx_machine(f"DTYPES, SHAPES = {names}, {shapes}{script}") == {}


@pytest.mark.parametrize(
    ("function", "shape", "count"),
    [
        (lambda x: xp.argmax(x, axis=1), (256, 1024), 1),
        (lambda x: xp.argmin(x), (1 << 16,), 2),
        (lambda x: lax.top_k(x, 5), (64, 1000), 1),
        (lambda x: lax.top_k(x, 50), (64, 1000), 1),
        (lambda x: xp.sort(x, axis=1), (64, 256), 1),
        (lambda x: xp.sort(x), (1 << 14,), 3),
        (lambda x: xp.sort(x), ("n",), 3),
        (lambda x: lax.top_k(x, 5), ("n",), 3),
        (lambda x: xp.sort(x, axis=1), ("n", 256), 1),
    ],
)
def test_there_are_few_kernels(function: Callable[[Any], Any], shape: tuple[Any, ...], count: int) -> None:
    program = adze.trace(function, ShapeDtype(shape, np.float32)).lower("cuda:sm_80").compile()
    assert len(gpu_kernels(program.vmfb)) == count


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 10**6, 1), (300, 33, 1), (2, 5000, 3), (10**5, 7, 40)])
def test_parts_are_all_of_a_row_and_none_is_empty(sizes: tuple[int, int, int], is_complex: bool) -> None:
    for division in (divided(*sizes, is_complex=is_complex), shared(*sizes[:2])):
        assert (division.parts - 1) * division.length < sizes[1] <= division.parts * division.length


@pytest.mark.parametrize(
    "function",
    [
        lambda x: xp.sort(x, axis=-1),
        lambda x: xp.cumsum(x, axis=-1),
        lambda x: lax.fori_loop(0, 9, lambda i, y: y.at[i].set(y[i - 1] + xp.sum(y, axis=0)), x),
    ],
)
def test_every_op_of_a_lowered_program_is_registered(function: Callable[[Any], Any]) -> None:
    """One that was made before its dialect was loaded has a name that is freed by then."""
    module = adze.trace(function, ShapeDtype((64, 32), np.float32)).lower("cuda").module
    pending, names = [module.operation], set()
    while pending:
        operation = pending.pop()
        names.add(operation.name)
        pending += [o.operation for r in operation.regions for b in r.blocks for o in b.operations]
    assert "llvm.inline_asm" in names or "gpu.barrier" in names
    assert {name for name in names if not module.context.is_registered_operation(name)} == set()

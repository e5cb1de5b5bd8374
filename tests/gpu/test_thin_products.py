"""Products of few rows by a matrix on GPUs, and wide columns, run as C: threads share what they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype
from adze.passes.lower.tuning.gpu_columns import together
from adze.passes.lower.tuning.gpu_products import thin_parts
from adze.runtime.artifact.device_code.counts import KernelCounts
from adze.runtime.artifact.device_code.kernels import gpu_kernels
from adze.runtime.targets import parse_target

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu
CUDA = parse_target("cuda:sm_90")
F32, F16, F64 = np.dtype(np.float32), np.dtype(np.float16), np.dtype(np.float64)

MACHINE = """
import ml_dtypes
lib, rng = adze.numpy, np.random.default_rng(2)

def array(shape, name):
    dtype = np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
    x = rng.integers(-3, 4, shape).astype(dtype)
    return (x + 1j * rng.integers(-2, 3, shape)).astype(dtype) if dtype.kind == "c" else x

def wide(x):
    return x.astype({"V": np.float32, "f": np.float64}.get(x.dtype.kind, x.dtype))

FORMS = [
    ("k,kn->n", (512,), (512, 128)), ("k,kn->n", (300,), (300, 100)), ("k,kn->n", (257,), (257, 64)),
    ("mk,kn->mn", (3, 256), (256, 320)), ("mk,kn->mn", (8, 512), (512, 33)),
    ("mk,kn->mn", (9, 256), (256, 64)), ("mk,kn->mn", (1, 600), (600, 40)),
    ("bk,bkn->bn", (3, 256), (3, 256, 96)), ("bmk,bkn->bmn", (2, 5, 256), (2, 256, 64)),
    ("nk,k->n", (5, 1000), (1000,)), ("nk,k->n", (40, 517), (517,)), ("k,k->", (3000,), (3000,)),
    ("bnk,bk->bn", (2, 3, 530), (2, 530)), ("mk,nk->mn", (2, 520), (50, 520)),
]
COLUMNS = [((300, 64), 0), ((2, 512, 40), 1), ((16, 33), 0), ((4, 8, 256), (0, 1)), ((700, 129), 0)]
cases = [(f, array(s, n), array(t, n)) for n in DTYPES for f, s, t in FORMS]
sums = [(array(s, n), a) for n in DTYPES for s, a in COLUMNS]

def compute(pairs, xs):
    products = [lib.einsum(f, x, y) for (f, _, _), (x, y) in zip(cases, pairs)]
    return products, [lib.sum(x * 2, axis=a) + 1 for (_, a), x in zip(sums, xs)]

products, totals = adze.jit(compute, device="cuda:0")([c[1:] for c in cases], [x for x, _ in sums])
wanted = [np.einsum(f, wide(x), wide(y)) for f, x, y in cases]
wanted += [np.sum(wide(x) * 2, axis=a) + 1 for x, a in sums]
for got, want, case in zip([*products, *totals], wanted, [*cases, *sums]):
    got = np.asarray(got)
    want = want.astype(got.dtype)
    if got.shape != want.shape or not np.allclose(wide(got), wide(want), rtol=1e-2):
        of = f"{[getattr(c, 'shape', c) for c in case]} {got.dtype}"
        said[of] = [str(got.ravel()[:9]), str(want.ravel()[:9])]
"""


@needs_compiler
@pytest.mark.parametrize(("dtypes", "order"), [("float32", "forward"), ("float16", "reversed")])
def test_few_rows_make_what_numpy_makes(dtypes: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, columns and terms that no number divides, batches, columns with ops before and behind them."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    assert on_ptx_machine(f"DTYPES = {dtypes.split(',')}{MACHINE}") == {}


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("dtypes", ["float64,int32", "bfloat16,int8", "complex64,uint16", "int64,complex128"])
def test_few_rows_in_all_dtypes(dtypes: str) -> None:
    assert on_ptx_machine(f"DTYPES = {dtypes.split(',')}{MACHINE}") == {}


def kernels_of(function: Callable[..., Any], *arrays: ShapeDtype) -> list[KernelCounts]:
    """What is counted in each kernel for CUDA."""
    return gpu_kernels(adze.trace(function, *arrays).lower("cuda:sm_90").compile(cache=False).vmfb)


def product(x: Any, y: Any) -> Any:
    return x @ y


@pytest.mark.parametrize(
    ("rows", "columns", "dtype"),
    [(1, 4096, F32), (4, 4096, F32), (8, 128, F32), (1, 4096, F16), (1, 256, F64)],
)
def test_a_matrix_is_loaded_by_vectors_and_by_many_threads(rows: int, columns: int, dtype: np.dtype) -> None:
    first, second = kernels_of(product, ShapeDtype((rows, 4096), dtype), ShapeDtype((4096, columns), dtype))
    assert first.threads == second.threads == (32, 1, 1)
    assert first.wide_loads >= 4


def test_lanes_share_the_rows_of_a_matrix_whatever_their_length() -> None:
    (kernel,) = kernels_of(product, ShapeDtype((64, 1000), F32), ShapeDtype((1000,), F32))
    assert kernel.threads == (1024, 1, 1)


WIDTHS = [(4096, 32, 4), (128, 32, 4), (64, 32, 2), (3000, 32, 1), (33, 32, 1), (256, 16, 8), (64, 64, 2)]


@pytest.mark.parametrize(("columns", "bits", "count"), [*WIDTHS, (512, 128, 1), (512, 8, 16)])
def test_a_thread_loads_sixteen_bytes_where_a_warp_s_divide(columns: int, bits: int, count: int) -> None:
    assert together(columns, bits) == count


@pytest.mark.parametrize(
    ("m", "n", "k", "axes", "parts"),
    [
        (1, 4096, 4096, "kn", 16),  # 1,024 threads of four columns: 16,384
        (1, 128, 4096, "kn", 64),  # no more parts than each has terms
        (8, 4096, 4096, "kn", 16),
        (9, 4096, 4096, "kn", None),  # more rows than a thread has registers for
        (1, 4096, 4096, "nk", None),  # lanes share rows
        (1, 65536, 4096, "kn", None),  # enough threads
        (1, 4096, 200, "kn", None),  # short
        (1, 4096, 257, "kn", None),  # no divisor
        (1, 31, 4096, "kn", None),  # not a warp
    ],
)
def test_parts_of_thin_products(m: int, n: int, k: int, axes: str, parts: int | None) -> None:
    sizes = {"b": 1, "m": m, "n": n, "k": k}
    loops = ["m", "n", "k"] if m > 1 else ["n", "k"]
    found = thin_parts(CUDA, sizes, axes, loops, F32, F32)
    assert (found and found.count) == parts
    assert found is None or found.count * found.depth == k
    assert thin_parts(parse_target("cpu"), sizes, axes, loops, F32, F32) is None
    assert thin_parts(parse_target("vulkan:ampere"), sizes, axes, loops, F32, F32) is None


def test_several_rows_of_halves_are_left_to_tensor_cores() -> None:
    sizes = {"b": 1, "m": 4, "n": 4096, "k": 4096}
    assert thin_parts(CUDA, sizes, "kn", ["m", "n", "k"], F16, F32) is None
    assert thin_parts(CUDA, {**sizes, "m": 1}, "kn", ["n", "k"], F16, F32) is not None


def test_a_gradient_of_biases_reads_columns_beside_each_other() -> None:
    (first, second) = kernels_of(lambda x: xp.sum(xp.sin(x), axis=0), ShapeDtype((4096, 4096), F32))
    assert first.threads == second.threads == (32, 1, 1)
    assert first.wide_loads == first.loads == 4

"""Attention on CUDA: scores of halves use the tensor cores; all is one kernel where that is asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, nn
from adze.runtime.artifact.device_code.kernels import gpu_kernels

from .fake_cuda import needs_compiler, on_ptx_machine

pytestmark = pytest.mark.gpu

MACHINE = """
import ml_dtypes
from adze import nn

rng = np.random.default_rng(0)

def reference(q, k, v, visible):
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    scores = np.einsum("btnh,bsnh->bnts", q, k) / np.sqrt(q.shape[-1])
    scores = np.where(visible, scores, -1e30)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bnts,bsnh->btnh", weights / weights.sum(-1, keepdims=True), v)

for dtype in (np.float16, ml_dtypes.bfloat16):
    for length, features in SIZES:
        q, k, v = (rng.standard_normal((1, length, 2, features)).astype(dtype) for _ in range(3))
        mask = rng.integers(0, 2, (1, 2, length, length)).astype(bool) | np.eye(length, dtype=bool)
        lengths = np.int32([length - 3])
        forms = {
            "all": ({}, True),
            "causal": ({"is_causal": True}, np.tri(length, dtype=bool)),
            "mask": ({"mask": mask}, mask),
            "lengths": ({"key_value_seq_lengths": lengths}, np.arange(length) < length - 3),
        }
        def attend(q, k, v):
            return [nn.dot_product_attention(q, k, v, **options) for options, _ in forms.values()]
        results = adze.jit(attend, device="cuda:0")(q, k, v)
        for (name, (_, visible)), got in zip(forms.items(), results):
            want = reference(q, k, v, visible)
            off = abs(np.asarray(got).astype(np.float64) - want).max()
            said[f"{name} {np.dtype(dtype)} {length} x {features}"] = float(off / np.abs(want).max())
"""


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("sizes", [[(64, 64)], [(33, 128)]])
def test_halves_are_rounded_once(sizes: list[tuple[int, int]]) -> None:
    off = on_ptx_machine(f"SIZES = {sizes}{MACHINE}")
    assert len(off) == 8
    assert all(each < 1.01 * 2.0 ** (-8 if "bfloat16" in name else -11) for name, each in off.items()), off


def kernels_of(function: Any, *specs: ShapeDtype) -> list[tuple[int, int]]:
    """The instructions of tensor cores and the multiply-adds of each kernel that has some."""
    program = adze.trace(function, *specs).lower("cuda:sm_80").compile()
    counts = [(k.matrix_products, k.fused_multiply_adds) for k in gpu_kernels(program.vmfb)]
    return [count for count in counts if any(count)]


def test_scores_of_halves_use_the_tensor_cores() -> None:
    x = ShapeDtype((2, 256, 8, 64), np.float16)
    scores, values = kernels_of(nn.dot_product_attention, x, x, x)
    assert scores[0] >= 32 and scores[1] == 0
    assert values[1] >= 256


def test_products_of_what_is_partly_wide_do_not() -> None:
    half, wide = ShapeDtype((256, 256), np.float16), ShapeDtype((256, 256), np.float32)
    for specs in [(half, wide), (wide, half), (wide, wide)]:
        (product,) = kernels_of(lambda x, y: xp.astype(x, np.float32) @ xp.astype(y, np.float32), *specs)
        assert product[0] == 0


def fused(*arrays: Any, **options: Any) -> Any:
    return nn.dot_product_attention(*arrays, implementation="cudnn", **options)


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"scale": 0.5}])
def test_attention_that_may_round_its_weights_is_one_kernel(options: dict[str, Any]) -> None:
    x = ShapeDtype((2, 256, 8, 64), np.float16)
    keys = ShapeDtype((2, 256, 4, 64), np.float16)
    for specs in [(x, x, x), (x, keys, keys)]:
        program = adze.trace(lambda *a: fused(*a, **options), *specs).lower("cuda:sm_80").compile()
        kernels = [k for k in gpu_kernels(program.vmfb) if k.matrix_products]
        assert [k.matrix_products for k in kernels] == [48]
        assert len(gpu_kernels(program.vmfb)) <= 2  # one reorders the queries of a key head


@pytest.mark.parametrize(
    ("length", "width", "features", "products"),
    [(250, 250, 64, 48), (256, 256, 80, 80), (100, 33, 20, 8), (16, 17, 128, 40)],
)
def test_attention_of_ragged_sizes_is_one_kernel_and_copies(
    length: int, width: int, features: int, products: int
) -> None:
    q, k = (ShapeDtype((1, n, 2, features), np.float16) for n in (length, width))
    kernels = gpu_kernels(adze.trace(fused, q, k, k).lower("cuda:sm_80").compile().vmfb)
    assert [k.matrix_products for k in kernels if k.matrix_products] == [products]
    assert len(kernels) <= 5  # operands get zeros behind them, and the result loses its last ones


@pytest.mark.parametrize("shape", [(1, 256, 2, 256), (1, 8, 2, 64), (1, 64, 2, 8)])
def test_attention_of_other_sizes_is_that_of_ops(shape: tuple[int, ...]) -> None:
    """IREE needs more memory than a workgroup has, or arrays would mostly be zeros."""
    x = ShapeDtype(shape, np.float16)
    assert "iree_linalg_ext.attention" not in str(adze.trace(fused, x, x, x).lower("cuda:sm_80"))


FUSED = """
import ml_dtypes
from adze import nn

rng = np.random.default_rng(0)
for dtype in (np.float16, ml_dtypes.bfloat16):
    q = rng.standard_normal((1, LENGTH, 4, FEATURES)).astype(dtype)
    k, v = (rng.standard_normal((1, WIDTH, 2, FEATURES)).astype(dtype) for _ in range(2))
    mask = rng.integers(0, 2, (1, 4, LENGTH, WIDTH)).astype(bool)
    mask[:, :, 5] = False  # one sees nothing
    forms = {
        "all": {},
        "causal": {"is_causal": True, "scale": 0.3},
        "mask": {"mask": mask},
        "lengths": {"key_value_seq_lengths": np.int32([17]), "query_seq_lengths": np.int32([20])},
    }
    def attend(implementation):
        def function(q, k, v):
            attention = nn.dot_product_attention
            return [attention(q, k, v, implementation=implementation, **each) for each in forms.values()]
        return function
    results = adze.jit(attend("cudnn"), device="cuda:0")(q, k, v)
    wide = (x.astype(np.float32) for x in (q, k, v))
    for name, got, want in zip(forms, results, adze.jit(attend(None), device="cpu")(*wide)):
        want = np.asarray(want)
        off = abs(np.asarray(got).astype(np.float32) - want).max() / abs(want).max()
        said[f"{name} {np.dtype(dtype)}"] = float(off)
"""


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize("order", ["forward", "reversed"])
@pytest.mark.parametrize("sizes", [(64, 48, 64), (43, 37, 80), (25, 32, 20)])
def test_one_kernel_gives_what_the_ops_give(
    order: str, sizes: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the rounding of queries, weights and results; also for a query that sees nothing."""
    monkeypatch.setenv("PTX_MACHINE_ORDER", order)
    off = on_ptx_machine(f"LENGTH, WIDTH, FEATURES = {sizes}{FUSED}")
    assert len(off) == 8
    assert all(each < 3 * 2.0 ** (-8 if "bfloat16" in name else -11) for name, each in off.items()), off

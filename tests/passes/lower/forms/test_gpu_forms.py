"""The forms of scatters, extrema, convolutions and loops for CUDA, run on the CPU, and their kernels."""

from __future__ import annotations

import re
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest

import adze
import adze.numpy as xp
from adze import ShapeDtype, lax
from adze.passes.lower.forms import reductions, scatter
from adze.passes.lower.tuning import configuration, convolution_plans, gpu_products, window_forms
from adze.runtime.artifact.device_code.kernels import gpu_kernels, ptx_of
from adze.runtime.targets import parse_target

CUDA = parse_target("cuda:sm_80")
KINDS = ("add", "multiply", "max", "min", "set")
MEETS: dict[str, Any] = {
    "add": np.add,
    "multiply": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "set": lambda present, update: update,
}


@pytest.fixture
def over_places(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The CPU takes CUDA's forms of convolutions and products, in short parts; in how many it cut images."""
    cut: list[Any] = []
    parts, deep = window_forms.copied_parts, gpu_products.deep_parts

    def counted(_: Any, *sizes: Any) -> int | None:
        cut.append(parts(CUDA, *sizes))
        return cut[-1]

    monkeypatch.setattr(window_forms, "copied_parts", counted)
    monkeypatch.setattr(gpu_products, "deep_parts", lambda _, *sizes: deep(CUDA, *sizes))
    for name, value in (("ROUNDED", 1), ("LEAST", 1), ("DEPTH", 32), ("DEEP", 64)):
        monkeypatch.setattr(gpu_products, name, value)
    monkeypatch.setattr(convolution_plans, "WORK", 1 << 62)
    monkeypatch.setenv("ADZE_CACHE", "0")
    return cut


@pytest.fixture
def as_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU takes CUDA's forms, and nothing comes from the cache."""
    monkeypatch.setattr(configuration, "folds_scatter", lambda *_: True)
    monkeypatch.setattr(scatter, "scatters_by_kernel", lambda _: False)
    monkeypatch.setattr(reductions, "_has_wide_extrema", lambda _, dtype: dtype.itemsize == 2)
    monkeypatch.setenv("ADZE_CACHE", "0")


@pytest.mark.usefixtures("as_on_cuda")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_each_element_takes_its_updates_in_order(kind: str, dtype: type) -> None:
    rng = np.random.default_rng(7)
    x, updates = (rng.integers(0, 5, (n, 3)).astype(dtype) for n in (7, 20))
    where = rng.integers(-3, 10, 20).astype(np.int32)
    for mode in ("drop", "clip"):
        want = x.copy()
        for row, update in zip(where, updates, strict=True):
            row = row + 7 if row < 0 else row
            if mode == "clip" or 0 <= row < 7:
                row = min(max(row, 0), 6)
                want[row] = MEETS[kind](want[row], update)

        def updated(x: Any, where: Any, updates: Any, mode: str = mode) -> Any:
            return getattr(x.at[where], kind)(updates, mode=mode)

        np.testing.assert_array_equal(np.asarray(adze.jit(updated)(x, where, updates)), want)


@pytest.mark.usefixtures("as_on_cuda")
def test_elements_at_two_coordinates_are_folded() -> None:
    x, i, j = np.zeros((4, 5), np.float32), np.array([1, 3, 1, 1]), np.array([2, 4, 2, -1])
    want = x.copy()
    np.add.at(want, (i, j), np.float32([1, 2, 4, 8]))
    got = adze.jit(lambda x, i, j, u: x.at[i, j].add(u))(x, i, j, np.float32([1, 2, 4, 8]))
    np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.usefixtures("as_on_cuda")
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_extrema_of_halves_see_special_values(dtype: type) -> None:
    rows = np.ones((5, 9), dtype)
    rows[0, 8] = np.nan
    rows[1] = -np.inf
    rows[2], rows[2, 4] = -0.0, 0.0
    rows[3] = np.arange(9) * -3
    most, least = adze.jit(lambda x: (xp.max(x, axis=1), xp.min(x, axis=1)))(rows)
    assert np.asarray(most).dtype == np.asarray(least).dtype == dtype
    wide = rows.astype(np.float32)
    np.testing.assert_array_equal(np.asarray(most).astype(np.float32), np.max(wide, axis=1))
    np.testing.assert_array_equal(np.asarray(least).astype(np.float32), np.min(wide, axis=1))
    assert not np.signbit(np.asarray(most)[2]) and np.signbit(np.asarray(least)[2])


@pytest.mark.parametrize("batch, stride, dilation", [(1, 1, 1), (2, 1, 2), (4, 2, 1)])
def test_gradients_of_kernels_are_one_product(
    over_places: list[Any], batch: int, stride: int, dilation: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of integers, so that sums are exact in any order; of the last, the windows of one image at once."""
    if batch == 4:
        monkeypatch.setattr(window_forms, "WINDOWS", 1 << 12)
    rng = np.random.default_rng(3)
    x = rng.integers(-3, 4, (batch, 12, 13, 2)).astype(np.float32)
    w = rng.integers(-3, 4, (3, 2, 2, 3)).astype(np.float32)

    def gradient(library: Any) -> Any:
        def loss(w: Any) -> Any:
            y = library.lax.conv_general_dilated(
                x,
                w,
                (stride, stride),
                "SAME",
                rhs_dilation=(dilation, dilation),
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
            )
            return (y**2).sum()

        return library.jit(library.grad(loss))(w)

    np.testing.assert_array_equal(np.asarray(gradient(adze)), np.asarray(gradient(jax)))
    assert over_places and None not in over_places and (batch < 4 or max(over_places) > 1)


def test_the_gradient_of_a_convolution_on_cuda_has_few_kernels() -> None:
    def gradients(x: Any, w: Any) -> Any:
        def loss(x: Any, w: Any) -> Any:
            layout = ("NHWC", "HWIO", "NHWC")
            return (lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout) ** 2).sum()

        return adze.grad(loss, argnums=(0, 1))(x, w)

    lowered = adze.trace(gradients, ShapeDtype((8, 32, 32, 64)), ShapeDtype((3, 3, 64, 64))).lower(
        "cuda:sm_80"
    )
    kernels = gpu_kernels(lowered.compile().vmfb)
    assert len(kernels) == 7  # the windows of the image are copied once for both products


def test_small_gradients_of_kernels_on_cuda_are_one_product_too() -> None:
    def gradient(x: Any, w: Any) -> Any:
        layout = ("NHWC", "HWIO", "NHWC")

        def loss(w: Any) -> Any:
            return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout).sum()

        return adze.grad(loss)(w)

    lowered = adze.trace(gradient, ShapeDtype((2, 12, 12, 4)), ShapeDtype((3, 3, 4, 8))).lower("cuda:sm_80")
    assert len(gpu_kernels(lowered.compile().vmfb)) <= 4


def test_a_loop_on_cuda_reads_no_count_back() -> None:
    def step(sums: Any, i: Any) -> Any:
        return sums + lax.dynamic_index_in_dim(sums, 2 * i + 1, 0), None

    lowered = adze.trace(lambda x: lax.scan(step, x, xp.arange(3))[0], ShapeDtype((8, 1 << 18))).lower(
        "cuda:sm_80"
    )
    code = lowered.mlir()
    assert "scf.for" in code and not re.search(r"tensor\.extract %(?!from_elements)", code)


def test_a_scatter_on_cuda_is_many_threads_work() -> None:
    rows, where, updates = ShapeDtype((1000, 8)), ShapeDtype((50,), np.int32), ShapeDtype((50, 8))
    lowered = adze.trace(lambda x, i, u: x.at[i].add(u), rows, where, updates).lower("cuda:sm_80")
    code = "\n".join(ptx_of(lowered.compile().vmfb))
    assert ".maxntid 1, 1, 1" not in code and "%ctaid" in code


def test_a_row_of_halves_on_cuda_is_many_threads_work() -> None:
    lowered = adze.trace(adze.nn.softmax, ShapeDtype((64, 256), np.float16)).lower("cuda:sm_80")
    assert any("shfl.sync" in code for code in ptx_of(lowered.compile().vmfb))

"""Cases of ops and programs of narrow integers on a Vulkan device, at sizes that kernels vectorise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adze
import adze.numpy as anp
from adze import ShapeDtype, lax
from adze.dialects.types import dtype_name

from ..dialects.ops.cases import Instance, Row, instances
from ..dialects.ops.execution import compile_cases
from ..dialects.ops.programs import ModuleOfCases
from ..dialects.ops.test_ops import check_results
from .drivers import needs_vulkan
from .large_rows import CONVOLUTIONS, ELEMENTS, NARROW, PRODUCTS, REDUCTIONS

pytestmark = [pytest.mark.thorough, pytest.mark.vulkan, needs_vulkan]


def check(row: Row, chosen: list[Instance]) -> None:
    functions = ModuleOfCases.of(chosen).functions
    check_results(row.op, functions, compile_cases(functions, "vulkan"))


def of_dtype(row: Row, dtype: np.dtype) -> list[Instance]:
    return [instance for instance in instances(row) if instance.dtype == dtype]


@pytest.mark.parametrize("dtype", PRODUCTS.dtypes, ids=dtype_name)
def test_products_are_what_numpy_gives(dtype: np.dtype) -> None:
    check(PRODUCTS, of_dtype(PRODUCTS, dtype))


@pytest.mark.parametrize("dtype", NARROW, ids=dtype_name)
def test_convolutions_are_what_numpy_gives(dtype: np.dtype) -> None:
    check(CONVOLUTIONS, of_dtype(CONVOLUTIONS, dtype))


@pytest.mark.parametrize("row", (*REDUCTIONS, *ELEMENTS), ids=lambda row: row.op)
def test_narrow_integers_are_what_numpy_gives(row: Row) -> None:
    check(row, list(instances(row)))


def widened(x: Any, image: Any, kernel: Any) -> dict[str, Any]:
    """What is computed of narrow integers in wider numbers, in the kernels that load them."""
    wide, real = x.astype(np.int32), x.astype(np.float32)
    layout = ("NHWC", "HWIO", "NHWC")
    convolved = lax.conv_general_dilated(
        image, kernel, (1, 1), "SAME", dimension_numbers=layout, preferred_element_type=np.int32
    )
    return {
        "elements": wide * 3 + 1,
        "rows": wide.sum(1),
        "columns": wide.sum(0),
        "all": wide.sum(),
        "greatest": (wide * wide).max(1),
        "squares of reals": (real * real).sum(1),
        "normalized": (real - real.mean(1, keepdims=True)).sum(0),
        "running": anp.cumsum(wide, 1),
        "outer": (wide[:, None, :] * wide[None, :, :]).sum(2),
        "transposed": x.T.astype(np.int32) - 1,
        "taken": anp.take(x, anp.arange(64)[::-1], axis=0).astype(np.int32),
        "by itself": real @ real.T,
        "convolved": convolved,
    }


def expected(x: np.ndarray, image: np.ndarray, kernel: np.ndarray) -> dict[str, np.ndarray]:
    wide, real = x.astype(np.int32), x.astype(np.float32)
    padded = np.pad(image.astype(np.int32), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return {
        "elements": wide * 3 + 1,
        "rows": wide.sum(1),
        "columns": wide.sum(0),
        "all": wide.sum(),
        "greatest": (wide * wide).max(1),
        "squares of reals": (real * real).sum(1),
        "normalized": (real - real.mean(1, keepdims=True)).sum(0),
        "running": np.cumsum(wide, 1),
        "outer": wide @ wide.T,
        "transposed": x.T.astype(np.int32) - 1,
        "taken": x[::-1].astype(np.int32),
        "by itself": real @ real.T,
        "convolved": np.einsum("nhwcij,ijco->nhwo", windows, kernel.astype(np.int32)),
    }


@pytest.mark.parametrize("known", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("dtype", NARROW, ids=dtype_name)
def test_programs_widen_narrow_integers_with_their_sign(dtype: np.dtype, known: bool) -> None:
    rng = np.random.default_rng(8)
    least = -99 if dtype.kind == "i" else 0
    arrays = [
        rng.integers(least, 127, shape).astype(dtype) for shape in ((64, 64), (2, 8, 8, 64), (3, 3, 64, 64))
    ]
    shapes = [a.shape for a in arrays] if known else [("n", 64), ("b", 8, 8, 64), (3, 3, 64, 64)]
    specs = [ShapeDtype(shape, dtype) for shape in shapes]
    run = adze.trace(widened, *specs).lower("vulkan:lavapipe").compile(cache=False)
    found, wanted = run(*arrays), expected(*arrays)
    for name, value in wanted.items():
        scale = float(np.abs(value.astype(np.float64)).max())
        np.testing.assert_allclose(np.asarray(found[name]), value, rtol=1e-5, atol=1e-5 * scale, err_msg=name)

"""compare, select, clamp, is_finite and constants of real dtypes."""

import ml_dtypes
import numpy as np
import pytest

from adze.passes.lower.scalars import Scalars

from ....selection import quick_first
from .kernels import Kernel, compile_kernels, op_kernel

BOOL = np.dtype(bool)
FLOATS = [np.dtype(ml_dtypes.bfloat16), np.dtype("float64"), np.dtype("float16"), np.dtype("float32")]
COMPARE = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


@pytest.mark.parametrize("dtype", quick_first(FLOATS, 2), ids=str)
def test_floats_compare_clamp_and_select_as_numpy(dtype: np.dtype) -> None:
    scalars = Scalars("cpu")
    kernels = {
        direction: Kernel(lambda x, y, d=direction: scalars.compare(dtype, d, x, y), (dtype, dtype), BOOL)
        for direction in COMPARE
    }
    kernels["clamp"] = op_kernel(scalars, "clamp", dtype, 3)
    kernels["is_finite"] = op_kernel(scalars, "is_finite", dtype, 1, BOOL)
    kernels["select"] = Kernel(lambda p, x, y: scalars.select(dtype, p, x, y), (BOOL, dtype, dtype), dtype)
    kernels["third"] = Kernel(
        lambda x: scalars.add(dtype, x, scalars.constant(dtype, 1 / 3)), (dtype,), dtype
    )
    run = compile_kernels(kernels)
    values = np.array([0.0, -0.0, 1.0, -2.5, 7.0, np.inf, -np.inf, np.nan]).astype(dtype)
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        for direction, function in COMPARE.items():
            np.testing.assert_array_equal(run(direction, x, y), function(x, y), err_msg=direction)
        np.testing.assert_array_equal(run("is_finite", values), np.isfinite(values))
        picked = run("select", x < y, x, y)
        np.testing.assert_array_equal(picked.astype(float), np.where(x < y, x, y).astype(float))
        low, high = np.full_like(x, -1), y
        clamped = np.minimum(np.maximum(x, low), high).astype(float)
        np.testing.assert_array_equal(run("clamp", low, x, high).astype(float), clamped)
        third = np.zeros(1, dtype) + np.array(1 / 3).astype(dtype)
        np.testing.assert_array_equal(run("third", np.zeros(1, dtype)), third)

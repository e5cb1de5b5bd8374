"""Products of matrices, of floats and of quantized integers; determinants; Einstein sums."""

from __future__ import annotations

from typing import Any

from ....library import numpy as xp
from ..calls import Call
from .convolution import shifted


def gemm(call: Call, a: Any, b: Any, c: Any = None) -> Any:
    left = xp.swapaxes(a, 0, 1) if call.flag("transA") else a
    right = xp.swapaxes(b, 0, 1) if call.flag("transB") else b
    result = left @ right
    if call.real("alpha", 1.0) != 1:
        result = _scaled(call.real("alpha", 1.0), result)
    if c is None:
        return result
    return result + (c if call.real("beta", 1.0) == 1 else _scaled(call.real("beta", 1.0), c))


def _scaled(factor: float, x: Any) -> Any:
    return (x * factor).astype(x.dtype)


def einsum(call: Call, *values: Any) -> Any:
    return xp.einsum(call.text("equation").replace(" ", ""), *values)


def matmul_integer(call: Call, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None) -> Any:
    return xp.matmul(shifted(a, a_zero, axis=-2), shifted(b, b_zero, axis=-1))

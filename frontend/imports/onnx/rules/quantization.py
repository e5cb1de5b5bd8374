"""Quantized numbers: to and from integers, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ...errors import ModelUnsupportedError
from ..calls import Call, axis_of
from .convolution import convolved, shifted
from .linear import matmul_integer


def quantize_linear(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    if zero is not None:
        dtype = zero.dtype
    else:
        dtype = call.dtype("output_dtype") if call.integer("output_dtype", 0) else np.dtype(np.uint8)
    steps, offset = (_along(call, x, v) for v in (scale, zero))
    precise = call.dtype("precision", scale.dtype) if call.integer("precision", 0) else scale.dtype
    ratio = x.astype(precise) / steps.astype(precise)
    return rounded(ratio.astype(np.float32), offset, dtype)


def rounded(ratio: Any, zero: Any, dtype: np.dtype) -> Any:
    """The nearest integers plus a zero point, limited to what `dtype` has."""
    if dtype.kind not in "iu":
        raise ModelUnsupportedError(f"it quantizes to {dtype.name}")
    info = np.iinfo(dtype)
    value = xp.rint(ratio) if zero is None else xp.rint(ratio) + zero.astype(np.float32)
    return xp.clip(value, float(info.min), float(info.max)).astype(dtype)


def dequantize_linear(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    steps, offset = (_along(call, x, v) for v in (scale, zero))
    wide = x.astype(np.float32)
    value = wide if offset is None else wide - offset.astype(np.float32)
    dtype = call.dtype("output_dtype") if call.integer("output_dtype", 0) else scale.dtype
    return (value * steps.astype(np.float32)).astype(dtype)


def _along(call: Call, x: Any, value: Any) -> Any:
    """A scale or a zero point against the array: one number, one an element of `axis`, or one a block."""
    if value is None or value.ndim == 0:
        return value
    if value.ndim == 1 and value.shape[0] == 1 and x.ndim != 1:
        return xp.reshape(value, ())
    axis = axis_of(call.integer("axis", 1), x.ndim)
    if value.ndim == 1 and not call.integer("block_size", 0):
        return xp.reshape(value, [-1 if i == axis else 1 for i in range(x.ndim)])
    block = call.integer("block_size", 0) or -(-x.shape[axis] // value.shape[axis])
    whole = xp.repeat(value, block, axis=axis)
    return whole[tuple(slice(0, n) if i == axis else slice(None) for i, n in enumerate(x.shape))]


def dynamic_quantize_linear(call: Call, x: Any) -> Any:
    low, high = xp.minimum(xp.min(x), 0.0), xp.maximum(xp.max(x), 0.0)
    scale = (high - low) / 255.0
    safe = xp.where(scale == 0, xp.ones_like(scale), scale)
    zero = xp.clip(xp.rint(-low / safe), 0.0, 255.0).astype(np.uint8)
    return [rounded(x / safe, zero, np.dtype(np.uint8)), scale, zero]


def qlinear_matmul(
    call: Call, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, scale: Any, zero: Any
) -> Any:
    product = matmul_integer(call, a, b, a_zero, b_zero).astype(np.float32)
    rows, columns, out = (v.astype(np.float32) for v in (_of_rows(a_scale), b_scale, _of_rows(scale)))
    return rounded(product * (rows * columns / out), _of_rows(zero), zero.dtype)


def _of_rows(value: Any) -> Any:
    """A vector of numbers of the rows of a matrix, against the matrix."""
    return xp.expand_dims(value, -1) if value.ndim == 1 and value.shape[0] != 1 else value


def qlinear_conv(
    call: Call,
    x: Any,
    x_scale: Any,
    x_zero: Any,
    kernel: Any,
    kernel_scale: Any,
    kernel_zero: Any,
    scale: Any,
    zero: Any,
    bias: Any = None,
) -> Any:
    total = convolved(call, shifted(x, x_zero), shifted(kernel, kernel_zero, axis=0))
    if bias is not None:
        total = total + xp.reshape(bias, (1, -1, *(1,) * (x.ndim - 2)))
    factors = x_scale * kernel_scale / scale
    if factors.ndim == 1 and factors.shape[0] != 1:
        factors = xp.reshape(factors, (1, -1, *(1,) * (x.ndim - 2)))
    return rounded(total.astype(np.float32) * factors, zero, zero.dtype)

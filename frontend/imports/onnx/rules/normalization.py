"""Normalizations: batch, instance, group, layer, RMS, local response, p-norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....library import numpy as xp
from ....tracing.interpreter import ops
from ..calls import Call, axis_of
from .convolution import per_channel
from .pooling import spatial


def batch_normalization(call: Call, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    is_training = call.flag("training_mode") or (call.opset < 7 and not call.flag("is_test"))
    is_training = is_training and len(call.node.outputs) > 1
    results: list[Any] = []
    if is_training:
        axes = (0, *spatial(x))
        old, momentum = (mean, variance), call.real("momentum", 0.9)
        mean, variance = xp.mean(x, axis=axes), xp.var(x, axis=axes)
        results = [
            o * momentum + n.astype(o.dtype) * (1 - momentum)
            for o, n in zip(old, (mean, variance), strict=True)
        ]
    # One factor and one term an element: the factors of constants are computed before the program runs.
    factor = scale.astype(variance.dtype) / xp.sqrt(variance + call.real("epsilon", 1e-5))
    term = bias.astype(factor.dtype) - mean * factor
    value = x.astype(factor.dtype) * per_channel(factor, x.ndim) + per_channel(term, x.ndim)
    return [value.astype(x.dtype), *results]


def instance_normalization(call: Call, x: Any, scale: Any, bias: Any) -> Any:
    normal = _normal(x, spatial(x), call.real("epsilon", 1e-5))[0]
    return normal * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


def group_normalization(call: Call, x: Any, scale: Any, bias: Any) -> Any:
    groups = call.integer("num_groups")
    wide = x.astype(_stash(call, x))
    grouped = xp.reshape(wide, (x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    normal = _normal(grouped, tuple(range(2, grouped.ndim)), call.real("epsilon", 1e-5))[0]
    if call.opset < 21:  # scale and bias are of groups there
        shape = (1, groups, *(1,) * (grouped.ndim - 2))
        value = normal * xp.reshape(scale, shape) + xp.reshape(bias, shape)
        return xp.reshape(value, x.shape).astype(x.dtype)
    value = xp.reshape(normal, x.shape).astype(x.dtype)
    return value * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


def layer_normalization(call: Call, x: Any, scale: Any, bias: Any = None) -> Any:
    axes = tuple(range(axis_of(call.integer("axis", -1), x.ndim), x.ndim))
    wide = x.astype(_stash(call, x))
    normal, mean, inverse = _normal(wide, axes, call.real("epsilon", 1e-5))
    value = normal.astype(x.dtype) * scale
    return [value if bias is None else value + bias, mean, inverse]


def rms_normalization(call: Call, x: Any, scale: Any) -> Any:
    axes = tuple(range(axis_of(call.integer("axis", -1), x.ndim), x.ndim))
    wide = x.astype(_stash(call, x))
    square = xp.mean(wide * wide, axis=axes, keepdims=True)
    normal = wide * ops.rsqrt(square + call.real("epsilon", 1e-5))
    return (normal.astype(scale.dtype) * scale).astype(scale.dtype)


def _stash(call: Call, x: Any) -> np.dtype:
    """The dtype that statistics are computed in: float32 for halves, unless the node says otherwise."""
    chosen = call.dtype("stash_type", np.dtype(np.float32))
    return x.dtype if x.dtype.itemsize > chosen.itemsize else chosen


def _normal(x: Any, axes: tuple[int, ...], epsilon: float) -> tuple[Any, Any, Any]:
    mean = xp.mean(x, axis=axes, keepdims=True)
    centred = x - mean
    inverse = ops.rsqrt(xp.mean(centred * centred, axis=axes, keepdims=True) + epsilon)
    return centred * inverse, mean, inverse


def mean_variance_normalization(call: Call, x: Any) -> Any:
    axes = call.ints("axes", (0, 2, 3))
    centred = x - xp.mean(x, axis=axes, keepdims=True)
    return centred / (xp.sqrt(xp.mean(centred * centred, axis=axes, keepdims=True)) + 1e-9)


def local_response_normalization(call: Call, x: Any) -> Any:
    size = call.integer("size")
    low, high = (size - 1) // 2, size - 1 - (size - 1) // 2
    padded = xp.pad(x * x, [(low, high) if i == 1 else (0, 0) for i in range(x.ndim)])
    total: Any = 0
    for i in range(size):
        total = total + padded[:, i : i + x.shape[1]]
    alpha, beta, bias = call.real("alpha", 1e-4), call.real("beta", 0.75), call.real("bias", 1.0)
    return x / (bias + alpha / size * total) ** beta


def lp_normalization(call: Call, x: Any) -> Any:
    axis = call.integer("axis", -1)
    if call.integer("p", 2) == 1:
        norm = xp.sum(xp.abs(x), axis=axis, keepdims=True)
    else:
        norm = xp.sqrt(xp.sum(x * x, axis=axis, keepdims=True))
    return xp.where(norm == 0, xp.zeros_like(x), x / xp.where(norm == 0, xp.ones_like(norm), norm))

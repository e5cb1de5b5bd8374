"""Activations, and what is applied along axes beside them: softmax, hardmax, dropout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....library import nn
from ....library import numpy as xp
from ....library.random.keys import key
from ....library.random.uniform import uniform
from ...errors import ModelUnsupportedError
from ..calls import Call, Rule, axis_of, elements


def softplus(x: Any) -> Any:
    return xp.logaddexp(x, xp.zeros_like(x))


def softsign(x: Any) -> Any:
    return x / (1 + xp.abs(x))


def mish(x: Any) -> Any:
    return x * xp.tanh(softplus(x))


def elu(call: Call, x: Any) -> Any:
    return xp.where(x > 0, x, call.real("alpha", 1.0) * xp.expm1(xp.minimum(x, 0)))


def celu(call: Call, x: Any) -> Any:
    alpha = call.real("alpha", 1.0)
    return xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0) / alpha))


def selu(call: Call, x: Any) -> Any:
    alpha = call.real("alpha", 1.67326319217681884765625 if call.opset >= 6 else 1.6732)
    gamma = call.real("gamma", 1.05070102214813232421875 if call.opset >= 6 else 1.0507)
    return gamma * xp.where(x > 0, x, alpha * xp.expm1(xp.minimum(x, 0)))


def leaky_relu(call: Call, x: Any) -> Any:
    return xp.where(x < 0, call.real("alpha", 0.01) * x, x)


def thresholded_relu(call: Call, x: Any) -> Any:
    return xp.where(x > call.real("alpha", 1.0), x, xp.zeros_like(x))


def prelu(call: Call, x: Any, slope: Any) -> Any:
    if call.opset < 7 and slope.ndim == 1 and x.ndim > 1:
        slope = xp.reshape(slope, (-1, *(1,) * (x.ndim - 2)))
    return xp.where(x < 0, x * slope, x)


def hard_sigmoid(call: Call, x: Any) -> Any:
    return xp.clip(call.real("alpha", 0.2) * x + call.real("beta", 0.5), 0, 1)


def hard_swish(x: Any) -> Any:
    return x * xp.clip(x / 6 + 0.5, 0, 1)


def gelu(call: Call, x: Any) -> Any:
    return nn.gelu(x, approximate=call.choice("approximate", "none", ("none", "tanh")) == "tanh")


def swish(call: Call, x: Any) -> Any:
    return x * nn.sigmoid(call.real("alpha", 1.0) * x)


def shrink(call: Call, x: Any) -> Any:
    bias, limit, zero = call.real("bias", 0.0), call.real("lambd", 0.5), xp.zeros_like(x)
    return xp.where(x < -limit, x + bias, xp.where(x > limit, x - bias, zero)).astype(x.dtype)


def along_axis(function: Callable[..., Any]) -> Rule:
    """Softmax and its like: of one axis since op set 13, before that of all axes from `axis` on."""

    def rule(call: Call, x: Any) -> Any:
        if call.opset >= 13:
            return function(x, axis_of(call.integer("axis", -1), x.ndim))
        axis = call.integer("axis", 1) % max(x.ndim, 1)
        flat = xp.reshape(x, (*x.shape[:axis], -1))
        return xp.reshape(function(flat, axis), x.shape)

    return rule


def hardmax(x: Any, axis: int) -> Any:
    positions = xp.reshape(xp.arange(x.shape[axis]), [-1 if i == axis else 1 for i in range(x.ndim)])
    return (xp.argmax(x, axis=axis, keepdims=True) == positions).astype(x.dtype)


def dropout(call: Call, x: Any, ratio: Any = None, training: Any = None) -> Any:
    """The identity, unless the model asks for training: then elements are dropped by the node's seed."""
    everything = xp.ones(x.shape, dtype=bool)
    if training is None or not bool(elements(training, "training_mode")):
        return [x, everything]
    share = 0.5 if ratio is None else float(elements(ratio, "ratio"))
    if share == 0:
        return [x, everything]
    if not call.has("seed"):
        raise ModelUnsupportedError(
            "training_mode is true, and the node has no seed",
            hint="export the model for inference, or give the node a seed",
        )
    kept = uniform(key(call.integer("seed")), x.shape) >= share
    return [xp.where(kept, x / (1 - share), xp.zeros_like(x)), kept]


def swiglu(call: Call, x: Any) -> Any:
    first, second = xp.split(x, 2, axis=call.integer("axis", -1))
    return nn.silu(first) * second

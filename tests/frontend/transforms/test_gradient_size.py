"""How many ops value_and_grad of five nets has: those that a person would write, and no more.

Constants, broadcasts, reshapes and transposes are not counted: they cost nothing or fuse with what reads
them. A number here may fall; when it rises, look at the printed program for what is computed in vain.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import adze
from adze import lax, nn
from adze import numpy as xp

FREE = {"constant", "broadcast_in_dim", "reshape", "transpose", "stop_gradient"}
Parameters = Mapping[str, Any]


def ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def mlp(p: Parameters, x: Any, y: Any) -> Any:
    hidden = xp.tanh(x @ p["w1"] + p["b1"])
    return xp.mean((hidden @ p["w2"] + p["b2"] - y) ** 2)


def cross_entropy(p: Parameters, x: Any, y: Any) -> Any:
    return -xp.mean(xp.sum(nn.log_softmax(x @ p["w"] + p["b"]) * y, axis=1))


def layer_norm(p: Parameters, x: Any) -> Any:
    return xp.sum(nn.layer_norm(x * p["w"], p["g"], p["b"]) ** 2)


def attention(p: Parameters, x: Any) -> Any:
    q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
    return xp.sum(nn.softmax(q @ k.T * 0.5) @ v)


def conv_net(p: Parameters, x: Any) -> Any:
    hidden = nn.relu(
        lax.conv_general_dilated(x, p["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    )
    return xp.mean(xp.mean(hidden, axis=(1, 2)) @ p["d"])


X = ones(8, 4)
NETS: dict[Callable[..., Any], tuple[Any, ...]] = {
    mlp: ({"w1": ones(4, 16), "b1": ones(16), "w2": ones(16, 2), "b2": ones(2)}, X, ones(8, 2)),
    cross_entropy: ({"w": ones(4, 3), "b": ones(3)}, X, ones(8, 3)),
    layer_norm: ({"w": ones(4), "g": ones(4), "b": ones(4)}, X),
    attention: ({"q": ones(4, 4), "k": ones(4, 4), "v": ones(4, 4)}, X),
    conv_net: ({"w": ones(3, 3, 2, 4), "d": ones(4, 1)}, ones(2, 8, 8, 2)),
}
EXPECTED: dict[Callable[..., Any], dict[str, int]] = {
    mlp: {"add": 3, "div": 1, "dot_general": 5, "mul": 4, "reduce_sum": 3, "sub": 2, "tanh": 1},
    cross_entropy: {
        "add": 2,
        "div": 2,
        "dot_general": 2,
        "exp": 1,
        "is_finite": 1,
        "log": 1,
        "mul": 3,
        "neg": 2,
        "reduce_max": 1,
        "reduce_sum": 5,
        "select": 1,
        "sub": 2,
    },
    layer_norm: {"add": 5, "div": 5, "mul": 14, "neg": 1, "reduce_sum": 8, "rsqrt": 1, "sub": 1},
    attention: {
        "add": 1,
        "div": 2,
        "dot_general": 12,
        "exp": 1,
        "is_finite": 1,
        "mul": 4,
        "neg": 1,
        "reduce_max": 1,
        "reduce_sum": 3,
        "select": 1,
        "sub": 1,
    },
    conv_net: {"compare": 1, "conv_general": 2, "div": 3, "dot_general": 3, "reduce_sum": 2, "select": 2},
}
"""Of the value and the gradient together."""


def ops_of(function: Callable[..., Any], *args: Any) -> Counter[str]:
    text = adze.trace(function, *args).mlir("simplified")
    assert text.count("func.func") == 1
    return Counter(n for n in re.findall(r'"adze\.(\w+)"', text) if n not in FREE)


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.__name__)
def test_gradient_is_as_short_as_written_by_hand(net: Callable[..., Any]) -> None:
    result = ops_of(adze.value_and_grad(net), *NETS[net])
    assert dict(result) == EXPECTED[net]


@pytest.mark.parametrize("net", NETS, ids=lambda net: net.__name__)
def test_gradient_needs_two_products_for_each_of_the_forward_pass(net: Callable[..., Any]) -> None:
    """One for each operand of a contraction, less those of the data, which is not differentiated."""
    products = ("dot_general", "conv_general")
    forward, both = ops_of(net, *NETS[net]), ops_of(adze.value_and_grad(net), *NETS[net])
    assert sum(both[op] for op in products) <= 3 * sum(forward[op] for op in products)


def test_no_array_of_zeros_is_made() -> None:
    """A part of the function that does not depend on the argument adds nothing to the gradient."""

    def loss(p: Parameters) -> Any:
        return xp.sum(p["used"] ** 2) + xp.sum(xp.floor(p["used"])) + xp.sum(xp.round(X) @ X.T)

    text = adze.trace(adze.grad(loss), {"used": X}).mlir("simplified")
    assert "dense<0.0" not in text
    assert ops_of(adze.grad(loss), {"used": X}) == {"mul": 1}

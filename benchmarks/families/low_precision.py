"""Arrays of 16 and 8 bits: products, nets and their gradients in halves, and quantized layers."""

from typing import Any

import ml_dtypes
import numpy as np
from _case import Case, Draw, gradient_of
from _peers import Peer

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT16 = np.dtype(np.float16)
INT8 = np.dtype(np.int8)


def matmul(peer: Peer, a: Any, b: Any) -> Any:
    return a @ b


def dense_net(peer: Peer, x: Any, first: Any, second: Any) -> Any:
    return peer.nn.relu(x @ first) @ second


def mixed_loss(peer: Peer, x: Any, first: Any, second: Any) -> Any:
    """Weights of float32 whose products are of bfloat16."""
    x, first, second = (array.astype(peer.xp.bfloat16) for array in (x, first, second))
    return (dense_net(peer, x, first, second).astype(peer.xp.float32) ** 2).mean()


def softmax(peer: Peer, x: Any) -> Any:
    return peer.nn.softmax(x, axis=-1)


def layer_norm(peer: Peer, x: Any) -> Any:
    """Moments of float32, result of the input's dtype."""
    wide = x.astype(peer.xp.float32)
    centred = wide - wide.mean(-1, keepdims=True)
    return (centred * peer.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype)


def gelu(peer: Peer, x: Any) -> Any:
    return peer.nn.gelu(x)


def saxpy(peer: Peer, x: Any, y: Any) -> Any:
    return x * 2 + y


def attention(peer: Peer, q: Any, k: Any, v: Any) -> Any:
    """Scores and weights of float32, as models of halves have them."""
    scores = (q @ peer.xp.swapaxes(k, -1, -2)).astype(peer.xp.float32) * 0.125
    return peer.nn.softmax(scores, axis=-1).astype(v.dtype) @ v


def integer_product(peer: Peer, a: Any, b: Any) -> Any:
    """Sums of 32 bits."""
    numbers = (((1,), (0,)), ((), ()))
    return peer.lax.dot_general(a, b, numbers, preferred_element_type=peer.xp.int32)


def quantized_layer(peer: Peer, x: Any, weights: Any, scales: Any) -> Any:
    """Rows are quantized, multiplied, and scaled."""
    size = peer.xp.abs(x).max(-1, keepdims=True) / 127
    rounded = peer.xp.round(x / size).astype(peer.xp.int8)
    return integer_product(peer, rounded, weights).astype(peer.xp.float32) * size * scales


def short_weights(peer: Peer, x: Any, weights: Any, scales: Any) -> Any:
    """Rows of float32 by weights of int8."""
    return x @ (weights.astype(peer.xp.float32) * scales)


def signed(draw: Draw, *sizes: int) -> np.ndarray:
    return draw.rng.integers(-127, 128, draw.shape(sizes), dtype=np.int8)


def product(m: int, k: int, n: int, dtype: np.dtype, quick: bool = False) -> Case:
    """A product of halves, whose NumPy form is a loop."""
    return Case(
        f"{dtype} {m} x {k} x {n}",
        matmul,
        lambda draw: (draw.normal(m, k, dtype=dtype), draw.weights(k, n, dtype=dtype)),
        numpy=None,
        quick=quick,
    )


def integers(m: int, k: int, n: int) -> Case:
    return Case(
        f"int8 {m} x {k} x {n}",
        integer_product,
        lambda draw: (signed(draw, m, k), signed(draw, k, n)),
        numpy=lambda a, b: a.astype(np.int32) @ b.astype(np.int32),
    )


def layers(draw: Draw, dtype: Any) -> tuple[Any, ...]:
    return (
        draw.normal(128, 256, dtype=dtype),
        draw.weights(256, 512, dtype=dtype),
        draw.weights(512, 64, dtype=dtype),
    )


def of_rows(name: str, function: Any, dtype: np.dtype) -> Case:
    return Case(
        f"{name} {dtype} 256 x 1024",
        function,
        lambda draw: (draw.normal(256, 1024, dtype=dtype),),
        numpy=None,
    )


def of_elements(name: str, function: Any, dtype: np.dtype, arrays: int) -> Case:
    return Case(
        f"{name} {dtype} 1,000,000",
        function,
        lambda draw: tuple(draw.normal(1_000_000, dtype=dtype) for _ in range(arrays)),
        numpy=None,
    )


CASES = (
    product(512, 512, 512, BFLOAT16, quick=True),
    product(512, 512, 512, FLOAT16),
    product(32, 784, 256, BFLOAT16),
    product(4, 1024, 1024, BFLOAT16),
    product(1, 1024, 1024, BFLOAT16),
    Case("dense net bfloat16", dense_net, lambda draw: layers(draw, BFLOAT16), numpy=None),
    Case("dense net float16", dense_net, lambda draw: layers(draw, FLOAT16), numpy=None),
    Case(
        "gradient of products of bfloat16",
        gradient_of(mixed_loss, 1, 2),
        lambda draw: layers(draw, np.float32),
        numpy=None,
        tolerance=50.0,
    ),
    Case(
        "attention bfloat16 16 x 128 x 64",
        attention,
        lambda draw: tuple(draw.normal(16, 128, 64, dtype=BFLOAT16) for _ in range(3)),
        numpy=None,
    ),
    of_rows("softmax", softmax, BFLOAT16),
    of_rows("softmax", softmax, FLOAT16),
    of_rows("layer norm", layer_norm, BFLOAT16),
    of_elements("gelu", gelu, BFLOAT16, 1),
    of_elements("saxpy", saxpy, BFLOAT16, 2),
    of_elements("saxpy", saxpy, FLOAT16, 2),
    integers(512, 512, 512),
    integers(32, 784, 256),
    integers(1, 1024, 1024),
    Case(
        "quantized layer 64 x 512 x 256",
        quantized_layer,
        lambda draw: (draw.normal(64, 512), signed(draw, 512, 256), draw.positive(256)),
        numpy=None,
    ),
    Case(
        "weights of int8, 4 x 1024 x 1024",
        short_weights,
        lambda draw: (draw.normal(4, 1024), signed(draw, 1024, 1024), draw.positive(1024)),
        numpy=lambda x, weights, scales: x @ (weights.astype(np.float32) * scales),
    ),
)

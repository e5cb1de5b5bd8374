"""The forward cases of the CPU benchmark: functions, their inputs and their amount of work.

The function of a case takes a `Peer` and arrays, and uses only names that the peers share. `flops` counts the
multiplications and additions of contractions. It is 0 for cases that are bound by memory (the matrix-vector
product too); their limit follows from the bytes of inputs and result. Elementwise functions such as exp, log
and erf are not counted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from _peers import Peer


@dataclass(frozen=True)
class Case:
    """One row of the table; `touched` is the number of bytes if only a part of the inputs is used."""

    name: str
    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    flops: float = 0.0
    touched: int | None = None


def matmul(peer: Peer, a: Any, b: Any) -> Any:
    return a @ b


def mlp(peer: Peer, x: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
    x = peer.xp.maximum(x @ w1 + b1, 0)
    x = peer.xp.maximum(x @ w2 + b2, 0)
    return x @ w3 + b3


def softmax(peer: Peer, x: Any) -> Any:
    exponential = peer.xp.exp(x - peer.xp.max(x, axis=-1, keepdims=True))
    return exponential / peer.xp.sum(exponential, axis=-1, keepdims=True)


def layer_norm(peer: Peer, x: Any, gain: Any, offset: Any) -> Any:
    mean = peer.xp.mean(x, axis=-1, keepdims=True)
    variance = peer.xp.mean(peer.xp.square(x - mean), axis=-1, keepdims=True)
    return (x - mean) / peer.xp.sqrt(variance + 1e-5) * gain + offset


def attention(peer: Peer, q: Any, k: Any, v: Any) -> Any:
    scores = q @ peer.xp.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5)
    return softmax(peer, scores) @ v


def convolution(peer: Peer, images: Any, kernel: Any) -> Any:
    return peer.convolve(images, kernel)


def black_scholes(peer: Peer, spot: Any, strike: Any, years: Any) -> Any:
    rate, volatility = 0.02, 0.3

    def normal_cdf(x: Any) -> Any:
        return 0.5 * (1.0 + peer.erf(x * 0.7071067811865476))

    deviation = volatility * peer.xp.sqrt(years)
    d1 = (peer.xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    return spot * normal_cdf(d1) - strike * peer.xp.exp(-rate * years) * normal_cdf(d1 - deviation)


def sum_all(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x)


def sum_axis0(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x, axis=0)


def sum_axis1(peer: Peer, x: Any) -> Any:
    return peer.xp.sum(x, axis=1)


def transpose(peer: Peer, x: Any) -> Any:
    return peer.xp.swapaxes(x, 0, 1)


def gather(peer: Peer, table: Any, rows: Any) -> Any:
    return table[rows]


def cumsum(peer: Peer, x: Any) -> Any:
    return peer.xp.cumsum(x, axis=1)


def all_cases() -> tuple[Case, ...]:
    """All cases, with random inputs from one seed."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    def positive(*shape: int) -> Any:
        return rng.uniform(0.5, 2.0, shape).astype(np.float32)

    square = normal(2048, 2048)
    rows = rng.integers(0, 10000, 4096, dtype=np.int32)
    layers = (normal(784, 512), normal(512), normal(512, 256), normal(256), normal(256, 10), normal(10))
    heads = tuple(normal(2, 8, 256, 64) for _ in range(3))
    return (
        *(Case(f"matmul {n}", matmul, (normal(n, n), normal(n, n)), 2.0 * n**3) for n in (128, 512, 1024)),
        Case("matvec 2048", matmul, (square, normal(2048))),
        Case("mlp forward", mlp, (normal(128, 784), *layers), 2.0 * 128 * (784 * 512 + 512 * 256 + 2560)),
        Case("softmax", softmax, (normal(1024, 1024),)),
        Case("layer norm", layer_norm, (normal(1024, 1024), normal(1024), normal(1024))),
        Case("attention", attention, heads, 4.0 * 16 * 256 * 256 * 64),
        Case(
            "conv 3x3",
            convolution,
            (normal(8, 32, 32, 64), normal(3, 3, 64, 64)),
            2.0 * 8 * 32 * 32 * 9 * 64 * 64,
        ),
        Case("Black-Scholes", black_scholes, tuple(positive(262144) for _ in range(3))),
        Case("sum all", sum_all, (square,)),
        Case("sum axis 0", sum_axis0, (square,)),
        Case("sum axis 1", sum_axis1, (square,)),
        Case("transpose", transpose, (square,)),
        Case("gather", gather, (normal(10000, 128), rows), touched=2 * 4096 * 128 * 4 + rows.nbytes),
        Case("cumsum", cumsum, (normal(512, 512),)),
    )

"""The nets whose gradients are timed, each as a loss of parameters and data.

A loss is written once. It takes a `Peer` and uses only names that adze and JAX share. Gradients are those
with respect to the first `parameters` inputs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from _cases import attention, layer_norm, mlp
from _peers import Peer


@dataclass(frozen=True)
class Net:
    """One row of the table."""

    name: str
    loss: Callable[..., Any]
    inputs: tuple[Any, ...]
    parameters: int


def mlp_loss(peer: Peer, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any, target: Any) -> Any:
    return peer.xp.mean(peer.xp.square(mlp(peer, x, w1, b1, w2, b2, w3, b3) - target))


def cross_entropy(peer: Peer, logits: Any, labels: Any) -> Any:
    """The mean negative log likelihood of the labels under the softmax of the logits."""
    xp = peer.xp
    shifted = logits - xp.max(logits, axis=-1, keepdims=True)
    log_sums = xp.log(xp.sum(xp.exp(shifted), axis=-1))
    chosen = xp.take_along_axis(shifted, labels[:, None], axis=-1)[:, 0]
    return xp.mean(log_sums - chosen)


def layer_norm_loss(peer: Peer, x: Any, gain: Any, offset: Any, target: Any) -> Any:
    return peer.xp.mean(peer.xp.square(layer_norm(peer, x, gain, offset) - target))


def attention_loss(peer: Peer, q: Any, k: Any, v: Any, target: Any) -> Any:
    return peer.xp.mean(peer.xp.square(attention(peer, q, k, v) - target))


def conv_net_loss(
    peer: Peer, first: Any, second: Any, dense: Any, offset: Any, images: Any, labels: Any
) -> Any:
    """Two convolutions with relu, the mean over the image, and a dense layer."""
    x = peer.xp.maximum(peer.convolve(images, first), 0)
    x = peer.xp.maximum(peer.convolve(x, second), 0)
    return cross_entropy(peer, peer.xp.mean(x, axis=(1, 2)) @ dense + offset, labels)


def all_nets() -> tuple[Net, ...]:
    """All nets, with random inputs from one seed."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    def weights(*shape: int) -> Any:
        return normal(*shape) / np.float32(np.sqrt(np.prod(shape[:-1])))

    def labels(count: int, classes: int) -> Any:
        return rng.integers(0, classes, count, dtype=np.int32)

    layers = (weights(784, 512), normal(512), weights(512, 256), normal(256), weights(256, 10), normal(10))
    kernels = (weights(3, 3, 3, 32), weights(3, 3, 32, 32), weights(32, 10), normal(10))
    heads = tuple(normal(2, 8, 256, 64) for _ in range(4))
    return (
        Net("MLP + MSE", mlp_loss, (*layers, normal(128, 784), normal(128, 10)), 6),
        Net("softmax cross entropy", cross_entropy, (normal(1024, 1000), labels(1024, 1000)), 1),
        Net(
            "layer norm",
            layer_norm_loss,
            (normal(1024, 1024), normal(1024), normal(1024), normal(1024, 1024)),
            3,
        ),
        Net("attention", attention_loss, heads, 3),
        Net("conv net", conv_net_loss, (*kernels, normal(16, 32, 32, 3), labels(16, 10)), 4),
    )

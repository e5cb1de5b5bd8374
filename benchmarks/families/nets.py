"""Neural nets: transformer, LSTM and residual blocks with their gradients, training steps, batches of one."""

from typing import Any

import numpy as np
from _case import Case, Draw, gradient_of
from _peers import Peer

from .elementwise import layer_norm, softmax

HEADS = 4


def dense_net(peer: Peer, x: Any, *layers: Any) -> Any:
    """Dense layers with relu between them; weights and offsets alternate."""
    for weight, offset in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        x = peer.xp.maximum(x @ weight + offset, 0)
    return x @ layers[-2] + layers[-1]


def attention(peer: Peer, q: Any, k: Any, v: Any) -> Any:
    scores = q @ peer.xp.swapaxes(k, -1, -2) * (q.shape[-1] ** -0.5)
    return softmax(peer, scores) @ v


def transformer_block(
    peer: Peer, x: Any, gain1: Any, gain2: Any, qkv: Any, out: Any, up: Any, down: Any
) -> Any:
    """Attention and a gated dense layer, each behind a layer norm, with residuals."""
    xp = peer.xp
    batch, length, width = x.shape
    normed = layer_norm(peer, x, gain1, 0.0)
    parts = xp.split(normed @ qkv, 3, axis=-1)
    heads = [xp.swapaxes(p.reshape(batch, length, HEADS, width // HEADS), 1, 2) for p in parts]
    mixed = xp.swapaxes(attention(peer, *heads), 1, 2).reshape(batch, length, width)
    x = x + mixed @ out
    hidden = layer_norm(peer, x, gain2, 0.0) @ up
    return x + 0.5 * hidden * (1.0 + xp.tanh(0.79788456 * (hidden + 0.044715 * hidden**3))) @ down


def lstm(peer: Peer, inputs: Any, weights: Any, recurrent: Any, offset: Any) -> Any:
    """The last state of an LSTM over the first axis of the inputs."""
    xp = peer.xp
    width = recurrent.shape[0]

    def sigmoid(x: Any) -> Any:
        return 1.0 / (1.0 + xp.exp(-x))

    def step(state: Any, x: Any) -> Any:
        hidden, cell = state
        gates = x + hidden @ recurrent
        parts = [gates[:, k * width : (k + 1) * width] for k in range(4)]
        cell = sigmoid(parts[0]) * cell + sigmoid(parts[1]) * xp.tanh(parts[2])
        return (sigmoid(parts[3]) * xp.tanh(cell), cell), None

    start = xp.zeros((inputs.shape[1], width), inputs.dtype)
    projected = inputs @ weights + offset
    return peer.lax.scan(step, (start, start), projected)[0][0]


def rnn(peer: Peer, inputs: Any, weights: Any, hidden: Any) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = peer.xp.tanh(h @ weights + x)
        return h, h

    return peer.lax.scan(step, hidden, inputs)[1]


def residual_block(peer: Peer, images: Any, first: Any, second: Any) -> Any:
    relu = lambda x: peer.xp.maximum(x, 0)  # noqa: E731
    return relu(images + peer.convolve(relu(peer.convolve(images, first)), second))


def convolution(peer: Peer, images: Any, kernel: Any) -> Any:
    return peer.convolve(images, kernel)


def cross_entropy(peer: Peer, scores: Any, labels: Any) -> Any:
    xp = peer.xp
    shifted = scores - xp.max(scores, axis=-1, keepdims=True)
    log_sums = xp.log(xp.sum(xp.exp(shifted), axis=-1))
    chosen = xp.take_along_axis(shifted, labels[:, None], axis=-1)[:, 0]
    return xp.mean(log_sums - chosen)


def conv_net_loss(
    peer: Peer, first: Any, second: Any, dense: Any, offset: Any, images: Any, labels: Any
) -> Any:
    """Two convolutions with relu, the mean over the image, and a dense layer."""
    x = peer.xp.maximum(peer.convolve(images, first), 0)
    x = peer.xp.maximum(peer.convolve(x, second), 0)
    return cross_entropy(peer, peer.xp.mean(x, axis=(1, 2)) @ dense + offset, labels)


def dense_net_loss(peer: Peer, w1: Any, b1: Any, w2: Any, b2: Any, images: Any, labels: Any) -> Any:
    return cross_entropy(peer, dense_net(peer, images, w1, b1, w2, b2), labels)


def mean_square(function: Any) -> Any:
    """The mean square of a function's result, as a loss."""
    return lambda peer, *arrays: peer.xp.mean(peer.xp.square(function(peer, *arrays)))


def adam_step(loss: Any) -> Any:
    """One step of Adam: forward, backward, update. Four parameters, their two moments, and data."""

    def step(peer: Peer, *arrays: Any) -> Any:
        params, means, squares, data = arrays[:4], arrays[4:8], arrays[8:12], arrays[12:]
        differentiated = peer.library.value_and_grad(
            lambda *inner: loss(peer, *inner, *data), argnums=(0, 1, 2, 3)
        )
        value, gradients = differentiated(*params)
        means = [0.9 * m + 0.1 * g for m, g in zip(means, gradients, strict=True)]
        squares = [0.999 * s + 0.001 * g * g for s, g in zip(squares, gradients, strict=True)]
        moved = [
            p - 1e-3 * (m / 0.1) / (peer.xp.sqrt(s / 0.001) + 1e-3)
            for p, m, s in zip(params, means, squares, strict=True)
        ]
        return value, moved, means, squares

    return step


def example_gradients(peer: Peer, first: Any, second: Any, x: Any) -> Any:
    """The norms of the gradients of each example in a small net."""
    xp = peer.xp

    def loss(first: Any, second: Any, x: Any) -> Any:
        return xp.sum((xp.tanh(x @ first) @ second) ** 2)

    def norm(first: Any, second: Any, x: Any) -> Any:
        a, b = peer.library.grad(loss, argnums=(0, 1))(first, second, x)
        return xp.sqrt(xp.sum(a * a) + xp.sum(b * b))

    return peer.library.vmap(norm, in_axes=(None, None, 0))(first, second, x)


def block(batch: int, length: int, width: int) -> Any:
    def inputs(draw: Draw) -> tuple[Any, ...]:
        w = draw.size(width)
        shapes = ((w, 3 * w), (w, w), (w, 4 * w), (4 * w, w))
        weights = (draw.rng.standard_normal(shape) / np.sqrt(shape[0]) for shape in shapes)
        gains = draw.positive(width), draw.positive(width)
        return (draw.normal(batch, length, width), *gains, *(w.astype(np.float32) for w in weights))

    return inputs


def recurrent(steps: int, batch: int, features: int, width: int) -> Any:
    def inputs(draw: Draw) -> tuple[Any, ...]:
        four = 4 * draw.size(width)
        gates = draw.rng.standard_normal((draw.size(features) + draw.size(width) + 1, four)) * 0.1
        gates = gates.astype(np.float32)
        split = draw.size(features)
        return draw.normal(steps, batch, features), gates[:split], gates[split:-1], gates[-1]

    return inputs


def images_of(count: int, side: int, channels: int) -> Any:
    def inputs(draw: Draw) -> tuple[Any, ...]:
        kernels = tuple(draw.weights(3, 3, channels, channels) for _ in range(2))
        return (draw.normal(count, side, side, channels), *kernels)

    return inputs


def classifier(draw: Draw) -> tuple[Any, ...]:
    params = (draw.weights(3, 3, 3, 32), draw.weights(3, 3, 32, 32), draw.weights(32, 10), draw.normal(10))
    return (*params, draw.normal(16, 32, 32, 3), draw.integers(10, 16))


def training(draw: Draw) -> tuple[Any, ...]:
    params = (draw.weights(784, 256), draw.normal(256), draw.weights(256, 10), draw.normal(10))
    moments = tuple(0 * p for p in params)
    return (*params, *moments, *moments, draw.normal(128, 784), draw.integers(10, 128))


def conv_training(draw: Draw) -> tuple[Any, ...]:
    *params, images, labels = classifier(draw)
    moments = tuple(0 * p for p in params)
    return (*params, *moments, *moments, images, labels)


def dense_inputs(batch: int) -> Any:
    return lambda draw: (
        draw.normal(batch, 784),
        *(draw.weights(784, 512), draw.normal(512), draw.weights(512, 256)),
        *(draw.normal(256), draw.weights(256, 10), draw.normal(10)),
    )


def heads(draw: Draw) -> tuple[Any, ...]:
    return tuple(draw.normal(2, 8, 256, 64) for _ in range(3))


def small_rnn(draw: Draw) -> tuple[Any, ...]:
    return draw.normal(64, 32, 128), 0.05 * draw.normal(128, 128), draw.normal(32, 128)


CASES = (
    Case("dense net, batch 128", dense_net, dense_inputs(128)),
    Case("dense net, batch 1", dense_net, dense_inputs(1), quick=True),
    Case(
        "dense net gradient, batch 128",
        gradient_of(mean_square(dense_net), 1, 2, 3, 4, 5, 6),
        dense_inputs(128),
        numpy=None,
    ),
    Case("attention 2 x 8 x 256 x 64", attention, heads),
    Case("attention gradient", gradient_of(mean_square(attention), 0, 1, 2), heads, numpy=None),
    Case("transformer block 4 x 64 x 256", transformer_block, block(4, 64, 256)),
    Case("transformer block, batch 1", transformer_block, block(1, 64, 256)),
    Case(
        "transformer block gradient",
        gradient_of(mean_square(transformer_block), 1, 2, 3, 4, 5, 6),
        block(4, 64, 256),
        numpy=None,
        quick=True,
    ),
    Case("LSTM 40 x 16 x 64 x 128", lstm, recurrent(40, 16, 64, 128), numpy=None),
    Case("LSTM, batch 1", lstm, recurrent(40, 1, 64, 128), numpy=None),
    Case("LSTM gradient", gradient_of(mean_square(lstm), 1, 2, 3), recurrent(40, 16, 64, 128), numpy=None),
    Case("RNN 64 x 32 x 128", rnn, small_rnn, numpy=None),
    Case("RNN gradient", gradient_of(mean_square(rnn), 1), small_rnn, numpy=None),
    Case("convolution 3x3, 8 x 32 x 32 x 64", convolution, lambda draw: images_of(8, 32, 64)(draw)[:2]),
    Case("residual block 8 x 28 x 28 x 32", residual_block, images_of(8, 28, 32)),
    Case("residual block, batch 1", residual_block, images_of(1, 28, 32)),
    Case(
        "residual block gradient",
        gradient_of(mean_square(residual_block), 1, 2),
        images_of(8, 28, 32),
        numpy=None,
    ),
    Case(
        "cross entropy gradient 1024 x 1000",
        gradient_of(cross_entropy, 0),
        lambda draw: (draw.normal(1024, 1000), draw.integers(1000, 1024)),
        numpy=None,
    ),
    # The tolerance is for JAX: against float64 the gradients of the kernels are off by 2.7e-4 of the largest
    # element in JAX (its transformed convolutions), by 4e-7 in adze.
    Case("conv net gradient", gradient_of(conv_net_loss, 0, 1, 2, 3), classifier, numpy=None, tolerance=10.0),
    Case("training step, dense net", adam_step(dense_net_loss), training, numpy=None, quick=True),
    Case("training step, conv net", adam_step(conv_net_loss), conv_training, numpy=None, tolerance=10.0),
    Case(
        "128 gradients of a net 32-64-8",
        example_gradients,
        lambda draw: (draw.weights(32, 64), draw.weights(64, 8), draw.normal(128, 32)),
        numpy=None,
    ),
)

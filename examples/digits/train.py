"""Trains both digit networks in plain NumPy and writes `weights.npz`.

In: the training images of `dataset.py`. Out: float32 weights of the MLP and of the convolutional net.
The gradients are written by hand, layer by layer: each `*_backward` takes what its forward kept and
the cotangent of its output, and returns the cotangents of its inputs. Everything is seeded.

    python examples/digits/train.py            # about fifteen seconds; overwrites weights.npz
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import dataset
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.floating]
Params = dict[str, Array]
LossAndGradient = Callable[[Params, Array, NDArray[np.int64]], tuple[float, Params]]

WEIGHTS = Path(__file__).with_name("weights.npz")


def initial_mlp(rng: np.random.Generator) -> Params:
    """64 pixels -> 128 -> 10."""
    return {
        "mlp_w1": he_normal(rng, (64, 128)),
        "mlp_b1": np.zeros(128, np.float32),
        "mlp_w2": he_normal(rng, (128, 10)),
        "mlp_b2": np.zeros(10, np.float32),
    }


def initial_conv(rng: np.random.Generator) -> Params:
    """Two rounds of 3x3 convolution, relu and 2x2 max pooling (16, then 32 channels), then 128 -> 10."""
    return {
        "conv_k1": he_normal(rng, (3, 3, 1, 16)),
        "conv_b1": np.zeros(16, np.float32),
        "conv_k2": he_normal(rng, (3, 3, 16, 32)),
        "conv_b2": np.zeros(32, np.float32),
        "conv_w3": he_normal(rng, (128, 10)),
        "conv_b3": np.zeros(10, np.float32),
    }


def mlp_scores(params: Params, images: Array) -> Array:
    """Class scores before softmax."""
    hidden = np.maximum(images.reshape(-1, 64) @ params["mlp_w1"] + params["mlp_b1"], 0)
    return hidden @ params["mlp_w2"] + params["mlp_b2"]


def mlp_loss_and_gradient(params: Params, images: Array, labels: NDArray[np.int64]) -> tuple[float, Params]:
    """Mean cross entropy and its gradient by hand."""
    pixels = images.reshape(-1, 64)
    hidden = np.maximum(pixels @ params["mlp_w1"] + params["mlp_b1"], 0)
    loss, d_scores = cross_entropy(hidden @ params["mlp_w2"] + params["mlp_b2"], labels)
    d_hidden = (d_scores @ params["mlp_w2"].T) * (hidden > 0)
    return loss, {
        "mlp_w1": pixels.T @ d_hidden,
        "mlp_b1": d_hidden.sum(0),
        "mlp_w2": hidden.T @ d_scores,
        "mlp_b2": d_scores.sum(0),
    }


def conv_scores(params: Params, images: Array) -> Array:
    """Class scores before softmax."""
    first = pool(np.maximum(convolve(images[..., None], params["conv_k1"]) + params["conv_b1"], 0))
    second = pool(np.maximum(convolve(first, params["conv_k2"]) + params["conv_b2"], 0))
    return second.reshape(len(images), -1) @ params["conv_w3"] + params["conv_b3"]


def conv_loss_and_gradient(params: Params, images: Array, labels: NDArray[np.int64]) -> tuple[float, Params]:
    """Mean cross entropy and its gradient by hand."""
    x = images[..., None]
    active1 = np.maximum(convolve(x, params["conv_k1"]) + params["conv_b1"], 0)
    pooled1 = pool(active1)
    active2 = np.maximum(convolve(pooled1, params["conv_k2"]) + params["conv_b2"], 0)
    pooled2 = pool(active2)
    features = pooled2.reshape(len(x), -1)
    loss, d_scores = cross_entropy(features @ params["conv_w3"] + params["conv_b3"], labels)

    d_pooled2 = (d_scores @ params["conv_w3"].T).reshape(pooled2.shape)
    d_linear2 = pool_backward(active2, pooled2, d_pooled2) * (active2 > 0)
    d_pooled1, d_k2 = convolve_backward(pooled1, params["conv_k2"], d_linear2)
    d_linear1 = pool_backward(active1, pooled1, d_pooled1) * (active1 > 0)
    _, d_k1 = convolve_backward(x, params["conv_k1"], d_linear1)
    return loss, {
        "conv_k1": d_k1,
        "conv_b1": d_linear1.sum((0, 1, 2)),
        "conv_k2": d_k2,
        "conv_b2": d_linear2.sum((0, 1, 2)),
        "conv_w3": features.T @ d_scores,
        "conv_b3": d_scores.sum(0),
    }


def he_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Normal weights with variance 2 / fan-in; the last axis is the output axis."""
    fan_in = int(np.prod(shape[:-1]))
    return (rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


def cross_entropy(scores: Array, labels: NDArray[np.int64]) -> tuple[float, Array]:
    """Mean of -log softmax(scores)[label], and its gradient (softmax - one_hot) / n."""
    count = len(labels)
    shifted = scores - scores.max(-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    d_scores = np.exp(log_probabilities)
    d_scores[np.arange(count), labels] -= 1
    return float(-log_probabilities[np.arange(count), labels].mean()), d_scores / count


def patches(x: Array) -> Array:
    """n,h,w,c -> n,h,w,c,3,3: the 3x3 surroundings of every pixel, zero outside."""
    return sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (3, 3), axis=(1, 2))


def convolve(x: Array, kernel: Array) -> Array:
    """Same-size 3x3 cross-correlation, NHWC by HWIO."""
    return np.tensordot(patches(x), kernel, axes=((4, 5, 3), (0, 1, 2)))


def convolve_backward(x: Array, kernel: Array, d_out: Array) -> tuple[Array, Array]:
    """The input's cotangent is a convolution with the reversed, channel-swapped kernel."""
    d_x = convolve(d_out, kernel[::-1, ::-1].swapaxes(2, 3))
    d_kernel = np.tensordot(patches(x), d_out, axes=((0, 1, 2), (0, 1, 2)))
    return d_x, d_kernel.transpose(1, 2, 0, 3)


def pool(x: Array) -> Array:
    """2x2 max pooling, stride 2."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))


def pool_backward(x: Array, pooled: Array, d_pooled: Array) -> Array:
    """The cotangent goes to the maximum of each window; equal maxima share it."""
    n, h, w, c = x.shape
    is_maximum = x.reshape(n, h // 2, 2, w // 2, 2, c) == pooled[:, :, None, :, None, :]
    share = d_pooled[:, :, None, :, None, :] / is_maximum.sum((2, 4), keepdims=True)
    return (is_maximum * share).reshape(x.shape).astype(x.dtype)


def shifted(images: Array, rng: np.random.Generator) -> Array:
    """Each image moved by at most one pixel: the only augmentation, against the small training set."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(0, 3, (2, len(images)))
    windows = sliding_window_view(padded, images.shape[1:], axis=(1, 2))
    return windows[np.arange(len(images)), rows, columns]


def train(params: Params, gradient: LossAndGradient, epochs: int, rng: np.random.Generator) -> Params:
    """Adam with a cosine schedule over shuffled batches of 32."""
    digits = dataset.load()
    images, labels = digits.train_images, digits.train_labels
    mean = {name: np.zeros_like(value) for name, value in params.items()}
    square = {name: np.zeros_like(value) for name, value in params.items()}
    starts = range(0, len(images) - 31, 32)
    step, last = 0, epochs * len(starts)
    for _ in range(epochs):
        order = rng.permutation(len(images))
        moved = shifted(images, rng)
        for start in starts:
            batch = order[start : start + 32]
            _, gradients = gradient(params, moved[batch], labels[batch])
            step += 1
            rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * step / last))
            for name, g in gradients.items():
                mean[name] = 0.9 * mean[name] + 0.1 * g
                square[name] = 0.999 * square[name] + 0.001 * g * g
                unbiased = np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8
                update = rate * mean[name] / (1 - 0.9**step) / unbiased
                params[name] = (params[name] - update).astype(np.float32)
    return params


def accuracy(scores: Array, labels: NDArray[np.int64]) -> float:
    """The share of images whose highest score is the label's."""
    return float((scores.argmax(-1) == labels).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description="train the digit networks with hand-written gradients")
    parser.add_argument("--epochs", type=int, default=250)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    mlp = train(initial_mlp(rng), mlp_loss_and_gradient, options.epochs, rng)
    conv = train(initial_conv(rng), conv_loss_and_gradient, options.epochs, rng)
    digits = dataset.load()
    print(f"mlp  test accuracy: {accuracy(mlp_scores(mlp, digits.test_images), digits.test_labels):.4f}")
    print(f"conv test accuracy: {accuracy(conv_scores(conv, digits.test_images), digits.test_labels):.4f}")
    np.savez(options.out, **mlp, **conv)


if __name__ == "__main__":
    main()

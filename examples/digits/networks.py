"""The two digit networks as pure functions of their weights, in terms of `adze.numpy`, `adze.lax`, `adze.nn`.

Input: a dictionary of weights, and images f32[n, 8, 8] in 0..1.
Output: the scores of the ten digits, f32[n, 10].

`train.py` differentiates these functions, and `model.py` applies them to the trained weights.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import adze.numpy as anp
from adze import Array, lax, nn

Params = dict[str, Array]


class Network(NamedTuple):
    """The functions of a network: its initial weights, and the scores of images."""

    initial: Callable[[np.random.Generator], Params]
    scores: Callable[[Params, Array], Array]


def initial_mlp(rng: np.random.Generator) -> Params:
    """Weights of the layers 64 pixels -> 128 -> 10."""
    return {
        "w1": he_normal(rng, (64, 128)),
        "b1": zeros(128),
        "w2": he_normal(rng, (128, 10)),
        "b2": zeros(10),
    }


def mlp_scores(params: Params, images: Array) -> Array:
    """One hidden layer with relu."""
    hidden = nn.relu(anp.reshape(images, (-1, 64)) @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def initial_conv(rng: np.random.Generator) -> Params:
    """Weights of two 3x3 convolutions (16, then 32 channels) and a dense layer 128 -> 10."""
    return {
        "k1": he_normal(rng, (3, 3, 1, 16)),
        "b1": zeros(16),
        "k2": he_normal(rng, (3, 3, 16, 32)),
        "b2": zeros(32),
        "w3": he_normal(rng, (128, 10)),
        "b3": zeros(10),
    }


def conv_scores(params: Params, images: Array) -> Array:
    """Two blocks of 3x3 convolution, relu and 2x2 max pooling, then one dense layer."""
    first = pool(nn.relu(convolve(images[..., None], params["k1"]) + params["b1"]))
    second = pool(nn.relu(convolve(first, params["k2"]) + params["b2"]))
    return anp.reshape(second, (-1, 128)) @ params["w3"] + params["b3"]


def convolve(x: Array, kernel: Array) -> Array:
    """Same-size 3x3 cross-correlation, NHWC by HWIO."""
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x: Array) -> Array:
    """2x2 max pooling with stride 2, as a maximum over the pairs of both split image axes."""
    _, height, width, channels = x.shape
    return anp.max(anp.reshape(x, (-1, height // 2, 2, width // 2, 2, channels)), axis=(2, 4))


def he_normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Normal weights with variance 2 / fan-in; the last axis is the output axis."""
    fan_in = int(np.prod(shape[:-1]))
    return (rng.standard_normal(shape) * np.sqrt(2.0 / fan_in)).astype(np.float32)


def zeros(count: int) -> NDArray[np.float32]:
    """Initial biases."""
    return np.zeros(count, np.float32)


NETWORKS: Final = {"mlp": Network(initial_mlp, mlp_scores), "conv": Network(initial_conv, conv_scores)}

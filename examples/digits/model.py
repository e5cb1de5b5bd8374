"""The two digit networks as plain functions over `adze.numpy`, `adze.lax` and `adze.nn`.

In: images f32[n, 8, 8] in 0..1. Out: the probabilities of the ten digits, f32[n, 10].
The weights are read from `weights.npz` when this file is imported and closed over by the functions,
so a built .vmfb carries them: nothing but the images goes in when it runs.

    adze build examples/digits/model.py:predict_conv --in 'f32[60,8,8]' -o digits.vmfb
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import adze.numpy as anp
from adze import Array, lax, nn

with np.load(Path(__file__).with_name("weights.npz")) as archive:
    WEIGHTS = {name: archive[name] for name in archive.files}


def predict_mlp(images: Array) -> Array:
    """64 pixels -> 128 -> 10."""
    hidden = nn.relu(anp.reshape(images, (-1, 64)) @ WEIGHTS["mlp_w1"] + WEIGHTS["mlp_b1"])
    return nn.softmax(hidden @ WEIGHTS["mlp_w2"] + WEIGHTS["mlp_b2"])


def predict_conv(images: Array) -> Array:
    """Two rounds of 3x3 convolution, relu and 2x2 max pooling, then one dense layer."""
    first = pool(nn.relu(convolve(images[..., None], WEIGHTS["conv_k1"]) + WEIGHTS["conv_b1"]))
    second = pool(nn.relu(convolve(first, WEIGHTS["conv_k2"]) + WEIGHTS["conv_b2"]))
    return nn.softmax(anp.reshape(second, (-1, 128)) @ WEIGHTS["conv_w3"] + WEIGHTS["conv_b3"])


def convolve(x: Array, kernel: NDArray[np.float32]) -> Array:
    """Same-size 3x3 cross-correlation, NHWC by HWIO."""
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x: Array) -> Array:
    """2x2 max pooling with stride 2, written as a maximum over the two halves of each split axis."""
    _, height, width, channels = x.shape
    return anp.max(anp.reshape(x, (-1, height // 2, 2, width // 2, 2, channels)), axis=(2, 4))

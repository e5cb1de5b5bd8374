"""The trained networks as functions of images alone, which `adze build` compiles.

Input: images f32[n, 8, 8] in 0..1.
Output: the probabilities of the ten digits, f32[n, 10].

A call loads the weights that `train.py` wrote. In a build they are constants, so the .vmfb contains the
weights, and its only argument is the images.

    adze build examples/digits/model.py:predict_conv --in 'f32[60,8,8]' -o digits.vmfb
"""

import numpy as np
import train
from networks import NETWORKS

from adze import Array, nn


def predict_mlp(images: Array) -> Array:
    """Probabilities by the fully connected network."""
    return predict("mlp", images)


def predict_conv(images: Array) -> Array:
    """Probabilities by the convolutional network."""
    return predict("conv", images)


def predict(network: str, images: Array) -> Array:
    """The softmax of a network's scores, with its trained weights."""
    path = train.weights_path(network)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: train first, with python {train.__file__}")
    with np.load(path) as weights:
        return nn.softmax(NETWORKS[network].scores(dict(weights), images))

"""A small classifier: what a C program calls."""

import numpy as np

WEIGHTS = np.array([[1, 0], [0, 1], [1, 1]], np.float32)


def predict(x):
    """The probability of each of two classes, for each row of x."""
    scores = np.exp(x @ WEIGHTS)
    return scores / scores.sum(axis=1, keepdims=True)

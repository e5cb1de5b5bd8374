"""Logistic regression: its scores with the weights that were trained, and its loss."""

import numpy as np

weights = np.array([0.5, -1.0, 0.25, 2.0], np.float32)


def score(x):
    """The probability of each row of x."""
    return 1 / (1 + np.exp(-(x @ weights)))


def loss(w, x, y):
    """The mean of log(1 + exp(-y x w)), for labels y of -1 and 1."""
    return np.log1p(np.exp(-y * (x @ w))).mean()

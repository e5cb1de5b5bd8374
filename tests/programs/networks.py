"""Neural networks in plain NumPy, as a user would bring them: no adze in this file.

Forward passes of the usual teaching programs: images are [n, height, width, channels], kernels
[height, width, in, out], and a convolution is a sum over the kernel's taps or a gathered window.
"""

import numpy as np


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    shifted = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return shifted / np.sum(shifted, axis=-1, keepdims=True)


def mlp(x, w1, b1, w2, b2, w3, b3):
    x = relu(x @ w1 + b1)
    x = relu(x @ w2 + b2)
    return softmax(x @ w3 + b3)


def conv2d(x, weights):
    """Valid convolution, stride 1: one tensordot for each output position."""
    size = weights.shape[0]
    height, width = x.shape[1] - size + 1, x.shape[2] - size + 1
    rows = []
    for i in range(height):
        windows = [
            np.sum(x[:, i : i + size, j : j + size, :, np.newaxis] * weights[np.newaxis], axis=(1, 2, 3))
            for j in range(width)
        ]
        rows.append(np.stack(windows, axis=1))
    return np.stack(rows, axis=1)


def conv2d_bias(x, weights, bias):
    return conv2d(x, weights) + bias


def conv2d_by_taps(x, weights):
    """The same as a sum over taps: large images, small kernels."""
    size = weights.shape[0]
    height, width = x.shape[1] - size + 1, x.shape[2] - size + 1
    return sum(x[:, i : i + height, j : j + width] @ weights[i, j] for i in range(size) for j in range(size))


def batch_norm(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    deviation = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(deviation + eps)


def resnet_basic_block(x, w1, w2, w3):
    """1x1, 3x3 (padded), 1x1, each with batch norm; the input is added back."""
    y = relu(batch_norm(conv2d_by_taps(x, w1)))
    y = relu(batch_norm(conv2d_by_taps(np.pad(y, ((0, 0), (1, 1), (1, 1), (0, 0))), w2)))
    return relu(batch_norm(conv2d_by_taps(y, w3)) + x)


def max_pool(x):
    n, height, width, channels = x.shape
    halves = x[:, : height // 2 * 2, : width // 2 * 2]
    return halves.reshape(n, height // 2, 2, width // 2, 2, channels).max(axis=(2, 4))


def lenet(x, k1, b1, k2, b2, w3, b3, w4, b4, w5, b5):
    x = max_pool(relu(conv2d_by_taps(x, k1) + b1))
    x = max_pool(relu(conv2d_by_taps(x, k2) + b2))
    x = np.reshape(x, (x.shape[0], -1))
    x = relu(x @ w3 + b3)
    x = relu(x @ w4 + b4)
    return x @ w5 + b5


def layer_norm(x, gain, offset):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * gain + offset


def causal_attention(q, k, v):
    """Scaled dot-product attention over [heads, length, depth], masked to the past."""
    length, depth = q.shape[-2:]
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(np.float32(depth))
    scores = np.where(np.tril(np.ones((length, length), dtype=bool)), scores, -np.inf)
    return softmax(scores) @ v


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(inputs, hidden, cell, w_input, w_hidden, bias):
    """A long short-term memory layer over the leading axis of `inputs`."""
    outputs = []
    for x in inputs:
        gates = x @ w_input + hidden @ w_hidden + bias
        forget, write, read, candidate = np.split(gates, 4, axis=-1)
        cell = sigmoid(forget) * cell + sigmoid(write) * np.tanh(candidate)
        hidden = sigmoid(read) * np.tanh(cell)
        outputs.append(hidden)
    return np.stack(outputs), cell


def embedding_bag(table, tokens, lengths):
    """Mean of the embeddings of each row's first `length` tokens."""
    rows = table[tokens]
    present = np.arange(tokens.shape[1]) < lengths[:, None]
    return (rows * present[..., None]).sum(axis=1) / np.maximum(lengths, 1)[:, None].astype(table.dtype)

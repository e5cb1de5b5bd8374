"""Differentially private SGD: clip the gradient of every example, add noise, take a step.

`vmap(grad(loss))` returns one gradient per example without a loop (Abadi et al. 2016, "Deep learning with
differential privacy"). The task is to separate two noisy clouds of points by a line.

    python examples/private_sgd/main.py --steps 200
"""

import argparse
from typing import Any

import numpy as np

import adze
from adze import numpy as xp
from adze import random

Params = dict[str, Any]


def clouds(seed: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of two classes, and their labels, -1 or 1."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([-1.0, 1.0], count)
    points = rng.standard_normal((count, 2)) + 1.5 * labels[:, None]
    return points.astype(np.float32), labels.astype(np.float32)


def loss(params: Params, point: Any, label: Any) -> Any:
    """The logistic loss of one example."""
    score = xp.dot(point, params["weights"]) + params["bias"]
    return xp.log1p(xp.exp(-label * score))


def clipped(gradient: Params, limit: float) -> Params:
    """The gradient of one example, scaled down to the norm `limit` if its norm is larger."""
    norm = xp.sqrt(sum(xp.sum(g * g) for g in adze.tree.leaves(gradient)))
    return adze.tree.map(lambda g: g * xp.minimum(1.0, limit / (norm + 1e-12)), gradient)


def private_gradient(
    params: Params, points: Any, labels: Any, key: Any, limit: float, noise: float
) -> Params:
    """The mean of the clipped gradients, with Gaussian noise that hides each single example."""
    each = adze.vmap(adze.grad(loss), in_axes=(None, 0, 0))(params, points, labels)
    each = adze.vmap(lambda g: clipped(g, limit))(each)
    keys = dict(zip(sorted(each), random.split(key, len(each)), strict=True))

    def noisy(name: str, gradients: Any) -> Any:
        total = xp.sum(gradients, axis=0)
        total = total + noise * limit * random.normal(keys[name], total.shape)
        return total / gradients.shape[0]

    return {name: noisy(name, gradients) for name, gradients in each.items()}


def train(
    steps: int, limit: float = 1.0, noise: float = 0.5, rate: float = 0.5
) -> tuple[Params, list[float]]:
    """Train on batches of 64; returns the parameters, and the mean loss at every tenth of the training."""
    points, labels = clouds(0, 1024)
    mean_loss = adze.jit(lambda p, x, y: xp.mean(adze.vmap(loss, (None, 0, 0))(p, x, y)))

    @adze.jit
    def step(params: Params, x: Any, y: Any, key: Any) -> Params:
        gradient = private_gradient(params, x, y, key, limit, noise)
        return adze.tree.map(lambda p, g: p - rate * g, params, gradient)

    params: Params = {"weights": np.zeros(2, np.float32), "bias": np.float32(0)}
    rng, losses = np.random.default_rng(1), []
    for count, key in enumerate(random.split(random.key(2), steps)):
        rows = rng.integers(0, len(points), 64)
        params = step(params, points[rows], labels[rows], key)
        if count % max(1, steps // 10) == 0 or count == steps - 1:
            losses.append(float(mean_loss(params, points, labels)))
    return params, losses


def accuracy(params: Params) -> float:
    """The fraction of new points that are classified correctly."""
    points, labels = clouds(7, 2048)
    scores = points @ np.asarray(params["weights"]) + np.asarray(params["bias"])
    return float(np.mean(np.sign(scores) == labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--noise", type=float, default=0.5, help="noise in units of the clipping norm")
    options = parser.parse_args()
    params, losses = train(options.steps, noise=options.noise)
    print("loss:", " ".join(f"{value:.3f}" for value in losses))
    print(f"accuracy on new points: {accuracy(params):.3f}")


if __name__ == "__main__":
    main()

"""Data parallel training: every rank has the parameters, and a part of the batch.

The step is written for the whole batch. `jit` is told how its arguments lie, and what the ranks have to add
up follows: the loss and the gradients, which are sent together.
"""

from itertools import pairwise
from typing import Any

import numpy as np

import adze
import adze.numpy as xp
from adze.sharding import NamedSharding, PartitionSpec

RANKS = 4
SIZES = (16, 64, 64, 4)


def parameters() -> list[Any]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s).astype(np.float32) / 8 for s in pairwise(SIZES)]


def batch() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((64, SIZES[0])).astype(np.float32)
    return x, np.sin(x[:, : SIZES[-1]])


def loss(weights: list[Any], x: Any, y: Any) -> Any:
    for w in weights[:-1]:
        x = xp.tanh(x @ w)
    return xp.mean((x @ weights[-1] - y) ** 2)


def step(weights: list[Any], x: Any, y: Any) -> tuple[list[Any], Any]:
    value, slopes = adze.value_and_grad(loss)(weights, x, y)
    return [w - np.float32(0.1) * slope for w, slope in zip(weights, slopes, strict=True)], value


def train(ranks: int = RANKS, steps: int = 5) -> tuple[list[Any], Any]:
    """The parameters and the loss after some steps on all ranks."""
    mesh = adze.make_mesh((ranks,), ("data",))
    everywhere, rows = NamedSharding(mesh, PartitionSpec()), NamedSharding(mesh, PartitionSpec("data"))
    divided = adze.jit(step, in_shardings=(everywhere, rows, rows), out_shardings=everywhere)
    weights = adze.device_put(parameters(), everywhere)
    x, y = adze.device_put(batch(), rows)
    for _ in range(steps):
        weights, value = divided(weights, x, y)
    return weights, value


def main() -> None:
    weights, value = train(adze.distributed.process_count())
    expected = parameters()
    for _ in range(5):
        expected, _ = step(expected, *batch())
    difference = max(
        np.abs(np.asarray(w) - np.asarray(e)).max() for w, e in zip(weights, expected, strict=True)
    )
    print(f"loss {float(value):.4f}, largest difference {difference:.1e}")


if __name__ == "__main__":
    main()

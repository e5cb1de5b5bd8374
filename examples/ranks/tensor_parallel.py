"""Tensor and data parallel training of a perceptron (Shoeybi et al., Megatron-LM, 2019).

The first weights are divided by columns, the second by rows, so that each pair needs one sum in the forward
pass; the batch is divided along the other axis of the mesh. Each rank keeps its part of the weights from step
to step.
"""

from typing import Any

import numpy as np

import adze
import adze.numpy as xp
from adze import nn
from adze.sharding import NamedSharding, PartitionSpec

MESH = (2, 2)


def parameters() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    columns, rows = rng.standard_normal((32, 128)), rng.standard_normal((128, 32))
    return {"columns": columns.astype(np.float32) / 8, "rows": rows.astype(np.float32) / 16}


def batch() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((16, 32)).astype(np.float32)


def loss(weights: dict[str, Any], x: Any) -> Any:
    return xp.mean((x + nn.gelu(x @ weights["columns"]) @ weights["rows"]) ** 2)


def step(weights: dict[str, Any], x: Any) -> dict[str, Any]:
    slopes = adze.grad(loss)(weights, x)
    return {name: w - np.float32(0.5) * slopes[name] for name, w in weights.items()}


def train(sizes: tuple[int, int] = MESH, steps: int = 3) -> dict[str, Any]:
    """The weights after some steps; in a job each rank has its part of them."""
    mesh = adze.make_mesh(sizes, ("data", "model"))
    of_weights = {
        "columns": NamedSharding(mesh, PartitionSpec(None, "model")),
        "rows": NamedSharding(mesh, PartitionSpec("model")),
    }
    of_batch = NamedSharding(mesh, PartitionSpec("data"))
    divided = adze.jit(step, in_shardings=(of_weights, of_batch), out_shardings=of_weights)
    weights = adze.device_put(parameters(), of_weights)
    x = adze.device_put(batch(), of_batch)
    for _ in range(steps):
        weights = divided(weights, x)
    return weights


def whole(x: Any) -> np.ndarray:
    """All of a divided array, in every rank."""
    return np.asarray(adze.device_put(x, NamedSharding(x.sharding.mesh, PartitionSpec())))


def main() -> None:
    ranks = adze.distributed.process_count()
    weights = train((2, ranks // 2) if ranks > 1 else MESH)
    expected: dict[str, Any] = parameters()
    for _ in range(3):
        expected = step(expected, batch())
    difference = max(np.abs(whole(weights[name]) - np.asarray(expected[name])).max() for name in expected)
    print(f"largest difference {difference:.1e}")


if __name__ == "__main__":
    main()

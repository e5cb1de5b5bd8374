"""Pipeline parallel training (Huang et al., GPipe, 2019): every rank has some of the layers.

The batch is cut into microbatches. At each tick every rank runs its layers on one of them and hands the
result to the next rank, in a scan; the gradient goes the same way backwards, since `ppermute` and the scan
have transposes.
"""

from typing import Any

import numpy as np

import adze
import adze.numpy as xp
from adze import lax
from adze.sharding import PartitionSpec as P

STAGES, MICROBATCHES, WIDTH = 4, 8, 16


def parameters(stages: int = STAGES) -> np.ndarray:
    """Two layers for each stage."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((stages, 2, WIDTH, WIDTH)).astype(np.float32) / np.float32(np.sqrt(WIDTH))


def batch() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((MICROBATCHES, 4, WIDTH)).astype(np.float32)


def layers(weights: Any, x: Any) -> Any:
    return lax.scan(lambda y, w: (xp.tanh(y @ w), None), x, weights)[0]


def loss(weights: Any, x: Any) -> Any:
    """In one process: all layers in turn."""
    for stage in weights:
        x = layers(stage, x)
    return xp.mean(x**2)


def piped(weights: Any, x: Any) -> Any:
    """The same, of the stages of a mesh."""
    stages, count = weights.shape[0], x.shape[0]
    mesh = adze.make_mesh((stages,), ("stage",))

    def of_rank(own: Any, x: Any) -> Any:
        stage = lax.axis_index("stage")
        onwards = [(i, i + 1) for i in range(stages - 1)]

        def tick(arrived: Any, t: Any) -> Any:
            fed = lax.dynamic_index_in_dim(x, xp.clip(t, 0, count - 1), keepdims=False)
            done = layers(own[0], xp.where(stage == 0, fed, arrived))
            microbatch = t - stages + 1  # that leaves the last stage
            is_result = (stage == stages - 1) & (microbatch >= 0)
            total = xp.where(is_result, xp.sum(done**2), 0)
            return lax.ppermute(done, "stage", onwards), total

        nothing = lax.pvary(xp.zeros_like(x[0]), "stage")
        _, totals = lax.scan(tick, nothing, xp.arange(count + stages - 1))
        return lax.psum(xp.sum(totals), "stage") / np.float32(x.size)

    return adze.shard_map(of_rank, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P())(weights, x)


def main() -> None:
    ranks = adze.distributed.process_count()
    weights, x = parameters(ranks if ranks > 1 else STAGES), batch()
    value, slope = adze.jit(adze.value_and_grad(piped))(weights, x)
    expected, expected_slope = adze.value_and_grad(loss)(weights, x)
    difference = np.abs(np.asarray(slope) - np.asarray(expected_slope)).max()
    print(f"loss {float(value):.4f} and {float(expected):.4f}, largest difference {difference:.1e}")


if __name__ == "__main__":
    main()

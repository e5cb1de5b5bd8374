"""Ring attention (Liu, Zaharia and Abbeel, 2023): the sequence is divided, and no rank ever has all keys.

Each rank keeps its queries. Keys and values go round; the softmax is accumulated block by block, with the
greatest score so far, as in flash attention.
"""

from typing import Any

import numpy as np

import adze
import adze.numpy as xp
from adze import lax, nn
from adze.sharding import PartitionSpec as P

RANKS, LENGTH, WIDTH = 4, 64, 16


def inputs() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    return tuple(rng.standard_normal((LENGTH, WIDTH)).astype(np.float32) for _ in range(3))


def attention(q: Any, k: Any, v: Any) -> Any:
    """In one process."""
    return nn.softmax(q @ k.T / np.float32(np.sqrt(WIDTH)), axis=-1) @ v


def ring_attention(q: Any, k: Any, v: Any, ranks: int = RANKS) -> Any:
    """The same, of the ranks of a mesh, which have parts of the sequence."""
    mesh = adze.make_mesh((ranks,), ("ring",))
    around = [(i, (i + 1) % ranks) for i in range(ranks)]

    def of_rank(q: Any, k: Any, v: Any) -> Any:
        def turn(state: Any, _: Any) -> Any:
            k, v, greatest, weight, total = state
            scores = q @ k.T / np.float32(np.sqrt(WIDTH))
            higher = xp.maximum(greatest, xp.max(scores, axis=1))
            shrunk = xp.exp(greatest - higher)
            parts = xp.exp(scores - higher[:, None])
            weight = weight * shrunk + xp.sum(parts, axis=1)
            total = total * shrunk[:, None] + parts @ v
            k, v = (lax.ppermute(x, "ring", around) for x in (k, v))
            return (k, v, higher, weight, total), None

        rows = q.shape[0]
        start = (xp.full(rows, -np.inf, np.float32), xp.zeros(rows, np.float32), xp.zeros_like(q))
        carried = (k, v, *(lax.pvary(x, "ring") for x in start[:2]), start[2])
        (_, _, _, weight, total), _ = lax.scan(turn, carried, None, length=ranks)
        return total / weight[:, None]

    specs = (P("ring"), P("ring"), P("ring"))
    return adze.shard_map(of_rank, mesh=mesh, in_specs=specs, out_specs=P("ring"))(q, k, v)


def main() -> None:
    ranks = adze.distributed.process_count()
    count = ranks if ranks > 1 else RANKS
    result = adze.jit(lambda q, k, v: ring_attention(q, k, v, count))(*inputs())
    difference = np.abs(np.asarray(result) - np.asarray(attention(*inputs()))).max()
    print(f"largest difference {difference:.1e}")


if __name__ == "__main__":
    main()

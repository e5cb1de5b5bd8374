"""A model on paper of how training scales to 1,024 ranks, of the collectives that programs really have.

Input: the speeds of a rank and of the network. Output: a table (or JSON): for each way to divide a training
step of a transformer, and each number of ranks, the milliseconds of a step and the efficiency.

The step is traced, differentiated and divided for each number of ranks; nothing runs. Its operations and the
bytes of its collectives are counted. A collective takes `latency * log2(ranks)` and its bytes by the speed of
the network, a sum twice that (recursive halving and doubling: Thakur, Rabenseifner and Gropp, 2005), and
copying its array in and out by the speed of the memory. `alone`: the collectives come after the computing;
`overlapped`: all of them travel meanwhile, which is the best that can be. Efficiency is the time of one rank
with its share of the work over the time of a step.

    python benchmarks/scaling_model.py
    python benchmarks/scaling_model.py --flops 2e12 --memory 1e11 --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from math import log2
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import adze
import adze.nn as nn
import adze.numpy as xp
from adze.frontend.staging.stage_texts import module_of_one_rank
from adze.passes.analysis.cost import cost
from adze.passes.partition.combine import CombineCollectives
from adze.passes.partition.traffic import Exchange, exchanges
from adze.runtime.distributed.planned import planned
from adze.sharding import NamedSharding, PartitionSpec

LAYERS, WIDTH, HEADS, LENGTH, ROWS = 4, 1024, 16, 512, 4
"""Of the transformer; `ROWS` sequences a rank, so that the batch grows with the ranks."""

RANKS = (8, 64, 256, 1024)
NETWORKS = {"25 Gb/s": (25e9 / 8, 2e-5), "200 Gb/s": (200e9 / 8, 5e-6)}
"""Bytes a second, and seconds that a message takes however short it is."""
FLOPS, MEMORY = 2e12, 1e11
"""Of a rank: a processor of 64 cores, in float32."""


def block(weights: dict[str, Any], x: Any) -> Any:
    batch, length, _ = x.shape
    normal = nn.layer_norm(x)
    q, k, v = (
        (normal @ weights[name]).reshape(batch, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
        for name in ("query", "key", "value")
    )
    scores = nn.softmax(q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS)), axis=-1)
    x = x + (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH) @ weights["out"]
    return x + nn.gelu(nn.layer_norm(x) @ weights["widen"]) @ weights["shrink"]


def step(layers: list[dict[str, Any]], x: Any, y: Any) -> list[dict[str, Any]]:
    def loss(layers: list[dict[str, Any]]) -> Any:
        h = x
        for weights in layers:
            h = block(weights, h)
        return xp.mean((h - y) ** 2)

    slopes = adze.grad(loss)(layers)
    return [
        {name: w - np.float32(0.1) * d[name] for name, w in weights.items()}
        for weights, d in zip(layers, slopes, strict=True)
    ]


SHAPES = {
    **dict.fromkeys(("query", "key", "value", "out"), (WIDTH, WIDTH)),
    "widen": (WIDTH, 4 * WIDTH),
    "shrink": (4 * WIDTH, WIDTH),
}
COLUMNS, ROWS_OF = PartitionSpec(None, "model"), PartitionSpec("model", None)
MEGATRON = dict.fromkeys(("query", "key", "value", "widen"), COLUMNS) | dict.fromkeys(
    ("out", "shrink"), ROWS_OF
)
"""The first product of a pair by columns, the second by rows (Shoeybi et al., Megatron-LM, 2019)."""


@dataclass(frozen=True)
class Division:
    """A way to divide: the sizes of the axes `data` and `model`, and the specifications of the weights."""

    sizes: Callable[[int], tuple[int, int]]
    weights: dict[str, PartitionSpec]


DIVISIONS = {
    "data": Division(lambda p: (p, 1), dict.fromkeys(SHAPES, PartitionSpec())),
    "fully sharded": Division(lambda p: (p, 1), dict.fromkeys(SHAPES, PartitionSpec("data"))),
    "8 model x data": Division(lambda p: (max(1, p // 8), min(p, 8)), MEGATRON),
}


@dataclass(frozen=True)
class Step:
    """What one rank does in a step."""

    flops: float
    collectives: int
    sent: int
    exchanges: tuple[Exchange, ...]


def shapes(ranks: int) -> tuple[Any, Any, Any]:
    """The arguments of `step`: the weights, and a batch for all ranks."""
    layers = [{name: adze.ShapeDtype(s, np.float32) for name, s in SHAPES.items()}] * LAYERS
    batch = adze.ShapeDtype((ROWS * ranks, LENGTH, WIDTH), np.float32)
    return layers, batch, batch


def step_of(division: Division, ranks: int) -> Step:
    """The program of one rank of so many."""
    with planned(ranks):
        mesh = adze.make_mesh(division.sizes(ranks), ("data", "model"))
        of_layers = [{n: NamedSharding(mesh, s) for n, s in division.weights.items()}] * LAYERS
        of_batch = NamedSharding(mesh, PartitionSpec("data"))
        divided = adze.jit(step, in_shardings=(of_layers, of_batch, of_batch), out_shardings=of_layers)
        traced = divided.trace(*shapes(ranks))
        module = module_of_one_rank(traced.program)
        flops = cost(module).flops
        CombineCollectives().run(module)
        found = exchanges(module, traced.program.symbol)
    return Step(flops, len(found), sum(each.sent for each in found), tuple(found))


def seconds_of(exchange: Exchange, network: float, latency: float, memory: float) -> float:
    """How long a collective takes."""
    steps = 2 if exchange.kind == "all_reduce" else 1
    size = exchange.operand.dtype.itemsize * int(np.prod(exchange.operand.static_shape))
    return steps * latency * log2(exchange.ranks) + exchange.sent / network + 2 * size / memory


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    division: str
    ranks: int
    network: str
    compute_ms: float
    communication_ms: float
    collectives: int
    megabytes_sent: float
    alone: float
    overlapped: float


def rows(ranks: tuple[int, ...], flops: float, memory: float) -> Iterator[Row]:
    """The lines of the table: each way to divide at each number of ranks, over each network."""
    single = adze.trace(step, *shapes(1)).cost().flops / flops
    for name, division in DIVISIONS.items():
        for count in ranks:
            found = step_of(division, count)
            compute = found.flops / flops
            for label, (network, latency) in NETWORKS.items():
                waiting = sum(seconds_of(each, network, latency, memory) for each in found.exchanges)
                yield Row(
                    name,
                    count,
                    label,
                    compute * 1e3,
                    waiting * 1e3,
                    found.collectives,
                    found.sent / 1e6,
                    single / (compute + waiting),
                    single / max(compute, waiting),
                )


HEADINGS = (
    "divided",
    "ranks",
    "network",
    "compute",
    "communication",
    "collectives",
    "sent",
    "alone",
    "overlapped",
)


def cells(row: Row) -> tuple[str, ...]:
    """A line of the table, under `HEADINGS`."""
    return (
        *(row.division, f"{row.ranks:,}", row.network),
        *(f"{row.compute_ms:.0f} ms", f"{row.communication_ms:.0f} ms", str(row.collectives)),
        *(f"{row.megabytes_sent:.0f} MB", f"{row.alone:.2f}", f"{row.overlapped:.2f}"),
    )


def markdown(found: Iterable[Row]) -> list[str]:
    """The lines of the table in Markdown."""
    lines = [HEADINGS, ("---",) * len(HEADINGS), *map(cells, found)]
    return [f"| {' | '.join(line)} |" for line in lines]


def main() -> int:
    parser = argparse.ArgumentParser(description="how training scales, on paper")
    parser.add_argument("--flops", type=float, default=FLOPS, help="operations a second of a rank")
    parser.add_argument("--memory", type=float, default=MEMORY, help="bytes a second of a rank's memory")
    parser.add_argument("--ranks", type=int, nargs="+", default=RANKS, help="numbers of ranks")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument(
        "--markdown", action="store_true", help="print the table as docs/distributed.md has it"
    )
    options = parser.parse_args()
    found = [*rows(tuple(options.ranks), options.flops, options.memory)]
    if options.json:
        print(json.dumps([asdict(row) for row in found], indent=2))
        return 0
    if options.markdown:
        print(*markdown(found), sep="\n")
        return 0
    table = Table(title=f"{LAYERS} layers of {WIDTH}, {ROWS} sequences of {LENGTH} a rank")
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for row in found:
        table.add_row(*cells(row))
    Console(width=110).print(table)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

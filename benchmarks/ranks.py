"""Training steps on 1, 2 and 4 ranks of MPI on this machine, and where their time goes.

Input: the numbers of ranks. Output: a table (or JSON): milliseconds of a step by the clock, the best of many,
and of the slowest rank's such step what it spent in MPI (waiting for the others included), in copying arrays
out of the program and back, and computing.

A rank has one core, also if there is only one. More ranks than cores share the cores, which shows only
that nothing breaks. Needs the extras mpi and shard.

    python benchmarks/ranks.py --ranks 1 2
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _measure import circumstances
from rich.console import Console
from rich.table import Table

import adze
import adze.numpy as xp
from adze.dialects.communicator import Communicator, bind_process, bound
from adze.runtime.distributed.launchers import find_launcher
from adze.runtime.execute import host_calls
from adze.sharding import NamedSharding, PartitionSpec

CASES = {
    "data parallel, 8 layers of 512, 512 rows": (8, 512, 512, "data"),
    "data parallel, 4 layers of 1,024, 1,024 rows": (4, 1024, 1024, "data"),
    "tensor parallel, 4 pairs of 512 x 2,048, 256 rows": (4, 512, 256, "model"),
}
STEPS = 12


class Watched:
    """A communicator that adds up the seconds that its methods take."""

    def __init__(self, engine: Communicator, spent: dict[str, float]) -> None:
        self._engine, self._spent = engine, spent
        self.rank, self.size, self.overlaps = engine.rank, engine.size, engine.overlaps

    def __getattr__(self, name: str) -> Any:
        return timed(getattr(self._engine, name), self._spent, "communication")


def timed(function: Callable[..., Any], spent: dict[str, float], what: str) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*args, **keywords)
        finally:
            spent[what] += time.perf_counter() - started

    return call


def program(layers: int, width: int, rows: int, axis: str, ranks: int) -> tuple[Callable[..., Any], Any, Any]:
    """A jitted step of training, its weights, and a batch."""
    mesh = adze.make_mesh((ranks,), (axis,))
    rng = np.random.default_rng(0)
    lies = lambda *names: NamedSharding(mesh, PartitionSpec(*names))  # noqa: E731
    wide = width if axis == "data" else 4 * width
    shapes = [(width, wide), (wide, width)] if axis == "model" else [(width, width)]
    specs = [lies(None, "model"), lies("model")] if axis == "model" else [lies()]
    weights = [rng.standard_normal(s).astype(np.float32) / np.sqrt(s[0]) for s in shapes * layers]
    x = rng.standard_normal((rows, width)).astype(np.float32)
    of_weights, of_batch = specs * layers, lies("data") if axis == "data" else lies()

    def loss(weights: list[Any], x: Any) -> Any:
        for first, second in zip(weights[::2], weights[1::2], strict=True):
            x = xp.tanh(xp.tanh(x @ first) @ second)
        return xp.mean(x**2)

    def step(weights: list[Any], x: Any) -> list[Any]:
        slopes = adze.grad(loss)(weights, x)
        return [w - np.float32(0.1) * d for w, d in zip(weights, slopes, strict=True)]

    compiled = adze.jit(step, in_shardings=(of_weights, of_batch), out_shardings=of_weights)
    return compiled, adze.device_put(weights, of_weights), adze.device_put(x, of_batch)


def measured(case: tuple[int, int, int, str], ranks: int, spent: dict[str, float]) -> dict[str, float]:
    """The seconds of this rank's best step, and what it spent in it."""
    step, weights, x = program(*case, ranks)
    weights = step(weights, x)
    best: dict[str, float] = {"step": float("inf")}
    for _ in range(STEPS):
        spent.update(communication=0.0, copies=0.0)
        started = time.perf_counter()
        weights = adze.block_until_ready(step(weights, x))
        seconds = time.perf_counter() - started
        if seconds < best["step"]:
            best = {"step": seconds, **spent}
    return best | {"computing": best["step"] - best["communication"] - best["copies"]}


def rank_main() -> None:
    """In each rank; the first one prints what it measured, as JSON."""
    spent = {"communication": 0.0, "copies": 0.0}
    host_calls._array = timed(host_calls._array, spent, "copies")
    host_calls.from_host = timed(host_calls.from_host, spent, "copies")
    engine = bound()
    if engine is not None:
        bind_process(Watched(engine, spent))
    results = {name: measured(case, adze.distributed.process_count(), spent) for name, case in CASES.items()}
    if adze.distributed.process_index() == 0:
        print(json.dumps(results))


def launched(ranks: int) -> dict[str, dict[str, float]]:
    """What a job of so many ranks measured."""
    script = "import adze, ranks; adze.distributed.initialize(); ranks.rank_main()"
    if ranks > 1:
        launcher = find_launcher()
        command = launcher.command(ranks, [sys.executable, "-c", script])
        environment = launcher.environment(ranks)
    else:
        script = "import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
        script += "import ranks; ranks.rank_main()"
        command, environment = [sys.executable, "-c", script], dict(os.environ)
    folder = Path(__file__).resolve().parent
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"a job of {ranks} ranks failed:\n{done.stderr}")
    return json.loads(done.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description="training steps on several ranks")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    found = {ranks: launched(ranks) for ranks in options.ranks}
    if options.json:
        print(json.dumps({"circumstances": circumstances(), "seconds": found}, indent=2))
        return 0
    table = Table(title="the best step of the first rank, milliseconds")
    for heading in ("case", "ranks", "step", "computing", "communication", "copies"):
        table.add_column(heading, justify="right")
    for name in CASES:
        for ranks, results in found.items():
            times = (
                f"{results[name][k] * 1e3:.1f}" for k in ("step", "computing", "communication", "copies")
            )
            table.add_row(name, str(ranks), *times)
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    console.print(", ".join(f"{key} {value}" for key, value in circumstances().items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

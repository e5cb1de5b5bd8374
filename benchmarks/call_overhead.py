"""The time of a small call: a jitted add of two arrays of four float32, in adze and in JAX.

Output: microseconds per call, for arrays on the device, for NumPy inputs, for NumPy inputs and result, and
for a tree of nine arrays as argument, with one array or such a tree as result.
One process measures all candidates in interleaved rounds, and the fastest burst counts.

    python benchmarks/call_overhead.py --rounds 30
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from _device import add_device_option, checked_device, use_device
from _measure import circumstances, interleaved
from _peers import Peer, adze_peer, jax_peer
from rich.console import Console
from rich.table import Table

LEFT = np.arange(4, dtype=np.float32)
RIGHT = np.ones(4, np.float32)
WAYS = ("device arrays", "NumPy in", "NumPy in and out", "tree to array", "tree to tree")


def main() -> int:
    parser = argparse.ArgumentParser(description="the time of a jitted add of two four-element arrays")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_device_option(parser)
    options = parser.parse_args()
    use_device(checked_device(parser, options.device))

    peers = (adze_peer(), jax_peer())
    seconds = interleaved(
        {f"{peer.name}, {way}": call for peer in peers for way, call in calls_of(peer).items()},
        options.rounds,
    )
    if options.json:
        print(json.dumps({"circumstances": circumstances(), "seconds": seconds}, indent=2))
        return 0
    table = Table(title="jitted add of two float32[4], microseconds per call")
    for heading in ("", "adze", "jax", "jax/adze"):
        table.add_column(heading, justify="right")
    for way in WAYS:
        adze, jax = seconds[f"adze, {way}"], seconds[f"jax, {way}"]
        table.add_row(way, f"{adze * 1e6:.2f}", f"{jax * 1e6:.2f}", f"{jax / adze:.2f}")
    Console().print(table)
    return 0


def calls_of(peer: Peer) -> dict[str, Callable[[], Any]]:
    """The compiled add, called in the three ways; each call returns when the result is available."""
    add = peer.compile(lambda a, b: a + b)
    wait = peer.wait
    left, right = peer.place(LEFT), peer.place(RIGHT)
    tree = {"a": [left, right, left], "b": {"w": right, "b": right}, "c": (right, right, [right, right])}
    first = peer.compile(lambda t: t["a"][0] + 1)
    every = peer.compile(
        lambda t: {
            "a": [x + 1 for x in t["a"]],
            "b": {name: x + 1 for name, x in t["b"].items()},
            "c": (t["c"][0] + 1, t["c"][1] + 1, [x + 1 for x in t["c"][2]]),
        }
    )
    ways = (
        lambda: wait(add(left, right)),
        lambda: wait(add(LEFT, RIGHT)),
        lambda: np.asarray(add(LEFT, RIGHT)),
        lambda: wait(first(tree)),
        lambda: wait(every(tree)["a"][0]),
    )
    for way in ways:
        if np.asarray(way()).tolist() != [1.0, 2.0, 3.0, 4.0]:
            raise SystemExit(f"{peer.name} adds wrongly")
    return dict(zip(WAYS, ways, strict=True))


if __name__ == "__main__":
    sys.exit(main())

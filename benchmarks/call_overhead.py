"""The time of a small call: a jitted function of arrays of four float32, in adze and in JAX.

Output: microseconds a call for each way of calling: arrays on the device, in host memory and NumPy's, numbers
of Python, trees, static and donated arguments, and a program that was written to a file and loaded.
One process measures all candidates in interleaved rounds, and the fastest burst counts.

    python benchmarks/call_overhead.py --rounds 30
"""

import argparse
import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _device import add_device_option, checked_device, use_device
from _measure import circumstances, interleaved
from _peers import Peer, adze_peer, jax_peer
from rich.console import Console
from rich.table import Table

LEFT = np.arange(4, dtype=np.float32)
RIGHT = np.ones(4, np.float32)
RESULT = (LEFT + RIGHT).tolist()


@dataclasses.dataclass
class Layer:
    """A node of trees, registered with each library."""

    weights: Any
    bias: Any


def main() -> int:
    parser = argparse.ArgumentParser(description="the time of a jitted add of two four-element arrays")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_device_option(parser)
    options = parser.parse_args()
    use_device(checked_device(parser, options.device))

    with tempfile.TemporaryDirectory() as folder:
        calls = {peer.name: calls_of(peer, Path(folder)) for peer in (adze_peer(), jax_peer())}
        seconds = interleaved(
            {f"{name}, {way}": call for name, ways in calls.items() for way, call in ways.items()},
            options.rounds,
        )
    if options.json:
        print(json.dumps({"circumstances": circumstances(), "seconds": seconds}, indent=2))
        return 0
    table = Table(title="a call of a jitted function of float32[4], microseconds")
    for heading in ("", "adze", "jax", "jax/adze"):
        table.add_column(heading, justify="right")
    for way in calls["adze"]:
        adze, jax = seconds[f"adze, {way}"], seconds[f"jax, {way}"]
        table.add_row(way, f"{adze * 1e6:.2f}", f"{jax * 1e6:.2f}", f"{jax / adze:.2f}")
    Console().print(table)
    return 0


def calls_of(peer: Peer, folder: Path) -> dict[str, Callable[[], Any]]:
    """The ways of a call; each returns when its result is available."""
    ways = {**calls_of_leaves(peer, folder), **calls_of_trees(peer), **calls_with_options(peer)}
    for name, way in ways.items():
        for _ in range(2):
            if np.asarray(way()).tolist() != RESULT:
                raise SystemExit(f"{peer.name} adds wrongly: {name}")
    return ways


def calls_of_leaves(peer: Peer, folder: Path) -> dict[str, Callable[[], Any]]:
    """Calls with two arrays or numbers."""
    add, wait = peer.compile(lambda a, b: a + b), peer.wait
    left, right = peer.place(LEFT), peer.place(RIGHT)
    here, there = peer.xp.asarray(LEFT), peer.xp.asarray(RIGHT)
    number = np.float32(1)
    loaded = saved_and_loaded(peer, folder, lambda a, b: a + b)
    return {
        "device arrays": lambda: wait(add(left, right)),
        "arrays of asarray": lambda: wait(add(here, there)),
        "NumPy in": lambda: wait(add(LEFT, RIGHT)),
        "NumPy in and out": lambda: np.asarray(add(LEFT, RIGHT)),
        "array and number": lambda: wait(add(left, 1.0)),
        "array and NumPy's number": lambda: wait(add(left, number)),
        "loaded, device arrays": lambda: wait(loaded(left, right)),
        "loaded, NumPy in and out": lambda: np.asarray(loaded(LEFT, RIGHT)),
    }


def calls_of_trees(peer: Peer) -> dict[str, Callable[[], Any]]:
    """Calls with nine arrays, and with parameters, a batch and a rate."""
    wait, left, right = peer.wait, peer.place(LEFT), peer.place(RIGHT)
    tree = {"a": [left, right, left], "b": {"w": right, "b": right}, "c": (right, right, [right, right])}
    first = peer.compile(lambda t: t["a"][0] + 1)
    every = peer.compile(
        lambda t: {
            "a": [x + 1 for x in t["a"]],
            "b": {name: x + 1 for name, x in t["b"].items()},
            "c": (t["c"][0] + 1, t["c"][1] + 1, [x + 1 for x in t["c"][2]]),
        }
    )
    step = peer.compile(lambda p, x, rate: {name: [w + rate * x for w in ws] for name, ws in p.items()})
    parameters = {"a": [left, right], "b": [left, right]}
    peer.library.tree_util.register_dataclass(Layer, ["weights", "bias"], [])
    of_layer = peer.compile(lambda layer: Layer(layer.weights + layer.bias, layer.bias))
    layer = Layer(left, right)
    return {
        "tree to array": lambda: wait(first(tree)),
        "tree to tree": lambda: wait(every(tree)["a"][0]),
        "tree, NumPy's batch, number": lambda: wait(step(parameters, RIGHT, 1.0)["a"][0]),
        "dataclass to dataclass": lambda: wait(of_layer(layer).weights),
    }


def calls_with_options(peer: Peer) -> dict[str, Callable[[], Any]]:
    """Calls with static arguments, and of a loop whose state is donated."""
    jit, wait, left, right = peer.library.jit, peer.wait, peer.place(LEFT), peer.place(RIGHT)
    static = jit(lambda a, n, sign: a + n * sign, static_argnums=1, static_argnames="sign")
    step = jit(lambda state, change: state + change, donate_argnums=0)
    none = peer.place(np.zeros(4, np.float32))
    states = [step(peer.place(LEFT), right)]

    def donated() -> Any:
        states[0] = step(states[0], none)
        return wait(states[0])

    return {
        "static argument": lambda: wait(static(left, 1, 1)),
        "static, by name": lambda: wait(static(left, 1, sign=1)),
        "donated state": donated,
    }


def saved_and_loaded(peer: Peer, folder: Path, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` of two arrays as a program of a file: a `.vmfb`, or what `jax.export` writes."""
    if peer.name == "adze":
        path = folder / "add.vmfb"
        peer.library.trace(function, LEFT, RIGHT).lower().compile().save(path)
        loaded: Callable[..., Any] = peer.library.load(path)
        return loaded
    from jax import export

    written = export.export(peer.library.jit(function))(LEFT, RIGHT).serialize()
    return peer.compile(export.deserialize(written).call)


if __name__ == "__main__":
    sys.exit(main())

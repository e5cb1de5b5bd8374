"""Loops in adze and JAX on the CPU: an RNN as a scan, its gradient, and Newton's method as a while_loop.

Output: a table (or JSON) of milliseconds per call. Both libraries run the same function in one process, in
interleaved rounds. Results are compared before they are timed.

    python benchmarks/loops.py --rounds 12
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from _measure import circumstances, interleaved
from _peers import adze_peer, jax_peer
from rich.console import Console
from rich.table import Table

Function = Callable[..., Any]


def rnn(xp: Any, lax: Any, grad: Any) -> Function:
    """64 steps of an RNN layer of width 128 on a batch of 32."""

    def run(weights: Any, hidden: Any, inputs: Any) -> Any:
        def step(h: Any, x: Any) -> Any:
            h = xp.tanh(h @ weights + x)
            return h, h

        return lax.scan(step, hidden, inputs)[1]

    return run


def rnn_gradient(xp: Any, lax: Any, grad: Any) -> Function:
    run = rnn(xp, lax, grad)
    return grad(lambda w, h, x: xp.mean(run(w, h, x) ** 2))


def newton(xp: Any, lax: Any, grad: Any) -> Function:
    """Cube roots of 1024 numbers by Newton's method, until no step is larger than 1e-6."""

    def run(numbers: Any) -> Any:
        def go_on(state: Any) -> Any:
            return (xp.max(xp.abs(state[1])) > 1e-6) & (state[2] < 100)

        def step(state: Any) -> Any:
            x, _, count = state
            move = (x * x * x - numbers) / (3 * x * x)
            return x - move, move, count + 1

        start = (xp.ones_like(numbers), xp.ones_like(numbers), np.int32(0))
        return lax.while_loop(go_on, step, start)[0]

    return run


def cases() -> dict[str, tuple[Function, tuple[np.ndarray, ...]]]:
    rng = np.random.default_rng(0)
    weights = (0.05 * rng.standard_normal((128, 128))).astype(np.float32)
    hidden = rng.standard_normal((32, 128)).astype(np.float32)
    inputs = rng.standard_normal((64, 32, 128)).astype(np.float32)
    numbers = rng.uniform(1, 1000, 1024).astype(np.float32)
    return {
        "scan RNN 64 x 32 x 128": (rnn, (weights, hidden, inputs)),
        "scan RNN, gradient": (rnn_gradient, (weights, hidden, inputs)),
        "while Newton 1024": (newton, (numbers,)),
    }


def measured(make: Function, inputs: tuple[np.ndarray, ...], rounds: int) -> dict[str, float]:
    """Check that both libraries agree, then measure the seconds per call of each."""
    import jax

    import adze
    from adze import lax

    namespaces = {"adze": (lax, adze.grad), "jax": (jax.lax, jax.grad)}
    calls = {}
    for peer in (adze_peer(), jax_peer()):
        function = make(peer.xp, *namespaces[peer.name])
        calls[peer.name] = peer.prepared(lambda _, *arrays, f=function: f(*arrays), inputs)
    results = {name: np.asarray(call()) for name, call in calls.items()}
    if not np.allclose(results["adze"], results["jax"], rtol=1e-3, atol=1e-5):
        raise SystemExit(f"adze and jax differ by {np.abs(results['adze'] - results['jax']).max()}")
    return interleaved(calls, rounds)


def report(title: str, cases: dict[str, tuple[Function, tuple[np.ndarray, ...]]]) -> int:
    """Measure the cases with the options of the command line, and print the times."""
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--rounds", type=int, default=10, help="rounds of each library; the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    rows = {name: measured(make, inputs, options.rounds) for name, (make, inputs) in cases.items()}
    if options.json:
        print(json.dumps({"circumstances": circumstances(), "seconds": rows}, indent=2))
        return 0
    table = Table(title=f"{title}: {circumstances()['processor']}, best of {options.rounds} rounds")
    for heading in ("case", "adze ms", "jax ms", "jax/adze"):
        table.add_column(heading, justify="left" if heading == "case" else "right", no_wrap=True)
    for name, seconds in rows.items():
        ratio = seconds["jax"] / seconds["adze"]
        table.add_row(name, f"{seconds['adze'] * 1e3:.3f}", f"{seconds['jax'] * 1e3:.3f}", f"{ratio:.2f}")
    Console(width=None if sys.stdout.isatty() else 100).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(report("loops beside JAX", cases()))

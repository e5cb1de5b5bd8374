"""Eager ops, gradient steps of a small MLP, trees of many leaves, loops, nothing jitted: adze beside JAX.

Prints microseconds of CPU time of one thread a step, the best of several rounds that take turns. Run it on
one core: `taskset -c 0 python benchmarks/eager.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


def mlp_step(jax: Any, depth: int, width: int) -> Callable[[], Any]:
    """A step of gradient descent on an MLP of `depth` layers, as a user writes it at a prompt."""
    jnp, random = jax.numpy, jax.random
    keys = random.split(random.PRNGKey(0), depth)
    params = [{"w": random.normal(k, (width, width)) * width**-0.5, "b": jnp.zeros(width)} for k in keys]
    x = random.normal(random.PRNGKey(1), (32, width))

    def loss(params: Any) -> Any:
        h = x
        for layer in params:
            h = jnp.tanh(h @ layer["w"] + layer["b"])
        return (h**2).mean()

    def step() -> Any:
        nonlocal params
        gradient = jax.grad(loss)(params)
        params = jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient)
        return jax.block_until_ready(params)

    return step


def tree_step(jax: Any, leaves: int) -> Callable[[], Any]:
    """The gradient of a sum over a tree of so many leaves, nested two deep."""
    jnp = jax.numpy
    tree = [{"a": jnp.ones(2), "b": {"c": jnp.ones(2)}} for _ in range(leaves // 2)]

    def loss(tree: Any) -> Any:
        total = 0.0
        for leaf in jax.tree.leaves(tree):
            total = total + leaf.sum()
        return total

    return lambda: jax.block_until_ready(jax.grad(loss)(tree))


def sampler(jax: Any, length: int) -> Callable[[], Any]:
    """A random walk with gradients: one loop of so many steps, outside `jit`."""
    jnp, random = jax.numpy, jax.random
    keys = random.split(random.PRNGKey(0), length)
    slope = jax.grad(lambda x: -0.5 * jnp.sum(x**2))

    def move(x: Any, key: Any) -> Any:
        x = x + 0.01 * slope(x) + 0.1 * random.normal(key, x.shape)
        return x, x

    return lambda: jax.block_until_ready(jax.lax.scan(move, jnp.zeros(4), keys))


def counter(jax: Any, count: int) -> Callable[[], Any]:
    """A loop that ends when it is done, outside `jit`."""
    return lambda: jax.lax.while_loop(lambda n: n < count, lambda n: n + 1, jax.numpy.int32(0))


def hundred(jax: Any, function: Callable[[Any, Any], Any]) -> Callable[[], Any]:
    """A function of `jax.numpy` and a matrix of 4 x 4, a hundred times."""
    x = jax.numpy.ones((4, 4))

    def step() -> None:
        for _ in range(100):
            function(jax.numpy, x)

    return step


def of_matrix(jax: Any, order: int, function: Callable[[Any, Any], Any]) -> Callable[[], Any]:
    """A function of `jax.numpy.linalg` and a symmetric, positive definite matrix."""
    square = np.random.default_rng(0).standard_normal((order, order)).astype(np.float32)
    matrix = jax.numpy.asarray(square @ square.T + order * np.eye(order, dtype=np.float32))
    return lambda: jax.block_until_ready(function(jax.numpy.linalg, matrix))


def draws(jax: Any, draw: Callable[[Any, Any], Any]) -> Callable[[], Any]:
    """A hundred times a key is split, and one part drawn from."""
    key = jax.random.PRNGKey(0)

    def step() -> Any:
        nonlocal key
        for _ in range(100):
            key, part = jax.random.split(key)
            drawn = draw(jax.random, part)
        return jax.block_until_ready(drawn)

    return step


def best(steps: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The least CPU time of one call of each, in microseconds; they take turns."""
    for step in steps.values():
        step()
        step()
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(rounds):
        for name, step in steps.items():
            start = time.thread_time()
            step()
            least[name] = min(least[name], (time.thread_time() - start) * 1e6)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cases", default="", help="only cases whose name has this text")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    import jax

    import adze.compat.jax as adze

    cases: dict[str, Callable[[Any], Callable[[], Any]]] = {
        "100 times x + 1": lambda lib: hundred(lib, lambda _, x: x + 1),
        "100 times x + x": lambda lib: hundred(lib, lambda _, x: x + x),
        "100 times where": lambda lib: hundred(lib, lambda m, x: m.where(x > 0, x, 0)),
        "100 times x @ x": lambda lib: hundred(lib, lambda _, x: x @ x),
        "100 times x[0]": lambda lib: hundred(lib, lambda _, x: x[0]),
        "100 times set": lambda lib: hundred(lib, lambda _, x: x.at[0].set(1.0)),
        "100 times take": lambda lib: hundred(lib, lambda m, x: m.take(x, np.array([2, 0]), axis=0)),
        "solve of 4": lambda lib: of_matrix(lib, 4, lambda m, x: m.solve(x, x[0])),
        "solve of 300": lambda lib: of_matrix(lib, 300, lambda m, x: m.solve(x, x[0])),
        "inverse of 20": lambda lib: of_matrix(lib, 20, lambda m, x: m.inv(x)),
        "eigh of 50": lambda lib: of_matrix(lib, 50, lambda m, x: m.eigh(x)[0]),
        "100 draws of normal": lambda lib: draws(lib, lambda m, key: m.normal(key, (10,))),
        "100 draws of randint": lambda lib: draws(lib, lambda m, key: m.randint(key, (10,), 0, 5)),
        "MLP of 2 layers": lambda lib: mlp_step(lib, 2, 32),
        "MLP of 4 layers": lambda lib: mlp_step(lib, 4, 64),
        "tree of 50 leaves": lambda lib: tree_step(lib, 50),
        "tree of 200 leaves": lambda lib: tree_step(lib, 200),
        "tree of 800 leaves": lambda lib: tree_step(lib, 800),
        "sampler of 20 steps": lambda lib: sampler(lib, 20),
        "sampler of 2000": lambda lib: sampler(lib, 2000),
        "count to 20": lambda lib: counter(lib, 20),
        "count to 20000": lambda lib: counter(lib, 20_000),
    }
    chosen = {name: case for name, case in cases.items() if options.cases in name}
    report = {n: best({"adze": c(adze), "jax": c(jax)}, options.rounds) for n, c in chosen.items()}
    if options.json:
        print(json.dumps(report))
        return
    print(f"{'':20}{'adze us':>10}{'jax us':>10}{'ratio':>8}")
    for name, times in report.items():
        print(f"{name:20}{times['adze']:10.0f}{times['jax']:10.0f}{times['adze'] / times['jax']:8.2f}")


if __name__ == "__main__":
    main()

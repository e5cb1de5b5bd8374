"""The time of a compiled training step of the digits example (forward, backward, update), beside JAX.

Input: the networks and optimizers of `examples/digits`, and the same steps written for JAX below.
Output: a table (or JSON) of milliseconds per step.

The steps of both libraries start from the same weights. Their results are compared before they are timed, in
interleaved rounds of one process.

    python benchmarks/training_step.py --rounds 15
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from _device import add_device_option, checked_device, use_device
from _measure import circumstances, interleaved
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "digits"))

import dataset
import train
from networks import NETWORKS

STEPS = 1000
Params = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description="training steps of the digits example, beside JAX")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of each program; the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_device_option(parser)
    options = parser.parse_args()
    use_device(checked_device(parser, options.device))
    digits = dataset.load()
    batch = (digits.train_images[: train.BATCH], digits.train_labels[: train.BATCH])
    seconds = {network: measured(network, batch, options.rounds) for network in NETWORKS}
    if options.json:
        print(json.dumps({"circumstances": circumstances(), "seconds": seconds}, indent=2))
        return 0
    table = Table(title=f"one training step, batch of {train.BATCH}")
    for heading in ("network", "adze", "jax", "jax / adze"):
        table.add_column(heading, justify="right")
    for network, by_library in seconds.items():
        times = [f"{by_library[library] * 1e3:.3f} ms" for library in ("adze", "jax")]
        table.add_row(network, *times, f"{by_library['jax'] / by_library['adze']:.2f}")
    console = Console(width=None if sys.stdout.isatty() else 110)
    console.print(table)
    console.print(", ".join(f"{key} {value}" for key, value in circumstances().items()))
    return 0


def measured(network: str, batch: tuple[Any, Any], rounds: int) -> dict[str, float]:
    """Check that the first step returns the same weights in both libraries, then time the steps."""
    params = NETWORKS[network].initial(np.random.default_rng(train.SEED))
    calls = {"adze": adze_step(network, params, batch), "jax": jax_step(network, params, batch)}
    ours, theirs = (call() for call in calls.values())
    for name in params:
        if not np.allclose(ours[name], theirs[name], rtol=1e-3, atol=1e-5):
            raise SystemExit(f"{network}: adze and jax disagree on {name} after one step")
    return interleaved(calls, rounds)


def adze_step(network: str, params: Params, batch: tuple[Any, Any]) -> Callable[[], Params]:
    """The step of the example; each call continues from the result of the previous call."""
    optimizer = train.RECIPES[network].optimizer(STEPS)
    step = train.training_step(network, optimizer)
    return going_on(step, params, optimizer.init(params), batch, lambda loss: loss.block_until_ready())


def jax_step(network: str, params: Params, batch: tuple[Any, Any]) -> Callable[[], Params]:
    """The same step in JAX."""
    scores, update = {"mlp": (jax_mlp_scores, descend), "conv": (jax_conv_scores, adapt)}[network]

    def loss(params: Params, images: Any, labels: Any) -> Any:
        logs = jax.nn.log_softmax(scores(params, images))
        return -jnp.take_along_axis(logs, labels[:, None], axis=-1).mean()

    @jax.jit
    def step(params: Params, state: Any, images: Any, labels: Any) -> tuple[Params, Any, Any]:
        value, gradient = jax.value_and_grad(loss)(params, images, labels)
        params, state = update(params, state, gradient)
        return params, state, value

    still = {name: jnp.zeros_like(value) for name, value in params.items()}
    return going_on(step, params, (jnp.int32(0), still, still), batch, lambda loss: loss.block_until_ready())


def going_on(
    step: Any, params: Params, state: Any, batch: tuple[Any, Any], wait: Callable[[Any], Any]
) -> Callable[[], Params]:
    """A function without arguments that takes the next step and returns the weights."""
    current = [params, state]

    def call() -> Params:
        current[0], current[1], loss = step(*current, *batch)
        wait(loss)
        return current[0]

    return call


def jax_mlp_scores(params: Params, images: Any) -> Any:
    hidden = jax.nn.relu(images.reshape(-1, 64) @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def jax_conv_scores(params: Params, images: Any) -> Any:
    def block(x: Any, kernel: Any, bias: Any) -> Any:
        layout = ("NHWC", "HWIO", "NHWC")
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=layout)
        n, h, w, c = y.shape
        return jax.nn.relu(y + bias).reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))

    x = block(images[..., None], params["k1"], params["b1"])
    x = block(x, params["k2"], params["b2"])
    return x.reshape(-1, 128) @ params["w3"] + params["b3"]


def descend(params: Params, state: Any, gradient: Params) -> tuple[Params, Any]:
    """Gradient descent with momentum, as in the recipe of the example."""
    step, trace, unused = state
    trace = {k: 0.9 * trace[k] + g for k, g in gradient.items()}
    rate = 0.1 * falling(step)
    return {k: p - rate * trace[k] for k, p in params.items()}, (step + 1, trace, unused)


def adapt(params: Params, state: Any, gradient: Params) -> tuple[Params, Any]:
    """Adam, as in the recipe of the example."""
    step, mean, square = state
    rate, count = 5e-3 * falling(step), (step + 1).astype(jnp.float32)
    mean = {k: 0.9 * mean[k] + 0.1 * g for k, g in gradient.items()}
    square = {k: 0.999 * square[k] + 0.001 * g * g for k, g in gradient.items()}
    moves = {
        k: (mean[k] / (1 - 0.9**count)) / (jnp.sqrt(square[k] / (1 - 0.999**count)) + 1e-8) for k in params
    }
    return {k: p - rate * moves[k] for k, p in params.items()}, (step + 1, mean, square)


def falling(step: Any) -> Any:
    """The factor of the learning rate: half a cosine, from 1 to 0 in `STEPS` steps."""
    return 0.5 * (1 + jnp.cos(math.pi * jnp.clip(step.astype(jnp.float32) / STEPS, 0, 1)))


if __name__ == "__main__":
    sys.exit(main())

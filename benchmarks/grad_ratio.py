"""The cost of a gradient: the time of value_and_grad(f) divided by that of f, compiled, beside JAX.

Input: nets of the family `nets`.
Output: a table (or JSON) of milliseconds per call, and the ratio in both libraries.

One process measures the four programs of a net in interleaved rounds. Gradients are compared before they
are timed.

    python benchmarks/grad_ratio.py --rounds 15
    python benchmarks/grad_ratio.py --cases attention,mlp --json
"""

import argparse
import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from _case import Draw
from _device import add_device_option, checked_device, use_device
from _measure import circumstances, interleaved
from _peers import Peer, adze_peer, jax_peer, leaves
from families import elementwise, nets
from rich.console import Console
from rich.progress import track
from rich.table import Table

# The table marks a ratio above ACCEPTED_RATIO, or above JAX's ratio times ACCEPTED_TO_JAX.
ACCEPTED_RATIO = 3.5
ACCEPTED_TO_JAX = 1.2


@dataclass(frozen=True)
class Net:
    """A loss of parameters and data; `parameters` inputs come first, and gradients are those of them."""

    name: str
    loss: Callable[..., Any]
    inputs: Callable[[Draw], tuple[Any, ...]]
    parameters: int

    def arrays(self) -> tuple[Any, ...]:
        return self.inputs(Draw(np.random.default_rng(0)))


def dense_net_loss(peer: Peer, *arrays: Any) -> Any:
    *params, images = arrays
    return nets.mean_square(nets.dense_net)(peer, images, *params)


def dense_net_inputs(draw: Draw) -> tuple[Any, ...]:
    images, *params = nets.dense_inputs(128)(draw)
    return (*params, images)


NETS = (
    Net("MLP + MSE", dense_net_loss, dense_net_inputs, 6),
    Net(
        "softmax cross entropy",
        nets.cross_entropy,
        lambda draw: (draw.normal(1024, 1000), draw.integers(1000, 1024)),
        1,
    ),
    Net(
        "layer norm",
        nets.mean_square(elementwise.layer_norm),
        lambda draw: (draw.normal(1024, 1024), draw.normal(1024), draw.normal(1024)),
        3,
    ),
    Net("attention", nets.mean_square(nets.attention), nets.heads, 3),
    Net("conv net", nets.conv_net_loss, nets.classifier, 4),
)


@dataclass(frozen=True)
class Row:
    """Seconds of the function and of its value and gradient in each library, or the error of adze."""

    net: str
    function: dict[str, float]
    gradient: dict[str, float]
    error: str = ""

    def ratio(self, peer: str) -> float:
        return self.gradient[peer] / self.function[peer]

    @property
    def is_accepted(self) -> bool:
        if self.error:
            return False
        limit = min(ACCEPTED_RATIO, ACCEPTED_TO_JAX * self.ratio("jax"))
        return self.ratio("adze") <= limit


def main() -> int:
    parser = argparse.ArgumentParser(description="the cost of gradients in adze beside JAX")
    parser.add_argument("--cases", default="", help="comma separated; each picks the nets that contain it")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of each program; the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    add_device_option(parser)
    options = parser.parse_args()
    use_device(checked_device(parser, options.device))
    console = Console(stderr=options.json, width=None if sys.stdout.isatty() else 110)

    nets = chosen(NETS, options.cases)
    if not nets:
        console.print(f"[red]no net contains[/red] {options.cases}")
        return 2
    peers = (adze_peer(), jax_peer())
    rows = [
        measured_or_explained(net, peers, options.rounds)
        for net in track(nets, "measuring", console=console, disable=not console.is_terminal)
    ]
    if options.json:
        print(json.dumps(as_json(rows), indent=2))
    else:
        console.print(as_table(rows))
        console.print(summary(rows))
    return 1 if any(row.error for row in rows) else 0


def chosen(nets: tuple[Net, ...], text: str) -> list[Net]:
    """The nets whose name contains one of the comma-separated words; all nets for an empty text."""
    words = [word.strip().lower() for word in text.split(",") if word.strip()]
    return [net for net in nets if not words or any(word in net.name.lower() for word in words)]


def measured_or_explained(net: Net, peers: tuple[Peer, ...], rounds: int) -> Row:
    """Measure a net; an error of adze goes into the row, and the other nets are still measured."""
    from adze import AdzeError

    try:
        return measured(net, peers, rounds)
    except AdzeError as error:
        return Row(net.name, {}, {}, str(error))


def measured(net: Net, peers: tuple[Peer, ...], rounds: int) -> Row:
    """Check adze's gradient, then time the four programs in interleaved rounds."""
    functions = {peer.name: prepared(peer, net, lambda f: f) for peer in peers}
    gradients = {peer.name: prepared(peer, net, differentiated(peer, net)) for peer in peers}
    ours = [np.asarray(a) for a in leaves(gradients[peers[0].name]())]
    for k, (one, exact) in enumerate(zip(ours, reference(net), strict=True)):
        scale = float(np.abs(exact).max())
        if one.shape != exact.shape or not np.allclose(one, exact, rtol=1e-3, atol=1e-4 * scale):
            raise SystemExit(f"{net.name}: adze's result {k} is not that of jax in float64")
    calls = {f"{name} f": call for name, call in functions.items()}
    calls |= {f"{name} gradient": call for name, call in gradients.items()}
    seconds = interleaved(calls, rounds)
    return Row(
        net.name,
        {peer.name: seconds[f"{peer.name} f"] for peer in peers},
        {peer.name: seconds[f"{peer.name} gradient"] for peer in peers},
    )


def reference(net: Net) -> list[np.ndarray]:
    """The value and the gradient of jax in float64: in float32 a maximum of the conv net goes another way."""
    import jax

    with jax.enable_x64(True):
        peer = jax_peer()
        wide = [a.astype(np.float64) if a.dtype == np.float32 else a for a in net.arrays()]
        gradient = peer.compile(differentiated(peer, net)(lambda *arrays: net.loss(peer, *arrays)))
        return [np.asarray(a) for a in leaves(gradient(*map(peer.place, wide)))]


def differentiated(peer: Peer, net: Net) -> Callable[[Any], Any]:
    library = importlib.import_module(peer.name)
    return lambda f: library.value_and_grad(f, argnums=tuple(range(net.parameters)))


def prepared(peer: Peer, net: Net, transform: Callable[[Any], Any]) -> Callable[[], Any]:
    """A function without arguments that calls the compiled, transformed loss, inputs on the device."""
    placed = tuple(peer.place(array) for array in net.arrays())
    compiled = peer.compile(transform(lambda *arrays: net.loss(peer, *arrays)))

    return lambda: peer.wait(compiled(*placed))


def as_json(rows: list[Row]) -> dict[str, Any]:
    return {
        "circumstances": circumstances(),
        "rows": [
            {
                **asdict(row),
                **({} if row.error else {f"{name}_ratio": row.ratio(name) for name in ("adze", "jax")}),
                "accepted": row.is_accepted,
            }
            for row in rows
        ],
    }


def as_table(rows: list[Row]) -> Table:
    facts = circumstances()
    table = Table(
        title=f"{facts['processor']}, {facts['cores']} cores, one process, best of interleaved rounds",
        caption=", ".join(f"{name} {facts[name]}" for name in ("jax", "numpy", "iree-base-compiler")),
    )
    table.add_column("net", no_wrap=True)
    for heading in ("adze f ms", "adze v&g ms", "ratio", "jax f ms", "jax v&g ms", "ratio", "jax/adze v&g"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        if row.error:
            table.add_row(row.net, "[red]fails[/red]")
            continue
        ratio = f"{row.ratio('adze'):.2f}"
        table.add_row(
            row.net,
            f"{row.function['adze'] * 1e3:.3f}",
            f"{row.gradient['adze'] * 1e3:.3f}",
            ratio if row.is_accepted else f"[red]{ratio}[/red]",
            f"{row.function['jax'] * 1e3:.3f}",
            f"{row.gradient['jax'] * 1e3:.3f}",
            f"{row.ratio('jax'):.2f}",
            f"{row.gradient['jax'] / row.gradient['adze']:.2f}",
        )
    return table


def summary(rows: list[Row]) -> str:
    above = [row.net for row in rows if not row.is_accepted]
    errors = "".join(f"\n{row.net}: {row.error}" for row in rows if row.error)
    limit = f"{ACCEPTED_RATIO} or {ACCEPTED_TO_JAX} times jax's ratio"
    return (f"above {limit}: {', '.join(above)}" if above else f"none above {limit}") + errors


if __name__ == "__main__":
    sys.exit(main())

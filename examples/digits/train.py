"""Trains the digit networks with adze: forward pass, backward pass and update are one compiled function.

Input: the training images of `dataset.py`.
Output: `output/<network>.npz` with the weights, `output/loss.png` with a plot of the losses.

`adze.value_and_grad` differentiates the loss. `adze.optim` updates the weights: those of the MLP by gradient
descent with momentum, those of the convolutional network by Adam. `adze.jit` compiles the whole step. All
random numbers have fixed seeds.

    python examples/digits/train.py            # takes a few seconds
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import dataset
import numpy as np
from networks import NETWORKS, Params
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import adze
import adze.numpy as anp
from adze import Array, nn, optim

OUTPUT: Final = Path(__file__).resolve().with_name("output")
BATCH: Final = 64
SEED: Final = 0
CURVE_POINTS: Final = 100

Step = Callable[[Params, Any, Array, Array], tuple[Params, Any, Array]]
Watch = Callable[[float], None]


class Recipe(NamedTuple):
    """How a network is trained: the number of epochs, whether each epoch shifts the images, and the optimizer
    for a number of steps."""

    epochs: int
    moves_images: bool
    optimizer: Callable[[int], optim.Optimizer]


RECIPES: Final = {
    "mlp": Recipe(300, True, lambda steps: optim.sgd(optim.cosine_decay(0.1, steps), momentum=0.9)),
    "conv": Recipe(40, False, lambda steps: optim.adam(optim.cosine_decay(5e-3, steps))),
}


class Trained(NamedTuple):
    """The trained weights, and the loss of every step."""

    params: dict[str, NDArray[np.float32]]
    losses: list[float]


def train(
    network: str, digits: dataset.Digits, epochs: int | None = None, watch: Watch | None = None
) -> Trained:
    """Train one network from a fixed seed; `watch` is called with the loss after each step."""
    recipe = RECIPES[network]
    epochs = recipe.epochs if epochs is None else epochs
    rng = np.random.default_rng(SEED)
    optimizer = recipe.optimizer(steps_in(epochs, digits))
    step = training_step(network, optimizer)
    params = NETWORKS[network].initial(rng)
    state = optimizer.init(params)
    losses = []
    for images, labels in batches(digits, epochs, recipe.moves_images, rng):
        params, state, loss = step(params, state, images, labels)
        losses.append(float(loss))
        if watch is not None:
            watch(losses[-1])
    return Trained({name: np.asarray(value) for name, value in params.items()}, losses)


def training_step(network: str, optimizer: optim.Optimizer) -> Step:
    """Forward pass, backward pass and update, compiled as one function."""

    loss_and_gradient = adze.value_and_grad(mean_loss(network))

    @adze.jit
    def step(params: Params, state: Any, images: Array, labels: Array) -> tuple[Params, Any, Array]:
        loss, gradient = loss_and_gradient(params, images, labels)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, loss

    return step


def mean_loss(network: str) -> Callable[[Params, Array, Array], Array]:
    """The loss of a network: the mean cross entropy of a batch."""

    def loss(params: Params, images: Array, labels: Array) -> Array:
        return anp.mean(nn.cross_entropy(NETWORKS[network].scores(params, images), labels))

    return loss


def steps_in(epochs: int, digits: dataset.Digits) -> int:
    """The number of training steps; an incomplete last batch of an epoch is dropped."""
    return epochs * (len(digits.train_images) // BATCH)


def batches(
    digits: dataset.Digits, epochs: int, moves_images: bool, rng: np.random.Generator
) -> Iterator[tuple[Any, Any]]:
    """Batches of images and labels, in a new random order in each epoch."""
    count = len(digits.train_images)
    for _ in range(epochs):
        order = rng.permutation(count)
        images = shifted(digits.train_images, rng) if moves_images else digits.train_images
        for start in range(0, count - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            yield images[chosen], digits.train_labels[chosen]


def shifted(images: NDArray[np.float32], rng: np.random.Generator) -> NDArray[np.float32]:
    """Each image shifted by at most one pixel, which augments the small training set."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    rows, columns = rng.integers(0, 3, (2, len(images)))
    windows = sliding_window_view(padded, images.shape[1:], axis=(1, 2))
    return windows[np.arange(len(images)), rows, columns]


def train_all(digits: dataset.Digits, progress: Progress) -> dict[str, Trained]:
    """Train every network with a progress bar that shows its loss; write the weights and a plot."""
    results = {}
    for network in NETWORKS:
        task = progress.add_task(f"train {network}", total=steps_in(RECIPES[network].epochs, digits), note="")
        results[network] = train(
            network,
            digits,
            watch=lambda loss, task=task: progress.update(task, advance=1, note=f"loss {loss:.4f}"),
        )
    OUTPUT.mkdir(exist_ok=True)
    for network, trained in results.items():
        np.savez(weights_path(network), **trained.params)
    save_loss_curves({network: trained.losses for network, trained in results.items()}, OUTPUT / "loss.png")
    return results


def progress_bar(**options: Any) -> Progress:
    """Progress bars, each with a note such as the loss."""
    return Progress(
        TextColumn("{task.description:11}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        **options,
    )


def weights_path(network: str) -> Path:
    """The file of a network's trained weights."""
    return OUTPUT / f"{network}.npz"


def save_loss_curves(losses: dict[str, list[float]], path: Path) -> None:
    """Plot the loss of each network during its training, on a logarithmic scale."""
    # Matplotlib caches a list of fonts; the cache goes beside the output instead of the user's folders.
    os.environ.setdefault("MPLCONFIGDIR", str(OUTPUT / ".matplotlib"))
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for network, values in losses.items():
        means = [np.mean(part) for part in np.array_split(values, min(len(values), CURVE_POINTS))]
        axes.semilogy(np.linspace(0, 1, len(means)), means, label=f"{network}, {len(values)} steps")
    axes.set(xlabel="share of the training", ylabel="mean loss", title="handwritten digits: training loss")
    axes.legend()
    figure.savefig(path, dpi=120)


def accuracy(network: str, params: Params, digits: dataset.Digits) -> float:
    """The fraction of test images whose label has the highest score."""
    scores = np.asarray(adze.jit(NETWORKS[network].scores)(params, digits.test_images))
    return float((scores.argmax(-1) == digits.test_labels).mean())


def main() -> None:
    digits = dataset.load()
    with progress_bar() as progress:
        results = train_all(digits, progress)
    for network, trained in results.items():
        print(f"{network}: test accuracy {accuracy(network, trained.params, digits):.4f}")


if __name__ == "__main__":
    main()

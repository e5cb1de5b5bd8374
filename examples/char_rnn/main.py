"""A character model: an LSTM that is trained on the project's README and then generates text.

The model is a `scan` over the characters, and `vmap` maps it over the sequences of a batch. The training
step with Adam is one compiled function. A second `scan`, which carries a random key, samples text.

    python examples/char_rnn/main.py --steps 300
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import adze
from adze import lax, nn, optim, random
from adze import numpy as xp

TEXT = Path(__file__).resolve().parents[2] / "README.md"
Params = dict[str, Any]


def corpus(path: Path = TEXT) -> tuple[np.ndarray, str]:
    """Encode the text as indices into its alphabet; returns the indices and the alphabet."""
    text = path.read_text(encoding="utf-8")
    alphabet = "".join(sorted(set(text)))
    return np.array([alphabet.index(c) for c in text], np.int32), alphabet


def initial(letters: int, width: int, seed: int = 0) -> Params:
    """Weights of one LSTM layer between an embedding and the scores; the forget gate starts open."""
    rng = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> np.ndarray:
        return (rng.standard_normal((rows, columns)) / np.sqrt(rows)).astype(np.float32)

    bias = np.zeros(4 * width, np.float32)
    bias[width : 2 * width] = 1.0
    return {
        "embedding": matrix(letters, width),
        "gates": matrix(2 * width, 4 * width),
        "bias": bias,
        "scores": matrix(width, letters),
    }


def cell(params: Params, state: tuple[Any, Any], letter: Any) -> tuple[tuple[Any, Any], Any]:
    """Process one letter; returns the next state, and the scores of the following letter."""
    hidden, memory = state
    joined = xp.concatenate([params["embedding"][letter], hidden])
    write, keep, output, new = xp.split(joined @ params["gates"] + params["bias"], 4)
    memory = nn.sigmoid(keep) * memory + nn.sigmoid(write) * xp.tanh(new)
    hidden = nn.sigmoid(output) * xp.tanh(memory)
    return (hidden, memory), hidden @ params["scores"]


def start(params: Params) -> tuple[Any, Any]:
    width = params["scores"].shape[0]
    return xp.zeros(width, np.float32), xp.zeros(width, np.float32)


def sequence_loss(params: Params, letters: Any) -> Any:
    """The mean cross entropy of one sequence, in nats per letter."""
    _, scores = lax.scan(lambda state, letter: cell(params, state, letter), start(params), letters[:-1])
    log_probabilities = nn.log_softmax(scores)
    return -xp.mean(xp.take_along_axis(log_probabilities, letters[1:, None], axis=1))


def loss(params: Params, batch: Any) -> Any:
    return xp.mean(adze.vmap(sequence_loss, in_axes=(None, 0))(params, batch))


def train(steps: int, width: int = 64, length: int = 48, batch: int = 16) -> tuple[Params, list[float], str]:
    """Train on random sequences of the text; returns the parameters, the losses and the alphabet."""
    letters, alphabet = corpus()
    optimizer = optim.adam(3e-3)

    @adze.jit
    def step(params: Params, state: Any, cuts: Any) -> tuple[Params, Any, Any]:
        value, gradient = adze.value_and_grad(loss)(params, cuts)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    params = initial(len(alphabet), width)
    state, rng, losses = optimizer.init(params), np.random.default_rng(1), []
    for _ in range(steps):
        firsts = rng.integers(0, len(letters) - length - 1, batch)
        cuts = np.stack([letters[i : i + length + 1] for i in firsts])
        params, state, value = step(params, state, cuts)
        losses.append(float(value))
    return params, losses, alphabet


def sample(params: Params, alphabet: str, first: str, count: int, seed: int = 0) -> str:
    """Generate `count` letters after `first`, each drawn from the model's probabilities."""

    def write(carry: Any, _: Any) -> tuple[Any, Any]:
        state, letter, key = carry
        key, drawn = random.split(key)
        state, scores = cell(params, state, letter)
        letter = random.categorical(drawn, scores).astype(np.int32)
        return (state, letter, key), letter

    def run(key: Any) -> Any:
        return lax.scan(write, (start(params), np.int32(alphabet.index(first)), key), None, length=count)[1]

    return first + "".join(alphabet[i] for i in np.asarray(adze.jit(run)(random.key(seed))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--width", type=int, default=96)
    options = parser.parse_args()
    params, losses, alphabet = train(options.steps, options.width)
    print(
        "nats per letter:",
        " ".join(f"{v:.2f}" for v in losses[:: max(1, len(losses) // 10)]),
        f"{losses[-1]:.2f}",
    )
    print(sample(params, alphabet, "T", 240))


if __name__ == "__main__":
    main()

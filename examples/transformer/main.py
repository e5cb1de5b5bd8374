"""A small transformer that is trained on the letters of the project's README and then generates text.

It has two blocks of causal attention. The training step with AdamW is one compiled function, and a `scan`
over random keys samples text from a window of letters.

    python examples/transformer/main.py --steps 300
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


def initial(letters: int, window: int, width: int, heads: int, blocks: int, seed: int = 0) -> Params:
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)

    def block() -> Params:
        return {
            "norm_attention": np.ones(width, np.float32),
            "attend": normal(width, 3 * heads, width // heads),
            "join": normal(width, width),
            "norm_mlp": np.ones(width, np.float32),
            "widen": normal(width, 4 * width),
            "narrow": normal(4 * width, width),
        }

    return {
        "letters": normal(letters, width),
        "places": normal(window, width),
        "blocks": [block() for _ in range(blocks)],
        "scores": normal(width, letters),
    }


def attention(block: Params, x: Any) -> Any:
    """Causal self-attention of one sequence `[time, width]`."""
    time, width = x.shape
    queries, keys, values = xp.split(xp.einsum("tw,whd->thd", x, block["attend"]), 3, axis=1)
    weights = xp.einsum("thd,shd->hts", queries, keys) / np.float32(np.sqrt(queries.shape[2]))
    past = np.tril(np.ones((time, time), bool))
    weights = nn.softmax(xp.where(past, weights, np.float32(-1e9)))
    return xp.reshape(xp.einsum("hts,shd->thd", weights, values), (time, width)) @ block["join"]


def scores(params: Params, letters: Any) -> Any:
    """For each position of one sequence: the scores of the following letter."""
    x = params["letters"][letters] + params["places"][: letters.shape[0]]
    for block in params["blocks"]:
        x = x + attention(block, nn.rms_norm(x) * block["norm_attention"])
        x = x + nn.gelu(nn.rms_norm(x) * block["norm_mlp"] @ block["widen"]) @ block["narrow"]
    return nn.rms_norm(x) @ params["scores"]


def loss(params: Params, batch: Any) -> Any:
    """The mean cross entropy, in nats per letter."""

    def one(letters: Any) -> Any:
        log_probabilities = nn.log_softmax(scores(params, letters[:-1]))
        return -xp.mean(xp.take_along_axis(log_probabilities, letters[1:, None], axis=1))

    return xp.mean(adze.vmap(one)(batch))


def train(
    steps: int, window: int = 48, width: int = 64, heads: int = 4, blocks: int = 2, batch: int = 16
) -> tuple[Params, list[float], str]:
    """Train on random sequences of the text; returns the parameters, the losses and the alphabet."""
    letters, alphabet = corpus()
    optimizer = optim.adamw(2e-3)

    @adze.jit
    def step(params: Params, state: Any, cuts: Any) -> tuple[Params, Any, Any]:
        value, gradient = adze.value_and_grad(loss)(params, cuts)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    params: Params = initial(len(alphabet), window, width, heads, blocks)
    state, rng, losses = optimizer.init(params), np.random.default_rng(1), []
    for _ in range(steps):
        firsts = rng.integers(0, len(letters) - window - 1, batch)
        cuts = np.stack([letters[i : i + window + 1] for i in firsts])
        params, state, value = step(params, state, cuts)
        losses.append(float(value))
    return params, losses, alphabet


def sample(params: Params, alphabet: str, prompt: str, count: int, seed: int = 0) -> str:
    """Generate `count` letters after `prompt`, which is padded or cut to the window."""
    window = params["places"].shape[0]
    begun = np.array([alphabet.index(c) for c in prompt[-window:].rjust(window)], np.int32)

    def write(letters: Any, key: Any) -> tuple[Any, Any]:
        drawn = random.categorical(key, scores(params, letters)[-1]).astype(np.int32)
        return xp.concatenate([letters[1:], drawn[None]]), drawn

    def run(letters: Any, key: Any) -> Any:
        return lax.scan(write, letters, random.split(key, count))[1]

    return "".join(alphabet[i] for i in np.asarray(adze.jit(run)(begun, random.key(seed))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--width", type=int, default=64)
    options = parser.parse_args()
    params, losses, alphabet = train(options.steps, width=options.width)
    print(
        "nats per letter:",
        " ".join(f"{v:.2f}" for v in losses[:: max(1, len(losses) // 10)]),
        f"{losses[-1]:.2f}",
    )
    print(sample(params, alphabet, "adze compiles ", 200))


if __name__ == "__main__":
    main()

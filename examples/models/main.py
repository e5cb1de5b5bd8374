"""An ONNX model is fine-tuned in adze, built to one .vmfb and run by what loads programs.

The model is a residual network or a transformer block that `networks.py` writes; any other file will do that
takes one array of floats. Its weights are parameters of the function that `adze.from_onnx` returns, so the
gradient of a loss is one more compiled program.

    python examples/models/main.py --model resnet --steps 20
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import networks
import numpy as np
import onnx

import adze
from adze import numpy as xp
from adze import optim

MODELS = {"resnet": networks.resnet, "transformer": networks.transformer}
STATISTICS = (".mean", ".var")


def fine_tuned(
    model: adze.imports.OnnxFunction, x: np.ndarray, y: np.ndarray, steps: int
) -> tuple[Any, list[float]]:
    """Parameters after some steps of Adam on a squared error, and the loss at each step."""
    # Means and variances of batch normalizations are measured, not trained.
    fixed = {name: w for name, w in model.parameters.items() if name.endswith(STATISTICS)}
    params = {name: w for name, w in model.parameters.items() if name not in fixed}
    optimizer = optim.adam(1e-3)

    @adze.jit
    def step(params: Any, state: Any) -> Any:
        def loss(params: Any) -> Any:
            return xp.mean((model.apply({**params, **fixed}, x) - y) ** 2)

        value, gradient = adze.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradient, state, params)
        return optim.apply_updates(params, updates), state, value

    state, losses = optimizer.init(params), []
    for _ in range(steps):
        params, state, value = step(params, state)
        losses.append(float(value))
    return {**params, **fixed}, losses


def main() -> None:
    parser = argparse.ArgumentParser(description="fine-tune, build and run an ONNX model")
    parser.add_argument("--model", choices=MODELS, default="resnet")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{options.model}.onnx"
        onnx.save(MODELS[options.model](), file)
        model = adze.from_onnx(file)
        print(model)
        draws = np.random.default_rng(0)
        (spec,) = model.specs.values()
        x = draws.standard_normal((options.batch, *spec.shape[1:])).astype(np.float32)
        y = draws.standard_normal(np.shape(model(x))).astype(np.float32)
        params, losses = fine_tuned(model, x, y, options.steps)
        print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} in {options.steps} steps")
        # The trained weights are constants of the program; the batch stays a named dimension.
        program = Path(folder) / f"{options.model}.vmfb"
        adze.jit(lambda x: model.apply(params, x)).trace(spec).lower("cpu").compile().save(program)
        result = np.asarray(adze.load(program)(x))
        difference = np.abs(result - np.asarray(model.apply(params, x))).max()
        print(f"{program.name}: {program.stat().st_size / 1024:.0f} KiB, off by {difference:.1e} from NumPy")


if __name__ == "__main__":
    main()

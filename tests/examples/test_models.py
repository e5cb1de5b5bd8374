"""The example of imported models: each is fine-tuned for a few steps, built, and run by `adze.load`."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adze

pytest.importorskip("onnx", reason="the package onnx (extra `onnx`) is not installed")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "models"


@pytest.fixture
def networks(module_of: Callable[[Path, str], ModuleType]) -> Any:
    return module_of(EXAMPLE, "networks")


def test_a_step_of_gradient_descent_helps(networks: Any) -> None:
    """Eagerly, small, by the gradient of the imported function."""
    draws = np.random.default_rng(0)
    for proto, shape in (
        (networks.resnet((4,), 8), (2, 3, 8, 8)),
        (networks.transformer(8, 2, 3, 16), (2, 3, 8)),
    ):
        model = adze.from_onnx(proto)
        x = draws.standard_normal(shape).astype(np.float32)
        target = np.asarray(model(x)) + np.float32(1)

        def loss(params: Any, model: Any = model, x: Any = x, target: Any = target) -> Any:
            return ((model.apply(params, x) - target) ** 2).mean()

        before, gradient = adze.value_and_grad(loss)(model.parameters)
        moved = {name: w - 1e-3 * gradient[name] for name, w in model.parameters.items()}
        assert 0.1 < float(loss(moved)) < float(before)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["resnet", "transformer"])
def test_the_example(name: str, networks: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(sys, "argv", ["main.py", "--model", name, "--steps", "3", "--batch", "2"])
    names: dict[str, Any] = {"__name__": "__main__"}
    exec((EXAMPLE / "main.py").read_text(), names)
    out = capsys.readouterr().out
    first, last = out.split("loss ")[1].split(" in ")[0].split(" -> ")
    assert float(last) < float(first)
    assert float(out.split("off by ")[1].split()[0]) < 1e-3

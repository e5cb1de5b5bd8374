"""The digits example: its data, the gradients it trains with, the training, and the demo itself.

The gradients are checked on their own (finite differences in float64); the demo is run once as a user runs it
and read from its output and the files that it leaves.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ..selection import quick_first

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


@pytest.fixture
def train(module_of: Callable[[Path, str], ModuleType]) -> ModuleType:
    """The example's `train` module, imported as its own script would import its neighbours."""
    pytest.importorskip("sklearn", reason="the digit images ship inside scikit-learn")
    return module_of(DIGITS, "train")


def test_split_is_fixed_and_covers_every_image(train: ModuleType) -> None:
    digits = train.dataset.load()
    assert digits.train_images.shape == (1437, 8, 8)
    assert digits.test_images.shape == (360, 8, 8)
    assert digits.train_images.dtype == digits.test_images.dtype == np.float32
    assert digits.test_labels[:10].tolist() == [0, 5, 0, 5, 0, 5, 0, 5, 8, 3]


@pytest.mark.parametrize("network", ["mlp", "conv"])
def test_gradient_is_the_slope_of_the_loss(train: ModuleType, network: str) -> None:
    rng = np.random.default_rng(1)
    initial = train.NETWORKS[network].initial(rng)
    # Biases away from zero: a relu at exactly zero has no slope to compare with.
    params = {name: value + 0.05 * rng.standard_normal(value.shape) for name, value in initial.items()}
    images, labels = rng.uniform(0.05, 1.0, (5, 8, 8)), rng.integers(0, 10, 5)
    loss = train.mean_loss(network)
    _, gradients = train.adze.value_and_grad(loss)(params, images, labels)
    assert gradients.keys() == params.keys()
    for name, value in params.items():
        direction = rng.standard_normal(value.shape)
        ahead = float(loss({**params, name: value + 1e-6 * direction}, images, labels))
        behind = float(loss({**params, name: value - 1e-6 * direction}, images, labels))
        slope = float(np.sum(np.asarray(gradients[name]) * direction))
        assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)


@pytest.mark.thorough
def test_training_is_the_same_every_time(train: ModuleType) -> None:
    digits = train.dataset.load()
    first, second = (train.train("mlp", digits, epochs=2) for _ in range(2))
    assert first.losses == second.losses
    for name in first.params:
        np.testing.assert_array_equal(first.params[name], second.params[name])


@pytest.mark.parametrize("network", quick_first(["mlp", "conv"], 1))
def test_a_step_is_compiled_once(train: ModuleType, network: str) -> None:
    digits = train.dataset.load()
    optimizer = train.optim.adam(1e-3)
    step = train.training_step(network, optimizer)
    params = train.NETWORKS[network].initial(np.random.default_rng(2))
    state = optimizer.init(params)
    losses = []
    for images, labels in list(train.batches(digits, 1, False, np.random.default_rng(2)))[:6]:
        params, state, loss = step(params, state, images, labels)
        losses.append(float(loss))
    assert step.cache_size() == 1
    assert losses[-1] < losses[0]


@pytest.mark.thorough
def test_loss_curves_are_a_picture(train: ModuleType, tmp_path: Path) -> None:
    train.save_loss_curves({"mlp": [2.0, 1.0, 0.5]}, tmp_path / "loss.png")
    assert (tmp_path / "loss.png").read_bytes().startswith(b"\x89PNG")


def test_building_before_training_says_how_to_train(
    train: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delitem(sys.modules, "model", raising=False)  # the documentation has a module of that name
    import model

    monkeypatch.setattr(train, "OUTPUT", tmp_path)
    with pytest.raises(
        FileNotFoundError, match=r"conv\.npz does not exist: train first, with python .*train\.py"
    ):
        model.predict_conv(np.zeros((1, 8, 8), np.float32))


@pytest.mark.thorough
@pytest.mark.oracle
def test_steps_are_those_of_jax_and_both_are_timed() -> None:
    pytest.importorskip("jax", reason="the benchmark compares with JAX")
    script = DIGITS.parents[1] / "benchmarks" / "training_step.py"
    done = subprocess.run(
        [sys.executable, str(script), "--rounds", "1", "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    seconds = json.loads(done.stdout)["seconds"]
    assert seconds.keys() == {"mlp", "conv"}
    assert all(value > 0 for results in seconds.values() for value in results.values())


@pytest.mark.thorough
def test_demo_trains_builds_runs_and_recognises_digits() -> None:
    done = subprocess.run(
        [sys.executable, str(DIGITS / "demo.py")], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    accuracies = [float(value) for value in re.findall(r"test accuracy: (0\.\d+|1\.0+)", done.stdout)]
    assert len(accuracies) == 2
    assert min(accuracies) >= 0.97
    left = {path.name for path in (DIGITS / "output").iterdir()}
    assert left >= {"mlp.npz", "conv.npz", "mlp.vmfb", "conv.vmfb", "loss.png"}

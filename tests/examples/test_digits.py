"""The digits example: its data, its hand-written gradients, its committed weights, and the demo itself.

The training code is checked on its own (finite differences in float64); the demo is run once as a user
runs it and read from its output.
"""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the digit images ship inside scikit-learn")

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


@pytest.fixture
def train(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example's `train` module, imported as its own script would import its neighbours."""
    monkeypatch.syspath_prepend(str(DIGITS))
    import train

    return train


def test_split_is_fixed_and_covers_every_image(train: ModuleType) -> None:
    digits = train.dataset.load()
    assert digits.train_images.shape == (1437, 8, 8)
    assert digits.test_images.shape == (360, 8, 8)
    assert digits.train_images.dtype == digits.test_images.dtype == np.float32
    assert digits.test_labels[:10].tolist() == [0, 5, 0, 5, 0, 5, 0, 5, 8, 3]


@pytest.mark.parametrize("network", ["mlp", "conv"])
def test_hand_written_gradient_is_the_slope_of_the_loss(train: ModuleType, network: str) -> None:
    rng = np.random.default_rng(1)
    initial = {"mlp": train.initial_mlp, "conv": train.initial_conv}[network](rng)
    gradient_of = {"mlp": train.mlp_loss_and_gradient, "conv": train.conv_loss_and_gradient}[network]
    # Biases away from zero: a relu at exactly zero has no slope to compare with.
    params = {name: value + 0.05 * rng.standard_normal(value.shape) for name, value in initial.items()}
    images, labels = rng.uniform(0.05, 1.0, (5, 8, 8)), rng.integers(0, 10, 5)
    _, gradients = gradient_of(params, images, labels)
    for name, value in params.items():
        direction = rng.standard_normal(value.shape)
        ahead, _ = gradient_of({**params, name: value + 1e-6 * direction}, images, labels)
        behind, _ = gradient_of({**params, name: value - 1e-6 * direction}, images, labels)
        assert np.sum(gradients[name] * direction) == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("network", ["mlp", "conv"])
def test_committed_weights_know_the_test_digits(train: ModuleType, network: str) -> None:
    digits = train.dataset.load()
    with np.load(train.WEIGHTS) as archive:
        weights: dict[str, Any] = {name: archive[name] for name in archive.files}
    scores = {"mlp": train.mlp_scores, "conv": train.conv_scores}[network](weights, digits.test_images)
    assert train.accuracy(scores, digits.test_labels) >= 0.97


def test_training_is_the_same_every_time(train: ModuleType) -> None:
    def trained() -> dict[str, Any]:
        rng = np.random.default_rng(3)
        return train.train(train.initial_mlp(rng), train.mlp_loss_and_gradient, 1, rng)

    first, second = trained(), trained()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.slow
def test_demo_builds_runs_and_recognises_digits() -> None:
    done = subprocess.run(
        [sys.executable, str(DIGITS / "demo.py")], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    accuracies = [float(value) for value in re.findall(r"test accuracy: (0\.\d+|1\.0+)", done.stdout)]
    assert len(accuracies) == 2
    assert min(accuracies) >= 0.95

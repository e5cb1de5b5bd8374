"""The small examples: each learns, converges or conserves what it should, at a size of seconds."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ..selection import quick_first

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "main.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_private_sgd_learns_with_clipped_and_noisy_gradients() -> None:
    module = example("private_sgd")
    params, losses = module.train(40)
    assert losses[-1] < 0.5 * losses[0]
    assert module.accuracy(params) > 0.95


def test_clipped_gradients_are_no_longer_than_the_limit() -> None:
    module = example("private_sgd")
    long = {"weights": np.array([3.0, 4.0]), "bias": np.float64(0)}
    np.testing.assert_allclose(np.asarray(module.clipped(long, 1.0)["weights"]), [0.6, 0.8])
    np.testing.assert_allclose(np.asarray(module.clipped(long, 10.0)["weights"]), [3.0, 4.0])


def test_newton_by_conjugate_gradients_finds_the_minimum() -> None:
    module = example("hessian_cg")
    x, history = module.minimise(6)
    np.testing.assert_allclose(x, 1.0, atol=1e-8)
    assert all(products <= 200 for _, products in history)


@pytest.mark.parametrize("name", ["char_rnn", pytest.param("transformer", marks=pytest.mark.thorough)])
def test_character_models_take_steps(name: str) -> None:
    module = example(name)
    params, losses, alphabet = module.train(2, width=8)
    assert np.isfinite(losses).all()
    assert set(module.sample(params, alphabet, "a", 3, seed=1)) <= set(alphabet)


def test_pendulum_takes_steps() -> None:
    result, losses = example("pendulum").fit(2)
    assert losses[1] < losses[0] and result["length"] > 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["char_rnn", "transformer"])
def test_character_models_learn_and_write(name: str) -> None:
    module = example(name)
    params, losses, alphabet = module.train(30, width=32)
    assert np.mean(losses[-5:]) < 0.9 * losses[0]
    first = module.sample(params, alphabet, "a", 12, seed=1)
    assert set(first) <= set(alphabet)
    assert first == module.sample(params, alphabet, "a", 12, seed=1)
    assert first != module.sample(params, alphabet, "a", 12, seed=2)


@pytest.mark.thorough
def test_pendulum_is_fitted_through_its_integrator() -> None:
    result, losses = example("pendulum").fit(60)
    assert losses[-1] < 0.02 * losses[0]
    assert abs(result["length"] - 1.3) < 0.05
    assert abs(result["friction"] - 0.4) < 0.1


@pytest.mark.thorough
def test_every_universe_keeps_its_energy_and_is_its_own() -> None:
    module = example("particles")
    (positions, _), energies = module.run(3, 5, 60)
    assert np.abs(energies - energies[:, :1]).max() < 1e-2
    alone, _ = module.simulate(tuple(part[1] for part in module.universes(3, 5)), 60, 0.01)
    np.testing.assert_allclose(np.asarray(positions)[1], np.asarray(alone[0]), rtol=1e-9)


@pytest.mark.parametrize("name", quick_first(["private_sgd", "particles"], 1))
def test_example_runs_as_a_script(name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name / "main.py"), "--steps", "5"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()

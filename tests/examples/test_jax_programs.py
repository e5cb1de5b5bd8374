"""The programs of `examples/jax`: with JAX and with adze, from one source, the same numbers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "jax"
STEPS = {
    "chain": 20,
    "cnn": 6,
    "flow": 4,
    "gaussian_process": 10,
    "hmc": 20,
    "language_model": 6,
    "neural_ode": 10,
    "pendulum": 10,
    "reinforce": 5,
    "vae": 8,
}
QUICK = ("chain",)


def results(name: str, library: str, steps: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """What the example `name` returns after so many steps with that library."""
    monkeypatch.setattr(sys, "argv", [name, "--lib", library])
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "library", raising=False)
    spec = importlib.util.spec_from_file_location(f"{name}_with_{library}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        return {key: float(value) for key, value in module.main(steps).items()}
    finally:
        sys.modules.pop("library", None)


def test_every_program_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == {*STEPS, "library"}


@pytest.mark.oracle
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.thorough) for n in STEPS]
)
def test_both_libraries_compute_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = results(name, "jax", STEPS[name], monkeypatch)
    assert results(name, "adze", STEPS[name], monkeypatch) == pytest.approx(expected, rel=2e-3, abs=2e-4)

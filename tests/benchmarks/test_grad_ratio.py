"""The benchmark of gradients still runs and says what it promises; no speed is judged here."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="the benchmark compares with JAX")

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "grad_ratio.py"

pytestmark = [pytest.mark.oracle, needs_jax]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False, timeout=200
    )


@pytest.mark.thorough
def test_ratios_of_both_libraries_are_reported() -> None:
    done = run("--cases", "mlp", "--rounds", "1", "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["rows"]
    for name in ("adze", "jax"):
        assert row[f"{name}_ratio"] == pytest.approx(row["gradient"][name] / row["function"][name])


def test_unknown_nets_are_refused() -> None:
    assert run("--cases", "no such net").returncode == 2

"""The benchmark scripts still run, and say what they promise; how fast anything is, is not judged here."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_jax = pytest.mark.skipif(find_spec("jax") is None, reason="the benchmarks compare with JAX")

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

pytestmark = [pytest.mark.oracle, needs_jax]


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.thorough
def test_call_overhead_reports_both_libraries() -> None:
    report = json.loads(run("call_overhead.py", "--rounds", "1", "--json"))
    assert {name.split(",")[0] for name in report["seconds"]} == {"adze", "jax"}
    assert min(report["seconds"].values()) > 0.0


@pytest.mark.thorough
def test_eager_reports_both_libraries() -> None:
    report = json.loads(run("eager.py", "--rounds", "1", "--cases", "50 leaves", "--json"))
    assert set(report["tree of 50 leaves"]) == {"adze", "jax"}


@pytest.mark.thorough
def test_cold_start_judges_what_it_measured() -> None:
    report = json.loads(run("cold_start.py", "--rounds", "1", "--scenarios", "artifact", "--json"))
    (seconds,) = report["seconds"]["artifact"]
    assert seconds > 0.0
    goal = report["goals"]["artifact"]
    assert goal["seconds"] == seconds
    assert goal["holds"] is (seconds <= goal["limit"])


@pytest.mark.thorough
def test_compile_overhead_reports_every_stage() -> None:
    report = json.loads(run("compile_overhead.py", "--ops", "60", "--rounds", "1", "--json"))
    assert {"trace", "verify", "simplify", "lower"} <= set(report["stages"])
    assert report["imports"]["import adze"]["seconds"] > 0.0
    assert not report["imports"]["import adze"]["compiler_imported"]

"""The runner: its report, cases that fail or hang, and kernels from a folder in NPBench's layout."""

import argparse
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from _case import Case
from _npbench import loaded, npbench_cases
from _peers import adze_peer, numpy_peer
from _report import ratio, summary
from _worker import measured
from run import Workers

import adze.numpy
from adze.runtime.errors import LostDeviceError

RUN = Path(__file__).resolve().parents[2] / "benchmarks" / "run.py"

KERNEL = """
import jax
import jax.numpy as jnp
from jax import lax
from functools import partial

@partial(jax.jit, static_argnums=(0,))
def kernel(STEPS, factor, a: jax.Array):
    return lax.fori_loop(0, STEPS, lambda i, a: a.at[i].set(factor * a[i - 1]), a)
"""
NUMPY_KERNEL = """
def kernel(STEPS, factor, a):
    for i in range(STEPS):
        a[i] = factor * a[i - 1]
"""
INITIALIZE = """
import numpy as np
def initialize(N):
    return np.float64(0.5), np.arange(N, dtype=np.float64)
"""
DESCRIPTION = {
    "relative_path": "some/powers",
    "module_name": "powers",
    "func_name": "kernel",
    "parameters": {"S": {"STEPS": 3, "N": 5}},
    "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["factor", "a"]},
    "input_args": ["STEPS", "factor", "a"],
    "array_args": ["a"],
    "output_args": ["a"],
}


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with one kernel of our own in NPBench's layout."""
    place = tmp_path / "npbench" / "benchmarks" / "some" / "powers"
    place.mkdir(parents=True)
    (place / "powers_jax.py").write_text(KERNEL)
    (place / "powers_numpy.py").write_text(NUMPY_KERNEL)
    (place / "powers.py").write_text(INITIALIZE)
    (tmp_path / "bench_info").mkdir()
    (tmp_path / "bench_info" / "powers.json").write_text(json.dumps({"benchmark": DESCRIPTION}))
    return tmp_path


def test_a_kernel_runs_in_adze_and_numpy(sources: Path) -> None:
    (case,) = npbench_cases(sources, "S")
    arrays = case.arrays()
    expected = np.array([2.0, 1.0, 0.5, 3.0, 4.0])
    ours = case.function(adze_peer(), *map(adze.numpy.asarray, arrays))
    np.testing.assert_array_equal(np.asarray(ours), expected)
    theirs = case.call_on(numpy_peer(), arrays)
    for _ in range(2):
        np.testing.assert_array_equal(theirs()[0], expected)
    np.testing.assert_array_equal(arrays[0], np.arange(5.0))


def test_imports_of_jax_are_renamed(sources: Path) -> None:
    module = loaded(sources / "npbench/benchmarks/some/powers/powers_jax.py", "adze")
    assert (module.jax, module.jnp, module.lax) == (adze, adze.numpy, adze.lax)


def test_new_arrays_are_float64_as_in_npbench(tmp_path: Path) -> None:
    source = tmp_path / "made.py"
    source.write_text(
        "import jax.numpy as jnp\ndef kernel(x):\n"
        "    made = jnp.zeros((2,)), jnp.ones(2, dtype=jnp.float32), jnp.zeros(2, jnp.int32)\n"
        "    return *made, jnp.empty(x.shape)\n"
    )
    dtypes = [str(array.dtype) for array in loaded(source, "adze").kernel(np.ones(3))]
    assert dtypes == ["float64", "float32", "int32", "float64"]


def test_an_error_of_one_library_leaves_the_others() -> None:
    def function(peer: object, x: object) -> object:
        raise ValueError("not in adze")

    case = Case("broken", function, lambda draw: (draw.normal(3),), numpy=lambda x: x + 1)
    row = measured(case, (adze_peer(), numpy_peer()), 0.01)
    assert set(row["times"]) == {"numpy"}
    assert row["errors"]["adze"].startswith("ValueError: not in adze (test_runner.py:")


def test_the_summary_has_the_means_and_the_worst_cases() -> None:
    def row(name: str, adze: float, jax: float) -> dict[str, object]:
        times = {
            library: {"wall": t, "cpu": 2 * t, "first_wall": 1.0, "first_cpu": 1.0}
            for library, t in (("adze", adze), ("jax", jax))
        }
        return {"family": "loops", "case": name, "times": times, "errors": {}}

    rows = [row("fast", 1.0, 4.0), row("slow", 4.0, 1.0), row("even", 1.0, 1.0)]
    assert ratio(rows[0], "jax") == 4.0
    assert ratio(rows[0], "numpy") is None
    lines = summary(rows, "wall")
    assert lines[1].split() == ["loops", "3", "1.00", "1", "nan", "1.0", "0"]
    assert lines[3].split() == ["0.250", "loops:", "slow"]


def test_a_case_that_hangs_is_ended() -> None:
    options = argparse.Namespace(seconds=0.01, npbench=None, threads=1, timeout=0.05)
    with Workers(options) as workers:
        workers.process = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        row = workers.measured("loops", "hangs")
        assert "no answer in" in row["errors"]["limit"]
        assert workers.process is None


def test_after_a_lost_device_another_process_goes_on() -> None:
    def function(peer: object, x: object) -> object:
        raise LostDeviceError("the device vulkan:0 was lost")

    row = measured(Case("lost", function, lambda draw: (draw.normal(3),)), (adze_peer(),), 0.01)
    assert row["is_lost"] and not row["times"]
    answer = json.dumps({"family": "loops", "case": "lost", **row})
    options = argparse.Namespace(seconds=0.01, npbench=None, threads=1, timeout=20.0)
    with Workers(options) as workers:
        workers.process = subprocess.Popen(
            [sys.executable, "-c", f"input(); print({answer!r}, flush=True); input()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert workers.measured("loops", "lost")["is_lost"]
        assert workers.process is None


def test_unknown_families_and_cases_are_refused() -> None:
    for words in (("--family", "no_such"), ("--case", "no such case")):
        done = subprocess.run(
            [sys.executable, str(RUN), *words], check=False, timeout=60, capture_output=True
        )
        assert done.returncode == 2


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("jax") is None, reason="the run compares with JAX")
def test_a_run_writes_everything(tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    words = ("--case", "saxpy 40,000", "--seconds", "0.05", "--threads", "1", "--json", str(file))
    done = subprocess.run([sys.executable, str(RUN), *words], check=False, timeout=200, capture_output=True)
    assert done.returncode == 0, done.stdout.decode()
    report = json.loads(file.read_text())
    (row,) = report["rows"]
    assert set(row["times"]) == {"adze", "jax", "numpy"}
    assert row["differences"]["jax"] <= 1.0
    assert {"processor", "threads", "jax", "load"} <= set(report["circumstances"])

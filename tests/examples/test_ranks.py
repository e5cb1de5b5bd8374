"""The examples of `examples/ranks/`: what several ranks compute is what one process does."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest

import adze

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "ranks"
SCRIPTS = ("data_parallel", "tensor_parallel", "pipeline", "ring_attention")


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def largest_differences(text: str) -> list[float]:
    return [float(found) for found in re.findall(r"difference (\S+)", text)]


def test_every_script_is_tested() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.py")) == sorted(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_local_ranks_agree_with_one_process(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    example(name).main()
    (difference,) = largest_differences(capsys.readouterr().out)
    assert difference < 1e-5


@pytest.mark.parametrize("name", SCRIPTS)
def test_threads_agree_with_one_process(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    adze.distributed.run(example(name).main, 4)
    differences = largest_differences(capsys.readouterr().out)
    assert len(differences) == 4 and max(differences) < 1e-5


@pytest.mark.thorough
@pytest.mark.skipif(find_spec("mpi4py") is None, reason="the extra mpi is not installed")
@pytest.mark.parametrize("name", SCRIPTS)
def test_processes_agree_with_one_process(name: str) -> None:
    adze_command = str(Path(sys.executable).with_name("adze"))
    words = [adze_command, "launch", "-n", "2", str(FOLDER / f"{name}.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    differences = largest_differences(done.stdout)
    assert len(differences) == 2 and max(differences) < 1e-5

"""`adze launch` with threads as ranks; tests of MPI have processes."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from adze.dialects.communicator import DistributedError
from adze.runtime.distributed.launchers import Launcher, find_launcher
from adze.runtime.distributed.ranked import Prefixed, run_script

from .conftest import Adze

SUM = """
import sys
import numpy as np
import adze
from adze import lax
from adze.sharding import PartitionSpec as P

adze.distributed.initialize()
mesh = adze.make_mesh((2,), ("d",))
total = adze.jit(adze.shard_map(lambda x: lax.psum(x, "d"), mesh=mesh, in_specs=P("d"), out_specs=P()))
print("sum", np.asarray(total(np.arange(3.0, 5.0))), *sys.argv[1:])
"""
FAILS = """
import sys
import adze

if adze.distributed.process_index() == 1:
    {}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "train.py"


def test_every_rank_runs_the_script_with_its_arguments(adze: Adze, script: Path) -> None:
    script.write_text(SUM)
    arguments, folders = sys.argv[:], sys.path[:]
    result = adze("launch", "-n", "2", "--engine", "threads", script, "--steps", "3")
    assert result.exit_code == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == ["[0] sum [7.] --steps 3", "[1] sum [7.] --steps 3"]
    assert (sys.argv, sys.path) == (arguments, folders)


@pytest.mark.parametrize(
    ("statement", "code", "said"),
    [("sys.exit(3)", 3, ""), ("raise ValueError('unwell')", 1, "ValueError: unwell")],
)
def test_a_rank_that_fails_ends_the_job(
    adze: Adze, script: Path, statement: str, code: int, said: str
) -> None:
    script.write_text(FAILS.format(statement))
    result = adze("launch", "-n", "2", "--engine", "threads", script)
    assert result.exit_code == code
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-n", "2", "nowhere.py"], "there is no file 'nowhere.py'"),
        (["train.py"], "--ranks: how many ranks shall run the script?"),
        (["-n", "2", "--engine", "smoke", "train.py"], "--engine: 'smoke' is none of mpi and threads"),
    ],
)
def test_bad_usage_says_what_to_write(
    adze: Adze, script: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    script.write_text("")
    monkeypatch.chdir(script.parent)
    result = adze("launch", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_lines_carry_the_rank_when_they_are_whole() -> None:
    stream = io.StringIO()
    prefixed = Prefixed(stream, "[1] ")
    print("one", end="", file=prefixed)
    assert stream.getvalue() == ""
    print(" line\nand", end="", file=prefixed)
    prefixed.finish()
    assert stream.getvalue() == "[1] one line\n[1] and\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("import sys\nsys.exit(0)", 0, ""),
        ("import sys\nsys.exit(4)", 4, "ended with exit code 4, and the job with it"),
        ("import sys\nsys.exit('no data')", 1, "no data\nended with exit code 1"),
        ("1 / 0", 1, "ended by this error, and the job with it"),
    ],
)
def test_a_script_of_a_rank_ends_with_a_code_and_its_reason(
    script: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    code: int,
    said: str,
) -> None:
    script.write_text(text)
    monkeypatch.setattr(sys, "argv", sys.argv[:])
    monkeypatch.setattr(sys, "path", sys.path[:])
    assert run_script([str(script)]) == code
    errors = capsys.readouterr().err
    assert said in errors
    assert "runpy" not in errors  # the traceback begins in the script


def test_launcher_is_told_what_open_mpi_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = Launcher("/opt/bin/mpirun", is_open_mpi=True)
    assert launcher.command(2, ["a.out"])[-3:] == ["-n", "2", "a.out"]
    assert launcher.environment(10**6)["OMPI_MCA_mpi_yield_when_idle"] == "1"
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "0")
    assert launcher.environment(10**6)["OMPI_MCA_mpi_yield_when_idle"] == "0"  # the user knows better
    assert Launcher("mpiexec", is_open_mpi=False).command(3, ["a.out"]) == ["mpiexec", "-n", "3", "a.out"]


def test_launcher_that_is_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adze.runtime.distributed.launchers.find_spec", lambda name: object())
    with pytest.raises(DistributedError, match=r"no mpirun or mpiexec beside .*python") as caught:
        find_launcher(tmp_path, str(tmp_path))
    assert "pip install 'adze-compiler[mpi]'" in str(caught.value)
    monkeypatch.setattr("adze.runtime.distributed.launchers.find_spec", lambda name: None)
    with pytest.raises(DistributedError, match="mpi4py, which is not installed"):
        find_launcher()

"""The compiler ends the process where it cannot write temporary files: an error comes first."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import adze
from adze.runtime.compile import temporary_files
from adze.runtime.compile.compiler import CompileOptions
from adze.runtime.compile.strategy import Facts, compile_program
from adze.runtime.compile.temporary_files import check_temporary_files
from adze.runtime.errors import CompileError
from adze.runtime.targets import parse_target


def run(program: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A process of its own, with environment variables."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, check=False, timeout=120
    )


def refused() -> CompileError:
    """The error of a compile."""
    facts = Facts(has_dependent_reductions=False, has_complex_numbers=False, is_static=True)
    with pytest.raises(CompileError) as caught:
        compile_program(lambda passes, options: b"", facts, parse_target("cpu"), CompileOptions())
    return caught.value


@pytest.mark.parametrize("free", [1, 1_000_000])
def test_a_full_disk(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=free))
    error = refused()
    assert f"there are {free} bytes left on the disk of" in error.message
    assert "set TMPDIR" in str(error.hint)


def test_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    assert (
        refused().message
        == f"there is no folder {tmp_path}/absent, where the compiler writes temporary files"
    )


def test_a_folder_that_takes_no_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    assert refused().message.startswith(f"this process cannot write to the folder {tmp_path},")


@pytest.mark.parametrize(("name", "character"), [("my files", "' '"), ("it's", '"\'"'), ("50%", "'%'")])
def test_a_folder_that_the_linker_cannot_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, character: str
) -> None:
    """IREE writes the names of its files into a command of the shell as they are."""
    folder = tmp_path / name
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    error = refused()
    assert error.message == (
        f"the compiler writes temporary files to {str(folder)!r}, "
        f"and IREE cannot take the {character} in this name"
    )
    assert error.hint == "set TMPDIR to another folder, such as /tmp"


def test_a_folder_whose_name_the_linker_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "ü,数~a{b}=@#!+"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("ADZE_CACHE", "off")
    compiled = adze.trace(lambda x: x * 2 + 1, np.ones(4, np.float32)).lower("cpu").compile()
    assert compiled(np.ones(4, np.float32)).tolist() == [3] * 4


def test_the_folder_is_the_one_that_llvm_takes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TMPDIR", "TMP", "TEMP", "TEMPDIR"):
        monkeypatch.delenv(name, raising=False)
    check_temporary_files()
    monkeypatch.setenv("TEMP", str(tmp_path / "absent"))
    assert "absent" in refused().message
    monkeypatch.setenv("TMP", str(tmp_path))
    check_temporary_files()


def test_small_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1000, resource.RLIM_INFINITY))
    error = refused()
    assert "cannot write files of more than 1000 bytes" in error.message
    assert "ulimit -f" in str(error.hint)


def test_kernels_that_need_more_than_small_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=5 << 20))
    check_temporary_files(300_000)
    with pytest.raises(CompileError, match=f"{5 << 20} bytes left .*, of up to 6400000 that are needed"):
        check_temporary_files(400_000)


@pytest.mark.parametrize("target", ["cpu", "cpu:aarch64"])
def test_a_disk_that_the_kernels_of_a_program_would_fill(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second check knows the kernels; no other form of the program is tried."""
    monkeypatch.setenv("ADZE_CACHE", "off")
    lowered = adze.trace(lambda x: x * 2 + 1, np.ones(40, np.float32)).lower(target)
    monkeypatch.setattr(temporary_files, "_LEAST_SPACE", 1)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=2000))
    with pytest.raises(CompileError, match=r"2000 bytes left .*, of up to [0-9]{5,6} that are needed"):
        lowered.compile()


def test_small_files_and_a_large_constant() -> None:
    """IREE's buffers in memory are files too: without the check the process ends here."""
    program = """
import resource
import adze, numpy as np
lowered = adze.trace(lambda x: x + np.arange(1 << 20, dtype=np.float32), np.float32(1)).lower()
resource.setrlimit(resource.RLIMIT_FSIZE, (5 << 20, resource.RLIM_INFINITY))
try:
    lowered.compile()
except adze.AdzeError as error:
    print(error.message)
"""
    done = run(program, ADZE_CACHE="off")
    assert done.returncode == 0, done.stderr
    assert b"cannot write files of more than 5242880 bytes, of up to 1678" in done.stdout


def test_a_process_lives_on(tmp_path: Path) -> None:
    """Without the check, the compiler dies of a wrong address here."""
    program = """
import adze
try:
    adze.jit(lambda x: x + 1)(1.0)
except adze.AdzeError as error:
    print(error.message)
"""
    done = run(program, TMPDIR=str(tmp_path / "absent"), ADZE_CACHE="off")
    assert done.returncode == 0, done.stderr
    assert b"there is no folder" in done.stdout

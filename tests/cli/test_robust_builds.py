"""Builds that are interrupted, that meet each other, and that run in other surroundings."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adze
from adze.cli import interruption

ADZE = Path(sys.executable).parent / "adze"
SOURCE = """\
import sys
import numpy as np

def model(x, w):
    for _ in range({layers}):
        x = np.tanh(np.sort(x @ w, axis=1))
    print("traced", file=sys.stderr, flush=True)
    return x
"""


def started(folder: Path, layers: int, **options: Any) -> subprocess.Popen[str]:
    """A build of `folder`'s model, in a process that Ctrl-C reaches."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.py").write_text(SOURCE.format(layers=layers))
    command = [str(ADZE), "build", "model.py:model", "--in", "f32[n,8]", "--in", "f32[8,8]"]
    command += ["-t", "cpu:x86-64-v3", "--keep-ir", "-o", "model.vmfb"]
    environment = {**os.environ, "ADZE_CACHE": "off", **options.pop("env", {})}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A process whose parent ignores SIGINT, as in a shell's background, ignores it too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(command, cwd=folder, env=environment, **pipes, **options)
    finally:
        signal.signal(signal.SIGINT, before)


def finished(build: subprocess.Popen[str]) -> None:
    _, errors = build.communicate(timeout=300)
    assert build.returncode == 0, errors


def test_ctrl_c_during_a_compile_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    build = started(tmp_path, 6, env={"TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"})
    (tmp_path / "model.vmfb").write_bytes(b"old")
    assert build.stderr is not None and build.stderr.readline() == "traced\n"
    time.sleep(0.3)
    build.send_signal(signal.SIGINT)
    output, errors = build.communicate(timeout=300)
    assert (build.returncode, output, errors) == (130, "", "")
    assert (tmp_path / "model.vmfb").read_bytes() == b"old"
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["model.py", "model.vmfb", "temporary"]


def test_two_builds_of_one_file_leave_a_whole_one(tmp_path: Path) -> None:
    builds = [started(tmp_path, 1) for _ in range(2)]
    for build in builds:
        finished(build)
    assert {p.name for p in tmp_path.iterdir()} - {"__pycache__"} == {"model.py", "model.vmfb"}
    x, w = np.float32([[3, 1, 2, 0, 0, 0, 0, 0]]), np.eye(8, dtype=np.float32)
    np.testing.assert_allclose(adze.load(tmp_path / "model.vmfb")(x, w), np.tanh(np.sort(x)), rtol=1e-6)


def test_surroundings_leave_no_trace_in_a_file(tmp_path: Path) -> None:
    elsewhere = {"TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "77"}
    elsewhere |= {"HOME": str(tmp_path), "USER": "somebody", "COLUMNS": "40", "ADZE_THREADS": "3"}
    places = [tmp_path / "here", tmp_path / "another" / "place"]
    finished(started(places[0], 2))
    finished(started(places[1], 2, env=elsewhere, umask=0o077))
    first, second = ((place / "model.vmfb").read_bytes() for place in places)
    assert first == second


@pytest.mark.parametrize("package", ["numpy.linalg", "ml_dtypes", "user"])
def test_ctrl_c_while_a_package_that_prints_is_imported_ends_the_process(package: str) -> None:
    code = f"""
import sys
from adze.cli.interruption import remember
code = compile("remember(2, sys._getframe())", "x", "exec")
exec(code, dict(__name__={package!r}, sys=sys, remember=remember))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    if package == "user":
        assert b"KeyboardInterrupt" in done.stderr
    else:
        assert (done.returncode, done.stderr) == (130, b"")
    assert not interruption.was_interrupted()

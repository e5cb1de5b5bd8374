"""Builds that are ended from outside leave whole files only, and nothing that the next one waits for."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adze.runtime.artifact.artifact import inspect
from adze.runtime.artifact.files import TEMPORARY_SUFFIX

ARTIFACTS = 6


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("after", [1.5, 4.0])
def test_ended_build_leaves_whole_files_only(number: signal.Signals, after: float, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def f(x):\n    return x * 2\n")
    tables = [
        f'[artifact.a{n}]\nentry = "model.py:f"\ninputs = ["f32[{n + 1}]"]\ntargets = ["cpu:x86-64-v3"]\n'
        for n in range(ARTIFACTS)
    ]
    (tmp_path / "adze.toml").write_text("\n".join(tables))
    adze = str(Path(sys.executable).with_name("adze"))
    environment = {**os.environ, "ADZE_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    process = subprocess.Popen(
        [adze, "build", "-j", "2"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(after)
    process.send_signal(number)
    process.communicate(timeout=60)  # ends when the workers do too, which hold its standard error
    assert process.returncode in (0, 130, -number)
    assert not list(tmp_path.rglob(f"*{TEMPORARY_SUFFIX}"))
    assert not list((tmp_path / "tmp").iterdir())
    for path in tmp_path.glob("*.vmfb"):
        assert inspect(path).manifest.signatures
    again = subprocess.run([adze, "build"], cwd=tmp_path, env=environment, capture_output=True, timeout=300)
    assert again.returncode == 0, again.stderr
    assert len(list(tmp_path.glob("*.vmfb"))) == ARTIFACTS

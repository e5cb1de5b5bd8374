"""A project that was built once, in a folder that tests change and restore."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from adze.cli.main import app
from adze.cli.project.building import Request, build_project
from adze.cli.project.command import progress
from adze.cli.project.configuration import read_project
from adze.cli.project.outcomes import Outcome

MODEL = """\
import os
import numpy as np
from helper_of_projects import SCALE

print("the model is imported")
weights = np.load("weights.npy")
if os.path.exists("override.npy"):
    weights = np.load("override.npy")


def predict(x):
    return np.tanh(x @ weights) * SCALE + float(os.environ.get("ADZE_TEST_BIAS", "0"))


def fail(x):
    raise ValueError("not today")
"""

CONFIGURATION = """\
[artifact.predict]
entry = "model_of_projects.py:predict"
inputs = ["f32[2,3]"]
targets = ["cpu:x86-64-v3"]
output = "out/predict.vmfb"
"""

FAILING = """
[artifact.fail]
entry = "model_of_projects.py:fail"
inputs = ["f32[2]"]
"""

Build = Callable[..., list[Outcome]]
SEARCHED: list[str] = []
"""The search path of modules of that build, which other tests of this process change."""


def run(*arguments: object) -> Result:
    """A command line in this process."""
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100", "NO_COLOR": "1"})


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project whose artifact was built, with its record in `cache`."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "model_of_projects.py").write_text(MODEL)
    (folder / "helper_of_projects.py").write_text("SCALE = 2.0\n")
    (folder / "adze.toml").write_text(CONFIGURATION)
    np.save(folder / "weights.npy", np.ones((3, 2), np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADZE_CACHE_DIR", str(folder / "cache"))
        patch.delenv("ADZE_TEST_BIAS", raising=False)
        SEARCHED[:] = sys.path
        result = run("build", "--project", folder)
    assert result.exit_code == 0, result.output
    assert "the model is imported" in result.stderr
    assert "the model is imported" not in result.stdout
    return folder


@pytest.fixture
def project(built: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same folder, as it was afterwards."""
    monkeypatch.setenv("ADZE_CACHE_DIR", str(built / "cache"))
    monkeypatch.delenv("ADZE_TEST_BIAS", raising=False)
    monkeypatch.chdir(built)
    monkeypatch.setattr(sys, "path", list(SEARCHED))
    before = {path: (path.read_bytes(), path.stat()) for path in built.rglob("*") if path.is_file()}
    yield built
    for path in built.rglob("*"):
        if path.is_file() and path not in before:
            path.unlink()
    for path, (content, status) in before.items():
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if path.stat().st_mtime_ns != status.st_mtime_ns:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.fixture
def build(project: Path) -> Build:
    """Builds the project in this process: `build(checks=True)`."""

    def build_it(**request: bool) -> list[Outcome]:
        return build_project(read_project(project / "adze.toml"), Request(**request), progress)

    return build_it

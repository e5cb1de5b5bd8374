"""When an artifact is built again: when something differs that its bytes follow from, and else never."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import adze.cli.project.building as building
from adze.cli.project.building import Request, _Build
from adze.cli.project.configuration import read_project
from adze.cli.project.record import Checker, read_record, record_path

from .conftest import CONFIGURATION, run


def reason(folder: Path) -> str | None:
    """Why the artifact would be built."""
    build = _Build(read_project(folder / "adze.toml"), Request())
    (artifact,) = build.artifacts
    return build.look(artifact, Checker(os.environ))[0]


def rewrite(path: Path, old: str, new: str) -> None:
    """Change a file so that its size and time of change stay."""
    status = path.stat()
    text = path.read_bytes().replace(old.encode(), new.encode())
    assert text != path.read_bytes()
    path.write_bytes(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size


def touch(path: Path) -> None:
    os.utime(path, (1, 1))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "the entry": (
        lambda f: rewrite(f / "model_of_projects.py", "tanh", "sinh"),
        "model_of_projects.py changed",
    ),
    "a module": (
        lambda f: rewrite(f / "helper_of_projects.py", "2.0", "3.0"),
        "helper_of_projects.py changed",
    ),
    "a module gone": (lambda f: (f / "helper_of_projects.py").unlink(), "helper_of_projects.py is missing"),
    "data": (lambda f: np.save(f / "weights.npy", np.zeros((3, 2), np.float32)), "weights.npy changed"),
    "a file that was looked for": (
        lambda f: shutil.copy(f / "weights.npy", f / "override.npy"),
        "override.npy was nothing",
    ),
    "the output touched": (lambda f: touch(f / "out" / "predict.vmfb"), "out/predict.vmfb was touched"),
    "the output damaged": (
        lambda f: rewrite(f / "out" / "predict.vmfb", "PK", "KP"),
        "predict.vmfb was changed",
    ),
    "the output gone": (lambda f: (f / "out" / "predict.vmfb").unlink(), "out/predict.vmfb is missing"),
    "inputs": (lambda f: rewrite(f / "adze.toml", "[2,3]", "[4,3]"), "inputs changed in the project"),
    "targets": (lambda f: rewrite(f / "adze.toml", "v3", "v2"), "targets changed in the project"),
    "another output": (lambda f: rewrite(f / "adze.toml", "t/p", "t/q"), "its output is another file"),
    "a budget to measure": (
        lambda f: (f / "adze.toml").write_text(f"{CONFIGURATION}budgets = {{ max_error = 1.0 }}\n"),
        "max_error was not measured",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_is_noticed_and_named(change: str, project: Path) -> None:
    assert reason(project) is None
    make, expected = CHANGES[change]
    make(project)
    why = reason(project)
    assert why is not None and expected in why, why


def test_environment_counts_where_it_was_asked_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADZE_TEST_OTHER", "1")
    assert reason(project) is None
    monkeypatch.setenv("ADZE_TEST_BIAS", "1")
    assert reason(project) == "the environment variable ADZE_TEST_BIAS changed"


def test_module_that_comes_before_is_noticed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of the search path had no such module, and has it now."""
    record = read_record(record_path(project / "cache", project, "predict"))
    assert record is not None
    (search,) = [s for s in record["searches"] if "helper_of_projects" in s["names"]]
    position = search["folders"].index(str(project))
    other = project / "elsewhere"
    other.mkdir()
    search["folders"].insert(position, str(other))
    search["found"].insert(position, [])
    checker = Checker(os.environ)
    assert checker._folder_change(record, project) is None
    (other / "helper_of_projects.py").touch()
    changed = Checker(os.environ)._folder_change(record, project)
    assert changed is not None and changed.startswith("the module helper_of_projects came to")


@pytest.mark.parametrize("name", ["adze", "numpy", "python", "iree_base_compiler", "ADZE_LOOP_KERNELS"])
def test_other_surroundings_are_noticed(name: str, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = building.surroundings
    monkeypatch.setattr(building, "surroundings", lambda targets: {**real(targets), name: "0.0 other"})
    why = reason(project)
    assert why is not None and name in why


def test_file_with_another_time_and_the_same_content_is_the_same(project: Path) -> None:
    """A fresh checkout in a pipeline, or a switch of branches and back."""
    touch(project / "helper_of_projects.py")
    assert reason(project) is None
    # the stamp of the record is renewed
    record = read_record(record_path(project / "cache", project, "predict"))
    assert record is not None
    stamp = record["files"][str(project / "helper_of_projects.py")]["stamp"]
    assert stamp[1] == (project / "helper_of_projects.py").stat().st_mtime_ns


def test_damaged_record_is_none(project: Path) -> None:
    path = record_path(project / "cache", project, "predict")
    content = path.read_bytes()
    for damaged in (b"", content[:-5], content[:80] + b"x" + content[81:], b"{}"):
        path.write_bytes(damaged)
        assert read_record(path) is None
        assert reason(project) == "it was never built here"


def test_values_of_the_environment_are_not_in_the_record(project: Path) -> None:
    record = read_record(record_path(project / "cache", project, "predict"))
    assert record is not None
    assert record["environment"] == {"ADZE_TEST_BIAS": None}
    assert os.environ["PATH"] not in json.dumps(record)


def test_build_without_changes_imports_no_compiler(project: Path) -> None:
    code = (
        f"import sys\nsys.path[:] = {sys.path!r}\nfrom adze.cli.main import main\n"
        "sys.argv = ['adze', 'build']\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0, end.code\n"
        "print([m for m in ('numpy', 'iree', 'rich', 'pydantic', 'adze.passes') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:2] == ["predict", "current"]
    assert done.stderr == "[]\n"  # which standard output leads to at the end of a command


def test_again_builds_what_did_not_change(project: Path) -> None:
    build = _Build(read_project(project / "adze.toml"), Request(again=True))
    assert build.look(build.artifacts[0], Checker(os.environ))[0] == "it was asked for"


def test_current_project_says_so(project: Path) -> None:
    result = run("build")
    assert result.exit_code == 0, result.output
    assert result.stdout.split()[:2] == ["predict", "current"]

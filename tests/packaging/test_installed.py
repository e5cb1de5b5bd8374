"""The environment that runs the tests: the editable install, its version and its command."""

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import adze
import adze.cli
import adze.dialects
import adze.frontend
import adze.passes
import adze.runtime


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_packages_are_imported_from_the_checkout(checkout: Path) -> None:
    for package in (adze.cli, adze.dialects, adze.frontend, adze.passes, adze.runtime):
        assert package.__file__ is not None
        folder = package.__name__.removeprefix("adze.")
        assert Path(package.__file__).parent == checkout / folder
    assert adze.__file__ is not None
    assert Path(adze.__file__).parent == checkout / "frontend" / "api"


def test_version_is_the_one_of_pyproject(checkout: Path) -> None:
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    assert importlib.metadata.version("adze-compiler") == project["version"]


def test_console_script_answers_help_and_version() -> None:
    script = Path(sys.executable).with_name("adze")
    help_run = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=120)
    assert help_run.returncode == 0, help_run.stderr
    assert "build" in help_run.stdout
    version_run = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=120)
    assert version_run.returncode == 0, version_run.stderr
    assert version_run.stdout.strip() == f"adze {importlib.metadata.version('adze-compiler')}"


def test_importing_adze_does_not_load_the_compiler() -> None:
    result = run_python("import sys, adze; print([m for m in sys.modules if m.startswith('iree.compiler')])")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_package_has_no_stub_folder_at_the_root(checkout: Path) -> None:
    # Python started in the checkout would import such a folder instead of the installed package.
    assert not (checkout / "adze").exists()


def test_ci_entry_is_executable_and_calls_make_test(checkout: Path) -> None:
    entry = checkout / ".ci" / "run"
    assert os.access(entry, os.X_OK)
    assert "exec make test" in entry.read_text()

"""A consumer's CMake project finds adze, builds a module and rebuilds it only when its source changes."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")

CONSUMER = """\
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES NONE)
find_package(adze 0.1 REQUIRED)
adze_add_module(double_it
  SOURCE model.py FUNCTION double_it IN "x=f32[2,3]" TARGET cpu:x86-64-v3 OUTPUT double.vmfb)
get_target_property(output double_it ADZE_OUTPUT)
message(STATUS "artifact: ${output}")
"""

MODEL = """\
def double_it(x):
    return x + x
"""


@pytest.fixture(scope="module")
def prefix(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, installed into a folder of its own with the command's script in bin/."""
    folder = tmp_path_factory.mktemp("prefix")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*command, str(wheel)], check=True, timeout=300)
    return folder


def cmake(*arguments: str | Path, prefix: Path) -> subprocess.CompletedProcess[str]:
    # Under `make test` the variables of the outer make would reach the inner one.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    environment = {**inherited, "CMAKE_PREFIX_PATH": str(prefix), "PYTHONPATH": str(prefix)}
    return subprocess.run(
        ["cmake", *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "model.py").write_text(MODEL)
    return tmp_path


@pytest.mark.thorough
def test_consumer_builds_a_module_and_rebuilds_it_when_the_source_changes(
    project: Path, prefix: Path
) -> None:
    build = project / "build"
    configured = cmake("-S", project, "-B", build, prefix=prefix)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    artifact = build / "double.vmfb"
    assert f"artifact: {artifact}" in configured.stdout

    built = cmake("--build", build, prefix=prefix)
    assert built.returncode == 0, built.stdout + built.stderr
    assert zipfile.is_zipfile(artifact)

    first_time = artifact.stat().st_mtime_ns
    assert cmake("--build", build, prefix=prefix).returncode == 0
    assert artifact.stat().st_mtime_ns == first_time

    source = project / "model.py"
    os.utime(source, ns=(first_time + 10**9, first_time + 10**9))
    assert cmake("--build", build, prefix=prefix).returncode == 0
    assert artifact.stat().st_mtime_ns != first_time


@pytest.mark.thorough
def test_failed_build_shows_the_error_of_adze(project: Path, prefix: Path) -> None:
    (project / "CMakeLists.txt").write_text(CONSUMER.replace("f32[2,3]", "f31[2,3]"))
    build = project / "build"
    assert cmake("-S", project, "-B", build, prefix=prefix).returncode == 0
    built = cmake("--build", build, prefix=prefix)
    assert built.returncode != 0
    assert "f31" in built.stdout + built.stderr
    assert not (build / "double.vmfb").exists()


@pytest.mark.thorough
def test_missing_argument_is_named_when_configuring(project: Path, prefix: Path) -> None:
    (project / "CMakeLists.txt").write_text(CONSUMER.replace("FUNCTION double_it", ""))
    configured = cmake("-S", project, "-B", project / "build", prefix=prefix)
    assert configured.returncode != 0
    assert "adze_add_module(double_it): FUNCTION is missing" in configured.stderr

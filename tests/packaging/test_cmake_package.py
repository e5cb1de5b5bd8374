"""A consumer's CMake project finds adze, builds a module and rebuilds it only when its source changes."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

import numpy as np
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


HELPED: Final = """\
import numpy as np
from helper import SCALE

def double_it(x):
    return x * SCALE + np.load("w.npy")[0]
"""


@pytest.mark.thorough
@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja"])
def test_module_and_data_that_the_source_reads_are_rebuilt_for(
    generator: str, project: Path, prefix: Path
) -> None:
    if shutil.which({"Ninja": "ninja"}.get(generator, "make")) is None:
        pytest.skip(f"{generator} is not installed")
    (project / "CMakeLists.txt").write_text(
        CONSUMER.replace("TARGET cpu:x86-64-v3", "TARGET cpu:x86-64-v3 cpu:aarch64")
    )
    (project / "model.py").write_text(HELPED)
    (project / "helper.py").write_text("SCALE = 2.0\n")
    np.save(project / "w.npy", np.zeros(1, np.float32))
    build = project / "a build"
    assert cmake("-G", generator, "-S", project, "-B", build, prefix=prefix).returncode == 0
    built = cmake("--build", build, prefix=prefix)
    assert built.returncode == 0, built.stdout + built.stderr
    artifact = build / "double.vmfb"
    first = artifact.stat().st_mtime_ns
    assert cmake("--build", build, prefix=prefix).returncode == 0
    assert artifact.stat().st_mtime_ns == first
    for position, name in enumerate(("helper.py", "w.npy"), start=1):
        before = artifact.stat().st_mtime_ns
        os.utime(project / name, ns=(first + position * 10**10, first + position * 10**10))
        assert cmake("--build", build, prefix=prefix).returncode == 0
        assert artifact.stat().st_mtime_ns != before, name
        os.utime(artifact, ns=(first + position * 10**10 + 1, first + position * 10**10 + 1))
    (project / "helper.py").unlink()  # no error of Make, but of Python
    built = cmake("--build", build, prefix=prefix)
    assert built.returncode != 0
    assert "No module named 'helper'" in built.stdout + built.stderr


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

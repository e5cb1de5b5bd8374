"""The C example: its source agrees with the header of its program, and it runs where IREE's source is."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adze
from adze import ShapeDtype
from adze.runtime.artifact.c_header import c_header

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
API = Path(__file__).resolve().parents[1] / "runtime" / "artifact" / "iree_c_api"
IREE_SOURCE = os.environ.get("IREE_SOURCE_DIR")


@pytest.fixture
def predict(monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.syspath_prepend(str(EXAMPLES / "c_host"))
    names: dict[str, object] = {}
    exec((EXAMPLES / "c_host" / "model.py").read_text(), names)
    return names["predict"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@pytest.mark.parametrize("content", [None, b"PK\x03\x04"])
def test_the_source_agrees_with_the_manifest(content: bytes | None, predict: object, tmp_path: Path) -> None:
    manifest = adze.trace(predict, ShapeDtype(("n", 3))).lower("cpu:x86-64-v3").manifest
    (tmp_path / "predict.h").write_text(c_header(manifest, "predict", file="predict.vmfb", content=content))
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{API}", f"-I{tmp_path}"]
    command = ["gcc", *flags, str(EXAMPLES / "c_host" / "main.c")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The CMake package as an environment has it; its version file is written at installation."""
    folder = tmp_path / "package"
    shutil.copytree(EXAMPLES.parent / "cmake", folder)
    (folder / "adzeConfigVersion.cmake").write_text(
        "set(PACKAGE_VERSION 0.1.0)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
    )
    return folder


def cmake(*arguments: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["cmake", *arguments], env=inherited, capture_output=True, text=True, timeout=1500, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def configured(tmp_path: Path, package: Path, *options: str) -> Path:
    for name in ("c_host", "cmake"):
        shutil.copytree(EXAMPLES / name, tmp_path / name)
    build = tmp_path / "build"
    command = Path(sys.executable).parent / "adze"
    cmake(
        "-S",
        str(tmp_path / "cmake"),
        "-B",
        str(build),
        f"-Dadze_DIR={package}",
        f"-DADZE_EXECUTABLE={command}",
        *options,
    )
    return build


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_builds_the_program_and_its_header(tmp_path: Path, package: Path) -> None:
    build = configured(tmp_path, package)
    cmake("--build", str(build))
    header = build / "predict.h"
    assert "predict_vmfb[" in header.read_text() and (build / "predict.vmfb").exists()
    header.unlink()
    cmake("--build", str(build))
    assert header.exists()


@pytest.mark.thorough
@pytest.mark.skipif(
    IREE_SOURCE is None, reason="IREE_SOURCE_DIR is not set: IREE's C API comes from source, docs/c.md"
)
def test_the_c_program_computes_what_python_does(tmp_path: Path, package: Path) -> None:
    build = configured(tmp_path, package, f"-DIREE_SOURCE_DIR={IREE_SOURCE}", "-DCMAKE_BUILD_TYPE=Release")
    cmake("--build", str(build), "--parallel", "2")
    done = subprocess.run(
        [str(build / "predict_host"), "2"], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "0.475021 0.524979\n0.475021 0.524979\n"

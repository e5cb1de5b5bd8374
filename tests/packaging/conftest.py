"""The wheel, built once for the tests of its contents and of the CMake package inside it."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def build_wheel(checkout: Path, folder: Path) -> Path:
    """Builds the wheel with the tools of this environment; without cmake, only the Python part."""
    settings = [] if shutil.which("cmake") else ["--config-settings=wheel.cmake=false"]
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    result = subprocess.run(
        [*command, *settings, "--wheel-dir", str(folder), str(checkout)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(checkout, tmp_path_factory.mktemp("wheel"))

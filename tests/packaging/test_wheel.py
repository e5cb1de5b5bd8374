"""The wheel holds the whole package, laid out as it is imported, and nothing else."""

import zipfile
from pathlib import Path

import pytest

FOLDERS = ("cli", "dialects", "frontend", "passes", "runtime")
DATA_SUFFIXES = (".py", ".pyi", ".mlir", ".typed", ".css", ".js")


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def expected_modules(checkout: Path) -> set[str]:
    api = checkout / "frontend" / "api"
    expected = set()
    for folder in FOLDERS:
        for path in (checkout / folder).rglob("*"):
            if path.suffix not in DATA_SUFFIXES and path.name != "py.typed":
                continue
            if path.is_relative_to(api):
                expected.add(f"adze/{path.relative_to(api).as_posix()}")
            else:
                expected.add(f"adze/{path.relative_to(checkout).as_posix()}")
    return expected


@pytest.mark.thorough
def test_wheel_is_for_every_interpreter_and_machine(wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.mark.thorough
def test_wheel_holds_every_module_at_its_import_path(names: set[str], checkout: Path) -> None:
    packaged = {name for name in names if name.startswith("adze/")}
    assert packaged == expected_modules(checkout)


@pytest.mark.thorough
def test_wheel_ships_the_irdl_text_and_the_typing_marker(names: set[str]) -> None:
    assert {"adze/dialects/generated/adze.irdl.mlir", "adze/py.typed"} <= names


@pytest.mark.thorough
def test_wheel_ships_the_cmake_package(names: set[str]) -> None:
    cmake_files = {name.rsplit("/", 1)[-1] for name in names if "/data/share/cmake/adze/" in name}
    if not cmake_files:
        pytest.skip("the wheel was built on a machine without cmake")
    assert cmake_files == {"adzeConfig.cmake", "adzeConfigVersion.cmake", "AdzeAddModule.cmake"}


@pytest.mark.thorough
def test_wheel_ships_the_licence(names: set[str]) -> None:
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)

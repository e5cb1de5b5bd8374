"""Names that a stub lists: the list is read as Python reads it, and a name is loaded when it is used."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import adze
import adze.frontend.library.numpy as library_numpy

PACKAGES = (adze, adze.lax, adze.nn, adze.numpy, library_numpy)
every_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)


def imports_of(package: ModuleType) -> list[ast.ImportFrom]:
    stub = Path(str(package.__file__)).with_name("__init__.pyi")
    return [n for n in ast.parse(stub.read_text(encoding="utf-8")).body if isinstance(n, ast.ImportFrom)]


@every_package
def test_the_list_is_read_as_python_reads_it(package: ModuleType) -> None:
    names: dict[str, str] = {}
    for node in imports_of(package):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            listed = (
                [alias.asname] if alias.asname else importlib.import_module(module, package.__name__).__all__
            )
            assert alias.asname in (None, alias.name)
            assert alias.asname or alias.name == "*"
            names |= {name: module for name in listed if name is not None}
    assert names == package._names.modules
    listed_once = [alias.name for node in imports_of(package) for alias in node.names]
    assert len(listed_once) == len({*listed_once})


@every_package
def test_every_public_name_can_be_loaded(package: ModuleType) -> None:
    for name, module in package._names.modules.items():
        where = f".{name}" if module == "." else module
        home = importlib.import_module(where, package.__name__)
        assert getattr(package, name) is (home if module == "." else getattr(home, name)), name
    assert {*package.__all__} <= {*dir(package)}


@every_package
def test_no_function_has_the_name_of_a_module_beside_it(package: ModuleType) -> None:
    # importing the module would put it in the place of the function
    modules = {
        path.stem for path in Path(str(package.__file__)).parent.iterdir() if path.suffix in ("", ".py")
    }
    assert not {name for name, module in package._names.modules.items() if module != "." and name in modules}


def test_a_name_is_loaded_when_it_is_first_used() -> None:
    code = (
        "import sys, adze; from adze import jit, lax, nn, numpy\n"
        "loaded = lambda: 'adze.frontend.library.numpy.sorting' in sys.modules\n"
        "before = loaded(); function = numpy.sort\n"
        "print(before, loaded(), vars(numpy)['sort'] is function)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False True True\n"


def test_a_star_imports_what_has_no_module() -> None:
    names: dict[str, object] = {}
    exec("from adze.lax import *", names)
    assert {"add", "add_p", "linalg"} <= {*names}
    assert "ListedNames" not in names


def test_every_public_module_is_a_name(checkout: Path) -> None:
    folder = checkout / "frontend" / "api"
    modules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }
    assert modules - {"__init__"} == {name for name, module in adze._names.modules.items() if module == "."}


def test_the_version_is_that_of_the_distribution() -> None:
    assert adze.__version__ == importlib.metadata.version("adze-compiler")


@every_package
def test_another_name_is_refused(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module {package.__name__!r} has no attribute 'compile'"):
        package.compile  # noqa: B018
